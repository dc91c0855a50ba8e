"""All documents and words of a store, read once and counted anew, some megabytes at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.store import contents
from trustream.store.backend import Backend, Row
from trustream.store.check_result import Findings
from trustream.store.places import is_held_out
from trustream.store.records import name_fault

Ints = NDArray[np.int64]

# Documents and bytes of contents that are looked at together.
_AT_ONCE, _BYTES = 5000, 1 << 22


@dataclass(slots=True)
class Words:
    """The words that have a number.

    Attributes:
        there: (numbers,) whether there is a word of each number.
        next: the number after the last.
    """

    there: NDArray[np.bool_]
    next: int

    def has(self, number: Any) -> bool:
        """Whether it is the number of a word."""
        return 0 <= whole(number) < len(self.there) and bool(self.there[number])


@dataclass(slots=True)
class Counted:
    """What the documents say.

    Attributes:
        words: (numbers,) in how many documents each word is.
        tokens: of all documents.
        training, held_out: documents in each part, as they lie.
        next_document: the number after the last.
        damaged: places of documents whose contents are malformed; what can be read is counted.
        keys: of these.
    """

    words: Ints
    tokens: int = 0
    training: int = 0
    held_out: int = 0
    next_document: int = 0
    damaged: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


def count_words(backend: Backend, findings: Findings) -> Words:
    """Read the words."""
    ((n,),) = backend.stream("SELECT count(*) FROM word")
    # Numbers are given one after the other: one far above the number of words was never given, and
    # must not decide how much memory is needed.
    there = np.zeros(2 * n + 1024, bool)
    last = -1
    for number, word in backend.stream("SELECT number, word FROM word ORDER BY number"):
        if not 0 <= number < len(there):
            findings.add("words", f"{word!r:.60} has the number {number}")
            continue
        there[number] = True
        last = number
        fault = name_fault(word)
        if fault is not None:
            findings.add("words", f"{word!r:.60} {fault}")
    return Words(there, last + 1)


def count_documents(
    backend: Backend, words: Words, findings: Findings, on_damaged: Callable[[str], None]
) -> Counted:
    """Read the documents."""
    counted = Counted(np.zeros(len(words.there), np.int64))
    look = _Look(backend.settings.held_out, findings)
    some: list[Row] = []
    size = 0
    for values in backend.stream(
        "SELECT place, number, key, time, content FROM document ORDER BY place"
    ):
        row = Row(*values)
        look.at(row)
        some.append(row)
        size += len(row.content)
        if len(some) >= _AT_ONCE or size >= _BYTES:
            _count(some, words, counted, findings)
            some, size = [], 0
    _count(some, words, counted, findings)
    look.end()
    counted.training, counted.held_out = look.training, look.held_out
    counted.next_document = look.next_document
    for key in counted.keys:
        on_damaged(key)
    return counted


class _Look:
    """A look at everything of documents but their contents, in the order of their places."""

    def __init__(self, share: float, findings: Findings) -> None:
        self._share, self._findings = share, findings
        self._last: int | None = None
        self.training = self.held_out = self.next_document = 0

    def at(self, row: Row) -> None:
        self._place(row.place)
        self._number(row)
        fault = name_fault(row.key)
        if fault is not None:
            self._findings.add("keys", f"{row.key!r:.60} {fault}")
        elif is_held_out(row.key, self._share) != (row.place < 0):
            part = "training" if row.place >= 0 else "held-out"
            self._findings.add("held out", f"{row.key!r:.60} is in the {part} part")
        if not (isinstance(row.time, float | int) and math.isfinite(row.time)):
            self._findings.add("times", f"{row.key!r:.60} has the time {row.time!r:.60}")

    def _place(self, place: int) -> None:
        """Slots of each part are 0, 1, ...; of the held-out part, -1, -2, ... in the places."""
        self.training += place >= 0
        self.held_out += place < 0
        if self._last is not None:
            # Not from one part into the other, whose ends are known at the end.
            self._gap(self._last + 1, place if (place < 0) == (self._last < 0) else 0)
        if place >= 0 and (self._last is None or self._last < 0):
            self._gap(0, place)
        self._last = place

    def _gap(self, start: int, stop: int) -> None:
        if stop > start:
            self._findings.add("places", f"no document in place {start}", stop - start)

    def _number(self, row: Row) -> None:
        if whole(row.number) >= 0:
            self.next_document = max(self.next_document, row.number + 1)
        else:
            self._findings.add("numbers", f"{row.key!r:.60} has the number {row.number!r:.60}")

    def end(self) -> None:
        """After the last."""
        if self._last is not None and self._last < 0:
            self._gap(self._last + 1, 0)


def _count(rows: list[Row], words: Words, counted: Counted, findings: Findings) -> None:
    """Count what some documents hold."""
    if not rows:
        return
    whole = [_is_whole(row.content) for row in rows]
    held = [row.content if fine else b"" for row, fine in zip(rows, whole, strict=True)]
    wrong = {i for i, fine in enumerate(whole) if not fine}
    wrong.update(contents.malformed(held, words.there).tolist())
    for i in sorted(wrong):
        findings.add("contents", f"{rows[i].key!r:.60}")
        counted.damaged.append(rows[i].place)
        counted.keys.append(rows[i].key)
        held[i] = contents.readable(rows[i].content, words.there)
    _, numbers, counts = contents.unpack(held)
    different, by = contents.tally(numbers.astype(np.int64), len(counted.words))
    counted.words[different] += by
    counted.tokens += int(counts.sum(dtype=np.int64))


def whole(value: Any) -> int:
    """The value if it is a whole number, -1 if not: SQLite takes anything for a number."""
    return value if isinstance(value, int) else -1


def _is_whole(content: Any) -> bool:
    return isinstance(content, bytes) and len(content) % contents.PAIR_BYTES == 0
