"""The command ``trustream init``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

from trustream import presets
from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.option_names import in_current_options
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import (
    json_option,
    method_option,
    model_option,
    repeatable,
    seed_option,
    store_argument,
    suggested_model,
    topics_option,
)
from trustream.cli.tokeniser_parameters import taken_tokeniser, tokeniser_options
from trustream.streaming.saved_names import DEFAULT_NAME

_EPILOG = """\b
Examples:
  trustream init topics.db --topics 100
  trustream init topics.db --model fine --topics 400    # another model
  trustream init postgresql://localhost/topics --topics 400
  trustream init news.db --topics 50 --seed-words seeds.json
  trustream init code.db --keep-case --word-pattern '\\w+'
  trustream init topics.db --keep-text                  # to show excerpts
  trustream init topics.db --keep-order                 # to find phrases
  trustream init nachrichten.db --language de --phrases phrases.txt
"""


@click.command(epilog=_EPILOG, short_help="Make a STORE for documents and a model.")
@store_argument
@topics_option(100)
@model_option
@click.option(
    "--held-out",
    type=Real(0, 1, max_open=True),
    help="Share of documents that is only used to score the model.  "
    "[default: 0.02, or that of the store]",
)
@click.option(
    "--min-documents",
    type=Whole(1),
    help="A word becomes active once it is in so many documents.  "
    "[default: 5, or that of the store]",
)
@click.option(
    "--max-words",
    type=Whole(1),
    help="Most active words; the rarest give way.  [default: 200000, or that of the store]",
)
@click.option(
    "--vocabulary",
    type=InputFile(),
    help="Only these words, one per line, all from the first document on.",
)
@click.option(
    "--keep-text",
    is_flag=True,
    help="Keep the texts of documents too, so that excerpts can be shown; they need space.",
)
@click.option(
    "--text-characters",
    type=Whole(1, 10_000_000),
    help="With --keep-text: keep so many characters of each document.  "
    "[default: 10000, or that of the store]",
)
@click.option(
    "--keep-order",
    is_flag=True,
    help="Keep the order of words too, so that phrases can be found in the STORE; it needs space.",
)
@click.option(
    "--seed-words",
    type=InputFile(),
    help='Words by which topics begin, as JSON: {"sports": ["team", "game"]}. The names become '
    "labels.",
)
@click.option(
    "--seed-strength",
    type=Real(0, min_open=True),
    help="Tokens that each token of a seed word counts more in its topic.  [default: 0.5]",
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
    name: str,
    held_out: float | None,
    min_documents: int | None,
    max_words: int | None,
    vocabulary: Path | None,
    keep_text: bool,
    text_characters: int | None,
    keep_order: bool,
    seed_words: Path | None,
    seed_strength: float | None,
    method: str,
    preset: str | None,
    batch: int | None,
    seed: int,
    as_json: bool,
    **text_options: Any,
) -> None:
    """Make a STORE for documents and for a model with some number of topics.

    STORE is a file name (SQLite) or a postgresql:// address. If it is there already, it keeps its
    documents and its models, and --model NAME adds another model to it. It keeps how texts are
    split into words, for all that is ingested, transformed and evaluated.
    """
    from trustream import feeds
    from trustream.streaming.setup import init_store

    # What is not given is as in the store, or the default of a new one.
    given = {"held_out": held_out, "min_documents": min_documents, "max_words": max_words}
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if text_characters is not None and not keep_text:
        raise click.UsageError("--text-characters says how much --keep-text keeps: give both")
    if keep_text:
        options["keep_text"] = text_characters or True
    if keep_order:
        options["keep_order"] = True
    if vocabulary is not None:
        options["vocabulary"] = feeds.read_vocabulary(vocabulary)
    seeds = None if seed_words is None else feeds.read_seed_words(seed_words)
    with warnings.catch_warnings(record=True) as noticed:
        warnings.simplefilter("always", UserWarning)
        prepared = init_store(
            store,
            topics,
            method=method,
            preset=preset,
            batch_size=batch,
            random_state=seed,
            name=name,
            tokeniser=taken_tokeniser(text_options),
            seed_words=seeds,
            seed_strength=seed_strength,
            **options,
        )
    for notice in noticed:
        echo(f"Warning: {in_current_options(str(notice.message))}", err=True)
    if as_json:
        echo_json(
            {
                "store": prepared.store,
                "topics": prepared.n_topics,
                "method": prepared.method,
                "model": prepared.name,
                "others": list(prepared.others),
            }
        )
        return
    named = "" if name == DEFAULT_NAME else f" in the model {name!r}"
    beside = "" if not prepared.others else f", beside {', '.join(map(repr, prepared.others))}"
    echo(f"{prepared.store} is ready for {prepared.n_topics} topics{named}{beside}.")
    shown = repeatable(store)
    echo(
        f"Next: trustream ingest {shown} FILE..., and trustream train {shown}"
        f"{suggested_model(name)}"
    )
