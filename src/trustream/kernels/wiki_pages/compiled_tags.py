"""Tags and comments of wiki text, in Numba; `reference_markup` says what becomes of them."""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit
from trustream.kernels.names import joined
from trustream.kernels.wiki_pages.reference_markup import LOST, MAX_TAGS

__all__ = ["without_elements", "without_tags"]

_LESS, _GREATER, _SLASH, _SPACE = ord("<"), ord(">"), ord("/"), ord(" ")
_BANG, _DASH = ord("!"), ord("-")
_CASE = np.uint8(32)
# 1 a letter, 2 a digit or a line, which with letters are what words are of; 3 beyond ASCII.
_KIND = np.zeros(256, np.uint8)
_KIND[[*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1)]] = 1
_KIND[[*range(ord("0"), ord("9") + 1), ord("_")]] = 2
_KIND[128:] = 3
_LOST, _LOST_ENDS = joined([name.encode() for name in LOST])


@njit(**elementary.INSIDE)
def _find(data, place, size, byte):
    while place < size and data[place] != byte:
        place += 1
    return place


@njit(**elementary.INSIDE)
def _after_letters(data, place, size):
    while place < size and _KIND[data[place]] == 1:
        place += 1
    return place


@njit(**elementary.INSIDE)
def _end_of_tag(data, place, size):
    """The place of the bracket that ends a tag, -1 if another one begins before."""
    while place < size and data[place] != _GREATER:
        if data[place] == _LESS:
            return -1
        place += 1
    return place if place < size else -1


@njit(**elementary.INSIDE)
def _tags(data, place, size):
    """(certain, commented): whether letters and spaces beyond ASCII have no part in tags."""
    commented = False
    for p in range(place, size):
        if data[p] != _LESS:
            continue
        q = p + 1
        if q < size and data[q] == _BANG:
            commented = True
        closes = q < size and data[q] == _SLASH
        q = _after_letters(data, q + 1 if closes else q, size)
        while closes and q < size and data[q] <= 32:
            q += 1
        if q < size and data[q] >= 128:
            return False, commented
    return True, commented


@njit(**elementary.INSIDE)
def _without_comments(data, place, size):
    n = place
    while place < size:
        if (
            data[place] == _LESS and place + 3 < size and data[place + 1] == _BANG
            and data[place + 2] == _DASH and data[place + 3] == _DASH
        ):  # fmt: skip
            place += 4
            while place < size and not (
                data[place] == _DASH and place + 2 < size
                and data[place + 1] == _DASH and data[place + 2] == _GREATER
            ):  # fmt: skip
                place += 1
            place = min(place + 3, size)
            data[n] = _SPACE
        else:
            data[n] = data[place]
            place += 1
        n += 1
    return n


@njit(**elementary.INSIDE)
def _without_empty(data, place, size):
    """Without tags that end themselves."""
    n = place
    while place < size:
        data[n] = data[place]
        n, place = n + 1, place + 1
        if data[n - 1] != _LESS:
            continue
        last = _after_letters(data, place, size)
        if last == place or (last < size and _KIND[data[last]] == 2):
            continue
        end = _end_of_tag(data, last, size)
        if end > last and data[end - 1] == _SLASH:
            data[n - 1] = _SPACE
            place = end + 1
    return n


@njit(**elementary.INSIDE)
def _lost(data, first, last):
    """Whether a name between two places is that of an element that is left out."""
    start = 0
    for i in range(_LOST_ENDS.size):
        stop = _LOST_ENDS[i]
        if stop - start == last - first:
            same = True
            for p in range(last - first):
                if data[first + p] | _CASE != _LOST[start + p]:
                    same = False
                    break
            if same:
                return True
        start = stop
    return False


@njit(**elementary.INSIDE)
def _behind_element(data, first, last, size):
    """The place behind an element whose name stands between two places, -1 if it has no end."""
    place = _end_of_tag(data, last, size)
    if place < 0:
        return -1
    for _ in range(MAX_TAGS + 1):
        place = _find(data, place, size, _LESS)
        if place + 1 >= size:
            return -1
        if data[place + 1] == _SLASH and place + 2 + last - first < size:
            same = True
            for p in range(last - first):
                if data[place + 2 + p] | _CASE != data[first + p] | _CASE:
                    same = False
                    break
            if same:
                end = place + 2 + last - first
                while end < size and data[end] <= 32:
                    end += 1
                if end < size and data[end] == _GREATER:
                    return end + 1
        place += 1
    return -1


@njit(**elementary.INSIDE)
def _without_lost(data, place, size):
    n = place
    while place < size:
        data[n] = data[place]
        n, place = n + 1, place + 1
        if data[n - 1] != _LESS:
            continue
        last = _after_letters(data, place, size)
        if (last < size and _KIND[data[last]] == 2) or not _lost(data, place, last):
            continue
        end = _behind_element(data, place, last, size)
        if end > 0:
            data[n - 1] = _SPACE
            place = end
    return n


@njit(**elementary.INSIDE)
def without_elements(data, size):
    """What is left of data[:size] without comments and elements whose inside is lost.

    -1 if it is not certain.
    """
    place = _find(data, 0, size, _LESS)
    if place < size:
        certain, commented = _tags(data, place, size)
        if not certain:
            return -1
        if commented:
            size = _without_comments(data, place, size)
        size = _without_empty(data, place, size)
        size = _without_lost(data, place, size)
    return size


@njit(**elementary.INSIDE)
def without_tags(data, size):
    """What is left of data[:size] without tags."""
    n, place = 0, 0
    while place < size:
        data[n] = data[place]
        n, place = n + 1, place + 1
        if data[n - 1] != _LESS:
            continue
        first = place + 1 if place < size and data[place] == _SLASH else place
        if first >= size or _KIND[data[first]] != 1:
            continue
        end = _end_of_tag(data, first, size)
        if end > 0:
            data[n - 1] = _SPACE
            place = end + 1
    return n
