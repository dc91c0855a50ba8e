"""Records checked and laid flat: all their words in one list."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from trustream.store.errors import RecordError
from trustream.store.protocol import Record

MAX_CHARACTERS = 500
# What a 32-bit count can say.
MAX_COUNT = 2**31 - 1
# Eight bytes each: a document stays well under what databases take as one value.
MAX_DISTINCT = 2**20


@dataclass(frozen=True, slots=True)
class Batch:
    """Records laid flat.

    Attributes:
        records: as they came.
        words: of all records, one after the other.
        lengths: (R,) int64, how many of `words` each record has.
        counts: (len(words),) int64; None if all are 1.
    """

    records: list[Record]
    words: list[str]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64] | None

    @property
    def n_tokens(self) -> int:
        """Tokens of all records."""
        return len(self.words) if self.counts is None else int(self.counts.sum())


def flatten(records: Iterable[Record]) -> Batch:
    """Check all but the words, which `check_words` does for those that are new.

    Raises:
        RecordError: a record has a bad key, time, append id or count.

    >>> batch = flatten([Record("a", ["x", "y", "x"]), Record("b", {"y": 2})])
    >>> batch.words, batch.lengths.tolist(), batch.counts.tolist()
    (['x', 'y', 'x', 'y'], [3, 1], [1, 1, 1, 2])
    """
    records = list(records)
    if not _are_names_fine(records):
        for index, record in enumerate(records):
            _check_names(index, record)
    if {type(record.words) for record in records} <= {list}:
        words = list(chain.from_iterable(record.words for record in records))
        return Batch(records, words, _lengths([record.words for record in records]), None)
    return _mixed(records)


def _mixed(records: list[Record]) -> Batch:
    """Records with tokens and with mappings."""
    words: list[str] = []
    parts: list[Collection[str]] = []
    # Where mappings put their counts; tokens count 1 each.
    weighted: list[tuple[int, list[int]]] = []
    for index, record in enumerate(records):
        content = record.words
        if isinstance(content, Mapping):
            weighted.append((len(words), _check_counts(index, content)))
        else:
            _check_tokens(index, content)
        parts.append(content)
        words.extend(content)
    counts = None
    if weighted:
        counts = np.ones(len(words), np.int64)
        for start, values in weighted:
            counts[start : start + len(values)] = values
    return Batch(records, words, _lengths(parts), counts)


def _lengths(parts: list[Collection[str]]) -> NDArray[np.int64]:
    return np.fromiter(map(len, parts), np.int64, len(parts))


def latest_times(records: list[Record], of_record: list[int], n: int, now: float) -> list[float]:
    """The latest time of each of n documents.

    >>> latest_times([Record("a", [], 5.0), Record("a", []), Record("b", [])], [0, 0, 1], 2, 7.0)
    [7.0, 7.0]
    """
    given = [record.time for record in records]
    if given.count(None) == len(given):
        return [now] * n
    times = np.full(n, -np.inf)
    np.maximum.at(times, of_record, [now if time is None else float(time) for time in given])
    return times.tolist()


def check_words(batch: Batch, suspects: Iterable[object]) -> None:
    """Refuse suspects that are no words, naming the first record that has one.

    Raises:
        RecordError: a word is no string, is empty, is too long or cannot be written as UTF-8.
    """
    bad = [suspect for suspect in suspects if name_fault(suspect) is not None]
    if not bad:
        return
    ends = np.cumsum(batch.lengths)
    for place, word in enumerate(batch.words):
        fault = name_fault(word)
        if fault is not None:
            index = int(np.searchsorted(ends, place, side="right"))
            raise RecordError(index, f"word {_short(word)} {fault}")


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


def _are_names_fine(records: list[Record]) -> bool:
    """Whether keys, times and append ids are surely right: all at once, which is much faster."""
    try:
        keys = [record.key for record in records]
        rest = {record.time for record in records} | {record.append_id for record in records}
        text = "".join(keys)
        text.encode()
    except (AttributeError, TypeError, UnicodeEncodeError):
        return False
    lengths = set(map(len, keys))
    short = min(lengths, default=1) >= 1 and max(lengths, default=1) <= MAX_CHARACTERS
    return short and "\0" not in text and rest <= {None}


def _check_names(index: int, record: Record) -> None:
    if not isinstance(record, Record):
        raise RecordError(index, f"is of type {type(record).__name__}; give a Record")
    fault = name_fault(record.key)
    if fault is not None:
        raise RecordError(index, f"key {_short(record.key)} {fault}")
    if record.append_id is not None:
        fault = name_fault(record.append_id)
        if fault is not None:
            raise RecordError(index, f"append id {_short(record.append_id)} {fault}")
    time = record.time
    if time is not None and not (isinstance(time, numbers.Real) and math.isfinite(time)):
        raise RecordError(index, f"time is {time!r}; give seconds since 1970, or None for now")


def _check_tokens(index: int, content: object) -> None:
    if isinstance(content, str | bytes):
        raise RecordError(
            index, "words are one text; give a list of tokens (trustream.text splits texts)"
        )
    if not isinstance(content, Sequence | np.ndarray):
        raise RecordError(
            index,
            f"words are of type {type(content).__name__}; "
            "give a list of tokens or a mapping from words to counts",
        )


def _check_counts(index: int, content: Mapping[str, int]) -> list[int]:
    values = list(content.values())
    for word, value in zip(content, values, strict=True):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not 1 <= value <= MAX_COUNT:
            raise RecordError(
                index,
                f"word {_short(word)} has the count {_short(value)}; "
                f"counts are whole numbers from 1 to {MAX_COUNT}",
            )
    return values


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
