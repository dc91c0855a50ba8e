"""Many records with coded words, as columns: a store takes them without looking at each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from trustream.store.coded_words import CodedTokens, CodedWords
from trustream.store.records import Record

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CodedRecords(Sequence[Record]):
    """Records, in order, whose words are `CodedWords`; `Store.append` takes them as a list.

    Attributes:
        keys: the name of each document.
        words: the words of all records, one after the other; no record has words of two tables.
        lengths: (R,) int64, how many words each record has.
        times: of each record, see `Record`; None if no record has one.
        append_ids: the same.
        replace: whether all of them replace their documents.

    >>> from trustream.store.coded_words import WordTable
    >>> words = CodedTokens([(WordTable(["cat", "dog"]), np.array([0, 1, 1]))])
    >>> records = CodedRecords(["a", "b"], words, np.array([1, 2]))
    >>> records[1]
    Record(key='b', words=['dog', 'dog'], time=None, append_id=None, replace=False)
    """

    keys: list[str]
    words: CodedTokens
    lengths: NDArray[np.int64]
    times: list[float | None] | None = None
    append_ids: list[str | None] | None = None
    replace: bool = False

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> CodedRecords: ...
    def __getitem__(self, index: int | slice) -> Record | CodedRecords:
        if isinstance(index, slice):
            return self._part(*index.indices(len(self.keys)))
        index = range(len(self.keys))[index]
        parts = self._part(index, index + 1, 1).words.parts
        words = [CodedWords(table, codes.astype(np.int32, copy=False)) for table, codes in parts]
        return Record(
            self.keys[index],
            words[0] if words else [],
            None if self.times is None else self.times[index],
            None if self.append_ids is None else self.append_ids[index],
            self.replace,
        )

    def _part(self, start: int, stop: int, step: int) -> CodedRecords:
        if step != 1:
            raise ValueError(f"step is {step}, expected 1: records stay in their order")
        some = slice(start, stop)
        first = int(self.lengths[:start].sum())
        return CodedRecords(
            self.keys[some],
            self.words.part(first, first + int(self.lengths[some].sum())),
            self.lengths[some],
            None if self.times is None else self.times[some],
            None if self.append_ids is None else self.append_ids[some],
            self.replace,
        )


def join(parts: Sequence[CodedRecords], *, replaces: bool = False) -> CodedRecords:
    """Records of several parts as one; with `replaces`, all of them replace their documents.

    >>> from trustream.store.coded_words import WordTable
    >>> one = CodedRecords(["a"], CodedTokens([(WordTable(["cat"]), np.array([0]))]), np.array([1]))
    >>> [record.words for record in join([one, one])]
    [['cat'], ['cat']]
    """
    if len({part.replace for part in parts}) > 1:
        raise ValueError("some parts replace documents and others do not; append them one by one")
    if len(parts) == 1:
        return replace(parts[0], replace=True) if replaces else parts[0]
    return CodedRecords(
        list(chain.from_iterable(part.keys for part in parts)),
        CodedTokens([both for part in parts for both in part.words.parts]),
        np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)]),
        _column([(part.times, len(part)) for part in parts]),
        _column([(part.append_ids, len(part)) for part in parts]),
        replaces or parts[0].replace,
    )


def _column(parts: Sequence[tuple[list[T | None] | None, int]]) -> list[T | None] | None:
    """Values of parts, each with its length, one after the other; None if no part has any."""
    if all(values is None for values, _ in parts):
        return None
    return list(chain.from_iterable(values or [None] * n for values, n in parts))
