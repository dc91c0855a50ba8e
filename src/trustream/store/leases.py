"""Leases in a database: taken, renewed, checked and given back, each in one transaction.

No clock of another machine is believed. How long a holder has been silent is told by the
database's clock, but before that counts, whoever wants the lease looks for some time, by its own
clock, whether there is still no sign of life.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from trustream.store.database import Database
from trustream.store.errors import StoreError
from trustream.store.holders import Holder
from trustream.store.lease import Lease, LeaseHeldError, LeaseLostError, ReplacedError
from trustream.store.lease_table import LeaseRow
from trustream.store.limits import is_finite_number, is_number_from, short_repr

# The part of the seconds that a holder may be silent for which it is watched before it is taken
# over, and how often.
_WATCHED, _LOOKS = 0.5, 15


class _Found(NamedTuple):
    """A lease that was found, and the number of its holder's last sign of life."""

    lease: Lease
    beat: int

    @property
    def sign(self) -> tuple[int, int]:
        return self.lease.token, self.beat


class Leases:
    """The leases of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(
        self,
        name: str,
        holder: Holder,
        seconds: float,
        guard: Callable[[Callable[[], Lease | _Found]], Lease | _Found],
    ) -> Lease:
        """Take a lease that is free, or whose holder has ended.

        Args:
            guard: makes one of the calls to the database; not the waits between them.
        """
        silent: tuple[int, int] | None = None
        until = 0.0
        while True:
            over = silent is not None and time.monotonic() >= until
            sign = silent if over else None
            found = guard(lambda: self._try(name, holder, seconds, sign))  # noqa: B023
            if isinstance(found, Lease):
                return found
            if found.lease.is_fresh or (silent is not None and silent != found.sign):
                raise LeaseHeldError(
                    f"{name!r:.200} of {self._database.name} is held by {found.lease}", found.lease
                )
            if silent is None:
                silent, until = found.sign, time.monotonic() + _WATCHED * found.lease.seconds
            time.sleep(_WATCHED * found.lease.seconds / _LOOKS)

    def _try(
        self, name: str, holder: Holder, seconds: float, silent: tuple[int, int] | None
    ) -> Lease | _Found:
        """Take a lease; what was found if somebody else holds it, unless it is silent."""
        database = self._database

        def work() -> Lease | _Found:
            row = database.make_lease(name)
            found = self._found(name, row)
            if found is not None and found.sign != silent:
                if not found.lease.holder.is_dead(one_machine=database.ONE_MACHINE):
                    return found
            token = row.token + 1
            database.put_lease(name, token, holder.to_json(), row.now, seconds)
            return Lease(name, token, holder, row.now, 0.0, seconds, row.replaced)

        return database.run(work, write=True)

    def renew(self, lease: Lease) -> None:
        """Give a sign of life."""
        database = self._database

        def work() -> None:
            self.check(lease)
            database.beat(lease.name)

        database.run(work, write=True)

    def check(self, lease: Lease) -> LeaseRow:
        """Raise an error, inside a transaction, unless the lease is the current one."""
        row = self._database.lease_row(lease.name, write=True)
        if row is None or row.token != lease.token or row.holder is None:
            found = None if row is None else self._found(lease.name, row)
            by = "was given back" if found is None else f"was taken over by {found.lease}"
            raise LeaseLostError(
                f"the lease of {lease.name!r:.200} of {self._database.name} {by}; nothing was "
                "changed",
                None if found is None else found.lease,
            )
        return row

    def check_save(self, lease: Lease, name: str) -> None:
        """Raise an error, inside a transaction, unless the lease lets its holder save.

        Under the lease's own name, it is what the holder goes on with; under another, it replaces
        what the holder of that one goes on with.
        """
        row = self.check(lease)
        if name != lease.name:
            self._database.note_replacement(name)
        elif row.replaced != lease.replaced:
            raise ReplacedError(
                f"{name!r:.200} of {self._database.name} was replaced by somebody else; nothing "
                "was saved"
            )

    def release(self, lease: Lease) -> None:
        """Give a lease back; nothing happens if somebody else has it by now."""
        database = self._database
        database.run(lambda: database.free_lease(lease.name, lease.token), write=True)

    def read(self, name: str) -> Lease | None:
        """Who holds a lease; None if nobody does."""
        database = self._database
        row = database.run(lambda: database.lease_row(name, write=False), write=False)
        found = None if row is None else self._found(name, row)
        if found is None or found.lease.holder.is_dead(one_machine=database.ONE_MACHINE):
            return None
        return found.lease

    def _found(self, name: str, row: LeaseRow) -> _Found | None:
        if row.holder is None:
            return None
        fault = lease_fault(row)
        if fault is not None:
            raise StoreError(
                f"the lease of {name!r:.200} of {self._database.name} is damaged: {fault}; free it "
                "with trustream check STORE --repair while nobody trains this model"
            )
        holder = Holder.from_json(row.holder)
        silent = row.now - row.beaten
        lease = Lease(name, row.token, holder, row.since, silent, row.seconds, row.replaced)
        return _Found(lease, row.beat)


def lease_fault(row: LeaseRow) -> str | None:
    """What is wrong with the row of a lease; None if nothing is."""
    for name in ("token", "beat", "replaced"):
        if not is_number_from(0, value := getattr(row, name)):
            return f"{name} is {short_repr(value)}"
    for name in ("since", "beaten", "seconds"):
        # Times as far as a year 300,000.
        if not is_finite_number(value := getattr(row, name)) or not 0 <= value <= 1e13:
            return f"{name} is {short_repr(value)}"
    if row.holder is None:
        return None
    try:
        Holder.from_json(row.holder)
    except ValueError as error:
        return str(error)
    return None
