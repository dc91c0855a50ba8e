"""The command ``trustream evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trustream.cli.cluster_parameters import (
    ClusterData,
    check_workers,
    cluster_options,
    documents_done,
    read_by_workers,
    say_start,
)
from trustream.cli.data_parameters import (
    data_options,
    data_title,
    model_argument,
    opened_data,
)
from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json, echo_table, progress
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
  trustream evaluate topics.db new.txt --model coarse --model fine
  zcat new.jsonl.gz | trustream evaluate topics.db - --format jsonl
  trustream evaluate topics.db "held_out/*.parquet" --cluster auto -m chib
"""


@click.command(epilog=_EPILOG, short_help="Score a model on held-out DATA.")
@model_argument
@click.argument("data", type=ClusterData())
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
    metavar="MEASURE",
    help="One of " + ", ".join(MEASURES) + "; repeatable.  "
    "[default: chib, completion, bound, npmi, diversity]",
)
@data_options
@click.option(
    "--reference",
    type=InputFile(),
    help="Reference corpus of the coherence.  [default: DATA]",
)
@click.option("--rows", type=Whole(1), help="Take the first ROWS rows of DATA only.")
@click.option("--words", default=10, type=Whole(2), help="Top words per topic.")
@seed_option
@cluster_options
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def evaluate(
    model: str,
    data: Path | str,
    names: tuple[str, ...],
    all_models: bool,
    measures: tuple[str, ...],
    reference: Path | None,
    rows: int | None,
    words: int,
    seed: int,
    cluster: str | None,
    workers: int | None,
    jobs: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Score a model on held-out DATA: likelihood, bound, coherence, density.

    MODEL_OR_STORE is a store with a model, or a file that `export` or an estimator's `save` wrote.
    DATA are documents in any format that `ingest` reads (.jsonl, .csv or .parquet with texts, .txt
    with one document per line, ...; - is standard input), or a matrix with the model's columns
    (.npz, .npy, .mtx, .csv of numbers). Texts are split into words as those that the model has
    learned from.

    With --cluster, DATA are Parquet files (a folder, or a pattern in quotes) or the address of a
    store, whose documents workers read and score, each with --jobs threads.
    """
    from trustream.evaluation.report import report
    from trustream.streaming.fitted_models import load_fitted, trained_models

    check_workers(cluster, workers)
    if cluster is not None and reference is not None:
        raise click.UsageError("--reference is for one machine: leave it out with --cluster.")
    if all_models and names:
        raise click.UsageError("--all-models names all models: leave out --model.")
    with naming_init(model):
        names = tuple(trained_models(model)) if all_models else names or ("model",)
        models = {name: load_fitted(model, name) for name in dict.fromkeys(names)}
    for fitted in models.values():
        fitted.check_scores()
    if data == "-" and len(models) > 1:
        raise click.UsageError("Standard input can be read for one model only: give a file.")
    results: dict[str, Any] = {}
    for name, fitted in models.items():
        if cluster is not None:
            where = {"cluster": cluster, "workers": workers, "worker_threads": jobs or 1}
            scoring = {"measures": measures or None, "n_words": words, "random_state": seed}
            result = _on_cluster(fitted, str(data), {**where, **scoring}, rows, dict(options))
            _warn_of_unknown(result)
            results[name] = result
            continue
        found = opened_data(fitted, data, dict(options))
        other = None
        if reference is not None:
            other = opened_data(fitted, reference, {**options, "format_": None}).counts()
        counts = found.counts(rows)
        if found.model.words is not None and counts.shape[0] and not counts.sum():
            raise click.ClickException(
                f"the model knows no word of the {counts.shape[0]:,} documents of {data}, so that "
                "there is nothing to score; see to it that they are in its language, and that "
                "--text-column names their texts"
            )
        result = report(
            fitted.estimator,
            counts,
            measures=measures or None,
            reference=other,
            n_words=words,
            vocabulary=found.model.words,
            random_state=seed,
            n_jobs=jobs,
            progress=progress,
        )
        _warn_of_unknown(result)
        results[name] = result
    title = next(iter(models.values())).title
    if as_json and len(results) == 1:
        echo_json(result.to_json(), indent=2)
    elif as_json:
        echo_json({"models": {name: found.to_json() for name, found in results.items()}}, indent=2)
    elif len(results) == 1:
        _print(result, title, data_title(data))
    else:
        _print_several(results, title, data_title(data))


def _on_cluster(
    fitted: Any, data: str, settings: dict[str, Any], rows: int | None, options: dict[str, Any]
) -> Any:
    """Return the report of a model on documents that workers read."""
    from trustream.cluster.evaluating import evaluate as on_cluster

    say_start(settings["cluster"])

    fitted, reading = read_by_workers(fitted, options)
    with documents_done(data_title(data)) as progress:
        return on_cluster(fitted, data, n_documents=rows, progress=progress, **settings, **reading)


def _warn_of_unknown(result: Any) -> None:
    if result.n_empty:
        echo(
            f"Warning: the model knows no word of {result.n_empty:,} of {result.n_rows:,} "
            "documents, which count for nothing here",
            err=True,
        )


def _print_several(results: dict[str, Any], store: str, data: str) -> None:
    """Print models side by side, a line for each measure."""
    by_name = [{figure.name: figure for figure in found.figures} for found in results.values()]
    rows = []
    for figure in next(iter(results.values())).figures:
        cells = [_value(figures.get(figure.name)) for figures in by_name]
        rows.append([figure.name, *cells, figure.unit])
    rows.append(["words scored", *(f"{found.n_tokens or 0:,}" for found in results.values()), ""])
    columns = ["Measure", *(f"{name}>" for name in results), "Unit"]
    echo_table(f"models of {store} on {data}", columns, rows)


def _value(figure: Any) -> str:
    if figure is None:
        return "-"
    digits = 4 if abs(figure.value) < 100 else 1
    error = "" if figure.standard_error is None else f" ± {figure.standard_error:.{digits}f}"
    return f"{figure.value:,.{digits}f}{error}"


def _print(result: Any, model: str, data: str) -> None:
    size = f"{result.n_rows:,} rows"
    if result.n_tokens is not None:
        size = f"{result.n_rows:,} documents, {result.n_tokens:,} words"
    if result.n_empty:
        size = f"{result.n_rows:,} documents ({result.n_empty:,} without a known word), " + (
            f"{result.n_tokens:,} words"
        )
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
