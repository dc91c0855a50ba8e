"""A cache of documents that changed lately, so that they need not be read again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from trustream.store.table_rows import DocumentRow

# The most documents, and the bytes that each must stay below; together at most 20 MB.
_MOST, _SMALL = 10_000, 2048


class DocumentCache:
    """Keeps documents as the database has them: those that change will often change again.

    A document that is about to change is taken out, and comes back as it was written or not at
    all: no version that is out of date can stay.

    >>> cache = DocumentCache()
    >>> cache.put([DocumentRow(0, 0, "a", 1.0, b""), DocumentRow(1, 1, "b", 1.0, bytes(5000))])
    >>> [row.key for row in cache.take(["a", "b"])], cache.take(["a"])
    (['a'], [])
    """

    def __init__(self) -> None:
        self._rows: dict[str, DocumentRow] = {}

    def take(self, keys: Iterable[str]) -> list[DocumentRow]:
        """Take these documents out of the cache, as far as they are in it."""
        rows = self._rows
        return [rows.pop(key) for key in keys if key in rows] if rows else []

    def put(self, rows: Sequence[DocumentRow]) -> None:
        """Keep documents that were taken out or are new, if they are small."""
        small = {row.key: row for row in islice(rows, _MOST) if len(row.content) < _SMALL}
        if len(self._rows) + len(small) > _MOST:
            self._rows.clear()
        self._rows.update(small)

    def clear(self) -> None:
        """Forget all documents."""
        self._rows.clear()
