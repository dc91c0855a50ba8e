"""The command ``trustream export``."""

from __future__ import annotations

from pathlib import Path

import click

from trustream.cli.file_parameters import ModelFile
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, model_option, opened, store_argument

_EPILOG = """\b
Examples:
  trustream export topics.db topics.safetensors
  trustream evaluate topics.safetensors held_out.jsonl     # what reads it
"""


@click.command(epilog=_EPILOG, short_help="Write the model of a STORE to a file.")
@store_argument
@click.argument("path", type=ModelFile())
@model_option
@json_option
def export(store: str, path: Path, name: str, as_json: bool) -> None:
    """Write a STORE's model to PATH, for `trustream.load` and the other commands.

    The file has the words of the topics and how texts are split into words: `topics`, `transform`
    and `evaluate` take it in the place of the STORE.
    """
    from trustream.streaming.fitted_models import export_model

    with opened(store) as found:
        model = export_model(found, path, name)
    if as_json:
        echo_json({"path": model.path, "topics": model.n_topics, "words": model.n_words})
    else:
        echo(f"{model.path}: {model.n_topics} topics, {model.n_words:,} words")
