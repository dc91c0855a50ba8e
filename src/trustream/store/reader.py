"""Read documents from a store as rows over columns, each time on one snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from trustream.store.active_words import ActiveWords
from trustream.store.database import Database
from trustream.store.document_encoding import unpack
from trustream.store.document_slots import draw_places
from trustream.store.draw_order import DrawOrder
from trustream.store.drawn_documents import DrawnDocuments, Kept, Rows
from trustream.store.kept_texts import unpack_text
from trustream.store.records import Documents, StoredText, VocabularyChanges
from trustream.store.table_rows import Counters, DocumentRow

# Documents that are read at a time, where all are.
_AT_ONCE = 2000


class Reader:
    """Draws and reads documents of the store in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._active = ActiveWords()
        self._drawn = DrawnDocuments()

    def draw(
        self, n: int, rng: np.random.Generator | DrawOrder, held_out: bool, times: bool
    ) -> Documents:
        """See `Store.draw`."""
        drawing = rng if isinstance(rng, DrawOrder) else rng.bit_generator
        before = drawing.state

        def work() -> Documents:
            # Should the work be done again, it draws the same.
            drawing.state = before
            counters = self._database.counters(write=False)
            there = counters.held_out if held_out else counters.training
            places = draw_places(n, there, rng, held_out).tolist()
            if times:
                rows = {row.place: row for row in self._database.by_place(places)}
                return self._of_rows([rows[place] for place in places], counters)
            in_passes = isinstance(rng, DrawOrder) and not held_out
            return self._kept_or_read(places, counters, in_passes)

        return self._database.run(work, write=False)

    def read(self, keys: Sequence[str], possible: Sequence[str]) -> Documents:
        """See `Store.read`; `possible` are those of the keys that a document can have."""

        def work() -> Documents:
            counters = self._database.counters(write=False)
            rows = {row.key: row for row in self._database.by_key(possible)}
            return self._of_rows([rows[key] for key in keys], counters)

        return self._database.run(work, write=False)

    def arrivals(self, after: int, n: int, *, training: bool) -> tuple[Documents, int]:
        """The next n documents in the order of their arrival, and the last one's number.

        With `training`, those of them that are held out are left out.
        """

        def work() -> tuple[Documents, int]:
            counters = self._database.counters(write=False)
            rows = self._database.after(after, n)
            wanted = [row for row in rows if row.place >= 0] if training else rows
            return self._of_rows(wanted, counters), rows[-1].number if rows else after

        return self._database.run(work, write=False)

    def texts(self, keys: Sequence[str]) -> dict[str, StoredText]:
        """See `Store.texts`."""
        if not self._database.settings.keep_text:
            return {}
        found = self._database.run(lambda: self._database.texts_by_key(keys), write=False)
        return {key: unpack_text(content) for key, content in found}

    def vocabulary_since(self, version: int) -> VocabularyChanges:
        """See `Store.vocabulary_since`."""

        def work() -> VocabularyChanges:
            counters = self._database.counters(write=False)
            changes = self._database.column_words_since(version)
            columns = np.array([column for column, _ in changes], np.int32)
            return VocabularyChanges(columns, [word for _, word in changes], counters.vocabulary)

        return self._database.run(work, write=False)

    def _kept_or_read(
        self, places: Sequence[int], counters: Counters, in_passes: bool
    ) -> Documents:
        """The documents in these places, as far as possible without reading them again."""
        cache = self._drawn
        missing = cache.missing(places, counters.sequence)
        found: dict[int, Kept] = {}
        if in_passes and missing and cache.wants_all(counters.training, counters.tokens):
            for first in range(0, counters.training, _AT_ONCE):
                self._keep(self._database.between(first, first + _AT_ONCE), counters)
            missing = cache.missing(places, counters.sequence)
        if missing:
            found = self._keep(self._database.keys_and_contents(missing), counters)
        keys, rows = cache.get(places, found)
        return _documents(keys, rows, counters)

    def _keep(
        self, values: Sequence[tuple[int, str, bytes]], counters: Counters
    ) -> dict[int, Kept]:
        rows = self._rows([content for _, _, content in values], counters)
        return self._drawn.keep([v[0] for v in values], [v[1] for v in values], rows)

    def _of_rows(self, rows: Sequence[DocumentRow], counters: Counters) -> Documents:
        found = _documents(
            [row.key for row in rows], self._rows([row.content for row in rows], counters), counters
        )
        return _timed(found, [row.time for row in rows], [row.arrival for row in rows])

    def _rows(self, contents: Sequence[bytes], counters: Counters) -> Rows:
        """Rows over columns; words that are not active are left out."""
        if counters.vocabulary != self._active.version:
            changes = self._database.columns_since(self._active.version)
            self._active.apply(changes, counters.vocabulary)
        indptr, words, counts = unpack(contents)
        columns = self._active.columns_of(words)
        is_active = columns >= 0
        if not is_active.all():
            before = np.zeros(len(words) + 1, np.int64)
            np.cumsum(is_active, out=before[1:])
            indptr, columns, counts = before[indptr], columns[is_active], counts[is_active]
        return indptr, columns, counts.astype(np.float32)


def _documents(keys: list[str], rows: Rows, counters: Counters) -> Documents:
    indptr, columns, counts = rows
    return Documents(
        keys=keys,
        indptr=indptr,
        indices=columns,
        counts=counts,
        sequence=counters.sequence,
        vocabulary=counters.vocabulary,
    )


def _timed(documents: Documents, times: list[float], arrival: list[bool | None]) -> Documents:
    """Documents with their times."""
    seconds, is_arrival = np.array(times, np.float64), np.array(arrival, bool)
    return replace(documents, times=seconds, arrival=is_arrival)
