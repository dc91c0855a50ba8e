"""The records of an append, checked, with all their words in one list."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.store.coded_words import CodedTokens, CodedWords, WordTable
from trustream.store.errors import RecordError
from trustream.store.limits import MAX_CHARACTERS, MAX_COUNT, name_fault
from trustream.store.records import Record


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Records with their words in one list.

    Attributes:
        records: the records as they were given.
        words: words of all records, one after the other.
        lengths: (R,) int64, how many of `words` each record has.
        counts: (len(words),) int64; None if all are 1.
        replaces: whether one of them replaces its document.
    """

    records: list[Record]
    words: Sequence[str]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64] | None
    replaces: bool = False


def flatten(records: Iterable[Record]) -> RecordBatch:
    """A batch of records. All but their words are checked; `check_words` checks new words.

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
    replaces = True in {record.replace for record in records}
    kinds = {type(record.words) for record in records}
    if kinds <= {list}:
        words = list(chain.from_iterable(record.words for record in records))
        lengths = _lengths([record.words for record in records])
        return RecordBatch(records, words, lengths, None, replaces)
    return _coded(records, replaces) if kinds == {CodedWords} else _mixed(records, replaces)


def _coded(records: list[Record], replaces: bool) -> RecordBatch:
    """Records whose words have codes."""
    contents = [record.words for record in records if isinstance(record.words, CodedWords)]
    parts: list[tuple[WordTable, NDArray[np.integer[Any]]]] = []
    index = 0
    for _, group in groupby(contents, lambda content: id(content.table)):
        together = list(group)
        table = together[0].table
        codes = np.concatenate([content.codes for content in together])
        if len(codes) and _are_wrong(codes, table):
            wrong = next(i for i, c in enumerate(together) if len(c) and _are_wrong(c.codes, table))
            raise RecordError(
                index + wrong,
                f"codes of words are not whole numbers from 0 to {len(table) - 1}, as in its table",
            )
        parts.append((table, codes))
        index += len(together)
    return RecordBatch(records, CodedTokens(parts), _lengths(contents), None, replaces)


def _are_wrong(codes: NDArray[Any], table: WordTable) -> bool:
    return codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= len(table)


def _mixed(records: list[Record], replaces: bool) -> RecordBatch:
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
    return RecordBatch(records, words, _lengths(parts), counts, replaces)


def _lengths(parts: Sequence[Collection[str]]) -> NDArray[np.int64]:
    return np.fromiter(map(len, parts), np.int64, len(parts))


def not_replaced(records: list[Record]) -> list[int]:
    """Which records count: all but those before one of the same document that replaces it.

    >>> not_replaced([Record("a", ["x"]), Record("b", ["y"]), Record("a", ["z"], replace=True)])
    [1, 2]
    """
    last = {record.key: i for i, record in enumerate(records) if record.replace}
    return [i for i, record in enumerate(records) if i >= last.get(record.key, 0)]


def latest_times(
    records: list[Record], of_record: list[int], n: int, now: float
) -> tuple[list[float], list[bool]]:
    """The latest time of each of n documents, and whether it is now because none was given.

    >>> records = [Record("a", [], 5.0), Record("a", []), Record("b", [], 9.0)]
    >>> latest_times(records, [0, 0, 1], 2, 7.0)
    ([7.0, 9.0], [True, False])
    """
    given = [record.time for record in records]
    n_none = given.count(None)
    if n_none == len(given):
        return [now] * n, [True] * n
    times = np.full(n, -np.inf)
    np.maximum.at(times, of_record, [now if time is None else float(time) for time in given])
    if not n_none:
        return times.tolist(), [False] * n
    named = np.full(n, -np.inf)
    dated = [i for i, time in enumerate(given) if time is not None]
    np.maximum.at(named, np.array(of_record)[dated], [float(given[i] or 0) for i in dated])
    return times.tolist(), (named < times).tolist()


def check_words(batch: RecordBatch, suspects: Iterable[object]) -> None:
    """Raise an error if one of the suspects is not a word that a store accepts.

    Raises:
        RecordError: a word is not a string, is empty, is too long or cannot be written as
            UTF-8; the error names the first record that has such a word.
    """
    bad = [suspect for suspect in suspects if name_fault(suspect) is not None]
    if not bad:
        return
    ends = np.cumsum(batch.lengths)
    for at, word in enumerate(batch.words):
        fault = name_fault(word)
        if fault is not None:
            index = int(np.searchsorted(ends, at, side="right"))
            raise RecordError(index, f"word {_short(word)} {fault}")


def _are_names_fine(records: list[Record]) -> bool:
    """Whether keys, times and append ids are surely right: all at once, which is much faster."""
    try:
        names = [record.key for record in records]
        names += [record.append_id for record in records if record.append_id is not None]
        times = {record.time for record in records if record.time is not None}
        flags = {type(record.replace) for record in records}
        texts = {type(record.text) for record in records}
        texts.update([type(record.title) for record in records])
        text = "".join(names)
        text.encode()
    except (AttributeError, TypeError, UnicodeEncodeError):
        return False
    lengths = set(map(len, names))
    short = min(lengths, default=1) >= 1 and max(lengths, default=1) <= MAX_CHARACTERS
    plain = set(map(type, times)) <= {int, float} and all(map(math.isfinite, times))
    fine = flags <= {bool} and texts <= {str, type(None)}
    return short and "\0" not in text and plain and fine


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
    if not isinstance(record.replace, bool):
        raise RecordError(index, f"replace is {_short(record.replace)}; give True or False")
    for name in ("text", "title"):
        value = getattr(record, name)
        if not isinstance(value, str | None):
            kind = type(value).__name__
            raise RecordError(index, f"{name} is of type {kind}; give a string, or None for none")


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
