"""The command ``trustream ingest``."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.output import echo, echo_json, progress
from trustream.cli.shared_parameters import json_option, opened, store_argument
from trustream.cli.tokeniser_parameters import taken_tokeniser, tokeniser_options

# Repeated here, so that --help does not load the readers; a test compares them.
FORMATS = ("jsonl", "text", "csv", "ratings", "parquet", "uci", "ldac", "mediawiki")

# Suffixes of files whose progress is counted in rows.
_ROW_SUFFIXES = (".parquet", ".pq")


def _limit(name: str, default: int, text: str) -> Callable[..., Any]:
    """Return an option that limits the size of a record; its default is that of `feeds.Options`."""
    return click.option(name, default=default, type=Whole(1), help=text)


_EPILOG = """\b
Examples:
  trustream ingest topics.db news.jsonl
  trustream ingest topics.db enwiki-pages-articles.xml.bz2
  trustream ingest topics.db log.txt --follow       # goes on as lines are added
  tail -f events.jsonl | trustream ingest topics.db - --format jsonl
"""


@click.command(epilog=_EPILOG)
@store_argument
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", "format_", type=click.Choice(FORMATS), help="[default: by the name]")
@click.option(
    "--on-error",
    default="stop",
    type=click.Choice(["stop", "skip"]),
    help="What to do at a bad record.",
)
@click.option("--again", is_flag=True, help="Read a file from its start, though it was read.")
@click.option("--follow", is_flag=True, help="Wait at the end for lines to be added.")
@click.option("--idle", type=Real(0), help="Stop following after so many idle seconds.")
@click.option("--batch", default=1000, type=Whole(1), help="Records per commit.")
@click.option("--vocabulary", type=InputFile(), help="Words by number, for uci and ldac.")
@click.option(
    "--replaced",
    default="stop",
    type=click.Choice(["stop", "read"]),
    help="What to do with a file that is not the one that was read before.",
)
@click.option("--name", help="Names documents without an id: NAME:7.  [default: the file's name]")
@click.option("--delimiter", help="Between columns.  [default: by the file's name]")
@click.option("--id-column", default="id", help="Of csv and parquet.")
@click.option("--text-column", default="text", help="Of csv and parquet.")
@click.option("--time-column", help="Of csv and parquet, if there is one.")
@click.option("--user-column", default="user", help="Of ratings.")
@click.option("--item-column", default="item", help="Of ratings.")
@click.option("--rating-column", default="rating", help="Of ratings.")
@click.option("--timestamp-column", default="timestamp", help="Of ratings.")
@click.option("--threshold", type=Real(), help="Of ratings: liked from here on.")
@click.option("--in-order", is_flag=True, help="Sort ratings by time first.")
@click.option(
    "--page-key",
    default="title",
    type=click.Choice(["title", "id"]),
    help="What names a page of a MediaWiki dump.",
)
@tokeniser_options("the store's")
@_limit("--max-bytes", 2**25, "Bytes of a line, row or page; a longer one is a bad record.")
@_limit("--max-words", 2**22, "Words of a record; one with more is a bad record.")
@_limit("--max-columns", 10_000, "Columns of a table; one with more is not read.")
@_limit("--max-depth", 200, "JSON inside JSON; a line with more levels is a bad record.")
@json_option
def ingest(
    store: str,
    files: tuple[str, ...],
    format_: str | None,
    on_error: str,
    again: bool,
    replaced: str,
    follow: bool,
    idle: float | None,
    batch: int,
    vocabulary: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Add documents of files, or of standard input (-), to a STORE, each exactly once.

    A file that was read before adds only what was appended to it since. An ingest that was stopped
    or killed goes on where it was when it is run again.

    Texts are split into words as the STORE says (`trustream tokeniser`). The options for it are
    refused if they say something else; a STORE that does not say keeps those of the first ingest.
    """
    from trustream import feeds

    if vocabulary is not None:
        options["vocabulary"] = feeds.read_vocabulary(vocabulary)
    with opened(store) as found:
        tokeniser = taken_tokeniser(options, found.tokeniser())
        if tokeniser is not None:
            options["tokenise"] = tokeniser
        for file in files:
            title = "standard input" if file == "-" else Path(file).name
            with progress(title, _size(file, format_, follow)) as advance:
                result = feeds.ingest(
                    found,
                    file,
                    format=format_,
                    batch=batch,
                    on_error=on_error,
                    again=again,
                    replaced=replaced,
                    follow=follow,
                    idle=idle,
                    progress=lambda at: advance(at.done),
                    **options,
                )
            for problem in result.problems:
                echo(f"left out: {problem}", err=True)
            if as_json:
                echo_json({"file": file, **dataclasses.asdict(result), "problems": result.problems})
            else:
                echo(
                    f"{title}: {result.n_records:,} records, {result.n_documents:,} new documents, "
                    f"{result.n_tokens:,} tokens" + _others(result)
                )


def _size(file: str, format_: str | None, follow: bool) -> int | None:
    """Return the number of bytes to read, None if it is not known; Parquet is counted in rows."""
    path = Path(file)
    rows = format_ == "parquet" or path.suffix.lower() in _ROW_SUFFIXES
    if follow or file == "-" or rows or not os.path.isfile(path):
        return None
    return path.stat().st_size


def _others(result: Any) -> str:
    parts = []
    if result.n_repeated:
        parts.append(f"{result.n_repeated:,} repeated")
    if result.n_bad:
        parts.append(f"{result.n_bad:,} bad ones left out")
    return f" ({', '.join(parts)})" if parts else ""
