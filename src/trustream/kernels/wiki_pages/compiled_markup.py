"""Wiki text without its markup, in Numba, step by step as `reference_markup` has it.

Each step works in place: what it leaves is never longer than what was there. Where the case of a
letter beyond ASCII may count, or an entity is not of the usual form, a text is not taken.
"""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

from html.entities import html5

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit
from trustream.kernels.wiki_pages.compiled_brackets import AND, LESS, LINE, SLASH, without_brackets
from trustream.kernels.wiki_pages.reference import ARTICLE, OTHER
from trustream.kernels.wiki_pages.reference_markup import LOST, MAX_TAGS

__all__ = ["strip_markup"]

_LESS, _GREATER, _SLASH, _AND, _SPACE = ord("<"), ord(">"), ord("/"), ord("&"), ord(" ")
_BANG, _DASH, _LINE, _QUOTE, _EQUALS = ord("!"), ord("-"), ord("_"), ord("'"), ord("=")
_COLON, _SEMICOLON, _HASH, _OPEN = ord(":"), ord(";"), ord("#"), ord("[")
_CASE = np.uint8(32)
# 1 a letter, 2 a digit or a line, which with letters are what words are of; 3 beyond ASCII.
_KIND = np.zeros(256, np.uint8)
_KIND[[*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1)]] = 1
_KIND[[*range(ord("0"), ord("9") + 1), _LINE]] = 2
_KIND[128:] = 3
_HEX = np.full(256, 16, np.uint8)
for _value, _byte in enumerate(b"0123456789abcdef"):
    _HEX[[_byte, ord(chr(_byte).upper())]] = _value
# Whether a byte ends an address; white space beyond ASCII is found apart.
_ENDS_ADDRESS = np.zeros(256, np.bool_)
_ENDS_ADDRESS[:33] = True
_ENDS_ADDRESS[[*b"[]<>|"]] = True


def _joined(names):
    """Names one after the other, and where each ends."""
    ends = np.cumsum([len(name) for name in names])
    return np.frombuffer(b"".join(names), np.uint8), ends.astype(np.int64)


_LOST, _LOST_ENDS = _joined([name.encode() for name in LOST])
_SCHEMES, _SCHEME_ENDS = _joined([b"http:", b"https:", b"ftp:", b"mailto:"])
# Entities that end as they should and are not longer without their names, in the order of these.
_ENTITIES = sorted(
    (name.encode(), value.encode())
    for name, value in html5.items()
    if name.endswith(";") and len(value.encode()) <= len(name) + 1
)
_NAMES, _NAME_ENDS = _joined([name for name, _ in _ENTITIES])
_VALUES, _VALUE_ENDS = _joined([value for _, value in _ENTITIES])
_LONGEST = max(len(name) for name, _ in _ENTITIES)


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
def _without_elements(data, place, size):
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
def _without_tags(data, size):
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
    while begin > 0 and _KIND[data[begin - 1]] == 1:
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
def _unescaped(data, size):
    """What is left with characters in the place of entities, -1 if it is not certain."""
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
        while last < size and (_KIND[data[last]] == 1 or _HEX[data[last]] < 10):
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
        place = _find(data, place, size - 1, byte)
        if place + 1 < size and data[place + 1] == byte:
            return place
        place += 1
    return size


@njit(**elementary.INSIDE)
def strip_markup(data, size, media, media_ends, met, met_ends, met_is_media, text):
    """(what, n): write data[:size], which changes, without markup to text[:n]."""
    place = _find(data, 0, size, _LESS)
    if place < size:
        certain, commented = _tags(data, place, size)
        if not certain:
            return OTHER, 0
        if commented:
            size = _without_comments(data, place, size)
        size = _without_empty(data, place, size)
        size = _without_elements(data, place, size)
    what, n, signs = without_brackets(
        data, size, media, media_ends, met, met_ends, met_is_media, text
    )
    if what != ARTICLE:
        return what, n
    if signs & LESS:
        n = _without_tags(text, n)
    if signs & SLASH and _pair(text, 0, n, _SLASH) < n:
        n = _without_addresses(text, n)
        if n < 0:
            return OTHER, 0
    if signs & AND:
        for _ in range(2):
            n = _unescaped(text, n)
            if n < 0:
                return OTHER, 0
    # Entities may have stood for lines.
    if signs & (AND | LINE):
        n = _without_switches(text, n)
    return ARTICLE, _without_signs(text, n)
