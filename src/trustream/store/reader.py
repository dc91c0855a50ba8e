"""Read documents from a store as rows over columns, each time on one snapshot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trustream.store.active_words import ActiveWords
from trustream.store.database import Database
from trustream.store.document_encoding import read_contents
from trustream.store.document_slots import draw_places
from trustream.store.draw_order import DrawOrder
from trustream.store.drawn_documents import DrawnDocumentCache
from trustream.store.errors import StoreError
from trustream.store.kept_orders import order_of
from trustream.store.kept_texts import text_of
from trustream.store.records import (
    Documents,
    StoredOrder,
    StoredText,
    Totals,
    VocabularyChanges,
)
from trustream.store.table_rows import Counters, DocumentRow, damaged_time


class Reader:
    """Draws and reads documents of the store in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._active = ActiveWords()
        self._drawn = DrawnDocumentCache()

    def draw(
        self,
        size: Callable[[Totals], int],
        rng: np.random.Generator | DrawOrder,
        held_out: bool = False,
        times: bool = False,
    ) -> tuple[Documents, Totals]:
        """See `Store.draw` and `Store.draw_batch`."""
        drawing = rng if isinstance(rng, DrawOrder) else rng.bit_generator
        before = drawing.state

        def work() -> tuple[Documents, Totals]:
            # Should the work be done again, it draws the same.
            drawing.state = before
            counters = self._database.counters(write=False)
            totals = counters.totals()
            there = counters.held_out if held_out else counters.training
            places = draw_places(size(totals), there, rng, held_out).tolist()
            if times:
                rows = {row.place: row for row in self._database.by_place(places)}
                return self._of_rows([rows[place] for place in places], counters), totals
            return self._at(places, counters), totals

        return self._database.run(work, write=False)

    def read_slots(self, slots: NDArray[np.int64], held_out: bool) -> tuple[Documents, int]:
        """See `Store.read_slots`."""

        def work() -> tuple[Documents, int]:
            counters = self._database.counters(write=False)
            there = slots[slots < (counters.held_out if held_out else counters.training)]
            places = (~there if held_out else there).tolist()
            return self._at(places, counters), counters.added - counters.training

        return self._database.run(work, write=False)

    def _at(self, places: list[int], counters: Counters) -> Documents:
        """Most of what a trainer waits for: only what it needs, and that not again."""
        found = self._drawn.get(places, counters.sequence, self._database.keys_and_contents)
        keys, contents = [key for key, _ in found], [content for _, content in found]
        try:
            return self._documents(keys, contents, counters, known=not self._drawn.has_read)
        except StoreError:
            # What is kept counts as checked.
            self._drawn = DrawnDocumentCache()
            raise

    def read(self, keys: Sequence[str], possible: Sequence[str]) -> Documents:
        """See `Store.read`; `possible` are those of the keys that a document can have."""

        def work() -> Documents:
            counters = self._database.counters(write=False)
            rows = {row.key: row for row in self._database.by_key(possible)}
            return self._of_rows([rows[key] for key in keys], counters)

        return self._database.run(work, write=False)

    def arrivals(
        self, after: int, n: int, *, training: bool, until: int | None = None
    ) -> tuple[Documents, int]:
        """The next n documents in the order of their arrival, and the last one's number.

        With `training`, those of them that are held out are left out. With `until`, those of a
        larger number too.
        """

        def work() -> tuple[Documents, int]:
            counters = self._database.counters(write=False)
            rows = self._database.after(after, n, until)
            wanted = [row for row in rows if row.place >= 0] if training else rows
            return self._of_rows(wanted, counters), rows[-1].number if rows else after

        return self._database.run(work, write=False)

    def newest(self, n: int, before: int | None) -> tuple[Documents, list[int]]:
        """See `Store.newest`."""

        def work() -> tuple[Documents, list[int]]:
            counters = self._database.counters(write=False)
            end = counters.next_document if before is None else before
            rows = self._database.before(end, n)
            return self._of_rows(rows, counters), [row.number for row in rows]

        return self._database.run(work, write=False)

    def texts(self, keys: Sequence[str]) -> dict[str, StoredText]:
        """See `Store.texts`."""
        if not self._database.settings.keep_text:
            return {}
        found = self._database.run(lambda: self._database.texts_by_key(keys), write=False)
        return {key: text_of(key, content) for key, content in found}

    def word_orders(self, after: int, n: int) -> tuple[list[StoredOrder], int]:
        """See `Store.word_orders`."""
        database = self._database
        found = database.run(lambda: database.orders_after(after, n), write=False)
        orders = [StoredOrder(key, order_of(key, content)) for _, key, content in found]
        return orders, found[-1][0] if found else after

    def vocabulary_since(self, version: int) -> VocabularyChanges:
        """See `Store.vocabulary_since`."""

        def work() -> VocabularyChanges:
            counters = self._database.counters(write=False)
            changes = self._database.column_words_since(version)
            columns = np.array([column for column, _ in changes], np.int32)
            return VocabularyChanges(columns, [word for _, word in changes], counters.vocabulary)

        return self._database.run(work, write=False)

    def _of_rows(self, rows: Sequence[DocumentRow], counters: Counters) -> Documents:
        keys, contents = [row.key for row in rows], [row.content for row in rows]
        found = self._documents(keys, contents, counters)
        try:
            return _timed(found, [row.time for row in rows], [row.arrival for row in rows])
        except (TypeError, ValueError):
            raise damaged_time(rows) from None

    def _documents(
        self, keys: list[str], contents: Sequence[bytes], counters: Counters, known: bool = False
    ) -> Documents:
        """Rows over columns; words that are not active are left out."""
        if counters.vocabulary != self._active.version:
            changes = self._database.columns_since(self._active.version)
            self._active.apply(changes, counters.vocabulary)
        indptr, words, counts = read_contents(keys, contents, counters.next_word, known=known)
        columns = self._active.columns_of(words, checked=True)
        is_active = columns >= 0
        if not is_active.all():
            before = np.zeros(len(words) + 1, np.int64)
            np.cumsum(is_active, out=before[1:])
            indptr, columns, counts = before[indptr], columns[is_active], counts[is_active]
        return Documents(
            keys=keys,
            indptr=indptr,
            indices=columns,
            counts=counts.astype(np.float32),
            sequence=counters.sequence,
            vocabulary=counters.vocabulary,
        )


def _timed(documents: Documents, times: list[float], arrival: list[bool | None]) -> Documents:
    """Documents with their times."""
    seconds, is_arrival = np.array(times, np.float64), np.array(arrival, bool)
    return replace(documents, times=seconds, arrival=is_arrival)
