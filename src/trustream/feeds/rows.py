"""Rows: records that stand one after the other in a file, as columns, where nothing is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trustream.feeds.items import Item, Mark
from trustream.store.coded_records import CodedRecords, join
from trustream.store.coded_words import CodedTokens, CodedWords
from trustream.store.records import Record


@dataclass(frozen=True, slots=True)
class Rows:
    """Records of lines that follow each other: what many items say, said once.

    Attributes:
        records: the records.
        offsets: (R,) int64, where reading goes on after each.
        line: of the first record; each stands on a line of its own.

    >>> from trustream.store.coded_words import WordTable
    >>> words = CodedTokens([(WordTable(["cat", "dog"]), np.array([0, 1, 1]))])
    >>> rows = Rows(CodedRecords(["a", "b"], words, np.array([1, 2])), np.array([30, 65]), 7)
    >>> rows.mark, [(item.mark.offset, item.line, item.record.words) for item in rows.items()]
    (Mark(offset=65, number=8), [(30, 7, ['cat']), (65, 8, ['dog', 'dog'])])
    """

    records: CodedRecords
    offsets: NDArray[np.int64]
    line: int

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def mark(self) -> Mark:
        """Where reading goes on after them."""
        return Mark(int(self.offsets[-1]), self.line + len(self) - 1)

    @property
    def n_tokens(self) -> int:
        """Words of all records."""
        return len(self.records.words)

    def items(self) -> Iterator[Item]:
        """The same as items."""
        for line, (offset, record) in enumerate(
            zip(self.offsets.tolist(), self.records, strict=True), self.line
        ):
            yield Item(Mark(offset, line), line, record)

    def split(self, n: int) -> tuple[Rows, Rows]:
        """The first n records, and the others."""
        return (
            Rows(self.records[:n], self.offsets[:n], self.line),
            Rows(self.records[n:], self.offsets[n:], self.line + n),
        )


def each(found: Iterable[Item | Rows]) -> Iterator[Item]:
    """Items, those of rows one by one."""
    for one in found:
        if isinstance(one, Rows):
            yield from one.items()
        else:
            yield one


def records_of(found: Sequence[Item | Rows], *, replaces: bool = False) -> Sequence[Record]:
    """The records of items and rows, as columns if there are rows and nothing else is among them.

    Args:
        found: items and rows.
        replaces: whether all records replace their documents.
    """
    parts: list[CodedRecords] = []
    for one in found:
        if isinstance(one, Rows):
            parts.append(one.records)
        elif one.record is not None:
            if not isinstance(one.record.words, CodedWords):
                break
            parts.append(_alone(one.record))
    else:
        if any(isinstance(one, Rows) for one in found):
            return join(parts, replaces=replaces)
    records = [item.record for item in each(found) if item.record is not None]
    if not replaces:
        return records
    return [replace(record, replace=True) for record in records]


def _alone(record: Record) -> CodedRecords:
    words = record.words
    assert isinstance(words, CodedWords)
    return CodedRecords(
        [record.key],
        CodedTokens([(words.table, words.codes)]),
        np.array([len(words)]),
        None if record.time is None else [record.time],
        None if record.append_id is None else [record.append_id],
    )
