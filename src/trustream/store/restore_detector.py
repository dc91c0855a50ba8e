"""Notice that an older copy of a database was restored while the store was open."""

from __future__ import annotations

from trustream.store.errors import StoreError


class RestoreDetector:
    """Raises an error once the number of the last change is lower than it was before.

    What a store keeps in memory of words and counts would be wrong from then on.

    >>> detector = RestoreDetector("topics.db")
    >>> detector.read(7)
    >>> detector.read(6)
    Traceback (most recent call last):
        ...
    trustream.store.errors.StoreError: topics.db has gone back from change 7 to change 6: ...
    """

    def __init__(self, name: str) -> None:
        self._name, self._last, self._back = name, 0, -1
        # Written in a transaction that is not committed yet.
        self.written = 0

    def read(self, sequence: int) -> None:
        """Take note of the number of the last change, which never falls."""
        if sequence < self._last and self._back < 0:
            self._back = sequence
        if self._back >= 0:
            raise StoreError(
                f"{self._name} has gone back from change {self._last} to change {self._back}: an "
                "older copy was put in its place while it was open; open the store again"
            )
        self._last = sequence

    def commit(self) -> None:
        """Take note that the transaction was committed."""
        self._last, self.written = max(self._last, self.written), 0
