"""Documents that changed lately: copies in memory, so that they need not be looked up again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from trustream.store.backend import Row

# Documents remembered, those below so many bytes; together at most 20 MB.
_RECENT, _SMALL = 10_000, 2048


class RecentDocuments:
    """Documents as the database has them; those that change will often change again.

    A document that is about to change is taken out, and comes back as it was written or not at
    all: no version that is out of date can stay.

    >>> recent = RecentDocuments()
    >>> recent.put([Row(0, 0, "a", 1.0, b""), Row(1, 1, "b", 1.0, bytes(5000))])
    >>> [row.key for row in recent.take(["a", "b"])], recent.take(["a"])
    (['a'], [])
    """

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def take(self, keys: Iterable[str]) -> list[Row]:
        """Those of these documents that are remembered, which they are no more."""
        rows = self._rows
        return [rows.pop(key) for key in keys if key in rows] if rows else []

    def put(self, rows: Sequence[Row]) -> None:
        """Remember documents that were taken or are new, if they are small."""
        small = [row for row in rows if len(row.content) < _SMALL]
        if len(self._rows) + len(small) > _RECENT:
            self._rows.clear()
        self._rows.update((row.key, row) for row in islice(small, _RECENT))

    def clear(self) -> None:
        """Remember nothing."""
        self._rows.clear()
