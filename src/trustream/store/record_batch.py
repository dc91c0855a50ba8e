"""The records of an append, checked, with all their words in one list."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.store.coded_records import CodedRecords
from trustream.store.coded_words import CodedTokens, CodedWords, WordTable
from trustream.store.errors import RecordError
from trustream.store.limits import (
    FARTHEST_TIME,
    MAX_CHARACTERS,
    MAX_COUNT,
    count_fault,
    name_fault,
    short_repr,
    time_fault,
)
from trustream.store.records import Record
from trustream.word_order import OrderedWords


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """Records with their words in one list.

    Attributes:
        records: the records as they were given.
        keys: the key of each.
        words: words of all records, one after the other.
        lengths: (R,) int64, how many of `words` each record has.
        counts: (len(words),) int64; None if all are 1.
        replaces: whether one of them replaces its document.
        times: of each record; None if none has one.
        append_ids: of each record; None if none has one.
    """

    records: Sequence[Record]
    keys: list[str]
    words: Sequence[str]
    lengths: NDArray[np.int64]
    counts: NDArray[np.int64] | None
    replaces: bool = False
    times: list[float | None] | None = None
    append_ids: list[str | None] | None = None


def flatten(records: Iterable[Record]) -> RecordBatch:
    """A batch of records. All but their words are checked; `check_words` checks new words.

    Raises:
        RecordError: a record has a bad key, time, append id or count.

    >>> batch = flatten([Record("a", ["x", "y", "x"]), Record("b", {"y": 2})])
    >>> batch.words, batch.lengths.tolist(), batch.counts.tolist()
    (['x', 'y', 'x', 'y'], [3, 1], [1, 1, 1, 2])
    """
    if isinstance(records, CodedRecords) and _is_fine(records):
        return RecordBatch(
            records, records.keys, records.words, records.lengths, None,
            records.replace, records.times, records.append_ids,
        )  # fmt: skip
    records = list(records)
    if not _are_names_fine(records):
        for index, record in enumerate(records):
            _check_names(index, record)
    kinds = {type(record.words) for record in records}
    words: Sequence[str]
    counts = None
    if kinds <= {list, OrderedWords}:
        words = list(chain.from_iterable(record.words for record in records))
        lengths = _lengths([record.words for record in records])
    elif kinds == {CodedWords}:
        words, lengths = _coded(records)
    else:
        words, lengths, counts = _mixed(records)
    keys = [record.key for record in records]
    replaces = True in {record.replace for record in records}
    times = [record.time for record in records]
    append_ids = [record.append_id for record in records]
    return RecordBatch(
        records, keys, words, lengths, counts, replaces,
        times if times.count(None) < len(times) else None,
        append_ids if append_ids.count(None) < len(append_ids) else None,
    )  # fmt: skip


def _is_fine(records: CodedRecords) -> bool:
    """Whether there is surely nothing wrong with them; if not, they are looked at one by one."""
    names = [*records.keys, *(name for name in records.append_ids or [] if name is not None)]
    times = {time for time in records.times or [] if time is not None}
    codes_are_fine = not any(_are_wrong(codes, table) for table, codes in records.words.parts)
    return codes_are_fine and _are_fine(names, times, {type(records.replace)})


def _coded(records: list[Record]) -> tuple[CodedTokens, NDArray[np.int64]]:
    """Words of records whose words have codes, and how many each has."""
    contents = [record.words for record in records if isinstance(record.words, CodedWords)]
    parts: list[tuple[WordTable, NDArray[np.integer[Any]]]] = []
    index = 0
    for _, group in groupby(contents, lambda content: id(content.table)):
        together = list(group)
        table = together[0].table
        codes = _concatenated(together)
        if codes is None or _are_wrong(codes, table):
            for place, content in enumerate(together, start=index):
                if _are_wrong(np.asarray(content.codes), table):
                    raise RecordError(
                        place,
                        "codes of words are not whole numbers "
                        f"from 0 to {len(table) - 1}, as in its table",
                        "words",
                    )
            # Whole numbers of kinds that NumPy puts together as others.
            codes = np.concatenate([np.asarray(c.codes, np.int64) for c in together])
        parts.append((table, codes))
        index += len(together)
    return CodedTokens(parts), _lengths(contents)


def _concatenated(contents: list[CodedWords]) -> NDArray[Any] | None:
    """The codes of all of them; None if they have not the same number of dimensions."""
    try:
        return np.concatenate([content.codes for content in contents])
    except ValueError:
        return None


def _are_wrong(codes: NDArray[Any], table: WordTable) -> bool:
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        return True
    return len(codes) > 0 and (codes.min() < 0 or codes.max() >= len(table))


def _mixed(
    records: list[Record],
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64] | None]:
    """Words of records with tokens and with mappings, how many each has, and their counts."""
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
    return words, _lengths(parts), counts


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
    given: list[float | None] | None, of_record: Sequence[int], n: int, now: float
) -> tuple[list[float], list[bool]]:
    """The latest time of each of n documents, and whether it is now because none was given.

    >>> latest_times([5.0, None, 9.0], [0, 0, 1], 2, 7.0)
    ([7.0, 9.0], [True, False])
    """
    if given is None:
        return [now] * n, [True] * n
    n_none = given.count(None)
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
    suspects = list(suspects)
    if _are_fine(suspects, set(), set()):
        return
    if all(name_fault(suspect) is None for suspect in suspects):
        return
    ends = np.cumsum(batch.lengths)
    for at, word in enumerate(batch.words):
        fault = name_fault(word)
        if fault is not None:
            index = int(np.searchsorted(ends, at, side="right"))
            raise RecordError(index, f"word {short_repr(word)} {fault}", "words")


def _are_names_fine(records: list[Record]) -> bool:
    """Whether keys, times and append ids are surely right: all at once, which is much faster."""
    try:
        names = [record.key for record in records]
        names += [record.append_id for record in records if record.append_id is not None]
        times = {record.time for record in records if record.time is not None}
        flags = {type(record.replace) for record in records}
        texts = {type(record.text) for record in records}
        texts.update([type(record.title) for record in records])
    except (AttributeError, TypeError):
        return False
    return texts <= {str, type(None)} and _are_fine(names, times, flags)


def _are_fine(names: list[Any], times: set[float], flags: set[type]) -> bool:
    """The same of keys and append ids, of times, and of the types of `replace`."""
    try:
        text = "".join(names)
        text.encode()
        plain = set(map(type, times)) <= {int, float} and all(map(math.isfinite, times))
        plain = plain and max(map(abs, times), default=0.0) <= FARTHEST_TIME
    except (TypeError, UnicodeEncodeError, OverflowError):
        return False
    lengths = set(map(len, names))
    short = min(lengths, default=1) >= 1 and max(lengths, default=1) <= MAX_CHARACTERS
    return short and "\0" not in text and plain and flags <= {bool}


def _check_names(index: int, record: Record) -> None:
    if not isinstance(record, Record):
        raise RecordError(index, f"is of type {type(record).__name__}; give a Record")
    fault = name_fault(record.key)
    if fault is not None:
        raise RecordError(index, f"key {short_repr(record.key)} {fault}", "key")
    if record.append_id is not None:
        fault = name_fault(record.append_id)
        if fault is not None:
            problem = f"append id {short_repr(record.append_id)} {fault}"
            raise RecordError(index, problem, "append_id")
    wrong = None if record.time is None else time_fault(record.time)
    if wrong is not None:
        found, expected, advice = wrong
        problem = f"the time {found}, expected {expected} or None for now"
        raise RecordError(index, f"{problem}; {advice}" if advice else problem, "time")
    if not isinstance(record.replace, bool):
        problem = f"replace is {short_repr(record.replace)}; give True or False"
        raise RecordError(index, problem, "replace")
    for name in ("text", "title"):
        value = getattr(record, name)
        if not isinstance(value, str | None):
            problem = f"{name} is of type {type(value).__name__}; give a string, or None for none"
            raise RecordError(index, problem, name)


def _check_tokens(index: int, content: object) -> None:
    if isinstance(content, str | bytes):
        raise RecordError(
            index,
            "words are one text; give a list of tokens (trustream.text splits texts)",
            "words",
        )
    if not isinstance(content, Sequence | np.ndarray):
        raise RecordError(
            index,
            f"words are of type {type(content).__name__}; "
            "give a list of tokens or a mapping from words to counts",
            "words",
        )


def _check_counts(index: int, content: Mapping[str, int]) -> list[int]:
    values = list(content.values())
    # Quick where all is well, which it nearly always is.
    if set(map(type, values)) <= {int} and 1 <= min(values, default=1):
        if max(values, default=1) <= MAX_COUNT:
            return values
    for word, value in zip(content, values, strict=True):
        fault = count_fault(value)
        if fault is not None:
            found, expected = fault
            problem = f"the count of {short_repr(word)} {found}, expected {expected}"
            raise RecordError(index, problem, "words")
    return values
