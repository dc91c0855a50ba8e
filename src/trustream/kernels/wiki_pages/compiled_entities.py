"""Entities of HTML in wiki text, in Numba."""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

from html.entities import html5

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit
from trustream.kernels.names import joined

__all__ = ["unescaped"]

_AND, _SEMICOLON, _HASH = ord("&"), ord(";"), ord("#")
_CASE = np.uint8(32)
_LETTER = np.zeros(256, np.bool_)
_LETTER[[*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1)]] = True
_HEX = np.full(256, 16, np.uint8)
for _value, _byte in enumerate(b"0123456789abcdef"):
    _HEX[[_byte, ord(chr(_byte).upper())]] = _value
# Entities that end as they should and are not longer without their names, in the order of these.
_ENTITIES = sorted(
    (name.encode(), value.encode())
    for name, value in html5.items()
    if name.endswith(";") and len(value.encode()) <= len(name) + 1
)
_NAMES, _NAME_ENDS = joined([name for name, _ in _ENTITIES])
_VALUES, _VALUE_ENDS = joined([value for _, value in _ENTITIES])
_LONGEST = max(len(name) for name, _ in _ENTITIES)


@njit(**elementary.INSIDE)
def _entity(data, first, last):
    """The number of the entity whose name stands between two places, -1 if there is none."""
    low, high = 0, _NAME_ENDS.size
    while low < high:
        middle = (low + high) // 2
        start = _NAME_ENDS[middle - 1] if middle else 0
        stop = _NAME_ENDS[middle]
        order, p = np.int64(0), 0
        while order == 0 and first + p < last and start + p < stop:
            order = np.int64(data[first + p]) - np.int64(_NAMES[start + p])
            p += 1
        if order == 0:
            order = np.int64((last - first) - (stop - start))
        if order == 0:
            return middle
        if order < 0:
            high = middle
        else:
            low = middle + 1
    return -1


@njit(**elementary.INSIDE)
def _number(data, place, size):
    """(place, point): of an entity that is a number, whose sign is before; point -1 if uncertain.

    The place is where it began if there is no number.
    """
    base, q = 10, place
    if q < size and data[q] | _CASE == ord("x"):
        base, q = 16, q + 1
    digits, point = q, 0
    while q < size and _HEX[data[q]] < base:
        if q - digits > 6:
            return q, -1
        point = base * point + _HEX[data[q]]
        q += 1
    if q == digits:
        return place, 0
    plain = 32 <= point < 127 or 160 <= point < 0xD800 or 0xE000 <= point < 0xFDD0
    if not plain or q >= size or data[q] != _SEMICOLON:
        return q, -1
    return q + 1, point


@njit(**elementary.INSIDE)
def unescaped(data, size):
    """What is left of data[:size] with characters in the place of entities; -1 if uncertain."""
    n, place = 0, 0
    while place < size:
        data[n] = data[place]
        n, place = n + 1, place + 1
        if data[n - 1] != _AND or place >= size:
            continue
        if data[place] == _HASH:
            stop, point = _number(data, place + 1, size)
            if point < 0:
                return -1
            if stop == place + 1:
                continue
            place, n = stop, n - 1
            if point < 0x80:
                data[n] = point
            elif point < 0x800:
                data[n] = 0xC0 | (point >> 6)
                data[n + 1] = 0x80 | (point & 0x3F)
                n += 1
            else:
                data[n] = 0xE0 | (point >> 12)
                data[n + 1] = 0x80 | ((point >> 6) & 0x3F)
                data[n + 2] = 0x80 | (point & 0x3F)
                n += 2
            n += 1
            continue
        last = place
        while last < size and (_LETTER[data[last]] or _HEX[data[last]] < 10):
            last += 1
        if last == place:
            continue
        if last >= size or data[last] != _SEMICOLON:
            # Some names need no semicolon, and none of these has one letter.
            if last > place + 1:
                return -1
            continue
        found = _entity(data, place, last + 1) if last - place < _LONGEST else -1
        if found < 0:
            return -1
        n -= 1
        for p in range(_VALUE_ENDS[found - 1] if found else 0, _VALUE_ENDS[found]):
            data[n] = _VALUES[p]
            n += 1
        place = last + 1
    return n
