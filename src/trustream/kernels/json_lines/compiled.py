"""Documents of lines of JSON, in Numba; the twin in `reference` says what a simple line is."""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit
from trustream.kernels.json_lines.reference import (
    APPEND,
    END,
    FULL,
    KEY,
    MAX_KEY,
    MAX_NUMBER,
    OTHER,
    TEXT,
    TIME,
)
from trustream.kernels.words.compiled import code_words

__all__ = ["scan_lines"]

_QUOTE, _BACKSLASH, _NEWLINE = ord('"'), ord("\\"), ord("\n")
_COMMA, _COLON, _OPEN, _CLOSE = ord(","), ord(":"), ord("{"), ord("}")
_MINUS, _PLUS, _POINT, _ZERO, _U = ord("-"), ord("+"), ord("."), ord("0"), ord("u")
# What a byte after a backslash stands for, 0 for no escape.
_ESCAPED = np.zeros(256, np.uint8)
for _byte, _meaning in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    _ESCAPED[_byte] = _meaning
# Values of hexadecimal digits, 16 for no digit.
_HEX = np.full(256, 16, np.uint8)
for _value, _byte in enumerate(b"0123456789abcdef"):
    _HEX[_byte] = _value
for _value, _byte in enumerate(b"ABCDEF", start=10):
    _HEX[_byte] = _value
# Whether a byte ends a string, or may not be in one as it stands, or begins an escape.
_SPECIAL = np.zeros(256, np.bool_)
_SPECIAL[:32] = True
_SPECIAL[[_QUOTE, _BACKSLASH]] = True
_LITERALS = np.frombuffer(b"truefalsenull", np.uint8)


@njit(**elementary.INSIDE)
def _after_space(data, place, size):
    while place < size and (data[place] == 32 or data[place] == 9 or data[place] == 13):
        place += 1
    return place


@njit(**elementary.INSIDE)
def _hex_value(data, place, size):
    """The value of four hexadecimal digits, -1 if there are none."""
    if place + 4 > size:
        return -1
    value = 0
    for p in range(place, place + 4):
        digit = _HEX[data[p]]
        if digit > 15:
            return -1
        value = 16 * value + int(digit)
    return value


@njit(**elementary.INSIDE)
def _string(data, place, size):
    """(place behind the string that begins at a place, has escapes); -1 if it is not one."""
    place += 1
    escapes = False
    while place < size:
        byte = data[place]
        if not _SPECIAL[byte]:
            place += 1
        elif byte == _QUOTE:
            return place + 1, escapes
        elif byte == _BACKSLASH and place + 1 < size:
            escapes = True
            if _ESCAPED[data[place + 1]]:
                place += 2
            elif data[place + 1] == _U and _hex_value(data, place + 2, size) >= 0:
                place += 6
            else:
                return -1, escapes
        else:
            return -1, escapes
    return -1, escapes


@njit(**elementary.INSIDE)
def _digits(data, place, size):
    while place < size and _ZERO <= data[place] <= _ZERO + 9:
        place += 1
    return place


@njit(**elementary.INSIDE)
def _number(data, place, size):
    """The place behind a number, -1 if there is none."""
    first = place
    if data[place] == _MINUS:
        place += 1
    whole = _digits(data, place, size)
    if whole == place or (data[place] == _ZERO and whole > place + 1):
        return -1
    place = whole
    if place < size and data[place] == _POINT:
        whole = _digits(data, place + 1, size)
        if whole == place + 1:
            return -1
        place = whole
    if place < size and (data[place] == ord("e") or data[place] == ord("E")):
        place += 1
        if place < size and (data[place] == _MINUS or data[place] == _PLUS):
            place += 1
        whole = _digits(data, place, size)
        if whole == place:
            return -1
        place = whole
    return place if place - first <= MAX_NUMBER else -1


@njit(**elementary.INSIDE)
def _literal(data, place, size, first, last):
    """The place behind true, false or null, which stands in _LITERALS; -1 if it is not there."""
    if place + last - first > size:
        return -1
    for p in range(last - first):
        if data[place + p] != _LITERALS[first + p]:
            return -1
    return place + last - first


@njit(**elementary.INSIDE)
def _role(data, first, last, names, name_ends, roles):
    """The role of the name between two places, -1 for none."""
    start = 0
    for i in range(roles.size):
        if name_ends[i] - start == last - first:
            same = True
            for p in range(last - first):
                if data[first + p] != names[start + p]:
                    same = False
                    break
            if same:
                return roles[i]
        start = name_ends[i]
    return -1


@njit(**elementary.INSIDE)
def _unescape(data, first, last, scratch):
    """Write a string without its escapes, as UTF-8; its length, -1 for half a surrogate pair."""
    n, place = 0, first
    while place < last:
        byte = data[place]
        if byte != _BACKSLASH:
            scratch[n] = byte
            n, place = n + 1, place + 1
        elif data[place + 1] != _U:
            scratch[n] = _ESCAPED[data[place + 1]]
            n, place = n + 1, place + 2
        else:
            point = _hex_value(data, place + 2, last)
            place += 6
            if 0xD800 <= point < 0xE000:
                if point >= 0xDC00 or place + 6 > last:
                    return -1
                if data[place] != _BACKSLASH or data[place + 1] != _U:
                    return -1
                low = _hex_value(data, place + 2, last)
                if low < 0xDC00 or low >= 0xE000:
                    return -1
                point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
                place += 6
            if point < 0x80:
                scratch[n] = point
                n += 1
                continue
            if point < 0x800:
                scratch[n] = 0xC0 | (point >> 6)
            elif point < 0x10000:
                scratch[n] = 0xE0 | (point >> 12)
            else:
                scratch[n] = 0xF0 | (point >> 18)
                n += 1
                scratch[n] = 0x80 | ((point >> 12) & 0x3F)
            if point >= 0x800:
                n += 1
                scratch[n] = 0x80 | ((point >> 6) & 0x3F)
            scratch[n + 1] = 0x80 | (point & 0x3F)
            n += 2
    return n


