"""The command ``trustream ingest``."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Real, Whole
from trustream.cli.output import echo, echo_json, progress
from trustream.cli.shared_parameters import json_option, opened, store_argument

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
  trustream ingest topics.db articles/ "archive/*.jsonl.gz"
  trustream ingest topics.db posts.jsonl --text-column post.body --id-column post.id
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
@click.option(
    "--id-column", default="id", help='Of csv, parquet and jsonl, where a.b is b in a; "" for none.'
)
@click.option("--text-column", default="text", help="Of csv, parquet and jsonl.")
@click.option("--time-column", help="Of csv, parquet and jsonl, if there is one.")
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
@click.option("--word-pattern", help="Regular expression of a word in text.")
@click.option("--min-length", type=Whole(1), help="Letters of a word in text.")
@click.option(
    "--stop-words",
    type=InputFile(),
    help="Words to leave out of text, one per line.  [default: English ones]",
)
@click.option("--keep-case", is_flag=True, help="Do not make text lower case.")
@click.option(
    "--workers",
    type=Whole(0),
    help="Processes that help to read a large file, 0 for none.  [default: by its size]",
)
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
    word_pattern: str | None,
    min_length: int | None,
    stop_words: Path | None,
    keep_case: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Add documents of files, or of standard input (-), to a STORE, each exactly once.

    A FILE may be a folder, whose files are read in the order of their names, or a pattern in
    quotes. A file that was read before adds only what was appended to it since. An ingest that was
    stopped or killed goes on where it was when it is run again.
    """
    from trustream import feeds

    if vocabulary is not None:
        options["vocabulary"] = feeds.read_vocabulary(vocabulary)
    options["tokenise"] = _tokeniser(word_pattern, min_length, stop_words, keep_case)
    options["id_column"] = options["id_column"] or None
    with opened(store) as found:
        for file, title, name in _listed(files, format_):
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
                    **(options if name is None else {**options, "name": options["name"] or name}),
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


def _listed(files: tuple[str, ...], format_: str | None) -> Iterator[tuple[str, str, str | None]]:
    """Yield each file, its title, and what names its documents unless it is the file's name.

    Those of a folder or a pattern that cannot be read are named at the end, as a failure.
    """
    from trustream.feeds import FeedError, find_files

    unreadable: list[str] = []
    for file in files:
        path = Path(file)
        if file == "-" or (path.exists() and not path.is_dir()):
            yield file, "standard input" if file == "-" else path.name, None
            continue
        found = find_files(file, format_)
        for unknown in found.unknown:
            echo(f"left out: {unknown}, whose format cannot be told by its name", err=True)
        unreadable += [f"{there}: {why}" for there, why in found.unreadable]
        for some in found.files:
            yield str(some.path), some.name, some.name
    if unreadable:
        raise FeedError(f"cannot read {'; '.join(unreadable)}. All other files were read")


def _size(file: str, format_: str | None, follow: bool) -> int | None:
    """Return the number of bytes to read, None if it is not known; Parquet is counted in rows."""
    path = Path(file)
    rows = format_ == "parquet" or path.suffix.lower() in _ROW_SUFFIXES
    if follow or file == "-" or rows or not os.path.isfile(path):
        return None
    return path.stat().st_size


def _tokeniser(
    pattern: str | None, min_length: int | None, stop_words: Path | None, keep_case: bool
) -> Any:
    from trustream import text

    given = {"pattern": pattern, "min_length": min_length, "stop_words": stop_words}
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if keep_case:
        options["lower"] = False
    return text.Tokeniser(**options) if options else text.tokenise


def _others(result: Any) -> str:
    parts = []
    if result.n_repeated:
        parts.append(f"{result.n_repeated:,} repeated")
    if result.n_bad:
        parts.append(f"{result.n_bad:,} bad ones left out")
    return f" ({', '.join(parts)})" if parts else ""
