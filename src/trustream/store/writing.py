"""Changes of a store: appends and deletions, each in one transaction.

What a writer knows of words, counts and columns it keeps in memory, and takes over from the
database what other writers have changed since: their sequence numbers say so.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from trustream.store import contents
from trustream.store.backend import Backend, Row, State, T
from trustream.store.columns import Columns, Ints, entering, in_order_of_entry, leaving
from trustream.store.places import close_holes, is_held_out, place_of
from trustream.store.positions import After, check_unmoved
from trustream.store.protocol import Appended, Position, Record
from trustream.store.recent import RecentDocuments
from trustream.store.records import Batch, check_words, flatten, latest_times
from trustream.store.word_counts import WordCounts

# Words remembered; about 100 bytes each.
_REMEMBERED = 2_000_000
# Documents deleted at a time, so that a large deletion needs little memory.
_AT_ONCE = 1000


class _Numbers(dict[str, int]):
    """Numbers of words; -1 for one that is not remembered."""

    def __missing__(self, word: str) -> int:
        return -1


class Writer:
    """Appends to and deletes from the store of a backend."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._settings = backend.settings
        self._forget()

    def _forget(self) -> None:
        self._numbers = _Numbers()
        self._recent = RecentDocuments()
        self._counts = WordCounts()
        self._columns = Columns()
        self._in_change = False

    def _change(self, work: Callable[[State], T]) -> T:
        """Do the work on fresh counters; what a failed attempt left in memory is forgotten."""

        def attempt() -> T:
            if self._in_change:
                self._forget()
            self._in_change = True
            state = self._backend.state(write=True)
            self._catch_up(state)
            return work(state)

        try:
            result = self._backend.run(attempt, write=True)
        except BaseException:
            self._forget()
            raise
        self._in_change = False
        return result

    def _catch_up(self, state: State) -> None:
        """Take over what others have changed."""
        if state.sequence != self._counts.sequence:
            self._recent.clear()
            self._counts.refresh(self._backend.blocks_since(self._counts.sequence), state.sequence)
        if state.vocabulary != self._columns.version:
            changes = self._backend.columns_since(self._columns.version)
            self._columns.apply(changes, state.vocabulary)

    # --- appending

    def append(
        self, records: Iterable[Record], position: Position | None, after: After = ...
    ) -> Appended:
        """See `Store.append`."""
        batch = flatten(records)
        memory, numbers = self._numbers, self._look_up(batch)
        # Whole seconds: a document that grows all the while changes its place in time less often.
        now = float(int(clock.time()))

        def work(state: State) -> Appended:
            if position is not None:
                self._go_on(position, after)
            # What was looked up in a memory that is forgotten since may not be so any more.
            known = numbers if memory is self._numbers else self._look_up(batch)
            return self._append(state, batch, known, now)

        return self._change(work)

    def _go_on(self, position: Position, after: After) -> None:
        """Move a feed on from where it is thought to stand; nobody can move it in between."""
        if after is not ...:
            check_unmoved(position.feed, after, self._backend.position(position.feed))
        self._backend.put_position(position)

    def _look_up(self, batch: Batch) -> Ints:
        """Numbers of words that are remembered, -1 for others, which are checked."""
        words = batch.words
        try:
            numbers = np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
        except TypeError:
            check_words(batch, words)
            raise
        unknown = np.flatnonzero(numbers < 0)
        check_words(batch, {words[i] for i in unknown})
        return numbers

    def _append(self, state: State, batch: Batch, numbers: Ints, now: float) -> Appended:
        kept = self._without_repeats(batch.records)
        n_repeated = len(batch.records) - len(kept)
        fresh = batch.records
        if n_repeated:
            batch = flatten(fresh[i] for i in kept)
            fresh, numbers = batch.records, self._look_up(batch)
        if not fresh:
            return Appended(0, 0, 0, n_repeated, state.sequence)
        order: dict[str, int] = {}
        of_record = [order.setdefault(record.key, len(order)) for record in fresh]
        documents = np.repeat(np.array(of_record, np.int64), batch.lengths)
        numbers = self._number(batch, numbers, state)
        counts = batch.counts
        if self._settings.fixed:
            # Words that can never take part are not kept.
            known = numbers >= 0
            documents, numbers = documents[known], numbers[known]
            counts = None if counts is None else counts[known]
        places = contents.place(documents, numbers)
        new = contents.gather(places, counts)
        rows = self._find(order)
        there = sorted(rows)
        old = contents.stored([rows[i].content for i in there], np.array(there, np.int64))
        both, fresh_pairs = contents.add(old, new)
        contents.check_size(both, of_record, kept)
        state.sequence += 1
        n_before = state.next_document
        self._store(state, order, rows, both, latest_times(fresh, of_record, len(order), now))
        n_tokens = int(new.counts.sum())
        state.tokens += n_tokens
        self._count(state, places, contents.Pairs(new.places[fresh_pairs], new.counts[fresh_pairs]))
        self._backend.put_state(state)
        n_documents = state.next_document - n_before
        return Appended(len(fresh), n_documents, n_tokens, n_repeated, state.sequence)

    def _without_repeats(self, records: list[Record]) -> Sequence[int]:
        """Which records have no append id that is known; notes the ids of these."""
        named = [record.append_id for record in records if record.append_id is not None]
        if not named:
            return range(len(records))
        seen = self._backend.seen(named)
        new: dict[str, None] = {}
        kept = []
        for i, record in enumerate(records):
            name = record.append_id
            if name is not None:
                if name in seen or name in new:
                    continue
                new[name] = None
            kept.append(i)
        self._backend.add_seen(new)
        return kept

    def _number(self, batch: Batch, numbers: Ints, state: State) -> Ints:
        """Numbers of all words; new ones are numbered as they come, unless the words are fixed."""
        unknown = np.flatnonzero(numbers < 0).tolist()
        if not unknown:
            return numbers
        if len(self._numbers) > _REMEMBERED:
            self._numbers.clear()
        words = [str(batch.words[i]) for i in unknown]
        distinct = dict.fromkeys(words)
        found = self._backend.word_numbers(list(distinct))
        if not self._settings.fixed:
            new = [word for word in distinct if word not in found]
            self._backend.add_words(state.next_word, new)
            found.update(zip(new, range(state.next_word, state.next_word + len(new)), strict=True))
            state.next_word += len(new)
        self._numbers.update(found)
        numbers = numbers.copy()
        numbers[unknown] = [found.get(word, -1) for word in words]
        return numbers

    def _find(self, order: dict[str, int]) -> dict[int, Row]:
        """The documents that there are, by their number in the batch."""
        rows = {order[row.key]: row for row in self._recent.take(order)}
        if len(rows) < len(order):
            others = [key for key, i in order.items() if i not in rows] if rows else list(order)
            rows.update((order[row.key], row) for row in self._backend.by_key(others))
        return rows

    def _store(
        self,
        state: State,
        order: dict[str, int],
        rows: dict[int, Row],
        pairs: contents.Pairs,
        times: list[float],
    ) -> None:
        """Write the documents, new ones into the next slots."""
        packed = contents.pack(pairs, len(order))
        new: list[Row] = []
        changed: list[Row] = []
        later: list[Row] = []
        for (key, i), time, content in zip(order.items(), times, packed, strict=True):
            row = rows.get(i)
            if row is not None:
                if time > row.time:
                    later.append(Row(row.place, row.number, key, time, content))
                else:
                    changed.append(Row(row.place, row.number, key, row.time, content))
                continue
            if is_held_out(key, self._settings.held_out):
                place = place_of(state.held_out, True)
                state.held_out += 1
            else:
                place = place_of(state.training, False)
                state.training += 1
                state.added += 1
            new.append(Row(place, state.next_document, key, time, content))
            state.next_document += 1
        if new:
            self._backend.insert(new)
        # In their order on the disk.
        if changed:
            self._backend.update(sorted(changed), times=False)
        if later:
            self._backend.update(sorted(later), times=True)
        self._recent.put([*new, *changed, *later])

    def _count(self, state: State, places: Ints, fresh: contents.Pairs) -> None:
        """Note words in documents that did not have them; let words take part that now may.

        Args:
            places: (document, word) of every token as it came.
            fresh: those pairs that are new.
        """
        words, by = contents.tally(fresh.words, state.next_word)
        self._backend.put_blocks(self._counts.change(words, by), state.sequence)
        self._counts.sequence = state.sequence
        if self._settings.fixed:
            return
        now = self._counts.values[words]
        may = (now >= self._settings.min_documents) & (self._columns.of(words) < 0)
        candidates = words[may]
        if not len(candidates):
            return
        needed = self._settings.min_documents - (now - by)[may]
        come = np.flatnonzero(np.isin(places & 0xFFFFFFFF, candidates))
        pairs, first = np.unique(places[come], return_index=True)
        at = np.searchsorted(fresh.places, pairs)
        new = fresh.places.take(at, mode="clip") == pairs
        candidates = in_order_of_entry(
            candidates, needed, pairs[new] & 0xFFFFFFFF, come[first[new]]
        )
        self._put_columns(
            state, entering(self._columns, self._counts.values, candidates, self._settings)
        )

    def _put_columns(self, state: State, changes: list[tuple[int, int | None]]) -> None:
        if changes:
            state.vocabulary += 1
            self._backend.put_columns(changes, state.vocabulary)
            self._columns.apply(changes, state.vocabulary)
            state.words = len(self._columns.members)

    # --- deleting

    def delete(self, find: Callable[[State], Sequence[int]]) -> int:
        """Delete the documents in the places that are found; returns how many."""
        return self._change(lambda state: self._delete(state, find(state)))

    def _delete(self, state: State, places: Sequence[int]) -> int:
        if not places:
            return 0
        state.sequence += 1
        self._recent.clear()
        for start in range(0, len(places), _AT_ONCE):
            part = places[start : start + _AT_ONCE]
            _, all_words, counts = contents.unpack(
                [r.content for r in self._backend.by_place(part)]
            )
            state.tokens -= int(counts.sum(dtype=np.int64))
            words, by = contents.tally(all_words.astype(np.int64), state.next_word)
            self._backend.put_blocks(self._counts.change(words, -by), state.sequence)
            self._backend.remove(part)
        self._counts.sequence = state.sequence
        if not self._settings.fixed:
            changes = leaving(self._columns, self._counts.values, self._settings)
            self._put_columns(state, changes)
        training = [place for place in places if place >= 0]
        held_out = [~place for place in places if place < 0]
        moves = close_holes(training, state.training)
        moves += [(~a, ~b) for a, b in close_holes(held_out, state.held_out)]
        if moves:
            self._backend.move(moves)
        state.training -= len(training)
        state.held_out -= len(held_out)
        self._backend.put_state(state)
        return len(places)