@njit(**elementary.INSIDE)
def _line(data, place, names, name_ends, roles, found, escapes):
    """The place behind the object in a line, -1 if it is not simple; where its fields stand.

    found (4, 2) gets the places of key, text, time and append id, escapes (4,) whether they have
    any.
    """
    size = data.size
    found[:] = 0
    if data[place] != _OPEN:
        return -1
    while True:
        place = _after_space(data, place + 1, size)
        if place >= size or data[place] != _QUOTE:
            return -1
        first = place + 1
        place, has_escapes = _string(data, place, size)
        if place < 0 or has_escapes:
            return -1
        role = _role(data, first, place - 1, names, name_ends, roles)
        place = _after_space(data, place, size)
        if place >= size or data[place] != _COLON:
            return -1
        place = _after_space(data, place + 1, size)
        if place >= size:
            return -1
        first, byte = place, data[place]
        is_string = byte == _QUOTE
        plain, is_null, has_escapes = True, False, False
        if is_string:
            place, has_escapes = _string(data, place, size)
        elif byte == ord("t"):
            place, plain = _literal(data, place, size, 0, 4), False
        elif byte == ord("f"):
            place, plain = _literal(data, place, size, 4, 9), False
        elif byte == ord("n"):
            place, is_null = _literal(data, place, size, 9, 13), True
        else:
            place = _number(data, place, size)
        if place < 0:
            return -1
        if role >= 0:
            if role > APPEND or found[role, 1]:
                return -1
            if role == TEXT:
                if not is_string:
                    return -1
            elif not plain or has_escapes:
                return -1
            if role == KEY:
                length = place - first
                if is_string:
                    if length < 3 or length > MAX_KEY + 2:
                        return -1
                elif is_null or length > 18 or _digits(data, first, place) < place:
                    return -1
            found[role, 0], found[role, 1] = first, place
            escapes[role] = has_escapes
            if is_null:
                # It is there, and has nothing: nothing ends where it begins.
                found[role, 0] = place
        place = _after_space(data, place, size)
        if place >= size:
            return -1
        if data[place] == _CLOSE:
            break
        if data[place] != _COMMA:
            return -1
    if found[KEY, 1] == 0 or found[TEXT, 1] == 0:
        return -1
    place = _after_space(data, place + 1, size)
    return place if place >= size or data[place] == _NEWLINE else -1


@njit(**elementary.INSIDE)
def _has_sigma(text):
    for p in range(text.size - 1):
        if text[p] == 0xCE and text[p + 1] == 0xA3:
            return True
    return False


@njit(**elementary.KERNEL)
def scan_lines(
    data, begin, names, name_ends, roles,
    lower, min_length, max_length,
    slots, hashes, starts, arena, meanings, state,
    scratch, codes, keys, ends, lengths, spans,
):  # fmt: skip
    """(n, n_codes, n_open, n_bytes, place, why): read simple lines from data[begin:] on."""
    n, n_codes, n_open, n_bytes, place = 0, 0, 0, 0, begin
    found = np.zeros((4, 2), np.int64)
    escapes = np.zeros(4, np.bool_)
    while place < data.size:
        stop = _line(data, place, names, name_ends, roles, found, escapes)
        if stop < 0:
            return n, n_codes, n_open, n_bytes, place, OTHER
        first, last = found[TEXT, 0] + 1, found[TEXT, 1] - 1
        if escapes[TEXT]:
            length = _unescape(data, first, last, scratch)
            if length < 0:
                return n, n_codes, n_open, n_bytes, place, OTHER
            text = scratch[:length]
        else:
            text = data[first:last]
        if lower and _has_sigma(text):
            return n, n_codes, n_open, n_bytes, place, OTHER
        n_new, is_open, reached = code_words(
            text, 0, lower, min_length, max_length,
            slots, hashes, starts, arena, meanings, state,
            codes[n_codes:],
        )  # fmt: skip
        if reached != text.size:
            return n, n_codes, n_open, n_bytes, place, OTHER if reached < 0 else FULL
        first, last = found[KEY, 0], found[KEY, 1]
        if data[first] == _QUOTE:
            first, last = first + 1, last - 1
        for p in range(first, last):
            keys[n_bytes] = data[p]
            n_bytes += 1
        keys[n_bytes] = _NEWLINE
        n_bytes += 1
        for i in range(2):
            first, last = found[TIME + i, 0], found[TIME + i, 1]
            if first == last:
                first, last = 0, 0
            spans[n, 2 * i], spans[n, 2 * i + 1] = first, last
        place = min(stop + 1, data.size)
        ends[n], lengths[n] = place, n_new
        n, n_codes, n_open = n + 1, n_codes + n_new, n_open + is_open
    return n, n_codes, n_open, n_bytes, place, END
