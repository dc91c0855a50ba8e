"""Repair a store: what it counts is written anew, as counting its documents gives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trustream.store import contents
from trustream.store.backend import Backend, State
from trustream.store.check_result import KINDS, Findings
from trustream.store.columns import Columns, seated, waiting
from trustream.store.counting import Counted, Words
from trustream.store.places import is_held_out
from trustream.store.records import name_fault
from trustream.store.word_counts import blocks_of

# Documents that are written or moved at a time.
_AT_ONCE = 1000
# Beyond all places: where documents wait until the places that they move to are empty.
_FAR = 1 << 60


def repair(
    backend: Backend,
    state: State,
    words: Words,
    counted: Counted,
    columns: Columns,
    findings: Findings,
) -> set[str]:
    """Write everything that can be computed from the documents; the kinds that are right now.

    Args:
        backend: the store's database, in a transaction in which nobody else writes.
        state: the counters, with the numbers that this change gets.
        words: the words that there are.
        counted: what the documents say.
        columns: those that are right.
        findings: what is wrong.
    """
    kinds = {kind for kind in KINDS if KINDS[kind].repairable}
    if not findings.has(*kinds):
        return kinds
    _rewrite(backend, counted.damaged, words.there)
    training, held_out = counted.training, counted.held_out
    if findings.has("repeated"):
        # Of two documents in one place it cannot move one.
        kinds -= {"places", "held out"}
    elif findings.has("places", "held out"):
        training, held_out = _close_ranks(backend)
    # Whole tables, so that all who keep a copy in memory take over all of it.
    backend.clear("block")
    backend.put_blocks(blocks_of(counted.words[: words.next]), state.sequence)
    members = _settled(backend, words, counted, columns)
    backend.clear("column")
    backend.put_columns(members, state.vocabulary)
    backend.put_state(
        replace(
            state,
            training=training,
            held_out=held_out,
            tokens=counted.tokens,
            words=sum(word is not None for _, word in members),
            added=max(state.added, training),
            next_word=words.next,
            next_document=max(state.next_document, counted.next_document),
        )
    )
    return kinds


def _rewrite(backend: Backend, places: Sequence[int], there: NDArray[np.bool_]) -> None:
    """Keep what can be read of documents."""
    for start in range(0, len(places), _AT_ONCE):
        rows = backend.by_place(places[start : start + _AT_ONCE])
        readable = [row._replace(content=contents.readable(row.content, there)) for row in rows]
        backend.update(readable, times=False)


def _settled(
    backend: Backend, words: Words, counted: Counted, columns: Columns
) -> list[tuple[int, int | None]]:
    """All columns: words that are right keep theirs, others that should take part get one."""
    settings = backend.settings
    if settings.fixed:
        return [(number, number) for number in range(words.next)]
    surplus = 0
    if settings.max_words is not None:
        surplus = len(columns.members) - settings.max_words
    if surplus > 0:
        rank = np.lexsort([-columns.members, counted.words[columns.members]])
        leave = columns.of(columns.members[rank[:surplus]]).tolist()
        columns.apply([(column, None) for column in leave], columns.version)
    out = waiting(columns, counted.words, settings)
    entrants = out if settings.max_words is None else out[: max(-surplus, 0)]
    columns.apply(seated(columns, np.zeros(0, np.int64), entrants), columns.version)
    return [(i, None if word < 0 else word) for i, word in enumerate(columns.words.tolist())]


def _close_ranks(backend: Backend) -> tuple[int, int]:
    """Move documents into the part that is theirs, and into the holes; how many each part has."""
    share = backend.settings.held_out
    # The place that each document has, by its part; as slots, so that both look alike.
    parts: tuple[list[int], list[int]] = ([], [])
    for place, key in backend.stream("SELECT place, key FROM document ORDER BY place"):
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
        backend.move([(here, _FAR + i) for i, (here, _) in some])
    for start in range(0, len(moves), _AT_ONCE):
        some = enumerate(moves[start : start + _AT_ONCE], start)
        backend.move([(_FAR + i, there) for i, (_, there) in some])
    return len(parts[0]), len(parts[1])
