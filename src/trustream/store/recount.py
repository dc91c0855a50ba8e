"""Count all words and documents of a store anew, reading some megabytes at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.store import document_frequencies
from trustream.store.active_words import Ints
from trustream.store.check_result import Findings
from trustream.store.database import DOCUMENT, Database
from trustream.store.document_encoding import PAIR_BYTES, malformed, readable, tally, unpack
from trustream.store.document_slots import is_held_out
from trustream.store.limits import name_fault
from trustream.store.table_rows import DocumentRow

# Documents and bytes of contents that are looked at together.
_AT_ONCE, _BYTES = 5000, 1 << 22


@dataclass(slots=True)
class NumberedWords:
    """Which numbers are those of words.

    Attributes:
        there: (numbers,) whether there is a word of each number.
        next: the number after the last.
        most: the most numbers that can have been given, those of words that have left included.
    """

    there: NDArray[np.bool_]
    next: int
    most: int

    def has(self, number: Any) -> bool:
        """Whether it is the number of a word."""
        return 0 <= whole(number) < len(self.there) and bool(self.there[number])


@dataclass(slots=True)
class Recount:
    """What counting the documents gives.

    Attributes:
        frequencies: (numbers,) in how many documents each word is.
        tokens: tokens of all documents.
        training, held_out: documents in each part.
        next_document: the number after the last document's.
        damaged: places of documents whose contents are malformed; what can be read is counted.
        keys: keys of these documents.
    """

    frequencies: Ints
    tokens: int = 0
    training: int = 0
    held_out: int = 0
    next_document: int = 0
    damaged: list[int] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


def recount_words(database: Database, findings: Findings) -> NumberedWords:
    """Read all words and check them."""
    ((n,),) = database.stream("SELECT count(*) FROM word")
    ((n_blocks,),) = database.stream("SELECT count(*) FROM block")
    # Numbers are given one after the other, and the blocks of counts stay when words leave: one far
    # above both was never given, and must not decide how much memory is needed.
    most = n_blocks * document_frequencies.BLOCK
    there = np.zeros(max(2 * n, most) + 1024, bool)
    last = -1
    for number, word in database.stream("SELECT number, word FROM word ORDER BY number"):
        if not 0 <= number < len(there):
            findings.add("words", f"{word!r:.60} has the number {number}")
            continue
        there[number] = True
        last = number
        fault = name_fault(word)
        if fault is not None:
            findings.add("words", f"{word!r:.60} {fault}")
    return NumberedWords(there, last + 1, max(most, last + 1))


def recount_documents(
    database: Database, words: NumberedWords, findings: Findings, on_damaged: Callable[[str], None]
) -> Recount:
    """Read all documents, check them and count their words."""
    recount = Recount(np.zeros(len(words.there), np.int64))
    checks = _RowChecks(database.settings.held_out, findings)
    some: list[DocumentRow] = []
    size = 0
    for values in database.stream(f"SELECT {DOCUMENT} FROM document ORDER BY place"):
        row = DocumentRow(*values)
        checks.check(row)
        some.append(row)
        size += len(row.content) if isinstance(row.content, bytes) else 0
        if len(some) >= _AT_ONCE or size >= _BYTES:
            _count(some, words, recount, findings)
            some, size = [], 0
    _count(some, words, recount, findings)
    checks.end()
    recount.training, recount.held_out = checks.training, checks.held_out
    recount.next_document = checks.next_document
    for key in recount.keys:
        on_damaged(key)
    return recount


class _RowChecks:
    """Checks everything of documents but their contents, in the order of their places."""

    def __init__(self, share: float, findings: Findings) -> None:
        self._share, self._findings = share, findings
        self._last: int | None = None
        self.training = self.held_out = self.next_document = 0

    def check(self, row: DocumentRow) -> None:
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
        elif row.arrival not in (None, 0, 1):
            self._findings.add("times", f"{row.key!r:.60} has the arrival {row.arrival!r:.60}")

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

    def _number(self, row: DocumentRow) -> None:
        if whole(row.number) >= 0:
            self.next_document = max(self.next_document, row.number + 1)
        else:
            self._findings.add("numbers", f"{row.key!r:.60} has the number {row.number!r:.60}")

    def end(self) -> None:
        """Check what is known only after the last document."""
        if self._last is not None and self._last < 0:
            self._gap(self._last + 1, 0)


def _count(
    rows: list[DocumentRow], words: NumberedWords, recount: Recount, findings: Findings
) -> None:
    """Count the words of some documents."""
    if not rows:
        return
    whole = [_is_whole(row.content) for row in rows]
    held = [row.content if fine else b"" for row, fine in zip(rows, whole, strict=True)]
    wrong = {i for i, fine in enumerate(whole) if not fine}
    wrong.update(malformed(held, words.there).tolist())
    for i in sorted(wrong):
        findings.add("contents", f"{rows[i].key!r:.60}")
        recount.damaged.append(rows[i].place)
        recount.keys.append(rows[i].key)
        held[i] = readable(rows[i].content, words.there)
    _, numbers, counts = unpack(held)
    different, by = tally(numbers.astype(np.int64), len(recount.frequencies))
    recount.frequencies[different] += by
    recount.tokens += int(counts.sum(dtype=np.int64))


def whole(value: Any) -> int:
    """The value if it is a whole number, -1 if not: SQLite takes anything for a number."""
    return value if isinstance(value, int) else -1


def _is_whole(content: Any) -> bool:
    return isinstance(content, bytes) and len(content) % PAIR_BYTES == 0
