"""Documents that were drawn, kept in memory while no document of the store changes.

A trainer on a quiet store comes back to the same documents pass after pass. They are kept as they
are handed out, columns and counts, so that nothing has to be read or looked up again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

# Bytes that are kept at most, what a document takes beside its columns and counts, and what a
# column and its count take.
MOST_BYTES = 64 * 2**20
_OF_DOCUMENT, _OF_PAIR = 300, 8
# The part of a pass after which the rest of the documents is read in one go, which takes a third of
# the time of reading them batch by batch.
_ENOUGH = 0.1
# Documents over columns: where each begins, the columns (int32) and the counts (float32).
Rows = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]
# A document: its key, and pairs of a column and a count.
Kept = tuple[str, bytes]


class DrawnDocuments:
    """A cache of documents by their places.

    The number of the store's last change says whether what is kept is still so. Every change of a
    document or of the columns has a new number, whoever makes it, and the number is read on the
    snapshot of the draw; with another number all is forgotten. When the cache is full it stays as
    it is: in passes over more documents than it holds, it has the same part of each pass.

    >>> cache = DrawnDocuments()
    >>> cache.missing([3, 5], sequence=7)
    [3, 5]
    >>> rows = np.array([0, 2, 3]), np.array([0, 1, 4], np.int32), np.ones(3, np.float32)
    >>> found = cache.keep([3, 5], ["a", "b"], rows)
    >>> keys, (indptr, columns, counts) = cache.get([5, 3], found)
    >>> keys, indptr.tolist(), columns.tolist(), counts.tolist()
    (['b', 'a'], [0, 1, 3], [4, 0, 1], [1.0, 1.0, 1.0])
    >>> cache.missing([3, 5], sequence=7), cache.missing([3, 5], sequence=8)
    ([], [3, 5])
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._sequence, self._n_bytes, self._n_missed = -1, 0, 0
        self._kept: dict[int, Kept] = {}

    def missing(self, places: Sequence[int], sequence: int) -> list[int]:
        """Those of the places whose documents have to be read.

        Args:
            sequence: the number of the store's last change.
        """
        if sequence != self._sequence:
            self._kept, self._n_bytes, self._n_missed = {}, 0, 0
            self._sequence = sequence
        kept = self._kept
        missing = [place for place in places if place not in kept]
        self._n_missed += len(missing)
        return missing

    def wants_all(self, n_documents: int, n_tokens: int) -> bool:
        """Whether to read all of the documents that passes go over, having so many tokens.

        Not before a part of a pass was drawn from a store that did not change, and only if they fit.
        """
        fits = _OF_DOCUMENT * n_documents + _OF_PAIR * n_tokens <= self._most_bytes
        return fits and self._n_missed > _ENOUGH * n_documents

    def keep(self, places: Iterable[int], keys: Iterable[str], rows: Rows) -> dict[int, Kept]:
        """Keep documents, as far as there is room; all of them by place, as `get` takes them."""
        indptr, columns, counts = rows
        pairs = np.empty((len(columns), 2), np.int32)
        pairs[:, 0], pairs[:, 1] = columns, counts.view(np.int32)
        content, edges = pairs.tobytes(), (_OF_PAIR * indptr).tolist()
        parts = map(slice, edges[:-1], edges[1:])
        found = {
            place: (key, content[part])
            for place, key, part in zip(places, keys, parts, strict=True)
        }
        n_bytes = len(content) + _OF_DOCUMENT * len(found)
        if self._n_bytes + n_bytes <= self._most_bytes:
            self._n_bytes += n_bytes
            self._kept.update(found)
        return found

    def get(self, places: Sequence[int], found: dict[int, Kept]) -> tuple[list[str], Rows]:
        """Keys and rows of documents that are kept or among those that were just read."""
        kept = self._kept
        drawn = [kept[place] if place in kept else found[place] for place in places]
        contents = [content for _, content in drawn]
        indptr = np.zeros(len(drawn) + 1, np.int64)
        np.cumsum([len(content) for content in contents], out=indptr[1:])
        indptr //= _OF_PAIR
        pairs = np.frombuffer(b"".join(contents), np.int32).reshape(-1, 2)
        columns, counts = pairs[:, 0].copy(), pairs[:, 1].copy().view(np.float32)
        return [key for key, _ in drawn], (indptr, columns, counts)
