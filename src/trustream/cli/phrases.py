"""The command ``trustream phrases``."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from trustream.cli.completion import file_names
from trustream.cli.data_parameters import FORMATS
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option
from trustream.cli.tokeniser_parameters import taken_tokeniser, tokeniser_options

# Repeated here, so that --help does not load them; a test compares them.
SCORES = ("npmi", "log-likelihood")

_EPILOG = """\b
Examples:
  trustream phrases news.jsonl > phrases.txt
  trustream init topics.db --phrases phrases.txt
  trustream phrases news.jsonl --phrases phrases.txt    # longer ones
  trustream phrases nachrichten.csv --language de --min-count 50
"""


@click.command(epilog=_EPILOG, short_help="Find words that belong together.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", shell_complete=file_names)
@click.option("--format", "format_", type=click.Choice(FORMATS), help="[default: by the name]")
@click.option("--text-column", default="text", help="Of csv, parquet and jsonl.")
@click.option("--min-count", default=10, type=Whole(1), help="A phrase comes so often.")
@click.option("--scoring", default="npmi", type=click.Choice(SCORES), help="What is a phrase.")
@click.option("--threshold", type=Real(), help="Least score.  [default: 0.5, log-likelihood 15.1]")
@click.option("--max-phrases", default=10_000, type=Whole(1), help="Most phrases that are named.")
@tokeniser_options()
@json_option
def phrases(
    files: tuple[str, ...],
    format_: str | None,
    text_column: str,
    min_count: int,
    scoring: str,
    threshold: float | None,
    max_phrases: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the phrases in the texts of files, such as "new york", those that are most so first.

    The words of a phrase stand next to one another, with no stop word between them. Give the list
    to `init` or to `tokeniser` (--phrases): new_york is one word in texts that come from then on.
    Files are read once, and memory has a bound.
    """
    from trustream.feeds import learn_phrases
    from trustream.phrases import Phrases
    from trustream.text import Tokeniser

    settings = {"min_count": min_count, "scoring": scoring, "threshold": threshold}
    counted = Phrases(**settings, max_phrases=max_phrases)  # type: ignore[arg-type]
    tokeniser = taken_tokeniser(options)
    if tokeniser is not None and not isinstance(tokeniser, Tokeniser):
        raise click.UsageError("Phrases are found in words by rules; leave --function out.")
    learned = learn_phrases(
        files, tokeniser=tokeniser, phrases=counted, format=format_, text_column=text_column
    )
    found = learned.found()
    for phrase in found:
        if as_json:
            echo_json(dataclasses.asdict(phrase))
        else:
            echo(phrase.text)
    some = "" if len(found) < max_phrases else ", and perhaps more (--max-phrases)"
    echo(f"{len(found):,} phrases in {learned.n_words:,} words{some}", err=True)
