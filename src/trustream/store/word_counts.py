"""What a writer knows of words: their numbers, in how many documents they are, and their columns.

Copies in memory of the tables `word`, `block` and `column`. They take over what others have changed
and write what documents have gained and lost.
"""

from __future__ import annotations

import numpy as np

from trustream.store.active_words import (
    ActiveWords,
    ColumnChange,
    Ints,
    changes_after_append,
    changes_after_deletion,
    in_order_of_entry,
)
from trustream.store.database import Database
from trustream.store.document_encoding import tally, words_of
from trustream.store.document_frequencies import DocumentFrequencies
from trustream.store.table_rows import Counters
from trustream.store.word_numbers import WordNumbers


class WordCounts:
    """Words of a store as a writer knows them; all methods are called inside a transaction.

    Attributes:
        numbers: numbers of words that were met lately.
    """

    def __init__(self, database: Database) -> None:
        self._database, self._settings = database, database.settings
        self.numbers = WordNumbers()
        self._frequencies = DocumentFrequencies()
        self._active = ActiveWords()

    def catch_up(self, counters: Counters) -> bool:
        """Take over what others have changed; whether they have changed documents."""
        changed = counters.sequence != self._frequencies.sequence
        if changed:
            blocks = self._database.blocks_since(self._frequencies.sequence)
            if self._frequencies.refresh(blocks, counters.sequence):
                # Words may have left, and come back with another number.
                self.numbers = WordNumbers()
        if counters.vocabulary != self._active.version:
            changes = self._database.columns_since(self._active.version)
            self._active.apply(changes, counters.vocabulary)
        return changed

    def gain(self, counters: Counters, pairs: Ints, fresh: Ints) -> None:
        """Count words in documents that did not have them, and activate words that now may be.

        Args:
            counters: the vocabulary's version moves on if words become active.
            pairs: (document, word) of every token as it came.
            fresh: those pairs that are new, each once, in order.
        """
        words, by = tally(words_of(fresh), counters.next_word)
        self._put_frequencies(counters, words, by)
        if self._settings.fixed:
            return
        now = self._frequencies.values[words]
        may = (now >= self._settings.min_documents) & (self._active.columns_of(words) < 0)
        candidates = words[may]
        if not len(candidates):
            return
        needed = self._settings.min_documents - (now - by)[may]
        is_candidate = np.zeros(counters.next_word, bool)
        is_candidate[candidates] = True
        come = np.flatnonzero(is_candidate[words_of(pairs)])
        distinct, first = np.unique(pairs[come], return_index=True)
        at = np.searchsorted(fresh, distinct)
        new = fresh.take(at, mode="clip") == distinct
        candidates = in_order_of_entry(
            candidates, needed, words_of(distinct[new]), come[first[new]]
        )
        frequencies = self._frequencies.values
        changes = changes_after_append(self._active, frequencies, candidates, self._settings)
        self._put_columns(counters, changes)

    def _put_frequencies(self, counters: Counters, words: Ints, by: Ints) -> None:
        blocks = self._frequencies.change(words, by)
        self._database.put_blocks(blocks, counters.sequence)
        self._frequencies.sequence = counters.sequence

    def _put_columns(self, counters: Counters, changes: list[ColumnChange]) -> None:
        if changes:
            counters.vocabulary += 1
            self._database.put_columns(changes, counters.vocabulary)
            self._active.apply(changes, counters.vocabulary)
            counters.words = len(self._active.numbers)

    def lose(self, counters: Counters, of_documents: Ints) -> Ints:
        """Count words that documents have lost, each once a document.

        Returns those that no document has now. They are left to `drop`: others may gain them yet.
        """
        words, by = tally(of_documents, counters.next_word)
        self._put_frequencies(counters, words, -by)
        return words[self._frequencies.values[words] == 0]

    def drop(self, counters: Counters, words: Ints) -> None:
        """Let those words go that no document has any more; others may take their columns."""
        if self._settings.fixed:
            return
        frequencies = self._frequencies.values
        self.numbers.forget(self._database.remove_words(words[frequencies[words] == 0].tolist()))
        changes = changes_after_deletion(self._active, frequencies, self._settings)
        self._put_columns(counters, changes)
