"""The active words, those that have a column, and how they change as documents come and go.

`ActiveWords` is a copy in memory of the table `column` that follows the database. The functions
decide which words become active or cease to be, and give them columns: they return changes, which
are applied to the database and to the copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.store.records import Settings

Ints = NDArray[np.int64]
# A column, and the number of the word that it gets, None for none.
ColumnChange = tuple[int, int | None]


@dataclass(slots=True)
class ActiveWords:
    """The active words of a version of the vocabulary, with their columns.

    Attributes:
        version: the version of the vocabulary.
        words: (columns,) int64, the word number in each column; -1 where there is none.
    """

    version: int = 0
    words: Ints = None  # type: ignore[assignment]
    # By word number; the last entry stands for all words beyond.
    _columns: NDArray[np.int32] = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self.words = np.zeros(0, np.int64)
        self._columns = np.full(1, -1, np.int32)

    def columns_of(self, words: NDArray[np.integer], *, checked: bool = False) -> NDArray[np.int32]:
        """The columns of word numbers; -1 for words that are not active, and for negative numbers.

        With `checked`, it is known that there are none of these.
        """
        if not checked and words.min(initial=0) < 0:
            words = np.where(words < 0, len(self._columns), words)
        return self._columns.take(words, mode="clip")

    @property
    def numbers(self) -> Ints:
        """Numbers of the active words, in the order of their columns."""
        return self.words[self.words >= 0]

    def apply(self, changes: Sequence[ColumnChange], version: int) -> None:
        """Put words into columns, None for a column without one.

        >>> active = ActiveWords()
        >>> active.apply([(0, 7), (1, 3)], version=1)
        >>> active.apply([(0, None), (2, 9)], version=2)
        >>> active.columns_of(np.array([3, 7, 9, 1000, -3])).tolist(), active.words.tolist()
        ([1, -1, 2, -1, -1], [-1, 3, 9])
        """
        if changes:
            self._put(changes)
        # Last: after an interrupt the same changes are applied again.
        self.version = version

    def _put(self, changes: Sequence[ColumnChange]) -> None:
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


def changes_after_append(
    active: ActiveWords, frequencies: Ints, candidates: Ints, settings: Settings
) -> list[ColumnChange]:
    """Changes of columns when words have come to be in more documents.

    The active words are then the `max_words` most frequent of those that were and the candidates;
    of equally frequent ones the older stay. Free columns are given first.

    Args:
        active: the active words as they are; not changed.
        frequencies: (words,) in how many documents each word is now.
        candidates: words that are not active and are in enough documents, in the order in which
            they came to be.
    """
    before = active.numbers
    limit = settings.max_words
    released: Ints = np.zeros(0, np.int64)
    if limit is not None and len(before) + len(candidates) > limit:
        everybody = np.concatenate([before, candidates])
        # Fewer documents first, then the newer word: what falls out.
        rank = _rank(frequencies, everybody)
        if len(before) >= limit:
            # Most candidates are rarer than all active words: do not sort for these.
            floor = rank[: len(before)].min(initial=np.iinfo(np.int64).max)
            candidates = candidates[rank[len(before) :] > floor]
            if not len(candidates):
                return []
            everybody = np.concatenate([before, candidates])
            rank = _rank(frequencies, everybody)
        surplus = len(everybody) - limit
        if surplus > 0:
            out = everybody[np.argpartition(rank, surplus - 1)[:surplus]]
            released = active.columns_of(np.setdiff1d(out, candidates)).astype(np.int64)
            candidates = candidates[~np.isin(candidates, out)]
    return assign_columns(active, released, candidates)


def changes_after_deletion(
    active: ActiveWords, frequencies: Ints, settings: Settings
) -> list[ColumnChange]:
    """Changes of columns when words have come to be in fewer documents.

    Words that no document has any more give their columns back. The most frequent of those words
    take them that are in enough documents and that `max_words` had left out; of equally frequent
    ones the older.

    Args:
        active: the active words as they are; not changed.
        frequencies: (words,) in how many documents each word is now.

    >>> active = ActiveWords()
    >>> active.apply([(0, 0), (1, 1)], version=1)
    >>> settings = Settings(min_documents=1, max_words=2)
    >>> changes_after_deletion(active, np.array([3, 0, 1, 2]), settings)
    [(1, 3)]
    """
    words = active.words
    released = np.flatnonzero((words >= 0) & (frequencies[words] == 0))
    entrants: Ints = np.zeros(0, np.int64)
    limit = settings.max_words
    # Nothing was ever left out before there were so many columns.
    if len(released) and limit is not None and len(words) >= limit:
        room = limit - len(active.numbers) + len(released)
        entrants = waiting_words(active, frequencies, settings)[:room]
    return assign_columns(active, released, entrants)


def waiting_words(active: ActiveWords, frequencies: Ints, settings: Settings) -> Ints:
    """Words in enough documents that have no column, the one with the best claim first."""
    words = np.flatnonzero(frequencies >= settings.min_documents)
    words = words[active.columns_of(words) < 0]
    return words[np.argsort(-_rank(frequencies, words))]


def _rank(frequencies: Ints, words: Ints) -> Ints:
    """Higher for words in more documents, and for the older of equally frequent ones."""
    return (frequencies[words] << 32) - words


def assign_columns(active: ActiveWords, released: Ints, entrants: Ints) -> list[ColumnChange]:
    """Changes that free some columns and give entrants the first that are free, then new ones."""
    free = np.union1d(np.flatnonzero(active.words < 0), released)
    grown = np.arange(len(active.words), len(active.words) + len(entrants))
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
