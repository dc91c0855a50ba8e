"""Repair a store: write everything anew that can be counted again from its documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trustream.store.active_words import (
    ActiveWords,
    ColumnChange,
    assign_columns,
    waiting_words,
)
from trustream.store.check_result import KINDS, Findings
from trustream.store.database import Database
from trustream.store.document_encoding import readable
from trustream.store.document_frequencies import blocks_of
from trustream.store.document_slots import is_held_out
from trustream.store.limits import name_fault
from trustream.store.recount import NumberedWords, Recount
from trustream.store.table_rows import Counters

# Documents that are written or moved at a time.
_AT_ONCE = 1000
# Beyond all places: where documents wait until the places that they move to are empty.
_FAR = 1 << 60


def repair(
    database: Database,
    counters: Counters,
    words: NumberedWords,
    recount: Recount,
    active: ActiveWords,
    findings: Findings,
) -> set[str]:
    """Write everything that can be computed from the documents; the kinds that are right now.

    Args:
        database: the store's database, in a transaction in which nobody else writes.
        counters: the counters, with the numbers that this change gets.
        words: the words of the store.
        recount: what counting the documents gave.
        active: the active words whose columns are right.
        findings: what is wrong.
    """
    kinds = {kind for kind in KINDS if KINDS[kind].repairable}
    if not findings.has(*kinds):
        return kinds
    _rewrite(database, recount.damaged, words.there)
    training, held_out = recount.training, recount.held_out
    if findings.has("repeated"):
        # Of two documents in one place it cannot move one.
        kinds -= {"places", "held out"}
    elif findings.has("places", "held out"):
        training, held_out = _close_holes(database)
    # Whole tables, so that all who keep a copy in memory take over all of it.
    next_word = min(max(counters.next_word, words.next), words.most)
    database.clear("block")
    database.put_blocks(blocks_of(recount.frequencies[:next_word]), counters.sequence)
    if not database.settings.fixed:
        _remove_words(database, words, recount)
    columns = _all_columns(database, words, recount, active)
    database.clear("column")
    database.put_columns(columns, counters.vocabulary)
    database.put_counters(
        replace(
            counters,
            training=training,
            held_out=held_out,
            tokens=recount.tokens,
            words=sum(word is not None for _, word in columns),
            added=max(added(counters, recount), training),
            next_word=next_word,
            next_document=max(counters.next_document, recount.next_document),
        )
    )
    return kinds


def added(counters: Counters, recount: Recount) -> int:
    """How many documents can have been added to the training part, as they are counted."""
    most = max(counters.next_document, recount.next_document)
    return min(max(counters.added, recount.training), most)


def _rewrite(database: Database, places: Sequence[int], there: NDArray[np.bool_]) -> None:
    """Keep what can be read of damaged documents."""
    for start in range(0, len(places), _AT_ONCE):
        rows = database.by_place(places[start : start + _AT_ONCE])
        rewritten = [row._replace(content=readable(row.content, there)) for row in rows]
        database.update(rewritten, times=False)


def _remove_words(database: Database, words: NumberedWords, recount: Recount) -> None:
    """Remove words that no document has."""
    unused = np.flatnonzero(words.there & (recount.frequencies == 0)).tolist()
    database.overwrite()
    for start in range(0, len(unused), _AT_ONCE):
        database.remove_words(unused[start : start + _AT_ONCE])


def _all_columns(
    database: Database, words: NumberedWords, recount: Recount, active: ActiveWords
) -> list[ColumnChange]:
    """All columns: words that are right keep theirs, others that should be active get one."""
    settings = database.settings
    if settings.fixed:
        return [(number, number) for number in range(words.next)]
    surplus = 0
    if settings.max_words is not None:
        surplus = len(active.numbers) - settings.max_words
    if surplus > 0:
        rank = np.lexsort([-active.numbers, recount.frequencies[active.numbers]])
        leave = active.columns_of(active.numbers[rank[:surplus]]).tolist()
        active.apply([(column, None) for column in leave], active.version)
    out = waiting_words(active, recount.frequencies, settings)
    entrants = out if settings.max_words is None else out[: max(-surplus, 0)]
    active.apply(assign_columns(active, np.zeros(0, np.int64), entrants), active.version)
    return [(i, None if word < 0 else word) for i, word in enumerate(active.words.tolist())]


def _close_holes(database: Database) -> tuple[int, int]:
    """Move documents into the part that is theirs, and into the holes; how many each part has."""
    share = database.settings.held_out
    # The place that each document has, by its part; as slots, so that both look alike.
    parts: tuple[list[int], list[int]] = ([], [])
    for place, key in database.stream("SELECT place, key FROM document ORDER BY place"):
        own = is_held_out(key, share) if name_fault(key) is None else place < 0
        parts[own].append(place)
    moves: list[tuple[int, int]] = []
    for own, places in enumerate(parts):
        slots = np.array(places, np.int64)
        slots = ~slots if own else slots
        stays = (slots >= 0) & (slots < len(slots))
        holes = np.setdiff1d(np.arange(len(slots)), slots[stays])
        movers = np.array(places, np.int64)[~stays]
        targets = ~holes if own else holes
        moves += zip(movers.tolist(), targets.tolist(), strict=True)
    for start in range(0, len(moves), _AT_ONCE):
        some = enumerate(moves[start : start + _AT_ONCE], start)
        database.move([(here, _FAR + i) for i, (here, _) in some])
    for start in range(0, len(moves), _AT_ONCE):
        some = enumerate(moves[start : start + _AT_ONCE], start)
        database.move([(_FAR + i, there) for i, (_, there) in some])
    return len(parts[0]), len(parts[1])
