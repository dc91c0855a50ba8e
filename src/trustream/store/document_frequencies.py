"""Document frequencies, in how many documents each word is: a copy in memory of the table `block`.

The database keeps them in blocks of `BLOCK` numbers, because a batch of documents changes
thousands of counts that lie together: writing some hundred blocks takes a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from trustream.store.errors import StoreError

BLOCK = 256


class DocumentFrequencies:
    """Document frequencies by word number, as of a sequence number of the store."""

    def __init__(self) -> None:
        self.sequence = 0
        self._values = np.zeros(BLOCK, np.int64)

    @property
    def values(self) -> NDArray[np.int64]:
        """(at least the words there are,) document frequencies by word number."""
        return self._values

    def refresh(self, blocks: Iterable[tuple[int, bytes]], sequence: int) -> bool:
        """Take over blocks that others have changed; whether words are in no document any more.

        Raises:
            StoreError: a block is damaged.
        """
        lost = False
        for block, content in blocks:
            if not isinstance(content, bytes) or len(content) != 4 * BLOCK or block < 0:
                raise StoreError(
                    f"block {block} of the counts of words is damaged; count them anew: trustream "
                    "check STORE --repair"
                )
            self._grow((block + 1) * BLOCK)
            old = self._values[block * BLOCK : (block + 1) * BLOCK]
            new = np.frombuffer(content, "<i4")
            lost = lost or bool(((old > 0) & (new == 0)).any())
            old[:] = new
        self.sequence = sequence
        return lost

    def change(self, words: NDArray[np.int64], by: NDArray[np.int64]) -> list[tuple[int, bytes]]:
        """Add to the frequencies of different words; returns the blocks to be written.

        >>> frequencies = DocumentFrequencies()
        >>> blocks = frequencies.change(np.array([1, 300]), np.array([2, 5]))
        >>> [number for number, _ in blocks], frequencies.values[[1, 300]].tolist()
        ([0, 1], [2, 5])
        """
        if not len(words):
            return []
        self._grow(int(words.max()) + 1)
        self._values[words] += by
        numbers = words // BLOCK
        if len(numbers) > 1:
            numbers = np.unique(numbers)
        rows = self._values.reshape(-1, BLOCK)[numbers].astype("<i4")
        return list(zip(numbers.tolist(), (row.tobytes() for row in rows), strict=True))

    def _grow(self, length: int) -> None:
        if length > len(self._values):
            # Whole blocks, with room to spare: words keep coming.
            blocks = -(-length * 9 // (8 * BLOCK))
            longer = np.zeros(blocks * BLOCK, np.int64)
            longer[: len(self._values)] = self._values
            self._values = longer


def blocks_of(frequencies: NDArray[np.int64]) -> list[tuple[int, bytes]]:
    """All document frequencies as blocks.

    >>> [(number, len(content)) for number, content in blocks_of(np.ones(300, np.int64))]
    [(0, 1024), (1, 1024)]
    """
    whole = np.zeros(-(-len(frequencies) // BLOCK) * BLOCK, "<i4")
    whole[: len(frequencies)] = frequencies
    return [(number, row.tobytes()) for number, row in enumerate(whole.reshape(-1, BLOCK))]
