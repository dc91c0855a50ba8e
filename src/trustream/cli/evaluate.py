"""The command ``trustream evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo_json, echo_table, progress
from trustream.cli.shared_parameters import jobs_option, seed_option

# Repeated here, so that --help does not load the library; a test compares them.
MEASURES = (
    "chib", "left-to-right", "completion", "importance", "bound", "npmi", "umass", "c_v",
    "diversity",
)  # fmt: skip

_EPILOG = """\b
Examples:
  trustream evaluate topics.safetensors held_out.npz
  trustream evaluate topics.safetensors new.jsonl --vocabulary words.txt --json
  trustream evaluate topics.safetensors held_out.npz -m left-to-right -m npmi
  trustream evaluate topics.db new.txt
  trustream evaluate topics.db new.txt --model coarse --model fine
"""


@click.command(epilog=_EPILOG)
@click.argument("model", metavar="MODEL_OR_STORE")
@click.argument("data", type=InputFile())
@click.option(
    "--model",
    "names",
    multiple=True,
    help="Name of the model in a store, several times to compare several.  [default: model]",
)
@click.option("--all-models", is_flag=True, help="Compare all trained models of a store.")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    type=click.Choice(MEASURES),
    help="What to measure, several times for several things.  "
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
    names: tuple[str, ...],
    all_models: bool,
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
    from trustream.streaming.fitted_models import load_fitted, trained_models

    if all_models:
        if names:
            raise click.UsageError("--all-models names all models: leave out --model.")
        names = tuple(trained_models(model))
    results = []
    title = ""
    for name in dict.fromkeys(names or ("model",)):
        fitted = load_fitted(model, name)
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
        results.append((name, result))
        title = fitted.title
    if as_json and len(results) == 1:
        echo_json(results[0][1].to_json(), indent=2)
    elif as_json:
        echo_json({"models": {name: result.to_json() for name, result in results}}, indent=2)
    elif len(results) == 1:
        _print(results[0][1], title, data.name)
    else:
        _print_several(results, title, data.name)


def _print_several(results: list[tuple[str, Any]], store: str, data: str) -> None:
    """Print models side by side, a line for each measure."""
    from rich.table import Table
    from rich.text import Text

    from trustream.terminal import shown

    table = Table(title=Text(shown(f"models of {store} on {data}")), title_justify="left")
    table.add_column("Measure")
    for name, _ in results:
        table.add_column(Text(shown(name)), justify="right")
    table.add_column("Unit")
    by_name = [{figure.name: figure for figure in result.figures} for _, result in results]
    for figure in results[0][1].figures:
        cells = [_value(figures.get(figure.name)) for figures in by_name]
        table.add_row(*(Text(shown(cell)) for cell in (figure.name, *cells, figure.unit)))
    tokens = [f"{result.n_tokens or 0:,}" for _, result in results]
    table.add_row("words scored", *tokens, "")
    echo_table(table)


def _value(figure: Any) -> str:
    if figure is None:
        return "-"
    digits = 4 if abs(figure.value) < 100 else 1
    error = "" if figure.standard_error is None else f" ± {figure.standard_error:.{digits}f}"
    return f"{figure.value:,.{digits}f}{error}"


def _print(result: Any, model: str, data: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from trustream.terminal import shown

    rows = f"{result.n_rows:,} rows"
    if result.n_tokens is not None:
        rows = f"{result.n_rows:,} documents, {result.n_tokens:,} words"
    title = Text(shown(f"{model} ({result.model}) on {data}: {rows}"))
    table = Table(title=title, title_justify="left")
    table.add_column("Measure")
    table.add_column("Value", justify="right")
    table.add_column("Error", justify="right")
    table.add_column("Unit")
    table.add_column("Note")
    for figure in result.figures:
        error = "" if figure.standard_error is None else f"{figure.standard_error:.4f}"
        digits = 4 if abs(figure.value) < 100 else 1
        cells = (figure.name, f"{figure.value:,.{digits}f}", error, figure.unit, figure.note)
        table.add_row(*(Text(shown(cell)) for cell in cells))
    echo_table(table)
