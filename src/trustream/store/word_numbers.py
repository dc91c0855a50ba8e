"""Numbers of words: remembered where they are known, looked up or given where they are not."""

from __future__ import annotations

import numpy as np

from trustream.store.active_words import Ints
from trustream.store.database import Database
from trustream.store.record_batch import RecordBatch, check_words
from trustream.store.table_rows import Counters

# Words remembered; about 100 bytes each.
_REMEMBERED = 2_000_000


class WordNumbers(dict[str, int]):
    """Numbers of words that were met lately; -1 for one that is not remembered."""

    def __missing__(self, word: str) -> int:
        return -1

    def look_up(self, batch: RecordBatch) -> Ints:
        """Numbers of the batch's words that are remembered, -1 for others, which are checked.

        Raises:
            RecordError: a word cannot be stored.
        """
        words = batch.words
        try:
            numbers = np.fromiter(map(self.__getitem__, words), np.int64, len(words))
        except TypeError:
            check_words(batch, words)
            raise
        unknown = np.flatnonzero(numbers < 0)
        check_words(batch, {words[i] for i in unknown})
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
        unknown = np.flatnonzero(numbers < 0).tolist()
        if not unknown:
            return numbers
        if len(self) > _REMEMBERED:
            self.clear()
        words = [str(batch.words[i]) for i in unknown]
        distinct = dict.fromkeys(words)
        found = database.word_numbers(list(distinct))
        if not database.settings.fixed:
            new = [word for word in distinct if word not in found]
            first = counters.next_word
            database.add_words(first, new)
            found.update(zip(new, range(first, first + len(new)), strict=True))
            counters.next_word += len(new)
        self.update(found)
        numbers = numbers.copy()
        numbers[unknown] = [found.get(word, -1) for word in words]
        return numbers
