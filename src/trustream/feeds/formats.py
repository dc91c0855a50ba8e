"""Formats: which reader a feed needs, by the name of its file or as the user says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from trustream.feeds.bags_of_words import read_ldac, read_uci
from trustream.feeds.errors import FeedError
from trustream.feeds.items import Items, Mark
from trustream.feeds.json_lines import read_json_lines
from trustream.feeds.mediawiki import read_mediawiki
from trustream.feeds.options import Options
from trustream.feeds.parquet_rows import is_parquet
from trustream.feeds.plain_text import read_plain_text
from trustream.feeds.sources import Source
from trustream.feeds.tables import read_document_table, read_rating_table
from trustream.feeds.time_order import in_order

SUFFIXES = {
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
        return read_rating_table(source, mark, options)
    return in_order(read_rating_table(source, Mark(), options), mark)


FORMATS = {
    "jsonl": Format(read_json_lines, follows=True),
    "text": Format(read_plain_text, numbered=True, follows=True),
    "csv": Format(read_document_table, follows=True),
    "ratings": Format(_read_ratings, follows=True),
    "parquet": Format(partial(read_document_table, parquet=True)),
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
        name = SUFFIXES.get(source.suffix)
        if name == "text" and source.name.lower().startswith("docword."):
            name = "uci"  # as the files of that collection are called
        if name is None:
            raise FeedError(
                f"cannot tell the format of {source.name} by its name; give format=, one of {known}"
            )
    if name not in FORMATS:
        raise FeedError(f"format is {name!r}, expected one of {known}")
    follows = FORMATS[name].follows and not is_parquet_of_ratings(source, name)
    if source.follow and not follows:
        raise FeedError(f"{source.name} cannot be followed as it grows: its format is {name}")
    if source.follow and in_order:
        raise FeedError(f"{source.name} cannot be followed and put in order of time")
    return name


def is_parquet_of_ratings(source: Source, name: str) -> bool:
    """Whether a source in the format of this name is a Parquet file of ratings."""
    return name == "ratings" and is_parquet(source)
