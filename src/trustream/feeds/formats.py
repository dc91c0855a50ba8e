"""Which reader a feed needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from trustream.feeds.bags import read_ldac, read_uci
from trustream.feeds.items import FeedError, Items, Mark, Options
from trustream.feeds.json_lines import read_json_lines
from trustream.feeds.mediawiki import read_mediawiki
from trustream.feeds.parquet_rows import is_parquet
from trustream.feeds.plain_text import read_plain_text
from trustream.feeds.sources import FileSource, Source, open_source
from trustream.feeds.tables import read_documents, read_ratings
from trustream.feeds.time_order import in_order

_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "text",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".ldac": "ldac",
    ".xml": "mediawiki",
}


@dataclass(frozen=True, slots=True)
class Format:
    """How a kind of feed is read.

    Attributes:
        read: yields its items after a mark.
        numbered: whether documents are named by line.
        follows: whether it can be read while it is written.
    """

    read: Callable[[Source, Mark, Options], Items]
    numbered: bool = False
    follows: bool = False


def _read_ratings(source: Source, mark: Mark, options: Options) -> Items:
    if not options.in_order:
        return read_ratings(source, mark, options)
    return in_order(read_ratings(source, Mark(), options), mark)


FORMATS = {
    "jsonl": Format(read_json_lines, follows=True),
    "text": Format(read_plain_text, numbered=True, follows=True),
    "csv": Format(read_documents, follows=True),
    "ratings": Format(_read_ratings, follows=True),
    "parquet": Format(partial(read_documents, parquet=True)),
    "uci": Format(read_uci, numbered=True),
    "ldac": Format(read_ldac, numbered=True, follows=True),
    "mediawiki": Format(read_mediawiki),
}


def format_name(source: Source, name: str | None = None, *, in_order: bool = False) -> str:
    """The name of a source's format, by its suffix if none is given.

    Raises:
        FeedError: it is not known, or cannot be followed as asked.

    >>> import io
    >>> from trustream.feeds.sources import StreamSource
    >>> format_name(StreamSource(io.BytesIO()), "text")
    'text'
    """
    known = ", ".join(FORMATS)
    if name is None:
        name = _SUFFIXES.get(source.suffix)
        if name == "text" and source.name.lower().startswith("docword."):
            name = "uci"  # as the files of that collection are called
        if name is None:
            raise FeedError(
                f"cannot tell the format of {source.name} by its name; give format=, one of {known}"
            )
    if name not in FORMATS:
        raise FeedError(f"format is {name!r}, expected one of {known}")
    follows = FORMATS[name].follows and not (name == "ratings" and is_parquet(source))
    if source.follow and not follows:
        raise FeedError(f"{source.name} cannot be followed as it grows: its format is {name}")
    if source.follow and in_order:
        raise FeedError(f"{source.name} cannot be followed and put in order of time")
    return name


def is_numbered(name: str, options: Options) -> bool:
    """Whether documents are named by their line or row, not by an id of their own.

    >>> is_numbered("text", Options()), is_numbered("csv", Options())
    (True, False)
    """
    no_column = name in ("csv", "parquet") and options.id_column is None
    return FORMATS[name].numbered or no_column


def is_whole(source: FileSource, name: str, options: Options) -> bool:
    """Whether a file is read as it is, and cannot have a part added to it later.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt.gz") as file:
    ...     is_whole(FileSource(file.name), "text", Options())
    True
    """
    parquet = name == "parquet" or (name == "ratings" and is_parquet(source))
    in_order = name == "ratings" and options.in_order
    return source.compressed or parquet or in_order


def read(
    source: str | Path | IO[bytes],
    *,
    format: str | None = None,
    follow: bool = False,
    **options: Any,
) -> Items:
    """Yield the items of a feed, bad ones among them; nothing is stored.

    Args:
        source: a path, `-` for standard input, or a binary stream.
        format: one of `FORMATS`; by the file's suffix if None.
        follow: wait for more at the end of a file; it then never ends by itself.
        options: see `Options`.

    Raises:
        FeedError: the feed cannot be read.

    >>> import io
    >>> [item.record.words for item in read(io.BytesIO(b"Cats and dogs"), format="text")]
    [['cats', 'dogs']]
    """
    opened = open_source(source, follow=follow)
    settings = Options(**options)
    name = format_name(opened, format, in_order=settings.in_order)
    return FORMATS[name].read(opened, Mark(), settings)
