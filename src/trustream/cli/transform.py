"""The command ``trustream transform``."""

from __future__ import annotations

from pathlib import Path

import click

from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, opened, store_argument

_EPILOG = """\b
Examples:
  trustream transform topics.db new.jsonl
  trustream transform topics.db new.txt --top 3
  trustream transform topics.db new.jsonl --json > proportions.jsonl
"""


@click.command(epilog=_EPILOG, short_help="Print the topics of new documents.")
@store_argument
@click.argument("data", type=InputFile())
@click.option("--top", default=5, type=Whole(1), help="Topics shown.")
@model_option
@json_option
def transform(store: str, data: Path, top: int, name: str, as_json: bool) -> None:
    """Topics of new documents (.txt, .jsonl or a matrix) by a STORE's model."""
    from trustream import feeds
    from trustream.streaming.fitted_models import column_words
    from trustream.streaming.published import load_model
    from trustream.topics.inference import infer

    with opened(store) as found:
        model = load_model(found, name)
    for document in infer(model, feeds.read_matrix(data, column_words(model)), top=top):
        if as_json:
            theta = [round(proportion, 6) for proportion in document.proportions]
            echo_json({"row": document.row, "theta": theta})
        else:
            parts = (f"{found.topic}: {found.proportion:.3f}" for found in document.topics)
            echo(f"{document.row + 1:6d}  {'  '.join(parts)}")
