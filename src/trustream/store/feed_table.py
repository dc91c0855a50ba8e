"""The tables of feeds, how far each was read, and of append ids: SQL that databases share."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence

from trustream.store.errors import StoreError
from trustream.store.limits import MAX_OFFSET, is_number_from, short_repr
from trustream.store.records import Position
from trustream.store.statements import Statements


class FeedTable(Statements):
    """Reads and writes positions of feeds, and which records were stored before; see `Database`."""

    def seen(self, append_ids: Sequence[str]) -> set[str]:
        """Which append ids have been seen."""
        query = "SELECT append_id FROM seen WHERE append_id"
        return {name for (name,) in self._select_in(query, "text", append_ids)}

    @abstractmethod
    def add_seen(self, append_ids: Iterable[str], time: float) -> None:
        """Note append ids, and when."""

    def expire_seen(self, before: float) -> int:
        """Forget append ids that were noted before a time; returns how many."""
        # Those without a time are older than the step that has brought the times.
        found = self._execute(
            "DELETE FROM seen WHERE coalesce(time, (SELECT applied FROM migration"
            " WHERE name = '0008_words_leave')) < ?",
            before,
        )
        return int(found.rowcount)

    def position(self, feed: str) -> Position | None:
        """How far a feed has been read.

        Raises:
            StoreError: what is kept of it is damaged.
        """
        query = "SELECT name, offset_, finished, detail FROM feed WHERE name = ?"
        row = self._execute(query, feed).fetchone()
        if row is None:
            return None
        fault = position_fault(*row[1:])
        if fault is not None:
            raise damaged_position(feed, fault)
        return Position(row[0], row[1], bool(row[2]), json.loads(row[3]))

    def put_position(self, position: Position) -> None:
        """Note how far a feed has been read."""
        self._execute(
            "INSERT INTO feed VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
            " offset_ = excluded.offset_, finished = excluded.finished, detail = excluded.detail",
            *(position.feed, position.offset, position.finished, json.dumps(position.detail)),
        )


def position_fault(offset: object, finished: object, detail: object) -> str | None:
    """What is wrong with what is kept of a feed; None if nothing is.

    >>> position_fault(7, 1, "{}"), position_fault(-7, 1, "{}")
    (None, 'is at -7')
    """
    if not is_number_from(0, offset) or offset > MAX_OFFSET:  # type: ignore[operator]
        return f"is at {short_repr(offset)}"
    if finished not in (0, 1):
        return f"has {short_repr(finished)} instead of whether its end was reached"
    try:
        fine = isinstance(json.loads(detail), dict)  # type: ignore[arg-type]
    except (TypeError, ValueError, RecursionError):
        fine = False
    return None if fine else "has a detail that is no JSON object"


def damaged_position(feed: str, fault: str) -> StoreError:
    """The error that says what to do about a position that cannot be used."""
    return StoreError(
        f"the position of the feed {feed!r:.300} is damaged: it {fault}; read the feed from its "
        "start with again=True and replace=True, or restore a copy of the store"
    )
