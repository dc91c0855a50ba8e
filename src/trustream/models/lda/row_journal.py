"""Rows of a table as they were before a step overwrote them, noted while they are overwritten.

Whoever may have to put a table back asks its journal for what does so, before the step. As long as
that is held somewhere, all that stores rows in the table, or in one made from it that shares its
memory, notes them in the journal first; a kernel that is about to overwrite a row has it at hand.
Once it is let go of, nothing is noted and nothing is kept.
"""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trustream.array_types import Array


class OldRows(NamedTuple):
    """Rows that a kernel overwrites.

    Attributes:
        stored: (V, K) the table.
        words: (W,) which of its rows.
        rows: (W, K) what they were, where they are noted.
        noted: (W,) which of them are in `rows`; without room, (0,), nothing is noted.
    """

    stored: Array
    words: Array
    rows: Array
    noted: NDArray[np.bool_]


class _PutBack:
    """Puts rows back as they were; may be called again after it was interrupted."""

    __slots__ = ("__weakref__", "entries")

    def __init__(self) -> None:
        self.entries: list[OldRows] = []

    def __call__(self) -> None:
        # The last first: a row may have been overwritten twice.
        for entry in reversed(self.entries):
            at = np.flatnonzero(entry.noted)
            entry.stored[entry.words[at]] = entry.rows[at]


class RowJournal:
    """What is noted of the rows of a table, and of all tables that share its memory.

    >>> table, journal = np.zeros((3, 2)), RowJournal()
    >>> put_back = journal.begin()
    >>> journal.note(table, np.array([1]))
    >>> table[1] = 5
    >>> put_back(); table.tolist()
    [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    """

    __slots__ = ("_wanted",)

    def __init__(self) -> None:
        self._wanted: weakref.ref[_PutBack] | None = None

    def begin(self) -> _PutBack:
        """Note all rows that are overwritten from now on; what puts them back."""
        put_back = _PutBack()
        self._wanted = weakref.ref(put_back)
        return put_back

    def room(self, stored: Array, words: Array) -> OldRows:
        """Where a kernel notes the rows of these words, each before it overwrites it."""
        put_back = None if self._wanted is None else self._wanted()
        n = 0 if put_back is None else words.size
        rows = np.empty((n, stored.shape[1]), stored.dtype)
        entry = OldRows(stored, words, rows, np.zeros(n, bool))
        if put_back is not None:
            put_back.entries.append(entry)
        return entry

    def exchange(self, stored: Array, words: Array, rows: Array) -> OldRows:
        """For a kernel that puts these rows in and leaves in them what was there.

        The rows are left alone if nobody wants the old ones.
        """
        put_back = None if self._wanted is None else self._wanted()
        if put_back is None:
            return OldRows(stored, words, rows, np.zeros(0, bool))
        rows = rows if rows.flags.writeable else rows.copy()
        entry = OldRows(stored, words, rows, np.zeros(words.size, bool))
        put_back.entries.append(entry)
        return entry

    def note(self, stored: Array, words: Array) -> None:
        """Note the rows of these words, which are about to be overwritten."""
        entry = self.room(stored, words)
        if entry.noted.size:
            entry.rows[:] = stored[words]
            entry.noted[:] = True

    def __reduce__(self) -> tuple[type[RowJournal], tuple[()]]:
        # That of a copy, whose memory is another one.
        return RowJournal, ()
