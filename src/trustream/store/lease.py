"""What you can do with leases: let one process at a time train a model, or do something else.

A lease has a name and a token, a number that grows each time that the name changes hands. Its
holder gives signs of life. Others may take the lease over when its holder has ended, which shows at
once on the same machine, or has given no sign of life for too long. A holder that stood still and
was taken over has an old token: whatever it saves under its lease is compared with the token in the
same transaction and refused. `trustream.store.held_lease` takes a lease and gives signs of life.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from trustream.store.errors import StoreError
from trustream.store.holders import Holder

# Seconds that a holder may be silent.
SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Lease:
    """A name that one holder at a time has.

    Attributes:
        name: what is held.
        token: grows by one each time that the name changes hands.
        holder: who holds it.
        since: when it was taken, in seconds since 1970 by the database's clock.
        silent: seconds since the last sign of life when this was read, by the database's clock.
        seconds: for how long the holder may be silent.
        replaced: how often somebody else had replaced what is saved under the name, when it was
            taken or read.
    """

    name: str
    token: int
    holder: Holder
    since: float
    silent: float
    seconds: float
    replaced: int = 0

    @property
    def is_fresh(self) -> bool:
        """Whether the last sign of life is not older than was promised; clocks may jump."""
        return -1.0 <= self.silent <= self.seconds

    def __str__(self) -> str:
        since = datetime.fromtimestamp(self.since, UTC)
        return f"{self.holder}, since {since:%Y-%m-%d %H:%M:%S} UTC"


class LeaseHeldError(StoreError):
    """Somebody else holds the lease.

    Attributes:
        lease: the lease, with its holder.
    """

    def __init__(self, message: str, lease: Lease) -> None:
        super().__init__(message)
        self.lease = lease


class LeaseLostError(StoreError):
    """Somebody else has taken the lease over; nothing was saved.

    Attributes:
        lease: the lease as it is now; None if nobody holds it.
    """

    def __init__(self, message: str, lease: Lease | None) -> None:
        super().__init__(message)
        self.lease = lease


class ReplacedError(StoreError):
    """Somebody else has replaced what the holder of a lease had saved; nothing was saved."""


class Leasing(Protocol):
    """The part of `Store` that concerns leases."""

    def take_lease(self, name: str, holder: Holder, *, seconds: float = SECONDS) -> Lease:
        """Take a lease that nobody holds, or whose holder has ended.

        Waits, for half of the seconds that a holder may be silent, if it is not certain whether
        a holder is still there.

        Args:
            name: 1 to 500 characters.
            holder: `Holder.here()`; the lease is lost in this process when nobody has it any more.
            seconds: for how long the holder may be silent before others may take over.

        Raises:
            LeaseHeldError: somebody else holds it.
        """

    def renew_lease(self, lease: Lease) -> None:
        """Give a sign of life; a LeaseLostError says that somebody else has taken over."""

    def release_lease(self, lease: Lease) -> None:
        """Give a lease back; nothing happens if somebody else has taken it over."""

    def lease(self, name: str) -> Lease | None:
        """Who holds a lease; None if nobody does, or the holder is known to have ended."""
