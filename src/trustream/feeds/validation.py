"""Make records from the values that stand in a file: everything about them is checked here.

What a name, a word and a count may be is the store's to say; a store checks records again, for not
all of them come from files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any

from trustream.feeds.errors import InvalidValue
from trustream.feeds.options import MAX_WORDS, Options
from trustream.store.coded_words import CodedWords
from trustream.store.limits import (
    MAX_CHARACTERS,
    MAX_COUNT,
    character_fault,
    count_fault,
    short_repr,
    text_fault,
    time_fault,
)
from trustream.store.records import Record
from trustream.word_order import OrderedWords


def make_record(
    key: Any, words: Any, time: Any = None, append_id: Any = None, max_words: int = MAX_WORDS
) -> Record:
    """A record of checked values; `InvalidValue` says what is wrong.

    Args:
        key: a string or an integer.
        words: strings in order, or a mapping from words to positive integers.
        time: seconds since 1970, or a date as ISO 8601 writes it (UTC unless it says otherwise).
        append_id: a string or an integer.
        max_words: how many words there may be.

    >>> make_record(7, {"cat": 2}, "1970-01-01T00:01:00Z")
    Record(key='7', words={'cat': 2}, time=60.0, append_id=None, replace=False)
    >>> make_record("a", {"cat": -2})
    Traceback (most recent call last):
    ...
    trustream.feeds.errors.InvalidValue: the count of 'cat' is -2, expected a whole number from 1 on
    """
    if type(words) is CodedWords:  # of a text: letters throughout
        checked: Any = words
    else:
        checked = _counts(words) if isinstance(words, Mapping) else _tokens(words)
    if len(checked) > max_words:
        raise InvalidValue(
            f"has {len(checked)} words",
            expected=f"{max_words} at most",
            advice="max_words sets it",
        )
    return Record(
        make_name("id", key),
        checked,
        None if time is None else make_time(time),
        None if append_id is None else make_name("append_id", append_id),
    )


def with_text(record: Record, text: Any, title: Any, options: Options) -> Record:
    """The record with what a store may keep of its text, if it comes from one, and its title.

    >>> kept = with_text(Record("a", ["cats"]), "Cats!", "Pets", Options(keep_text=4))
    >>> kept.text, kept.title
    ('Cats', 'Pets')
    """
    if not options.keep_text:
        return record
    kept = text[: options.keep_text] if isinstance(text, str) else None
    named = title.strip()[:MAX_CHARACTERS] if isinstance(title, str) else None
    return replace(record, text=kept, title=named or None)


def make_words(tokenise: Callable[[str], Sequence[str]], text: str) -> Sequence[str]:
    """The words of a text, without those that are too long for a store.

    A text is not to blame for a formula or a sequence of letters in it; tokens that somebody chose
    are checked by `make_record`.

    >>> make_words(str.split, "short " + "x" * 501)
    ['short']
    """
    found = tokenise(text)
    if type(found) in (CodedWords, OrderedWords):  # which come without
        return found
    words = list(found)
    if words and max(map(len, words)) > MAX_CHARACTERS:
        return [word for word in words if len(word) <= MAX_CHARACTERS]
    return words


def make_name(what: str, value: Any) -> str:
    """A key, an append id, a user or an item, as a string.

    >>> make_name("user", 12)
    '12'
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise unexpected(what, value, "a string or a whole number", what)
    _check_text(what, value, what)
    return value


def made_key(name: str, line: int, content: Any, options: Options) -> str:
    """The key of a document that has none: by its line and its content.

    With `require_id=False` it is by the line alone. The same file gives the same keys when it is
    read again; a line with another content does not get the key of the one that was there before.

    >>> made_key("pets.jsonl", 7, "Cats and dogs", Options())
    'pets.jsonl:7:2437699e5972'
    >>> made_key("pets.jsonl", 7, "Cats and dogs", Options(require_id=False))
    'pets.jsonl:7'
    """
    if options.require_id is False or options.id_column is None:
        return f"{name}:{line}"
    text = content if isinstance(content, str) else json.dumps(content)
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    return f"{name}:{line}:{digest}"


def make_time(value: Any) -> float:
    """Seconds since 1970, of a number or a date.

    >>> make_time("2015-07-06 12:30"), make_time("1436185800"), make_time(datetime(1970, 1, 2))
    (1436185800.0, 1436185800.0, 86400.0)
    >>> make_time(1436185800000)
    Traceback (most recent call last):
    ...
    trustream.feeds.errors.InvalidValue: the time is 1.43619e+12, expected seconds since 1970 or \
an ISO date; divide milliseconds by 1000
    """
    seconds = math.nan
    try:
        if isinstance(value, str):
            try:
                seconds = float(value)
            except ValueError:
                value = datetime.fromisoformat(value)
        elif isinstance(value, date) and not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if isinstance(value, datetime):
            seconds = value.replace(tzinfo=value.tzinfo or UTC).timestamp()
        elif isinstance(value, int | float) and not isinstance(value, bool):
            seconds = float(value)
    except (ValueError, OverflowError):
        pass
    fault = time_fault(seconds)
    if fault is not None:
        found, expected, advice = fault
        if advice is None:  # what was given, not the NaN that was made of it
            found = f"is {short_repr(value)}"
        expected = f"{expected} or an ISO date"
        raise InvalidValue(found, field="the time", expected=expected, advice=advice, name="time")
    return seconds


def make_count(what: str, value: Any, name: str | None = None) -> int:
    """A positive integer that the store can hold.

    Args:
        what: what an error calls it.
        value: what it is made of.
        name: of its field, for programs.

    >>> make_count("the count", 3)
    3
    """
    fault = count_fault(value)
    if fault is not None:
        found, expected = fault
        raise InvalidValue(found, field=what, expected=expected, name=name)
    return int(value)


def _counts(words: Mapping[Any, Any]) -> dict[str, int]:
    _tokens(list(words), "counts")
    counts = words.values()
    # Quick where all is well, which it nearly always is.
    if not (set(map(type, counts)) <= {int} and 1 <= min(counts, default=1)) or (
        max(counts, default=1) > MAX_COUNT
    ):
        return {
            word: make_count(f"the count of {word!r}", count, "counts")
            for word, count in words.items()
        }
    return dict(words)


def _tokens(words: Any, name: str = "tokens") -> Sequence[str]:
    if not isinstance(words, list | tuple):
        raise InvalidValue(
            f"are {short_repr(words)}",
            field="the tokens",
            expected="a list of strings",
            name=name,
        )
    try:
        joined = "".join(words)
    except TypeError:
        wrong = next(word for word in words if not isinstance(word, str))
        raise unexpected("a token", wrong, "a string", name) from None
    # All at once, which is much quicker; one by one where one of them may be wrong.
    if (
        "" in words
        or (len(joined) > MAX_CHARACTERS and max(map(len, words)) > MAX_CHARACTERS)
        or character_fault(joined) is not None
    ):
        for word in words:
            _check_text("a token", word, name)
    return words


def _check_text(field: str, text: str, name: str) -> None:
    fault = text_fault(text)
    if fault is not None:
        found, advice = fault
        raise InvalidValue(found, field=field, advice=advice, name=name)


def unexpected(field: str, value: Any, expected: str, name: str | None = None) -> InvalidValue:
    """The error for a value that is not what was expected; `name` is that of its field.

    >>> unexpected("the rating", "much", "a number")
    InvalidValue("the rating is 'much', expected a number")
    """
    return InvalidValue(f"is {short_repr(value)}", field=field, expected=expected, name=name)
