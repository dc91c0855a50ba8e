"""The table of saved bytes: the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

from collections.abc import Iterable

from trustream.store.errors import StoreError
from trustream.store.statements import Statements


class SavedTable(Statements):
    """Reads and writes bytes under names, such as checkpoints; see `Database`."""

    def put_saved(self, name: str, parts: Iterable[bytes]) -> None:
        """Replace what is saved under a name; a trigger of the table counts its version."""
        self._execute("DELETE FROM saved WHERE name = ?", name)
        for number, part in enumerate(parts):
            self._execute("INSERT INTO saved VALUES (?, ?, ?)", name, number, part)

    def lock_saved(self, name: str) -> None:
        """Let nobody else save under a name until the end of the transaction."""

    def saved_names(self) -> list[str]:
        """The names under which something is saved, in order."""
        found = self._execute("SELECT name FROM saved WHERE part = 0 ORDER BY name")
        return [name for (name,) in found]

    def saved(self, name: str) -> list[bytes]:
        """The parts saved under a name, in order.

        Raises:
            StoreError: they are something else than bytes.
        """
        found = self._execute("SELECT content FROM saved WHERE name = ? ORDER BY part", name)
        parts = [content for (content,) in found]
        if not all(isinstance(part, bytes) for part in parts):
            raise StoreError(
                f"what is saved under {name!r:.200} is damaged: it is no bytes; restore the store "
                "from a copy, or train or save it again"
            )
        return parts

    def saved_version(self, name: str) -> int | None:
        """How often something was saved under a name."""
        row = self._execute("SELECT version FROM saved_version WHERE name = ?", name).fetchone()
        return None if row is None else row[0]
