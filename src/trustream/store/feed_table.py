"""The tables of feeds, how far each was read, and of append ids: SQL that databases share."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence

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
        """How far a feed has been read."""
        query = "SELECT name, offset_, finished, detail FROM feed WHERE name = ?"
        row = self._execute(query, feed).fetchone()
        return None if row is None else Position(row[0], row[1], bool(row[2]), json.loads(row[3]))

    def put_position(self, position: Position) -> None:
        """Note how far a feed has been read."""
        self._execute(
            "INSERT INTO feed VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
            " offset_ = excluded.offset_, finished = excluded.finished, detail = excluded.detail",
            *(position.feed, position.offset, position.finished, json.dumps(position.detail)),
        )
