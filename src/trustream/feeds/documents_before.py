"""Count the documents that were in a store before a feed began, each once."""

from __future__ import annotations

from collections.abc import Iterable


class DocumentsBefore:
    """Tells documents that a feed has found in the store from those that it has brought.

    Documents have numbers in the order of their arrival, so those below the first number that the
    feed could give were there before. A bit for each of them says whether it was counted.

    Args:
        n_before: `Totals.arrived` of the store when the feed began.

    >>> before = DocumentsBefore(10)
    >>> before.count([3, 7, 12]), before.count([7, 9])
    (2, 1)
    """

    def __init__(self, n_before: int) -> None:
        self.n_before = n_before
        self._counted = bytearray()

    def count(self, numbers: Iterable[int]) -> int:
        """How many of these documents were there before and are counted for the first time."""
        n = 0
        for number in numbers:
            if number >= self.n_before:
                continue
            if not self._counted:
                self._counted = bytearray(self.n_before // 8 + 1)
            byte, bit = number >> 3, 1 << (number & 7)
            if not self._counted[byte] & bit:
                self._counted[byte] |= bit
                n += 1
        return n
