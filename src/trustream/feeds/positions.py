"""Keep how far a file has been read, and tell whether it still is that file.

A feed is a path. With its position is kept what its first bytes and the bytes before the position
were, which tells a file that grew from one that was replaced or changed without reading it all. A
file that cannot grow (compressed, Parquet, sorted by time) is known by its size and its last bytes
instead.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from trustream.feeds.errors import FeedError
from trustream.feeds.items import Mark
from trustream.feeds.sources import FileSource
from trustream.store.errors import PositionError
from trustream.store.feed_table import damaged_position
from trustream.store.position_checks import is_file_detail
from trustream.store.protocol import Store
from trustream.store.records import Position

_SIZE = 4096
_MAX_NAME = 400


class Identity:
    """What tells a file from others at its path.

    Args:
        source: the file.
        format: its format's name.
        whole: whether it is of the kind that cannot grow.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     _ = file.write(b"one\\ntwo\\n")
    ...     file.flush()
    ...     identity = Identity(FileSource(file.name), "text", whole=False)
    ...     position = identity.position(Mark(4, 1), finished=False)
    ...     identity.change(position), identity.mark(position)
    (None, Mark(offset=4, number=1))
    """

    def __init__(self, source: FileSource, format: str, *, whole: bool) -> None:
        self.source = source
        self.format = format
        self.whole = whole
        self.feed = _feed_name(os.fsencode(source.path))
        self._head: bytes | None = None

    def position(self, mark: Mark, *, finished: bool) -> Position:
        """The position to keep with what was read up to a mark."""
        head = self._start(mark.offset)
        detail: dict[str, Any] = {"format": self.format, "line": mark.number}
        detail["head"] = [len(head), _hash(head)]
        if self.whole:
            size = self.source.size()
            detail["size"] = size
            detail["tail"] = _hash(self.source.raw(max(0, size - _SIZE), _SIZE))
        else:
            detail["tail"] = self._before(mark.offset)
        return Position(self.feed, mark.offset, finished, detail)

    def change(self, position: Position) -> str | None:
        """What shows that this is not the file, or not as it was, when the position was kept.

        Raises:
            StoreError: the position is damaged.
        """
        detail = position.detail
        if not is_file_detail(detail):
            raise damaged_position(position.feed, "lacks what tells the file from others")
        if detail.get("format") != self.format:
            return f"was read as {detail.get('format')}, not as {self.format}"
        size, head = detail["head"]
        if _hash(self.source.head(size)) != head:
            return "begins otherwise than the file that was read before"
        now = self.source.size()
        if self.whole:
            tail = _hash(self.source.raw(max(0, now - _SIZE), _SIZE))
            same = now == detail.get("size") and tail == detail["tail"]
            return None if same else "has changed since it was read"
        if now < position.offset:
            return f"has {now} bytes, and {position.offset} were read before"
        if self._before(position.offset) != detail["tail"]:
            return "has changed in a part that was read before"
        return None

    def mark(self, position: Position) -> Mark:
        """Where reading goes on."""
        return Mark(position.offset, int(position.detail["line"]))

    def _start(self, offset: int) -> bytes:
        """The first bytes: of those that were read, because a file may be in the making."""
        size = _SIZE if self.whole else min(_SIZE, offset)
        # Kept, because finding the start of a compressed file may take a while.
        if self._head is None or (len(self._head) < size and not self.whole):
            self._head = self.source.head(size)
        return self._head

    def _before(self, offset: int) -> str:
        start = max(0, offset - _SIZE)
        return _hash(self.source.raw(start, offset - start))


def feed_position(store: Store, path: str | Path) -> Position | None:
    """How far a store has read the file at a path; None if never.

    >>> import tempfile
    >>> from trustream.store import open_store
    >>> with tempfile.TemporaryDirectory() as folder, open_store(f"{folder}/topics.db") as store:
    ...     feed_position(store, "news.jsonl") is None
    True
    """
    return store.position(_feed_name(os.fsencode(os.path.abspath(path))))


def changed_error(source: FileSource, change: str) -> FeedError:
    """The error that says what to do about a file that changed."""
    return FeedError(
        f"{source.path} {change}; nothing was added. If it is another file now, "
        'replaced="read" reads it from its start, and goes on from there the next time; '
        "again=True reads any file from its start, with replace=True to replace the documents that "
        "are in the store, or replace=False to add to them"
    )


def overtaken_error(source: FileSource, error: PositionError) -> FeedError:
    """The error that says what to do when two processes read a file."""
    at = "its start" if error.after is None else f"byte or row {error.after.offset}"
    return FeedError(
        f"{source.path} is being ingested into this store by another process too, which has gone "
        f"on from {at} first; what follows was not added by this one, and nothing twice. Let the "
        "other one go on, or stop it and ingest the file again"
    )


def _feed_name(path: bytes) -> str:
    """The path; names in a store are shorter than some paths, and UTF-8 throughout."""
    try:
        name = path.decode()
    except UnicodeDecodeError:
        name = f"{path.decode(errors='replace')}:{_hash(path)}"
    return name if len(name) <= _MAX_NAME else f"{_hash(path)}:{name[-_MAX_NAME // 2 :]}"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
