"""The table of leases: the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from trustream.store.statements import Statements


class LeaseRow(NamedTuple):
    """A row of the table `lease`, and the time at which it was read.

    Attributes:
        token: grows each time that the lease changes hands; a row is never deleted.
        holder: who holds it, as JSON; None if nobody does.
        since: when it was taken, by the database's clock as all times here.
        beat: the number of the last sign of life.
        beaten: when that was.
        seconds: for how long the holder may be silent.
        replaced: how often somebody else has replaced what is saved under the name.
        now: the time.
    """

    token: int
    holder: str | None
    since: float
    beat: int
    beaten: float
    seconds: float
    replaced: int
    now: float


class LeaseTable(Statements):
    """Reads and writes leases; see `Database`."""

    # The database's clock, in seconds since 1970.
    _NOW: ClassVar[str]
    # Ends a query for a row that is about to be changed.
    _FOR_UPDATE: ClassVar[str] = ""
    # Whether all processes that use the database are on this machine.
    ONE_MACHINE: ClassVar[bool] = False

    def lease_row(self, name: str, *, write: bool) -> LeaseRow | None:
        """The row of a lease; with `write`, nobody else changes it in this transaction."""
        row = self._execute(
            f"SELECT token, holder, since, beat, beaten, seconds, replaced, {self._NOW} FROM lease"
            f" WHERE name = ?{self._FOR_UPDATE if write else ''}",
            name,
        ).fetchone()
        return None if row is None else LeaseRow(*row)

    def make_lease(self, name: str) -> LeaseRow:
        """The row of a lease that is about to be taken, made if there is none."""
        self._execute(
            "INSERT INTO lease VALUES (?, 0, NULL, 0, 0, 0, 0, 0) ON CONFLICT (name) DO NOTHING",
            name,
        )
        row = self.lease_row(name, write=True)
        assert row is not None  # rows are never deleted
        return row

    def put_lease(self, name: str, token: int, holder: str, now: float, seconds: float) -> None:
        """Give a lease to a holder."""
        self._execute(
            "UPDATE lease SET token = ?, holder = ?, since = ?, beat = 0, beaten = ?, seconds = ?"
            " WHERE name = ?",
            *(token, holder, now, now, seconds, name),
        )

    def beat(self, name: str) -> None:
        """Note a sign of life."""
        self._execute(
            f"UPDATE lease SET beat = beat + 1, beaten = {self._NOW} WHERE name = ?", name
        )

    def note_replacement(self, name: str) -> None:
        """Note that somebody else than the holder replaces what is saved under a name."""
        self.make_lease(name)
        self._execute("UPDATE lease SET replaced = replaced + 1 WHERE name = ?", name)

    def repair_lease(self, name: str) -> None:
        """Take a lease that is damaged from its holder, if there is one."""
        self._execute(
            "UPDATE lease SET token = 1 + CASE WHEN token BETWEEN 0 AND 1000000000000000 THEN token"
            " ELSE 0 END, holder = NULL, since = 0, beat = 0, beaten = 0, seconds = 0, replaced = 0"
            " WHERE name = ?",
            name,
        )

    def free_lease(self, name: str, token: int) -> None:
        """Note that nobody holds a lease any more, if it still has this token."""
        self._execute("UPDATE lease SET holder = NULL WHERE name = ? AND token = ?", name, token)
