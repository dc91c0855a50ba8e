"""What a store accepts: how long names may be, how large counts, how far times."""

from __future__ import annotations

import math
import numbers
import reprlib

MAX_CHARACTERS = 500
# The largest 32-bit count.
MAX_COUNT = 2**31 - 1
# Eight bytes each: a document stays well under what databases take as one value.
MAX_DISTINCT = 2**20
# The largest 64-bit number, as databases keep it.
MAX_OFFSET = 2**63 - 1
# Seconds from 1970, some 30,000 years: what is farther must be in other units.
FARTHEST_TIME = 1e12
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 2
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 60


def name_fault(name: object) -> str | None:
    """What is wrong with a word, a key, an append id or another name; None if nothing is.

    >>> name_fault("a"), name_fault(""), name_fault("x" * 501)
    (None, 'has 0 characters; give it 1 to 500', 'has 501 characters; give it 1 to 500')
    >>> name_fault(7)
    'is of type int; give a string'
    """
    fault = text_fault(name)
    return None if fault is None else "; ".join(fault)


def text_fault(text: object) -> tuple[str, str] | None:
    """What is wrong with a name or a word, and what to do about it; None if nothing is.

    >>> text_fault("")
    ('has 0 characters', 'give it 1 to 500')
    """
    if not isinstance(text, str):
        return f"is of type {type(text).__name__}", "give a string"
    if not 1 <= len(text) <= MAX_CHARACTERS:
        return f"has {len(text)} characters", f"give it 1 to {MAX_CHARACTERS}"
    return character_fault(text)


def character_fault(text: str) -> tuple[str, str] | None:
    """What is wrong with the characters of a text of any length, and what to do about it.

    >>> character_fault("a\\0b")
    ('has a NUL character, which databases do not store', 'remove it')
    """
    if "\0" in text:
        return "has a NUL character, which databases do not store", "remove it"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return (
                "has half of a surrogate pair, which is not valid Unicode",
                'decode the text with errors="replace"',
            )
    return None


def count_fault(count: object) -> tuple[str, str] | None:
    """What is said of something that is no count, and what was expected; None if it is one.

    >>> count_fault(-1), count_fault(3)
    (('is -1', 'a whole number from 1 on'), None)
    """
    if isinstance(count, bool) or not isinstance(count, numbers.Integral) or int(count) < 1:
        return f"is {short_repr(count)}", "a whole number from 1 on"
    if int(count) > MAX_COUNT:
        return f"is {short_repr(count)}", f"{MAX_COUNT} at most"
    return None


def whole_number(name: str, value: object) -> int:
    """A whole number that databases can take, such as that of a document.

    Raises:
        ValueError: it is something else.

    >>> whole_number("after", 2**63)
    Traceback (most recent call last):
    ...
    ValueError: after is 9223372036854775808; give a whole number from -2^63 up to 2^63 - 1
    """
    if not is_number_from(-(2**63), value) or value > MAX_OFFSET:  # type: ignore[operator]
        raise ValueError(
            f"{name} is {short_repr(value)}; give a whole number from -2^63 up to 2^63 - 1"
        )
    return int(value)  # type: ignore[call-overload,no-any-return]


def is_number_from(least: int, value: object) -> bool:
    """Whether a value is a whole number, `least` or more; neither True nor NaN is one.

    >>> is_number_from(1, 1), is_number_from(1, True), is_number_from(1, float("nan"))
    (True, False, False)
    """
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return whole and int(value) >= least  # type: ignore[call-overload]


def time_fault(time: object) -> tuple[str, str, str | None] | None:
    """What is said of something that is no time, what was expected, and perhaps what to do.

    None if it is a time. Stores of earlier versions may have times that are farther away: what
    looks at times passes over these.

    >>> time_fault("soon"), time_fault(60)
    (("is 'soon'", 'seconds since 1970', None), None)
    >>> time_fault(1.7e12)
    ('is 1.7e+12', 'seconds since 1970', 'divide milliseconds by 1000')
    """
    if not is_finite_number(time):
        return f"is {short_repr(time)}", "seconds since 1970", None
    if abs(time) > FARTHEST_TIME:  # type: ignore[arg-type]
        found = f"is {float(time):g}"  # type: ignore[arg-type]
        return found, "seconds since 1970", "divide milliseconds by 1000"
    return None


def is_finite_number(value: object) -> bool:
    """Whether a value is a real number: neither NaN, nor infinite, nor True.

    >>> is_finite_number(2.5), is_finite_number(float("nan"))
    (True, False)
    """
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            return math.isfinite(value)
        except OverflowError:  # an integer that is too large
            pass
    return False


def short_repr(value: object) -> str:
    """A value as it is told in an error: short, whatever it is.

    >>> short_repr(1.5), short_repr("x" * 1000)
    ('1.5', "'xxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxx'")
    """
    if isinstance(value, bytes):
        value = value[:60]
    try:
        return _SHORT.repr(value)
    except ValueError:  # an integer with thousands of digits
        return f"a huge {type(value).__name__}"
