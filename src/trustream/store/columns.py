"""Which words take part, and in which column: a copy in memory that follows the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.store.protocol import Settings

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Columns:
    """The columns of a version of the vocabulary.

    Attributes:
        version: of the vocabulary.
        words: (columns,) int64, the word number in each column; -1 where there is none.
    """

    version: int = 0
    words: Ints = None  # type: ignore[assignment]
    # By word number; the last entry stands for all words beyond.
    _columns: NDArray[np.int32] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.words = np.zeros(0, np.int64)
        self._columns = np.full(1, -1, np.int32)

    def of(self, words: NDArray[np.integer]) -> NDArray[np.int32]:
        """The columns of word numbers; -1 for words that do not take part."""
        return self._columns.take(words, mode="clip")

    @property
    def members(self) -> Ints:
        """Numbers of the words that take part."""
        return self.words[self.words >= 0]

    def apply(self, changes: Sequence[tuple[int, int | None]], version: int) -> None:
        """Put words into columns, None for a column without one.

        >>> columns = Columns()
        >>> columns.apply([(0, 7), (1, 3)], version=1)
        >>> columns.apply([(0, None), (2, 9)], version=2)
        >>> columns.of(np.array([3, 7, 9, 1000])).tolist(), columns.words.tolist()
        ([1, -1, 2, -1], [-1, 3, 9])
        """
        if changes:
            self._put(changes)
        # Last: after an interrupt the same changes are applied again.
        self.version = version

    def _put(self, changes: Sequence[tuple[int, int | None]]) -> None:
        at = np.array([column for column, _ in changes], np.int64)
        words = np.array([-1 if word is None else word for _, word in changes], np.int64)
        self.words = _longer(self.words, int(at.max()) + 1)
        if int(words.max()) + 2 > len(self._columns):
            # With room to spare: words keep coming.
            self._columns = _longer(self._columns, 2 + int(words.max()) * 9 // 8)
        # All old ones first: a word may have moved from one of these columns to another.
        gone = self.words[at]
        self._columns[gone[gone >= 0]] = -1
        self.words[at] = words
        self._columns[words[words >= 0]] = at[words >= 0]


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """The array with at least `length` entries, -1 where nothing was."""
    missing = length - len(array)
    return array if missing <= 0 else np.append(array, np.full(missing, -1, array.dtype))


def entering(
    columns: Columns, counts: Ints, candidates: Ints, settings: Settings
) -> list[tuple[int, int | None]]:
    """Changes of columns when words have come to be in more documents.

    The words that take part after it are the `max_words` most frequent of those that did and the
    candidates; of equally frequent ones the older stay. Free columns are given first.

    Args:
        columns: as they are; not changed.
        counts: (words,) in how many documents each is now.
        candidates: words that do not take part and are in enough documents, in the order in which
            they came to be.
    """
    members = columns.members
    limit = settings.max_words
    released: Ints = np.zeros(0, np.int64)
    if limit is not None and len(members) + len(candidates) > limit:
        everybody = np.concatenate([members, candidates])
        # Fewer documents first, then the newer word: what falls out.
        rank = _rank(counts, everybody)
        if len(members) >= limit:
            # Most candidates are rarer than all members: do not sort for these.
            floor = rank[: len(members)].min(initial=np.iinfo(np.int64).max)
            candidates = candidates[rank[len(members) :] > floor]
            if not len(candidates):
                return []
            everybody = np.concatenate([members, candidates])
            rank = _rank(counts, everybody)
        surplus = len(everybody) - limit
        if surplus > 0:
            out = everybody[np.argpartition(rank, surplus - 1)[:surplus]]
            released = columns.of(np.setdiff1d(out, candidates)).astype(np.int64)
            candidates = candidates[~np.isin(candidates, out)]
    return seated(columns, released, candidates)


def leaving(columns: Columns, counts: Ints, settings: Settings) -> list[tuple[int, int | None]]:
    """Changes of columns when words have come to be in fewer documents.

    Words that no document has any more give their columns back. The most frequent of those words
    take them that are in enough documents and that `max_words` had left out; of equally frequent
    ones the older.

    Args:
        columns: as they are; not changed.
        counts: (words,) in how many documents each is now.

    >>> columns = Columns()
    >>> columns.apply([(0, 0), (1, 1)], version=1)
    >>> leaving(columns, np.array([3, 0, 1, 2]), Settings(min_documents=1, max_words=2))
    [(1, 3)]
    """
    words = columns.words
    released = np.flatnonzero((words >= 0) & (counts[words] == 0))
    entrants: Ints = np.zeros(0, np.int64)
    limit = settings.max_words
    # Nothing was ever left out before there were so many columns.
    if len(released) and limit is not None and len(words) >= limit:
        room = limit - len(columns.members) + len(released)
        entrants = waiting(columns, counts, settings)[:room]
    return seated(columns, released, entrants)


def waiting(columns: Columns, counts: Ints, settings: Settings) -> Ints:
    """Words in enough documents that have no column, the one with the best claim first."""
    words = np.flatnonzero(counts >= settings.min_documents)
    words = words[columns.of(words) < 0]
    return words[np.argsort(-_rank(counts, words))]


def _rank(counts: Ints, words: Ints) -> Ints:
    """Higher for words in more documents, and for the older of equally frequent ones."""
    return (counts[words] << 32) - words


def seated(columns: Columns, released: Ints, entrants: Ints) -> list[tuple[int, int | None]]:
    """Changes that free some columns and give entrants the first that are free, then new ones."""
    free = np.union1d(np.flatnonzero(columns.words < 0), released)
    grown = np.arange(len(columns.words), len(columns.words) + len(entrants))
    at = np.concatenate([free, grown])[: len(entrants)]
    changes: dict[int, int | None] = dict.fromkeys(released.tolist(), None)
    changes.update(zip(at.tolist(), entrants.tolist(), strict=True))
    return sorted(changes.items())


def in_order_of_entry(candidates: Ints, needed: Ints, words: Ints, order: Ints) -> Ints:
    """Candidates by the moment at which each was in enough documents.

    So that a document given word by word and one given whole lead to the same columns.

    Args:
        candidates: word numbers.
        needed: how many more documents each needed.
        words: (P,) for each (document, word) pair that is new, the word.
        order: (P,) when it came.

    >>> in_order_of_entry(np.array([0, 1]), np.array([1, 2]), np.array([0, 1, 1]),
    ...                   np.array([9, 4, 6])).tolist()
    [1, 0]
    """
    by_time = np.lexsort([order, words])
    first = np.searchsorted(words[by_time], candidates)
    moment = order[by_time][first + np.maximum(needed - 1, 0)]
    return candidates[np.argsort(moment, kind="stable")]
