"""Check what is kept of the documents' words beside them: frequencies, columns, texts, orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from trustream.store import document_frequencies
from trustream.store.active_words import ActiveWords, ColumnChange, Ints, waiting_words
from trustream.store.check_result import Findings
from trustream.store.database import Database
from trustream.store.kept_orders import unpack_order
from trustream.store.kept_texts import unpack_text
from trustream.store.recount import NumberedWords, Recount, whole

_EXAMPLES = 20
_UNIQUE = (
    ("document", "key"), ("document", "number"), ("document", "place"),
    ("word", "word"), ("word", "number"), ("seen", "append_id"), ("feed", "name"),
    ("saved_version", "name"), ("text", "document"), ("word_order", "document"),
)  # fmt: skip


def check_unique(database: Database, findings: Findings) -> None:
    """Check that keys, numbers and names are there once: an index may itself be damaged."""
    for table, column in _UNIQUE:
        statement = f'SELECT {column}, count(*) FROM "{table}" GROUP BY {column}'
        for value, n in database.stream(f"{statement} HAVING count(*) > 1"):
            findings.add("repeated", f"{column} {value!r:.60} of {table} is there {n} times")


def check_texts(database: Database, findings: Findings) -> list[int]:
    """Check the texts that are kept; the numbers of those that are wrong."""
    limit = database.settings.keep_text
    read = partial(unpack_text, limit=limit) if limit else None
    return _check_beside(database, "text", "texts", "the text", read, findings)


def check_orders(database: Database, findings: Findings) -> list[int]:
    """Check the orders of words that are kept; the numbers of documents of which it is wrong."""
    read = unpack_order if database.settings.keep_order else None
    return _check_beside(database, "word_order", "orders", "the order of words", read, findings)


def _check_beside(
    database: Database,
    table: str,
    kind: str,
    what: str,
    read: Callable[[bytes], object] | None,
    findings: Findings,
) -> list[int]:
    """Check a table beside the documents; `read` is None if it should be empty."""
    wrong: list[int] = []
    for number, content, key in database.stream(
        f"SELECT t.document, t.content, d.key FROM {table} AS t"
        " LEFT JOIN document AS d ON d.number = t.document"
    ):
        fault = None
        if key is None:
            fault = "is of no document"
        elif read is None:
            fault = f"is kept, though the store keeps no {kind}"
        else:
            try:
                read(content)
            except ValueError as error:
                fault = str(error)
        if fault is not None:
            whose = f"number {number}" if key is None else f"{key!r:.60}"
            findings.add(kind, f"{what} of {whose} {fault}")
            wrong.append(number)
    return wrong


def check_used(
    database: Database, words: NumberedWords, recount: Recount, findings: Findings
) -> None:
    """Check that each word is in a document, unless the vocabulary is fixed."""
    if database.settings.fixed:
        return
    unused = np.flatnonzero(words.there & (recount.frequencies == 0))
    for name in _names(database, unused[:_EXAMPLES].tolist()).values():
        findings.add("unused words", name)
    findings.add("unused words", None, max(len(unused) - _EXAMPLES, 0))


def check_columns(
    database: Database, words: NumberedWords, recount: Recount, findings: Findings
) -> ActiveWords:
    """Check the columns; the active words that are right, of the highest version of a column."""
    settings = database.settings
    right: list[ColumnChange] = []
    taken: set[int] = set()
    version = expected = 0
    for column, word, changed in database.stream(
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
        elif not settings.fixed and not recount.frequencies[word]:
            wrong = f"has word number {word}, which no document has"
        if wrong is not None:
            findings.add("columns", f"column {column} {wrong}")
            word = None
        if word is not None:
            taken.add(word)
        right.append((column, word))
    active = ActiveWords()
    active.apply(right, version)
    _check_active(database, words, recount, active, findings)
    return active


def _check_active(
    database: Database,
    words: NumberedWords,
    recount: Recount,
    active: ActiveWords,
    findings: Findings,
) -> None:
    """Check that those words are active that should be."""
    settings = database.settings
    n = len(active.numbers)
    if settings.fixed:
        findings.add("columns", "words of the vocabulary have no column", max(words.next - n, 0))
        return
    limit = settings.max_words
    if limit is not None and n > limit:
        findings.add("columns", f"{n} words are active, and {limit} may be", n - limit)
    out = waiting_words(active, recount.frequencies, settings)
    room = len(out) if limit is None else max(limit - n, 0)
    if room and len(out):
        example = f"word number {out[0]} is in enough documents and has no column"
        findings.add("columns", example, min(room, len(out)))


class StoredFrequencies(NamedTuple):
    """Document frequencies as they are stored, and the highest sequence number of a block."""

    values: Ints
    sequence: int


def check_frequencies(
    database: Database, words: NumberedWords, recount: Recount, findings: Findings
) -> StoredFrequencies:
    """Compare the stored document frequencies with those that counting gave."""
    size = document_frequencies.BLOCK
    stored = np.zeros((-(-len(words.there) // size), size), np.int64)
    seen: set[int] = set()
    sequence = 0
    for number, content, changed in database.stream("SELECT number, counts, sequence FROM block"):
        sequence = max(sequence, whole(changed))
        if not 0 <= number < len(stored) or number in seen:
            findings.add("counts", f"there is a block {number}")
        elif not isinstance(content, bytes) or len(content) != 4 * size:
            findings.add("counts", f"block {number} is not {4 * size} bytes")
        else:
            seen.add(number)
            stored[number] = np.frombuffer(content, "<i4")
    values = stored.ravel()
    expected = np.pad(recount.frequencies, (0, len(values) - len(words.there)))
    differ = np.flatnonzero(values != expected)
    some = differ[:_EXAMPLES].tolist()
    for word, name in _names(database, some).items():
        there = recount.frequencies[word] if word < len(words.there) else 0
        findings.add("counts", f"{name} is counted in {values[word]} documents and is in {there}")
    findings.add("counts", None, max(len(differ) - _EXAMPLES, 0))
    return StoredFrequencies(values[: len(words.there)], sequence)


def _names(database: Database, words: list[int]) -> dict[int, str]:
    """Words by their numbers, as they may be shown."""
    names = {word: f"word number {word}" for word in words}
    wanted = ", ".join(map(str, words)) or "-1"
    for word, name in database.stream(f"SELECT number, word FROM word WHERE number IN ({wanted})"):
        names[word] = f"{name!r:.60}"
    return names
