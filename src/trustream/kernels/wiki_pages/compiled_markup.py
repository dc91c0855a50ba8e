"""Wiki text without its markup, in Numba, step by step as `reference_markup` has it.

Each step works in place: what it leaves is never longer than what was there. Where the case of a
letter beyond ASCII may count, or an entity is not of the usual form, a text is not taken.
"""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit
from trustream.kernels.names import joined
from trustream.kernels.wiki_pages.compiled_brackets import AND, LESS, LINE, SLASH, without_brackets
from trustream.kernels.wiki_pages.compiled_entities import unescaped
from trustream.kernels.wiki_pages.compiled_tags import without_elements, without_tags
from trustream.kernels.wiki_pages.reference import ARTICLE, OTHER

__all__ = ["strip_markup"]

_SLASH, _SPACE, _LINE, _QUOTE, _EQUALS = ord("/"), ord(" "), ord("_"), ord("'"), ord("=")
_COLON, _OPEN = ord(":"), ord("[")
_CASE = np.uint8(32)
_LETTER = np.zeros(256, np.bool_)
_LETTER[[*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1)]] = True
# Whether a byte ends an address; white space beyond ASCII is found apart.
_ENDS_ADDRESS = np.zeros(256, np.bool_)
_ENDS_ADDRESS[:33] = True
_ENDS_ADDRESS[[*b"[]<>|"]] = True
_SCHEMES, _SCHEME_ENDS = joined([b"http:", b"https:", b"ftp:", b"mailto:"])


@njit(**elementary.INSIDE)
def _ends_address(data, place, size):
    """Whether an address ends before a place: at white space, at a bracket, at the end."""
    if place >= size:
        return True
    byte = data[place]
    if byte < 128:
        return _ENDS_ADDRESS[byte]
    if byte == 0xC2:
        return place + 1 < size and (data[place + 1] == 0x85 or data[place + 1] == 0xA0)
    if place + 2 >= size:
        return False
    second, third = data[place + 1], data[place + 2]
    if byte == 0xE1:
        return second == 0x9A and third == 0x80
    if byte == 0xE2:
        if second == 0x80:
            return third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF
        return second == 0x81 and third == 0x9F
    return byte == 0xE3 and second == 0x80 and third == 0x80


@njit(**elementary.INSIDE)
def _scheme(data, last):
    """How many bytes before a place are a scheme; -1 if uncertain."""
    if last == 0 or data[last - 1] != _COLON:
        return 0
    begin = last - 1
    while begin > 0 and _LETTER[data[begin - 1]]:
        begin -= 1
    start = 0
    for i in range(_SCHEME_ENDS.size):
        length = _SCHEME_ENDS[i] - start
        if length <= last - begin:
            same = True
            for p in range(length - 1):
                if data[last - length + p] | _CASE != _SCHEMES[start + p]:
                    same = False
                    break
            if same:
                return length
        start = _SCHEME_ENDS[i]
    return -1 if begin > 0 and data[begin - 1] >= 128 else 0


@njit(**elementary.INSIDE)
def _without_addresses(data, size):
    """What is left, -1 if it is not certain."""
    n, place = 0, 0
    while place < size:
        if (
            data[place] != _SLASH or place + 1 >= size or data[place + 1] != _SLASH
            or _ends_address(data, place + 2, size)
        ):  # fmt: skip
            data[n] = data[place]
            n, place = n + 1, place + 1
            continue
        # What stands before is a part of it.
        length = _scheme(data, n)
        if length < 0:
            return -1
        n -= length
        if n > 0 and data[n - 1] == _OPEN:
            n -= 1
        place += 2
        while not _ends_address(data, place, size):
            place += 1
        data[n] = _SPACE
        n += 1
    return n


@njit(**elementary.INSIDE)
def _without_switches(data, size):
    n, place = 0, 0
    while place < size:
        data[n] = data[place]
        n, place = n + 1, place + 1
        if data[n - 1] != _LINE or place >= size or data[place] != _LINE:
            continue
        last = place + 1
        while last < size and ord("A") <= data[last] <= ord("Z"):
            last += 1
        if last > place + 1 and last + 1 < size and data[last] == data[last + 1] == _LINE:
            data[n - 1] = _SPACE
            place = last + 2
    return n


@njit(**elementary.INSIDE)
def _without_signs(data, size):
    """Without the quotes of bold and slanted words, and without the signs of headings."""
    n, place = 0, 0
    while place < size:
        byte = data[place]
        if byte == _QUOTE:
            first = place
            while place < size and data[place] == _QUOTE:
                place += 1
            # First by threes, then by twos.
            if (place - first) % 3 != 1:
                continue
        else:
            if byte == _EQUALS:
                byte = np.uint8(_SPACE)
            place += 1
        data[n] = byte
        n += 1
    return n


@njit(**elementary.INSIDE)
def _pair(data, place, size, byte):
    """The place of the first two of a byte, the size if there are none."""
    while place + 1 < size:
        while place < size - 1 and data[place] != byte:
            place += 1
        if place + 1 < size and data[place + 1] == byte:
            return place
        place += 1
    return size


@njit(**elementary.INSIDE)
def strip_markup(data, size, media, media_ends, met, met_ends, met_is_media, text):
    """(what, n): write data[:size], which changes, without markup to text[:n]."""
    size = without_elements(data, size)
    if size < 0:
        return OTHER, 0
    what, n, signs = without_brackets(
        data, size, media, media_ends, met, met_ends, met_is_media, text
    )
    if what != ARTICLE:
        return what, n
    if signs & LESS:
        n = without_tags(text, n)
    if signs & SLASH and _pair(text, 0, n, _SLASH) < n:
        n = _without_addresses(text, n)
        if n < 0:
            return OTHER, 0
    if signs & AND:
        for _ in range(2):
            n = unescaped(text, n)
            if n < 0:
                return OTHER, 0
    # Entities may have stood for lines.
    if signs & (AND | LINE):
        n = _without_switches(text, n)
    return ARTICLE, _without_signs(text, n)
