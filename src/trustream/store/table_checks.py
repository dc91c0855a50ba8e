"""Check the tables beside the documents: words, counts, columns, feeds, what is saved."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from trustream.store import word_counts
from trustream.store.backend import Backend
from trustream.store.check_result import Findings
from trustream.store.columns import Columns, Ints, waiting
from trustream.store.counting import Counted, Words, whole
from trustream.store.records import name_fault

_EXAMPLES = 20
_ONCE = (
    ("document", "key"), ("document", "number"), ("document", "place"),
    ("word", "word"), ("word", "number"), ("seen", "append_id"), ("feed", "name"),
    ("saved_version", "name"),
)  # fmt: skip


def check_once(backend: Backend, findings: Findings) -> None:
    """What should be there once; an index that should see to that may itself be damaged."""
    for table, column in _ONCE:
        statement = f'SELECT {column}, count(*) FROM "{table}" GROUP BY {column}'
        for value, n in backend.stream(f"{statement} HAVING count(*) > 1"):
            findings.add("repeated", f"{column} {value!r:.60} of {table} is there {n} times")


def check_names(backend: Backend, findings: Findings) -> None:
    """What is kept of feeds, and what is saved."""
    for (name,) in backend.stream("SELECT append_id FROM seen"):
        fault = name_fault(name)
        if fault is not None:
            findings.add("append ids", f"{name!r:.60} {fault}")
    for name, offset, _, detail in backend.stream("SELECT * FROM feed"):
        fault = name_fault(name)
        if fault is None and not isinstance(offset, int):
            fault = f"is at {offset!r:.60}"
        if fault is None and not _is_object(detail):
            fault = "has a detail that is no JSON object"
        if fault is not None:
            findings.add("feeds", f"{name!r:.200} {fault}")
    for name, first, last, n, version in backend.stream(
        "SELECT s.name, min(s.part), max(s.part), count(*), max(v.version) FROM saved AS s"
        " LEFT JOIN saved_version AS v ON v.name = s.name GROUP BY s.name"
    ):
        if (first, last) != (0, n - 1):
            findings.add("saved", f"{name!r:.60} has {n} parts, the last of them number {last}")
        if whole(version) < 1:
            findings.add("saved", f"{name!r:.60} has the version {version!r:.60}")


def _is_object(text: Any) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (TypeError, ValueError, RecursionError):
        return False


def check_columns(backend: Backend, words: Words, counted: Counted, findings: Findings) -> Columns:
    """The columns that are right, of the highest version that one has."""
    settings = backend.settings
    right: list[tuple[int, int | None]] = []
    taken: set[int] = set()
    version = expected = 0
    for column, word, changed in backend.stream(
        'SELECT number, word, version FROM "column" ORDER BY number'
    ):
        version = max(version, whole(changed))
        if not expected <= column < len(words.there):
            findings.add("columns", f"there is a column {column}")
            continue
        if column > expected:
            findings.add("columns", f"column {expected} is not there", column - expected)
        expected = column + 1
        wrong = None
        if word is None:
            wrong = "has no word" if settings.fixed else None
        elif not words.has(word):
            wrong = f"has word number {word!r:.60}, which is not there"
        elif word in taken:
            wrong = f"has word number {word}, which another one has"
        elif settings.fixed and word != column:
            wrong = f"has word number {word}, though the vocabulary is fixed"
        elif not settings.fixed and not counted.words[word]:
            wrong = f"has word number {word}, which no document has"
        if wrong is not None:
            findings.add("columns", f"column {column} {wrong}")
            word = None
        if word is not None:
            taken.add(word)
        right.append((column, word))
    columns = Columns()
    columns.apply(right, version)
    _check_members(backend, words, counted, columns, findings)
    return columns


def _check_members(
    backend: Backend, words: Words, counted: Counted, columns: Columns, findings: Findings
) -> None:
    """Whether those words take part that should."""
    settings = backend.settings
    n = len(columns.members)
    if settings.fixed:
        findings.add("columns", "words of the vocabulary have no column", max(words.next - n, 0))
        return
    limit = settings.max_words
    if limit is not None and n > limit:
        findings.add("columns", f"{n} words take part, and {limit} may", n - limit)
    out = waiting(columns, counted.words, settings)
    room = len(out) if limit is None else max(limit - n, 0)
    if room and len(out):
        example = f"word number {out[0]} is in enough documents and has no column"
        findings.add("columns", example, min(room, len(out)))


class StoredCounts(NamedTuple):
    """Word counts as they are stored, and the highest number of a change that one has."""

    values: Ints
    sequence: int


def check_counts(
    backend: Backend, words: Words, counted: Counted, findings: Findings
) -> StoredCounts:
    """Compare the blocks with in how many documents words are."""
    size = word_counts.BLOCK
    stored = np.zeros((-(-len(words.there) // size), size), np.int64)
    seen: set[int] = set()
    sequence = 0
    for number, content, changed in backend.stream("SELECT number, counts, sequence FROM block"):
        sequence = max(sequence, whole(changed))
        if not 0 <= number < len(stored) or number in seen:
            findings.add("counts", f"there is a block {number}")
        elif not isinstance(content, bytes) or len(content) != 4 * size:
            findings.add("counts", f"block {number} has {len(content)} bytes")
        else:
            seen.add(number)
            stored[number] = np.frombuffer(content, "<i4")
    values = stored.ravel()
    differ = np.flatnonzero(values != np.pad(counted.words, (0, len(values) - len(words.there))))
    some = differ[:_EXAMPLES].tolist()
    for word, name in _names(backend, some).items():
        there = counted.words[word] if word < len(words.there) else 0
        findings.add("counts", f"{name} is counted in {values[word]} documents and is in {there}")
    findings.add("counts", None, max(len(differ) - _EXAMPLES, 0))
    return StoredCounts(values[: len(words.there)], sequence)


def _names(backend: Backend, words: list[int]) -> dict[int, str]:
    """Words by their numbers, as they may be shown."""
    names = {word: f"word number {word}" for word in words}
    wanted = ", ".join(map(str, words)) or "-1"
    for word, name in backend.stream(f"SELECT number, word FROM word WHERE number IN ({wanted})"):
        names[word] = f"{name!r:.60}"
    return names
