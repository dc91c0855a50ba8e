"""Links, templates and tables of wiki text, in Numba.

`reference_markup` says what becomes of them.
"""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit
from trustream.kernels.wiki_pages.reference import ARTICLE, ASK, MAX_NAMESPACE, OTHER
from trustream.kernels.wiki_pages.reference_markup import DEPTH, MAX_OPEN

__all__ = ["AND", "LESS", "LINE", "SLASH", "without_brackets"]

_OPEN, _CLOSE, _BEGIN, _END, _BAR = ord("["), ord("]"), ord("{"), ord("}"), ord("|")
_COLON = ord(":")
_LINK, _TEMPLATE, _TABLE = range(3)
# 1: a bracket, or what may be a part of one; 2: the same, and it is none of what links hold.
_KIND = np.zeros(256, np.uint8)
_KIND[_BAR] = 1
_KIND[[_OPEN, _CLOSE, _BEGIN, _END]] = 2
_CASE = np.uint8(32)
# Signs of what comes after brackets, each a bit, and of what is as it is.
LESS, SLASH, AND, LINE = 1, 2, 4, 8
_SIGN = np.zeros(256, np.uint8)
for _byte, _sign in zip(b"</&_", (LESS, SLASH, AND, LINE), strict=True):
    _SIGN[_byte] = _sign


@njit(**elementary.INSIDE)
def _is_media(link, first, colon, media, media_ends):
    """Whether the name before a colon, of ASCII letters, is one whose links are left out."""
    while first < colon and link[first] <= 32:
        first += 1
    while first < colon and link[colon - 1] <= 32:
        colon -= 1
    start = 0
    for i in range(media_ends.size):
        stop = media_ends[i]
        if stop - start == colon - first:
            same = True
            for p in range(colon - first):
                byte = link[first + p]
                if ord("A") <= byte <= ord("Z"):
                    byte |= _CASE
                if byte != media[start + p]:
                    same = False
                    break
            if same:
                return True
        start = stop
    return False


@njit(**elementary.INSIDE)
def _met_as(link, first, colon, met, met_ends):
    """The number of a name that was met, -1 if it was not."""
    start = 0
    for i in range(met_ends.size):
        stop = met_ends[i]
        if stop - start == colon - first:
            same = True
            for p in range(colon - first):
                if link[first + p] != met[start + p]:
                    same = False
                    break
            if same:
                return i
        start = stop
    return -1


@njit(**elementary.INSIDE)
def _shown(link, first, last, media, media_ends, met, met_ends, met_is_media):
    """(what, shown): from where on the inside of a link is shown; `ASK` for a name up to there."""
    shown, colon, has_bar, beyond = first, -1, False, False
    for p in range(first, last):
        byte = link[p]
        if byte == _BAR:
            shown, has_bar = p + 1, True
        elif byte == _COLON and colon < 0 and not has_bar:
            colon = p
        elif byte >= 128 and colon < 0 and not has_bar:
            beyond = True
    if colon >= 0:
        if not beyond:
            if _is_media(link, first, colon, media, media_ends):
                shown = last
        else:
            found = _met_as(link, first, colon, met, met_ends)
            if found < 0:
                return ASK, colon
            if met_is_media[found]:
                shown = last
    return ARTICLE, shown


@njit(**elementary.INSIDE)
def _asked(link, first, colon, out):
    """(what, n): write a name that has to be asked for."""
    n = colon - first
    if n > MAX_NAMESPACE:
        return OTHER, 0
    for p in range(n):
        out[p] = link[first + p]
    return ASK, n


@njit(**elementary.INSIDE)
def _whole(data, place, size, closing):
    """The place of the bracket that closes the one before, if none stands between; else -1."""
    while place < size and _KIND[data[place]] < 2:
        place += 1
    if place + 1 < size and data[place] == closing and data[place + 1] == closing:
        return place
    return -1


@njit(**elementary.INSIDE)
def _partner(kinds, n_open, kind):
    """The number of the last one open of a kind, of those that are looked at; -1 for none."""
    for i in range(n_open - 1, max(n_open - DEPTH, 0) - 1, -1):
        if kinds[i] == kind:
            return i
    return -1


@njit(**elementary.INSIDE)
def without_brackets(data, size, media, media_ends, met, met_ends, met_is_media, out):
    """(what, n, signs): write data[:size] without brackets; one walk from left to right.

    signs has those that may be in what is left.
    """
    signs = np.uint8(0)
    kinds, starts = np.zeros(MAX_OPEN, np.int64), np.zeros(MAX_OPEN, np.int64)
    n_open, n, place = 0, 0, 0
    while place < size:
        byte = data[place]
        if _KIND[byte] == 0:
            signs |= _SIGN[byte]
            out[n] = byte
            n, place = n + 1, place + 1
            continue
        after = data[place + 1] if place + 1 < size else np.uint8(0)
        opens = closes = -1
        if byte == _OPEN and after == _OPEN:
            opens = _LINK
        elif byte == _CLOSE and after == _CLOSE:
            closes = _LINK
        elif byte == _BEGIN and after == _BEGIN:
            opens = _TEMPLATE
        elif byte == _BEGIN and after == _BAR:
            opens = _TABLE
        elif byte == _END and after == _END:
            closes = _TEMPLATE
        elif byte == _BAR and after == _END and (place + 2 >= size or data[place + 2] != _END):
            closes = _TABLE
        else:
            out[n] = byte
            n, place = n + 1, place + 1
            continue
        place += 2
        if opens >= 0:
            if n_open == MAX_OPEN:
                for i in range(1, MAX_OPEN):
                    kinds[i - 1], starts[i - 1] = kinds[i], starts[i]
                n_open -= 1
            last = -1
            if opens == _LINK:
                last = _whole(data, place, size, _CLOSE)
            elif opens == _TEMPLATE:
                last = _whole(data, place, size, _END)
            if last < 0:
                kinds[n_open], starts[n_open] = opens, n
                n_open += 1
                continue
            if opens == _LINK:
                what, shown = _shown(
                    data, place, last, media, media_ends, met, met_ends, met_is_media
                )
                if what == ASK:
                    return *_asked(data, place, shown, out), signs
                for p in range(shown, last):
                    signs |= _SIGN[data[p]]
                    out[n] = data[p]
                    n += 1
            place = last + 2
            continue
        found = _partner(kinds, n_open, closes)
        if found < 0:
            continue
        n_open = found
        start = starts[found]
        if closes == _LINK:
            what, shown = _shown(out, start, n, media, media_ends, met, met_ends, met_is_media)
            if what == ASK:
                return *_asked(out, start, shown, out), signs
            for p in range(n - shown):
                out[start + p] = out[shown + p]
            n = start + n - shown
        else:
            n = start
    return ARTICLE, n, signs
