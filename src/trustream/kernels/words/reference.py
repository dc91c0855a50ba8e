"""Words of a text as codes, in plain Python.

A run is a longest stretch of ASCII letters and bytes from 128 on, as UTF-8 has them beyond ASCII.
Runs that were met are entries of a table. What an entry stands for is its meaning:

- a code from 0 on: the run is one word, of this code;
- `NOTHING`: it is no word (a stop word, say);
- `ELSEWHERE`: nobody knows here, since what beyond ASCII is a letter is not for a kernel to say.

The table is kept in arrays. `arena[starts[e]:starts[e + 1]]` are the bytes of entry e, in lower
case if they are ASCII letters and `lower` is given; `state` is the number of entries, the number of
codes that were given, and the seed of the hash. `slots` (a power of two, -1 where nothing is) and
`hashes` are how the compiled twin finds an entry; here the arena is searched instead.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NOTHING, ELSEWHERE = -1, -2
# Bytes of the longest run that may have more than ASCII letters in it.
MAX_MIXED = 100
_RUN = re.compile(rb"[A-Za-z\x80-\xff]+")
_LETTERS = re.compile(rb"[A-Za-z]+")


def code_words(
    data: Array, begin: int, lower: bool, min_length: int, max_length: int,
    slots: Array, hashes: Array, starts: Array, arena: Array, meanings: Array, state: Array,
    codes: Array,
) -> tuple[int, int, int]:  # fmt: skip
    """(n, n_open, place): write the n codes of the words in data[begin:] up to a place.

    A run of ASCII letters alone is a word if it has min_length to max_length letters; a new one
    gets the next code. In the place of a run whose meaning is `ELSEWHERE` stands -1 - entry; there
    are n_open of them. The place is that of the first run for which the table has no room,
    len(data) if there is none, and -1 if a run with more than ASCII letters is longer than
    `MAX_MIXED`: then nothing is certain.

    data (bytes,) uint8 is UTF-8; slots (2^m,) int32; hashes (entries,) uint64; starts
    (entries + 1,) int64; arena uint8; meanings (entries,) int32; state (3,) int64; codes int32, at
    least (len(data) - begin + 1) // 2.

    >>> text = np.frombuffer("The caf\\u00e9 cat, the".encode(), np.uint8)
    >>> slots, hashes = np.full(16, -1, np.int32), np.zeros(8, np.uint64)
    >>> starts, arena = np.zeros(9, np.int64), np.zeros(99, np.uint8)
    >>> meanings = np.zeros(8, np.int32)
    >>> state, codes = np.zeros(3, np.int64), np.zeros(20, np.int32)
    >>> table = slots, hashes, starts, arena, meanings, state
    >>> code_words(text, 0, True, 3, 500, *table, codes), codes[:4].tolist()
    ((4, 1, 18), [0, -2, 1, 0])
    """
    text = data.tobytes()
    n = n_open = 0
    for match in _RUN.finditer(text, begin):
        run = match[0]
        pure = _LETTERS.fullmatch(run) is not None
        if pure and not min_length <= len(run) <= max_length:
            continue
        if not pure and len(run) > MAX_MIXED:
            return n, n_open, -1
        if pure and lower:
            run = run.lower()
        n_entries, n_codes, _ = (int(number) for number in state)
        known = [arena[starts[e] : starts[e + 1]].tobytes() for e in range(n_entries)]
        if run in known:
            entry = known.index(run)
        else:
            end = int(starts[n_entries]) + len(run)
            if n_entries == meanings.size or 2 * n_entries >= slots.size or end > arena.size:
                return n, n_open, match.start()
            entry = n_entries
            arena[starts[entry] : end] = np.frombuffer(run, np.uint8)
            starts[entry + 1] = end
            meanings[entry] = n_codes if pure else ELSEWHERE
            state[:2] = n_entries + 1, n_codes + pure
        if meanings[entry] != NOTHING:
            is_open = meanings[entry] == ELSEWHERE
            codes[n] = -1 - entry if is_open else meanings[entry]
            n, n_open = n + 1, n_open + int(is_open)
    return n, n_open, len(text)


def fill_slots(slots: Array, hashes: Array, n_entries: int) -> None:
    """Put the entries of a table into slots that are all -1, after it has grown."""
