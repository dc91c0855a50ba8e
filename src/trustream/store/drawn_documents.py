"""Documents that were drawn, kept in memory while no document of the store changes.

A trainer on a quiet store comes back to the same documents pass after pass. To read them takes a
third of the time of a step with few topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import cast

# Bytes that are kept at most, and what a document takes beside its content.
MOST_BYTES = 64 * 2**20
_OF_DOCUMENT = 300
# A document: its key and its content.
Kept = tuple[str, bytes]


class DrawnDocumentCache:
    """A cache of documents by their places.

    Attributes:
        has_read: whether the last call of `get` has read any documents.

    The number of the store's last change says whether what is kept is still so. Every change of a
    document has a new number, whoever makes it, and the number is read on the snapshot of the draw;
    with another number all is forgotten. When the cache is full it stays as it is: in passes over
    more documents than it holds, it has the same part of each pass.

    >>> cache, table = DrawnDocumentCache(), {0: ("a", b"1"), 1: ("b", b"2")}
    >>> def read(places):
    ...     print("read", places)
    ...     return [(place, *table[place]) for place in places]
    >>> cache.get([1, 0], 7, read)
    read [1, 0]
    [('b', b'2'), ('a', b'1')]
    >>> cache.get([0], 7, read), cache.get([0], 8, read)
    read [0]
    ([('a', b'1')], [('a', b'1')])
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._sequence, self._n_bytes = -1, 0
        self._kept: dict[int, Kept] = {}
        self.has_read = True

    def get(
        self,
        places: Sequence[int],
        sequence: int,
        read: Callable[[list[int]], Iterable[tuple[int, str, bytes]]],
    ) -> list[Kept]:
        """The documents in these places, which are all different, in this order.

        Args:
            sequence: the number of the store's last change.
            read: gives (place, key, content) of the documents in some places, in any order.
        """
        if sequence != self._sequence:
            self._kept, self._n_bytes, self._sequence = {}, 0, sequence
        kept = self._kept
        known = list(map(kept.get, places))
        self.has_read = None in known
        if not self.has_read:
            return cast(list[Kept], known)
        missing = [place for place, document in zip(places, known, strict=True) if not document]
        found = {place: (key, content) for place, key, content in read(missing)}
        drawn = [document or found[place] for place, document in zip(places, known, strict=True)]
        try:
            n_bytes = sum(len(content) for _, content in found.values()) + _OF_DOCUMENT * len(found)
        except TypeError:  # damage, which is found where contents are read
            return drawn
        if self._n_bytes + n_bytes <= self._most_bytes:
            self._n_bytes += n_bytes
            kept.update(found)
        return drawn
