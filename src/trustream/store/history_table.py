"""The table of what was noted over time: the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

from trustream.store.statements import Statements


class HistoryTable(Statements):
    """Reads and writes bytes that were noted over time; see `Database`."""

    def add_history(self, name: str, every: float, slot: int, time: float, content: bytes) -> int:
        """Note something in a slot of time, unless something is there; returns how many were."""
        found = self._execute(
            "INSERT INTO history VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            *(name, every, slot, time, content),
        )
        return int(found.rowcount)

    def history(
        self, name: str, every: float, since: float, until: float
    ) -> list[tuple[float, bytes]]:
        """(time, content) of what was noted between two times, in order."""
        query = (
            "SELECT time, content FROM history WHERE name = ? AND every = ?"
            " AND time >= ? AND time <= ? ORDER BY slot"
        )
        found = self._execute(query, name, every, since, until)
        return [(time, bytes(content)) for time, content in found]

    def expire_history(self, name: str, every: float, before: float) -> int:
        """Remove what was noted before a time; returns how many were."""
        query = "DELETE FROM history WHERE name = ? AND every = ? AND time < ?"
        return int(self._execute(query, name, every, before).rowcount)
