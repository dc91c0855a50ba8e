"""The command ``trustream init``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trustream import presets
from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import (
    json_option,
    method_option,
    repeatable,
    seed_option,
    store_argument,
    topics_option,
)
from trustream.cli.tokeniser_parameters import taken_tokeniser, tokeniser_options

_EPILOG = """\b
Examples:
  trustream init topics.db --topics 100
  trustream init postgresql://localhost/topics --topics 400
  trustream init code.db --keep-case --word-pattern '\\w+'
"""


@click.command(epilog=_EPILOG, short_help="Make a STORE for documents and a model.")
@store_argument
@topics_option(100)
@click.option(
    "--held-out",
    default=0.02,
    type=Real(0, 1, max_open=True),
    help="Share of documents that is only used to score the model.",
)
@click.option(
    "--min-documents",
    default=5,
    type=Whole(1),
    help="A word becomes active once it is in so many documents.",
)
@click.option(
    "--max-words",
    default=200_000,
    type=Whole(1),
    help="Most active words; the rarest give way.",
)
@click.option(
    "--vocabulary",
    type=InputFile(),
    help="Only these words, one per line, all from the first document on.",
)
@tokeniser_options()
@method_option
@click.option(
    "--preset",
    type=click.Choice(presets.names()),
    metavar="NAME",
    help="Settings of the paper's streams (batch size, rate, iterations and priors): "
    + ", ".join(presets.names())
    + ".",
)
@click.option(
    "--batch",
    type=Whole(1),
    help="Documents of a step.  [default: by their lengths, or the preset's]",
)
@seed_option
@json_option
def init(
    store: str,
    topics: int,
    held_out: float,
    min_documents: int,
    max_words: int,
    vocabulary: Path | None,
    method: str,
    preset: str | None,
    batch: int | None,
    seed: int,
    as_json: bool,
    **text_options: Any,
) -> None:
    """Make a STORE for documents and for a model with some number of topics.

    STORE is a file name (SQLite) or a postgresql:// address. It keeps how texts are split into
    words, for all that is ingested, transformed and evaluated.
    """
    from trustream import feeds
    from trustream.streaming.setup import init_store

    options: dict[str, Any] = {"min_documents": min_documents, "max_words": max_words}
    if vocabulary is not None:
        options = {"vocabulary": feeds.read_vocabulary(vocabulary)}
    prepared = init_store(
        store,
        topics,
        method=method,
        preset=preset,
        batch_size=batch,
        random_state=seed,
        held_out=held_out,
        tokeniser=taken_tokeniser(text_options),
        **options,
    )
    if as_json:
        echo_json({"store": prepared.store, "topics": prepared.n_topics, "method": prepared.method})
    else:
        echo(f"{prepared.store} is ready for {prepared.n_topics} topics.")
        name = repeatable(store)
        echo(f"Next: trustream ingest {name} FILE..., and trustream train {name}")
