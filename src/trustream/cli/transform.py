"""The command ``trustream transform``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.data_parameters import data_argument, data_options, model_argument, opened_data
from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, naming_init

if TYPE_CHECKING:
    from trustream.topics.inference import DocumentTopics

_EPILOG = """\b
Examples:
  trustream transform topics.db new.jsonl --json > proportions.jsonl
  trustream transform topics.safetensors new.csv --text-column body
  tail -100 log.txt | trustream transform topics.db - --format text --top 1
"""


@click.command(epilog=_EPILOG, short_help="Print the topics of new documents.")
@model_argument
@data_argument
@click.option("--top", default=5, type=Whole(1), help="Topics shown, the largest.")
@click.option("--all", "everything", is_flag=True, help="Show all topics, in their order.")
@data_options
@model_option
@json_option
def transform(
    model: str,
    data: Path | str,
    top: int,
    everything: bool,
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
    """
    from trustream.streaming.fitted_models import load_fitted
    from trustream.topics.inference import infer

    with naming_init(model):
        fitted = load_fitted(model, name)
    fitted.check_topics()
    found = opened_data(fitted, data, options)
    n_documents = n_unknown = 0
    ids = fitted.estimator.topic_names_.ids
    for document in infer(
        found.model.estimator,
        found.rows,
        top=top,
        vocabulary=found.model.words,
        name=found.data.name,
    ):
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
