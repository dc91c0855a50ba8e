"""Open a file or a stream as a feed, and read its items or its documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from trustream.feeds.errors import BadRecordError
from trustream.feeds.formats import FORMATS, format_name, is_parquet_of_ratings
from trustream.feeds.items import Item, Items, Mark
from trustream.feeds.options import Options
from trustream.feeds.sources import Source, open_source
from trustream.store.records import Record

# Formats whose records may have ids of their own.
_WITH_IDS = ("jsonl", "csv", "parquet")


class Feed(NamedTuple):
    """A file or a stream, its format's name, and how its records are read.

    >>> import io
    >>> feed = open_feed(io.BytesIO(b"Cats and dogs"), format="text", name="pets")
    >>> feed.is_numbered, [item.record.key for item in feed.items(Mark())]
    (True, ['pets:1'])
    """

    source: Source
    format: str
    options: Options

    def items(self, mark: Mark) -> Items:
        """What is in it after a mark."""
        return FORMATS[self.format].read(self.source, mark, self.options)

    def documents(self, mark: Mark | None = None) -> Iterator[Record]:
        """Its documents, all or those after a mark, see `read_documents`."""
        for item in self.items(mark or Mark()):
            if item.bad is not None:
                raise BadRecordError(item.bad)
            if item.record is not None:
                yield item.record
            elif self.format == "text" and not item.pause:
                yield Record(f"{self.name}:{item.line}", [])

    @property
    def name(self) -> str:
        """What documents without an id of their own are named by."""
        return self.options.name or self.source.name

    @property
    def is_numbered(self) -> bool:
        """Whether documents, or some of them, are named by their line or row alone."""
        if self.format not in _WITH_IDS:
            return FORMATS[self.format].numbered
        return self.options.id_column is None or self.options.require_id is False

    def has_made_key(self, item: Item) -> bool:
        """Whether a document is named by its line and its content, for it had no id.

        >>> import io
        >>> feed = open_feed(io.BytesIO(b'{"text": "Cats"}'), format="jsonl")
        >>> [feed.has_made_key(item) for item in feed.items(Mark())]
        [True]
        """
        if self.format not in _WITH_IDS or self.options.needs_id or item.record is None:
            return False
        return item.record.key.startswith(f"{self.name}:{item.line}:")

    @property
    def is_whole(self) -> bool:
        """Whether it is read as it is, and cannot have a part added to it later."""
        parquet = self.format == "parquet" or is_parquet_of_ratings(self.source, self.format)
        sorted_by_time = self.format == "ratings" and self.options.in_order
        return self.source.compressed or parquet or sorted_by_time


def open_feed(
    source: str | Path | IO[bytes] | Source,
    *,
    format: str | None = None,
    follow: bool = False,
    **options: Any,
) -> Feed:
    """A feed of a path, of `-` for standard input, or of a binary stream; see `read`.

    >>> import io
    >>> open_feed(io.BytesIO(), format="text").is_whole
    False
    """
    opened = open_source(source, follow=follow)
    settings = Options(**options)
    return Feed(opened, format_name(opened, format, in_order=settings.in_order), settings)


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
    return open_feed(source, format=format, follow=follow, **options).items(Mark())


def read_documents(
    source: str | Path | IO[bytes], *, format: str | None = None, **options: Any
) -> Iterator[Record]:
    """Yield the documents of a feed in order, each with its key and its words.

    Ids are optional unless `require_id=True` is given: a document without one is named by the file
    and its line or row, `notes.txt:7`. A line of plain text without words is a document too, so
    that the documents of a file are its lines.

    Args:
        source: a path, `-` for standard input, or a binary stream.
        format: one of `FORMATS`; by the file's suffix if None.
        options: see `Options`.

    Raises:
        BadRecordError: at a record that is wrong; its `bad` says where and why.
        FeedError: the feed cannot be read.

    >>> import io
    >>> lines = io.BytesIO(b'{"text": "The cat."}\\n{"id": "b", "tokens": ["a", "dog"]}\\n')
    >>> for document in read_documents(lines, format="jsonl", name="pets"):
    ...     print(document.key, document.words)
    pets:1 ['cat']
    b ['a', 'dog']
    """
    return open_feed(source, format=format, **{"require_id": False, **options}).documents()
