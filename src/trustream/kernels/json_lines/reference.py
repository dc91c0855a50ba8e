"""Documents of lines of JSON, in plain Python.

A line is simple if it is an object of strings, numbers, true, false and null, and has a text and an
id. Only what is certainly right is called simple: whatever else a line may be, another reader has
to say. Fields are told by their names, each of which has a role:

- `KEY`: a string without escapes, of 1 to `MAX_KEY` bytes, or up to 18 digits;
- `TEXT`: a string, whose words are found as `kernels.words` finds them;
- `TIME`, `APPEND`: a string without escapes, a number or null; they may be missing;
- `REFUSED`: a line that has it is not simple.

A field with a role that is there twice makes a line another one too. The bytes are valid UTF-8.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.kernels.words.reference import code_words

Array = NDArray[Any]

KEY, TEXT, TIME, APPEND, REFUSED = range(5)
# Why reading stopped: at the end, at a line that is not simple, at a full table of words.
END, OTHER, FULL = range(3)
MAX_KEY, MAX_NUMBER = 500, 40
_STRING = rb'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"'
_NUMBER = rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_MEMBER = re.compile(
    rb'[ \t\r]*"([^"\\\x00-\x1f]*)"[ \t\r]*:[ \t\r]*'
    rb"(%s|%s|true|false|null)[ \t\r]*([,}])" % (_STRING, _NUMBER)
)
_SPACE = re.compile(rb"[ \t\r]*")
_DIGITS = re.compile(rb"(?:0|[1-9][0-9]{0,17})")
_SIGMA = "\u03a3"


def scan_lines(
    data: Array, begin: int, names: Array, name_ends: Array, roles: Array,
    lower: bool, min_length: int, max_length: int,
    slots: Array, hashes: Array, starts: Array, arena: Array, meanings: Array, state: Array,
    scratch: Array, codes: Array, keys: Array, ends: Array, lengths: Array, spans: Array,
) -> tuple[int, int, int, int, int, int]:  # fmt: skip
    """(n, n_codes, n_open, n_bytes, place, why): read simple lines from data[begin:] on.

    Reads up to a line that is not simple, or has words for which the table has no room; `place` is
    where that line begins, and `why` one of `END`, `OTHER` and `FULL`. Of the n lines before it:
    codes[:n_codes] are those of their words, in which n_open are as `code_words` leaves them;
    keys[:n_bytes] the keys, each with a newline behind it; ends where each line ends, with its
    newline; lengths the numbers of codes; spans where time and append id begin and end, quotation
    marks among them, 0 and 0 if there are none.

    data (bytes,) uint8; names uint8 and name_ends (fields,) int64, names of fields one after the
    other; roles (fields,) int64; the table as in `code_words`; scratch uint8 as long as data; codes
    int32 half as long and one; keys uint8 as long as data; ends, lengths (lines,) int64; spans
    (lines, 4) int64.
    """
    content, roles_by_name = data.tobytes(), {}
    for first, last, role in zip([0, *name_ends], name_ends, roles, strict=False):
        roles_by_name[names[first:last].tobytes()] = int(role)
    n = n_codes = n_open = n_bytes = 0
    place, why = begin, END
    table = slots, hashes, starts, arena, meanings, state
    while place < len(content) and why == END:
        newline = content.find(b"\n", place)
        stop = len(content) if newline < 0 else newline
        fields = _fields(content[place:stop], roles_by_name)
        if fields is None:
            why = OTHER
            break
        text = json.loads(fields[TEXT][1]).encode()
        if lower and _SIGMA.encode() in text:
            why = OTHER
            break
        array = np.frombuffer(text, np.uint8)
        found, is_open, reached = code_words(
            array, 0, lower, min_length, max_length, *table, codes[n_codes:]
        )
        if reached != len(text):
            why = OTHER if reached < 0 else FULL
            break
        key = fields[KEY][1].strip(b'"') + b"\n"
        keys[n_bytes : n_bytes + len(key)] = np.frombuffer(key, np.uint8)
        for i, role in enumerate((TIME, APPEND)):
            at, value = fields.get(role, (0, b"null"))
            span = (0, 0) if value == b"null" else (place + at, place + at + len(value))
            spans[n, 2 * i : 2 * i + 2] = span
        place = min(stop + 1, len(content))
        ends[n], lengths[n] = place, found
        n, n_codes, n_open, n_bytes = n + 1, n_codes + found, n_open + is_open, n_bytes + len(key)
    return n, n_codes, n_open, n_bytes, place, why


def _fields(line: bytes, roles: dict[bytes, int]) -> dict[int, tuple[int, bytes]] | None:
    """Where the fields with a role stand in a line and what they have; None if it is not simple."""
    if not line.startswith(b"{"):
        return None
    found: dict[int, tuple[int, bytes]] = {}
    at, more = 1, b","
    while more == b",":
        member = _MEMBER.match(line, at)
        if member is None:
            return None
        name, value, more = member.groups()
        at = member.end()
        is_string = value.startswith(b'"')
        if not is_string and len(value) > MAX_NUMBER:
            return None
        role = roles.get(name)
        if role is None:
            continue
        plain = value == b"null" or value[:1].isdigit() or value.startswith(b"-")
        plain = plain or (is_string and b"\\" not in value)
        fits = {
            KEY: (is_string and plain and 3 <= len(value) <= MAX_KEY + 2)
            or _DIGITS.fullmatch(value) is not None,
            TEXT: is_string and not _has_half(value),
            TIME: plain,
            APPEND: plain,
        }
        if role in found or not fits.get(role, False):
            return None
        found[role] = member.start(2), value
    if _SPACE.fullmatch(line, at) is None or not {KEY, TEXT} <= found.keys():
        return None
    return found


def _has_half(value: bytes) -> bool:
    """Whether a string has half of a surrogate pair."""
    try:
        json.loads(value).encode()
    except UnicodeEncodeError:
        return True
    return False
