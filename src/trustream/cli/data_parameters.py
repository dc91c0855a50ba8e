"""Options that say how the data of a model are read, and the data; for several commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.completion import file_names
from trustream.cli.file_parameters import InputFile
from trustream.cli.tokeniser_parameters import taken_tokeniser, tokeniser_options

if TYPE_CHECKING:
    from trustream.streaming.fitted_models import FittedModel
    from trustream.streaming.model_data import ModelData

# Repeated here, so that --help does not load the readers; a test compares them. Ratings are parts
# of documents.
FORMATS = ("jsonl", "text", "csv", "parquet", "uci", "ldac", "mediawiki")

model_argument = click.argument("model", metavar="MODEL_OR_STORE", shell_complete=file_names)


def vocabulary_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --vocabulary."""
    return click.option(
        "--vocabulary",
        type=InputFile(),
        help="Words by column, one per line, for a model without words; "
        "words by number of uci and ldac.",
    )(command)


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of data; `opened_data` takes their values."""
    command = tokeniser_options("the model's")(command)
    for option in (
        click.option("--delimiter", help="Between columns of csv.  [default: by the file's name]"),
        click.option("--text-column", help="Of csv, parquet and jsonl.  [default: text]"),
        click.option(
            "--id-column",
            help="Of csv, parquet and jsonl, where a.b is b in a.  [default: id, if there is one]",
        ),
        vocabulary_option,
        click.option(
            "--format",
            "format_",
            type=click.Choice(FORMATS),
            help="Of DATA; needed for standard input.  [default: by the name]",
        ),
    ):
        command = option(command)
    return command


def opened_data(model: FittedModel, data: Path | str, options: dict[str, Any]) -> ModelData:
    """Return the data of a command for its model, and the model with words."""
    from trustream import feeds
    from trustream.streaming.model_data import read_for_model

    tokeniser = taken_tokeniser(options, model.tokeniser)
    vocabulary = options.pop("vocabulary")
    words = None if vocabulary is None else feeds.read_vocabulary(vocabulary)
    format_ = options.pop("format_")
    given = {name: value for name, value in options.items() if value is not None}
    if "id_column" in given:
        given["require_id"] = True  # a column that is not there is a mistake
    return read_for_model(
        model,
        data,
        format=format_,
        vocabulary=words,
        vocabulary_name="the vocabulary" if vocabulary is None else vocabulary.name,
        tokenise=tokeniser,
        **given,
    )


def data_title(data: Path | str) -> str:
    """Return what a command calls its data: the name of a file, or an address without a password.

    >>> data_title("news/new.jsonl"), data_title("postgresql://me:secret@host/news")
    ('new.jsonl', 'postgresql://me@host/news')
    """
    if data == "-":
        return "standard input"
    from trustream.store.addresses import shown_address

    shown = shown_address(data)
    return shown if "://" in shown else Path(shown).name
