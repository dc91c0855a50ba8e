"""Append to a store and delete from it, each change in one transaction.

A writer keeps in memory what it knows of words, document frequencies and columns, and takes over
from the database what other writers have changed since: the sequence number says so.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Sequence, Set

import numpy as np

from trustream.store.active_words import Ints
from trustream.store.database import Database, T
from trustream.store.document_cache import DocumentCache
from trustream.store.document_encoding import (
    PairCounts,
    add,
    check_size,
    compare,
    pack,
    pair,
    read_batch,
    read_contents,
    sum_pairs,
)
from trustream.store.document_slots import are_held_out, close_holes
from trustream.store.kept_orders import keep_orders, order_of
from trustream.store.kept_texts import keep_texts
from trustream.store.position_checks import After, check_unmoved
from trustream.store.record_batch import RecordBatch, flatten, latest_times, not_replaced
from trustream.store.records import Appended, Position, Record
from trustream.store.table_rows import Counters, DocumentRow, damaged_time
from trustream.store.word_counts import WordCounts

# Documents deleted at a time, so that a large deletion needs little memory.
_AT_ONCE = 1000


class Writer:
    """Appends documents to the store in a database, and deletes them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._settings = database.settings
        self._forget()

    def _forget(self) -> None:
        self._words = WordCounts(self._database)
        self._cache = DocumentCache()
        self._in_change = False

    def _change(self, work: Callable[[Counters], T]) -> T:
        """Do the work on fresh counters; what a failed attempt left in memory is forgotten."""

        def attempt() -> T:
            if self._in_change:
                self._forget()
            self._in_change = True
            counters = self._database.counters(write=True)
            if self._words.catch_up(counters):
                self._cache.clear()
            return work(counters)

        try:
            result = self._database.run(attempt, write=True)
        except BaseException:
            self._forget()
            raise
        self._in_change = False
        return result

    # --- appending

    def append(
        self, records: Iterable[Record], position: Position | None, after: After = ...
    ) -> Appended:
        """See `Store.append`."""
        batch = flatten(records)
        memory, numbers = self._words.numbers, self._words.numbers.look_up(batch)
        # Whole seconds: a document that grows all the while changes its place in time less often.
        now = float(int(clock.time()))

        def work(counters: Counters) -> Appended:
            if position is not None:
                self._move_feed(position, after)
            # What was looked up in a memory that is forgotten since may not be so any more.
            known = numbers if memory is self._words.numbers else self._words.numbers.look_up(batch)
            return self._append(counters, batch, known, now)

        return self._change(work)

    def append_groups(self, groups: Sequence[Iterable[Record]]) -> list[Appended]:
        """See `Store.append_groups`."""
        batches = [flatten(records) for records in groups]
        now = float(int(clock.time()))

        def work(counters: Counters) -> list[Appended]:
            # Each looks its words up when those before it have numbered theirs.
            return [
                self._append(counters, batch, self._words.numbers.look_up(batch), now)
                for batch in batches
            ]

        return self._change(work) if batches else []

    def _move_feed(self, position: Position, after: After) -> None:
        """Move a feed on from where it should be; nobody can move it in between."""
        if after is not ...:
            check_unmoved(position.feed, after, self._database.position(position.feed))
        self._database.put_position(position)

    def _append(
        self,
        counters: Counters,
        batch: RecordBatch,
        numbers: Ints,
        now: float,
        *,
        words_only: bool = False,
    ) -> Appended:
        """Add records; with `words_only` documents get other words and keep all else."""
        kept = self._without_repeats(batch, now)
        n_records, n_repeated = len(kept), len(batch.records) - len(kept)
        if not n_records:
            return Appended(0, 0, 0, n_repeated, counters.sequence)
        if batch.replaces:
            kept = [kept[i] for i in not_replaced([batch.records[i] for i in kept])]
        if len(kept) < len(batch.records):
            batch = flatten(batch.records[i] for i in kept)
            numbers = self._words.numbers.look_up(batch)
        order = dict(zip(batch.keys, range(len(batch.keys)), strict=True))
        of_record: Sequence[int] = range(len(order))
        if len(order) < len(batch.keys):
            # Some documents have several records.
            order = {}
            of_record = [order.setdefault(key, len(order)) for key in batch.keys]
        documents = np.repeat(np.array(of_record, np.int64), batch.lengths)
        numbers = self._words.numbers.complete(batch, numbers, self._database, counters)
        counts = batch.counts
        if self._settings.fixed:
            # Words that can never be active are not kept.
            known = numbers >= 0
            documents, numbers = documents[known], numbers[known]
            counts = None if counts is None else counts[known]
        pairs = pair(documents, numbers)
        new = sum_pairs(pairs, counts)
        rows = self._find(order)
        replaced = _replaced(batch, order, rows)
        old = _contents(rows, rows.keys() - replaced, counters.next_word)
        both, fresh_pairs = add(old, new)
        check_size(both, of_record, kept)
        counters.sequence += 1
        n_before = counters.next_document
        times: tuple[list[float], Sequence[bool | None]]
        if words_only:
            times = [rows[i].time for i in of_record], [rows[i].arrival for i in of_record]
        else:
            times = latest_times(batch.times, of_record, len(order), now)
        stored = self._store(counters, order, rows, both, times, replaced)
        if self._settings.keep_text and not words_only:
            keep_texts(self._database, batch.records, of_record, stored, rows, replaced)
        if self._settings.keep_order and not words_only:
            keep_orders(self._database, batch.records, of_record, stored, rows, replaced)
        n_tokens, n_removed, added = int(new.counts.sum()), 0, new.pairs[fresh_pairs]
        lost = np.zeros(0, np.int64)
        if replaced:
            removed = _contents(rows, replaced, counters.next_word)
            n_removed = int(removed.counts.sum())
            gone, had_been = compare(removed, new)
            added = new.pairs[fresh_pairs[~had_been[fresh_pairs]]]
            lost = self._words.lose(counters, removed.words[gone])
        counters.tokens += n_tokens - n_removed
        self._words.gain(counters, pairs, added)
        if replaced:
            self._words.drop(counters, lost)
        self._database.put_counters(counters)
        extended = _extended(rows, new, len(order), replaced)
        return Appended(
            n_records,
            counters.next_document - n_before,
            n_tokens,
            n_repeated,
            counters.sequence,
            extended,
            tuple(rows[i].number for i in sorted(replaced)),
            n_removed,
        )

    def _without_repeats(self, batch: RecordBatch, now: float) -> Sequence[int]:
        """Which records have no append id that is known; notes the ids of these."""
        if batch.append_ids is None:
            return range(len(batch.records))
        seen = self._database.seen([name for name in batch.append_ids if name is not None])
        new: dict[str, None] = {}
        kept = []
        for i, name in enumerate(batch.append_ids):
            if name is not None:
                if name in seen or name in new:
                    continue
                new[name] = None
            kept.append(i)
        self._database.add_seen(new, now)
        return kept

    def _find(self, order: dict[str, int]) -> dict[int, DocumentRow]:
        """The documents that are in the store already, by their number in the batch."""
        rows = {order[row.key]: row for row in self._cache.take(order)}
        if len(rows) < len(order):
            others = [key for key, i in order.items() if i not in rows] if rows else list(order)
            rows.update((order[row.key], row) for row in self._database.by_key(others))
        return rows

    def _store(
        self,
        counters: Counters,
        order: dict[str, int],
        rows: dict[int, DocumentRow],
        total: PairCounts,
        times: tuple[list[float], Sequence[bool | None]],
        replaced: Set[int],
    ) -> Sequence[int]:
        """Write the documents, new ones into the next slots; their numbers."""
        if replaced:
            self._database.overwrite()
        packed = pack(total, len(order))
        keys = list(order)
        changed: list[DocumentRow] = []
        later: list[DocumentRow] = []
        seconds, arrival = times
        try:
            newer = {i for i, row in rows.items() if seconds[i] > row.time}
        except TypeError:
            raise damaged_time(rows.values()) from None
        for i, row in rows.items():
            if i in newer or i in replaced:
                later.append(
                    DocumentRow(row.place, row.number, keys[i], seconds[i], packed[i], arrival[i])
                )
            else:
                changed.append(row._replace(content=packed[i]))
        fresh = [i for i in range(len(keys)) if i not in rows] if rows else range(len(keys))
        places = self._next_places(counters, [keys[i] for i in fresh])
        numbers = range(counters.next_document, counters.next_document + len(places))
        new = [
            DocumentRow(place, number, keys[i], seconds[i], packed[i], arrival[i])
            for i, place, number in zip(fresh, places, numbers, strict=True)
        ]
        counters.next_document += len(new)
        if new:
            self._database.insert(new)
        # In their order on the disk.
        if changed:
            self._database.update(sorted(changed), times=False)
        if later:
            self._database.update(sorted(later), times=True)
        self._cache.put([*new, *changed, *later])
        if not rows:
            return numbers
        by_index = dict(zip(fresh, numbers, strict=True))
        return [rows[i].number if i in rows else by_index[i] for i in range(len(keys))]

    def _next_places(self, counters: Counters, keys: Sequence[str]) -> list[int]:
        """The places of new documents, the next ones of the part to which each belongs."""
        if not keys:
            return []
        held_out = np.array(are_held_out(keys, self._settings.held_out), bool)
        before = np.cumsum(held_out) - held_out
        slots = np.where(
            held_out, counters.held_out + before, counters.training + np.arange(len(keys)) - before
        )
        n_held_out = int(held_out.sum())
        counters.held_out += n_held_out
        counters.training += len(keys) - n_held_out
        counters.added += len(keys) - n_held_out
        return np.where(held_out, ~slots, slots).tolist()

    # --- joining phrases

    def rejoin(self, join: Callable[[Sequence[str]], list[str]], mark: int, n: int) -> int:
        """See `Store.rejoin`."""
        return self._change(lambda counters: self._rejoin(counters, join, mark, n))

    def _rejoin(
        self,
        counters: Counters,
        join: Callable[[Sequence[str]], list[str]],
        mark: int,
        n: int,
    ) -> int:
        found = self._database.orders_without(mark, n)
        records = [
            Record(key, [w for s in order_of(key, content) for w in join(s)], replace=True)
            for _, key, content in found
        ]
        rows = {row.key: row for row in self._database.by_key([record.key for record in records])}
        changed = [
            record
            for record, content in zip(records, self._packed(counters, records), strict=True)
            if content != rows[record.key].content
        ]
        if changed:
            batch = flatten(changed)
            numbers = self._words.numbers.look_up(batch)
            self._append(counters, batch, numbers, 0.0, words_only=True)
        self._database.mark_orders([number for number, _, _ in found], mark)
        return len(found)

    def _packed(self, counters: Counters, records: Sequence[Record]) -> list[bytes]:
        """The contents of documents that have the words of records."""
        batch = flatten(records)
        numbers = self._words.numbers.look_up(batch)
        numbers = self._words.numbers.complete(batch, numbers, self._database, counters)
        documents = np.repeat(np.arange(len(records)), batch.lengths)
        return pack(sum_pairs(pair(documents, numbers), None), len(records))

    # --- deleting

    def delete(self, find: Callable[[Counters], Sequence[int]]) -> int:
        """Delete the documents in the places that are found; returns how many."""
        return self._change(lambda counters: self._delete(counters, find(counters)))

    def _delete(self, counters: Counters, places: Sequence[int]) -> int:
        if not places:
            return 0
        counters.sequence += 1
        self._cache.clear()
        self._database.overwrite()
        lost: list[Ints] = []
        for start in range(0, len(places), _AT_ONCE):
            part = places[start : start + _AT_ONCE]
            rows = self._database.by_place(part)
            keys, contents = [row.key for row in rows], [row.content for row in rows]
            _, all_words, counts = read_contents(keys, contents, counters.next_word)
            counters.tokens -= int(counts.sum(dtype=np.int64))
            lost.append(self._words.lose(counters, all_words))
            self._database.remove(part)
            numbers = [row.number for row in rows]
            self._database.remove_texts(numbers)
            self._database.remove_orders(numbers)
        self._words.drop(counters, np.concatenate(lost))
        training = [place for place in places if place >= 0]
        held_out = [~place for place in places if place < 0]
        moves = close_holes(training, counters.training)
        moves += [(~a, ~b) for a, b in close_holes(held_out, counters.held_out)]
        if moves:
            self._database.move(moves)
        counters.training -= len(training)
        counters.held_out -= len(held_out)
        self._database.put_counters(counters)
        return len(places)


def _replaced(batch: RecordBatch, order: dict[str, int], rows: dict[int, DocumentRow]) -> Set[int]:
    """Those of the documents in the store that a record replaces."""
    if not batch.replaces:
        return frozenset()
    return {order[record.key] for record in batch.records if record.replace} & rows.keys()


def _contents(rows: dict[int, DocumentRow], which: Set[int], n_words: int) -> PairCounts:
    """What some of the documents in the store have."""
    some = sorted(which)
    keys, contents = [rows[i].key for i in some], [rows[i].content for i in some]
    return read_batch(keys, contents, n_words, np.array(some, np.int64))


def _extended(
    rows: dict[int, DocumentRow], new: PairCounts, n: int, replaced: Set[int]
) -> tuple[int, ...]:
    """Numbers of the documents in the store that new words were added to."""
    if len(rows) == len(replaced):
        return ()
    has_new = np.bincount(new.documents, minlength=n) > 0
    return tuple(row.number for i, row in rows.items() if has_new[i] and i not in replaced)
