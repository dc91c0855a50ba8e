"""The command ``trustream evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trustream.cli.completion import file_names
from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo_json, echo_table, progress
from trustream.cli.shared_parameters import jobs_option, naming_init, seed_option

# Repeated here, so that --help does not load the library; a test compares them.
MEASURES = (
    "chib", "left-to-right", "completion", "importance", "bound", "npmi", "umass", "c_v",
    "diversity",
)  # fmt: skip

_EPILOG = """\b
Examples:
  trustream evaluate topics.safetensors held_out.npz
  trustream evaluate topics.safetensors new.jsonl --vocabulary words.txt
  trustream evaluate topics.safetensors held_out.npz -m left-to-right -m npmi
  trustream evaluate topics.db new.txt --json
"""


@click.command(epilog=_EPILOG, short_help="Score a model on held-out DATA.")
@click.argument("model", metavar="MODEL_OR_STORE", shell_complete=file_names)
@click.argument("data", type=InputFile())
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    type=click.Choice(MEASURES),
    metavar="MEASURE",
    help="One of " + ", ".join(MEASURES) + "; repeatable.  "
    "[default: chib, completion, bound, npmi, diversity]",
)
@click.option(
    "--vocabulary",
    type=InputFile(),
    help="Words by column, one per line; needed for text if the model has no names.",
)
@click.option(
    "--reference",
    type=InputFile(),
    help="Reference corpus of the coherence.  [default: DATA]",
)
@click.option("--rows", type=Whole(1), help="Take the first ROWS rows of DATA only.")
@click.option("--words", default=10, type=Whole(2), help="Top words per topic.")
@seed_option
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def evaluate(
    model: str,
    data: Path,
    measures: tuple[str, ...],
    vocabulary: Path | None,
    reference: Path | None,
    rows: int | None,
    words: int,
    seed: int,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Score a model on held-out DATA: likelihood, bound, coherence, density.

    MODEL_OR_STORE is a file that an estimator saved, or a document store with a model. DATA is a
    matrix with the model's columns (.npz, .npy, .mtx, .csv) or text (.txt with one document per
    line, .jsonl with a text or tokens in each line).
    """
    from trustream import feeds
    from trustream.evaluation.report import report
    from trustream.streaming.fitted_models import load_fitted

    with naming_init(model):
        fitted = load_fitted(model)
    if vocabulary is not None:
        fitted = fitted.with_words(feeds.read_vocabulary(vocabulary), vocabulary.name)
    X = feeds.read_matrix(data, fitted.words)
    result = report(
        fitted.estimator,
        X if rows is None else X[:rows],
        measures=measures or None,
        reference=None if reference is None else feeds.read_matrix(reference, fitted.words),
        n_words=words,
        vocabulary=fitted.words,
        random_state=seed,
        n_jobs=jobs,
        progress=progress,
    )
    if as_json:
        echo_json(result.to_json(), indent=2)
    else:
        _print(result, fitted.title, data.name)


def _print(result: Any, model: str, data: str) -> None:
    size = f"{result.n_rows:,} rows"
    if result.n_tokens is not None:
        size = f"{result.n_rows:,} documents, {result.n_tokens:,} words"
    rows = []
    for figure in result.figures:
        error = "" if figure.standard_error is None else f"{figure.standard_error:.4f}"
        digits = 4 if abs(figure.value) < 100 else 1
        rows.append((figure.name, f"{figure.value:,.{digits}f}", error, figure.unit, figure.note))
    echo_table(
        f"{model} ({result.model}) on {data}: {size}",
        ("Measure", "Value>", "Error>", "Unit", "Note"),
        rows,
    )
