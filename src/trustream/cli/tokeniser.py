"""The command ``trustream tokeniser``."""

from __future__ import annotations

from typing import Any

import click

from trustream.cli.output import echo, echo_json
from trustream.cli.shared_parameters import json_option, opened, repeatable, store_argument
from trustream.cli.tokeniser_parameters import taken_tokeniser, tokeniser_options

_EPILOG = """\b
Examples:
  trustream tokeniser topics.db
  trustream tokeniser topics.db --keep-case --word-pattern '\\w+'
  trustream tokeniser topics.db --default
"""


@click.command(epilog=_EPILOG, short_help="Show or change how texts become words.")
@store_argument
@tokeniser_options("as it is")
@click.option("--default", "usual", is_flag=True, help="The usual way, but for the other options.")
@json_option
def tokeniser(store: str, usual: bool, as_json: bool, **options: Any) -> None:
    """Show how a STORE splits texts into words, or change it.

    Without options nothing is changed. With options the others stay as they are, or become the
    usual ones with --default.

    A change is for texts that come from now on. Documents that are in the STORE keep their words,
    and the model what it has learned from them; to split them anew, ingest their files again with
    --again --replace, and train.
    """
    from trustream.feeds import TokeniserChange, change_tokeniser
    from trustream.text import Tokeniser

    with opened(store) as found:
        # What is kept may be damaged, and is replaced then.
        kept = None if usual else found.tokeniser()
        wanted = taken_tokeniser(options, kept) or (Tokeniser() if usual else None)
        if wanted is not None:
            change = change_tokeniser(found, wanted)
        elif kept is not None:
            change = TokeniserChange(kept, kept, found.totals().documents)
        else:
            change = None
    if as_json:
        echo_json(
            {
                "tokeniser": None if change is None else change.now.to_dict(),
                "changed": change is not None and change.changed,
                "documents": None if change is None else change.n_documents,
            }
        )
    else:
        _print(change, repeatable(store))


def _print(change: Any, store: str) -> None:
    from trustream.tokenisers import described

    if change is None:
        echo(
            f"{store} does not say how its texts were split into words. New texts are split in the "
            f"usual way; the first ingest with options, or trustream tokeniser {store} with some "
            "(--default for the usual way), says so."
        )
        return
    echo(described(change.now))
    if change.changed and change.n_documents:
        was = "" if change.before is None else f" Before: {described(change.before)}."
        echo(
            f"The {change.n_documents:,} documents in {store} keep the words that they have; only "
            f"texts that come from now on are split like this.{was} To split them anew, ingest "
            "their files again with --again --replace, and train again."
        )
