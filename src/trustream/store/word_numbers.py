"""Numbers of words: remembered where they are known, looked up or given where they are not."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.store.active_words import Ints
from trustream.store.coded_words import CodedTokens, WordTable
from trustream.store.database import Database
from trustream.store.record_batch import RecordBatch, check_words
from trustream.store.table_rows import Counters

# Words remembered; about 100 bytes each.
_REMEMBERED = 2_000_000


class WordNumbers(dict[str, int]):
    """Numbers of words that were met lately; -1 for one that is not remembered.

    For words that come as codes, numbers by code are kept beside: `clear` and `forget` see to both.
    """

    def __init__(self) -> None:
        super().__init__()
        # By the identity of a table, which is a table's for as long as it lives.
        self._by_code: dict[int, tuple[weakref.ref[WordTable], Ints]] = {}

    def clear(self) -> None:
        """Forget all words."""
        super().clear()
        self._by_code.clear()

    def forget(self, words: Iterable[str]) -> None:
        """Forget some words, which may come back with other numbers."""
        for word in words:
            if self.pop(word, None) is not None:
                self._by_code.clear()  # which codes were theirs is not known

    def __missing__(self, word: str) -> int:
        return -1

    def look_up(self, batch: RecordBatch) -> Ints:
        """Numbers of the batch's words that are remembered, -1 for others, which are checked.

        Raises:
            RecordError: a word cannot be stored.
        """
        words = batch.words
        if isinstance(words, CodedTokens):
            numbers = self._of_tokens(words)
            check_words(batch, words.distinct(np.flatnonzero(numbers < 0)))
            return numbers
        try:
            numbers = np.fromiter(map(self.__getitem__, words), np.int64, len(words))
        except TypeError:
            check_words(batch, words)
            raise
        unknown = np.flatnonzero(numbers < 0)
        check_words(batch, {words[i] for i in unknown.tolist()})
        return numbers

    def _of_tokens(self, tokens: CodedTokens) -> Ints:
        found = [self._of_codes(table, codes) for table, codes in tokens.parts]
        return np.concatenate([np.zeros(0, np.int64), *found])

    def _of_codes(self, table: WordTable, codes: NDArray[np.integer[Any]]) -> Ints:
        """Numbers of words by their codes in a table, -1 for those that are not remembered."""
        reference, known = self._by_code.get(id(table), (None, np.zeros(0, np.int64)))
        if reference is None or reference() is not table:
            # Tables that are gone are forgotten.
            self._by_code = {i: both for i, both in self._by_code.items() if both[0]() is not None}
            reference, known = weakref.ref(table), np.zeros(0, np.int64)
        if len(known) < len(table):
            # With room to spare: words keep coming.
            grown = np.full(len(table) * 9 // 8, -1, np.int64)
            grown[: len(known)] = known
            known = grown
        self._by_code[id(table)] = reference, known
        numbers: Ints = known[codes]
        unknown = np.unique(codes[numbers < 0])
        if len(unknown):
            known[unknown] = list(map(self.__getitem__, table.words_of(unknown)))
            numbers = known[codes]
        return numbers

    def complete(
        self, batch: RecordBatch, numbers: Ints, database: Database, counters: Counters
    ) -> Ints:
        """Numbers of all words; new words get the next numbers, unless the vocabulary is fixed.

        Args:
            batch: the records.
            numbers: what `look_up` gave.
            database: where the other words are looked up and added.
            counters: `next_word` moves on.
        """
        unknown = np.flatnonzero(numbers < 0)
        if not len(unknown):
            return numbers
        if len(self) > _REMEMBERED:
            self.clear()
        words = batch.words
        if isinstance(words, CodedTokens):
            distinct = dict.fromkeys(words.distinct(unknown))
        else:
            distinct = dict.fromkeys([str(words[i]) for i in unknown.tolist()])
        found = database.word_numbers(list(distinct))
        if not database.settings.fixed:
            new = [word for word in distinct if word not in found]
            first = counters.next_word
            database.add_words(first, new)
            found.update(zip(new, range(first, first + len(new)), strict=True))
            counters.next_word += len(new)
        self.update(found)
        numbers = numbers.copy()
        if isinstance(words, CodedTokens):
            numbers[unknown] = self._of_tokens(words)[unknown]
        else:
            numbers[unknown] = [found.get(str(words[i]), -1) for i in unknown.tolist()]
        return numbers
