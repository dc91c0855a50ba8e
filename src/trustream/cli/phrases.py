"""The command ``trustream phrases``."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from trustream.cli.completion import file_names
from trustream.cli.data_parameters import FORMATS
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, opened, repeatable
from trustream.cli.tokeniser_parameters import taken_tokeniser, tokeniser_options

if TYPE_CHECKING:
    from trustream.feeds.phrase_adoption import AdoptedPhrases
    from trustream.phrases import Phrase, Phrases

# Repeated here, so that --help does not load them; a test compares them.
SCORES = ("npmi", "log-likelihood")

_EPILOG = """\b
Examples:
  trustream phrases topics.db                # of documents in a store
  trustream phrases topics.db --adopt        # join them there
  trustream phrases news.jsonl > phrases.txt
  trustream init topics.db --phrases phrases.txt
  trustream phrases news.jsonl --phrases phrases.txt    # longer ones
  trustream phrases nachrichten.csv --language de --min-count 50
"""


@click.command(epilog=_EPILOG, short_help="Find words that belong together.")
@click.argument(
    "sources", nargs=-1, required=True, metavar="STORE | FILE...", shell_complete=file_names
)
@click.option("--format", "format_", type=click.Choice(FORMATS), help="[default: by the name]")
@click.option("--text-column", help="Of csv, parquet and jsonl.  [default: text]")
@click.option("--min-count", default=10, type=Whole(1), help="A phrase comes so often.")
@click.option("--scoring", default="npmi", type=click.Choice(SCORES), help="What is a phrase.")
@click.option("--threshold", type=Real(), help="Least score.  [default: 0.5, log-likelihood 15.1]")
@click.option("--max-phrases", default=10_000, type=Whole(1), help="Most phrases that are named.")
@click.option(
    "--adopt", is_flag=True, help="Make one word of each, in the STORE and in texts to come."
)
@tokeniser_options()
@json_option
def phrases(
    sources: tuple[str, ...],
    format_: str | None,
    text_column: str | None,
    min_count: int,
    scoring: str,
    threshold: float | None,
    max_phrases: int,
    adopt: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the phrases in a STORE or in files, such as "new york", those that are most so first.

    The words of a phrase stand next to one another, with no stop word between them.

    A STORE that keeps the order of words (`init --keep-order`) has the phrases of the documents
    that are in it now; those that it joins already are not named. --adopt makes one word of each,
    such as new_york, in its documents and in all texts that come from then on. Train the model
    then: these are new words for it. Run it again for longer phrases, or if it was stopped
    half-way.

    The list of files is for `init` or `tokeniser` (--phrases): the phrases are one word in texts
    that come from then on.

    Data are read once, and memory has a bound.
    """
    from trustream.phrases import Phrases
    from trustream.streaming.fitted_models import is_store

    settings = {"min_count": min_count, "scoring": scoring, "threshold": threshold}
    counted = Phrases(**settings, max_phrases=max_phrases)  # type: ignore[arg-type]
    tokeniser = taken_tokeniser(options)
    stores = [source for source in sources if is_store(source)]
    adopted = None
    if stores:
        if len(sources) > 1:
            raise click.UsageError("Give one STORE, or files.")
        if tokeniser is not None or format_ is not None or text_column is not None:
            raise click.UsageError(
                "A STORE has its documents as words already; options of texts are for files."
            )
        learned, adopted = _of_store(stores[0], counted, adopt)
    elif adopt:
        raise click.UsageError("--adopt is for a STORE; give the list of files to init --phrases.")
    else:
        learned = _of_files(sources, counted, tokeniser, format_, text_column or "text")
    found = learned.found() if adopted is None else list(adopted.phrases)
    _print(found, as_json)
    some = "" if len(found) < max_phrases else ", and perhaps more (--max-phrases)"
    echo(f"{len(found):,} phrases in {learned.n_words:,} words{some}", err=True)
    if adopted is not None:
        _tell(adopted, repeatable(stores[0]))


def _of_store(store: str, phrases: Phrases, adopt: bool) -> tuple[Phrases, AdoptedPhrases | None]:
    from trustream.feeds import adopt_phrases, stored_phrases

    with opened(store) as found:
        counted = stored_phrases(found, phrases)
        return counted, adopt_phrases(found, counted.found()) if adopt else None


def _of_files(
    files: tuple[str, ...], phrases: Phrases, tokeniser: Any, format_: str | None, column: str
) -> Phrases:
    from trustream.feeds import learn_phrases
    from trustream.text import Tokeniser

    if tokeniser is not None and not isinstance(tokeniser, Tokeniser):
        raise click.UsageError("Phrases are found in words by rules; leave --function out.")
    return learn_phrases(
        files, tokeniser=tokeniser, phrases=phrases, format=format_, text_column=column
    )


def _print(found: list[Phrase], as_json: bool) -> None:
    for phrase in found:
        if as_json:
            echo_json(dataclasses.asdict(phrase))
        else:
            echo(phrase.text)


def _tell(adopted: AdoptedPhrases, store: str) -> None:
    echo(
        f"{store} joins {adopted.n_phrases:,} phrases now; the words of {adopted.n_joined:,} "
        "documents were made anew.",
        err=True,
    )
    if adopted.n_without_order:
        echo(
            f"{adopted.n_without_order:,} documents came as words, or before the order was kept: "
            "they keep the words that they have.",
            err=True,
        )
    if adopted.phrases:
        echo(
            f"These are new words for models, which do not know them yet: trustream train {store}",
            err=True,
        )
