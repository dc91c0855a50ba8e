"""Words of a text as codes, in Numba; the twin in `reference` says how the table is kept.

Runs are found by a hash of their bytes with a secret seed, so that nobody can make texts whose runs
all go to one slot.
"""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit
from trustream.kernels.words.reference import ELSEWHERE, MAX_MIXED

__all__ = ["code_words", "fill_slots"]

# Of each byte: 1 a lower-case letter, 2 an upper-case one, 3 beyond ASCII, 0 what is between runs.
_KIND = np.zeros(256, np.uint8)
_KIND[ord("a") : ord("z") + 1] = 1
_KIND[ord("A") : ord("Z") + 1] = 2
_KIND[128:] = 3

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_CASE = np.uint8(32)


@njit(**elementary.INSIDE)
def _mixed_up(value):
    value ^= value >> np.uint64(32)
    value *= _FACTOR
    return value ^ (value >> np.uint64(29))


@njit(**elementary.KERNEL)
def code_words(
    data, begin, lower, min_length, max_length,
    slots, hashes, starts, arena, meanings, state,
    codes,
):  # fmt: skip
    """(n, n_open, place): write the n codes of the words in data[begin:] up to a place."""
    size = data.size
    mask = np.uint64(slots.size - 1)
    n_entries, n_codes, seed = state[0], state[1], np.uint64(state[2])
    n, n_open, place = 0, 0, begin
    while place < size:
        if _KIND[data[place]] == 0:
            place += 1
            continue
        first = place
        key, kinds = seed, 0
        while place < size:
            byte = data[place]
            kind = _KIND[byte]
            if kind == 0:
                break
            kinds |= 1 << kind
            if lower and kind == 2:
                byte |= _CASE
            key = (key ^ byte) * _FACTOR
            key ^= key >> np.uint64(31)
            place += 1
        length = place - first
        pure = kinds < 8
        if pure and (length < min_length or length > max_length):
            continue
        if not pure:
            if length > MAX_MIXED:
                state[0], state[1] = n_entries, n_codes
                return n, n_open, -1
            if lower and kinds & 4:
                # Upper-case letters stay as they are: what they become with marks is not known.
                key = seed
                for p in range(first, place):
                    key = (key ^ data[p]) * _FACTOR
                    key ^= key >> np.uint64(31)
        change = lower and pure
        key = _mixed_up(key)
        slot = key & mask
        entry = -1
        while slots[slot] >= 0:
            met = slots[slot]
            if hashes[met] == key and starts[met + 1] - starts[met] == length:
                start, same = starts[met], True
                for p in range(length):
                    byte = data[first + p]
                    if change:
                        byte |= _CASE
                    if byte != arena[start + p]:
                        same = False
                        break
                if same:
                    entry = met
                    break
            slot = (slot + np.uint64(1)) & mask
        if entry < 0:
            start = starts[n_entries]
            full = n_entries == meanings.size or 2 * n_entries >= slots.size
            if full or start + length > arena.size:
                state[0], state[1] = n_entries, n_codes
                return n, n_open, first
            entry = n_entries
            for p in range(length):
                byte = data[first + p]
                if change:
                    byte |= _CASE
                arena[start + p] = byte
            starts[entry + 1] = start + length
            hashes[entry] = key
            slots[slot] = entry
            n_entries += 1
            if pure:
                meanings[entry] = n_codes
                n_codes += 1
            else:
                meanings[entry] = ELSEWHERE
        meaning = meanings[entry]
        if meaning >= 0:
            codes[n] = meaning
            n += 1
        elif meaning == ELSEWHERE:
            codes[n] = -1 - entry
            n += 1
            n_open += 1
    state[0], state[1] = n_entries, n_codes
    return n, n_open, size


@njit(**elementary.KERNEL)
def fill_slots(slots, hashes, n_entries):
    """Put the entries of a table into slots that are all -1, after it has grown."""
    mask = np.uint64(slots.size - 1)
    for entry in range(n_entries):
        slot = hashes[entry] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = entry
