"""The command ``trustream transform``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.cluster_parameters import (
    ClusterData,
    check_workers,
    cluster_options,
    documents_done,
    read_by_workers,
    say_start,
)
from trustream.cli.data_parameters import data_options, data_title, model_argument, opened_data
from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, naming_init

if TYPE_CHECKING:
    from trustream.streaming.fitted_models import FittedModel
    from trustream.topics.inference import DocumentTopics

_EPILOG = """\b
Examples:
  trustream transform topics.db new.jsonl --json > proportions.jsonl
  trustream transform topics.safetensors new.csv --text-column body
  tail -100 log.txt | trustream transform topics.db - --format text --top 1
  trustream transform topics.db "new/*.parquet" --cluster auto --out shares/
"""


@click.command(epilog=_EPILOG, short_help="Print the topics of new documents.")
@model_argument
@click.argument("data", type=ClusterData())
@click.option("--top", default=5, type=Whole(1), help="Topics shown, the largest.")
@click.option("--all", "everything", is_flag=True, help="Show all topics, in their order.")
@click.option("--out", metavar="FOLDER", help="With --cluster: workers write Parquet files here.")
@cluster_options
@data_options
@model_option
@json_option
def transform(
    model: str,
    data: Path | str,
    top: int,
    everything: bool,
    out: str | None,
    cluster: str | None,
    workers: int | None,
    name: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the topics of new documents, each with its id.

    MODEL_OR_STORE is a store with a model, or a file that `export` or an estimator's `save` wrote.
    DATA are documents in any format that `ingest` reads (.jsonl, .csv or .parquet with texts, .txt
    with one document per line, ...; - is standard input), or a matrix with the model's columns
    (.npz, .npy, .mtx, .csv of numbers). Texts are split into words as those that the model has
    learned from. A document without an id has the name of the file and the number of its line.

    With --cluster, DATA are Parquet files (a folder, or a pattern in quotes) or the address of a
    store, whose documents workers read; --out has them write the proportions of all topics, a file
    for each part of DATA, and goes on where it was stopped.
    """
    from trustream.streaming.fitted_models import load_fitted
    from trustream.topics.inference import infer

    check_workers(cluster, workers)
    if out is not None and cluster is None:
        raise click.UsageError("--out is for the workers of a cluster: give --cluster.")
    with naming_init(model):
        fitted = load_fitted(model, name)
    fitted.check_topics()
    n_documents = n_unknown = 0
    ids = fitted.estimator.topic_names_.ids
    if cluster is not None:
        say_start(cluster)
        if out is not None:
            _write(fitted, str(data), out, cluster, workers, options, as_json)
            return
        from trustream.cluster.transforming import transform as on_cluster

        fitted, reading = read_by_workers(fitted, options)
        documents = on_cluster(fitted, data, cluster=cluster, workers=workers, top=top, **reading)
    else:
        found = opened_data(fitted, data, options)
        documents = infer(
            found.model.estimator,
            found.rows,
            top=top,
            vocabulary=found.model.words,
            name=found.data.name,
        )
    for document in documents:
        n_documents += 1
        n_unknown += not document.n_known
        if as_json:
            _print_json(document, everything)
        else:
            _print_line(document, ids if everything else None)
    if n_unknown:
        echo(
            f"Warning: the model knows no word of {n_unknown:,} of {n_documents:,} documents, and "
            "nothing about their topics",
            err=True,
        )


def _write(
    fitted: FittedModel,
    data: str,
    out: str,
    cluster: str,
    workers: int | None,
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """Have workers write the proportions, and say what is there."""
    from trustream.cluster.transforming import transform_to

    fitted, reading = read_by_workers(fitted, options)
    with documents_done(data_title(data)) as progress:
        result = transform_to(
            out, fitted, data, cluster=cluster, workers=workers, progress=progress, **reading
        )
    if as_json:
        echo_json(dataclasses.asdict(result))
        return
    kept = f", {result.n_kept:,} of them from before" if result.n_kept else ""
    echo(f"{result.n_documents:,} documents in {result.n_files:,} files of {out}{kept}")
    if result.n_unknown:
        echo(f"the model knows no word of {result.n_unknown:,} of them")


def _print_json(document: DocumentTopics, everything: bool) -> None:
    values: dict[str, Any] = {
        "id": document.id,
        "n_tokens": document.n_tokens,
        "n_known": document.n_known,
    }
    if everything:
        values["theta"] = [round(proportion, 6) for proportion in document.proportions]
    else:
        values["topics"] = [
            {**dataclasses.asdict(part), "proportion": round(part.proportion, 6)}
            for part in document.topics
        ]
    echo_json(values)


def _print_line(document: DocumentTopics, ids: Sequence[int] | None) -> None:
    """Print a document with all topics by their ids, or with the largest ones."""
    if not document.n_known:
        n = document.n_tokens
        echo(f"{document.id}  {f'none of its {n:,} words is known' if n else 'it has no words'}")
        return
    if ids is not None:
        found = zip(ids, document.proportions, strict=True)
        parts = [f"{topic}: {value:.3f}" for topic, value in found]
    else:
        parts = [f"{part.topic}: {part.proportion:.3f}" for part in document.topics]
    echo(f"{document.id}  {'  '.join(parts)}")
