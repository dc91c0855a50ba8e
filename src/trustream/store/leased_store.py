"""The methods of a store that concern leases."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from trustream.store.call_guard import CallGuard, guarded
from trustream.store.database import Database
from trustream.store.holders import Holder
from trustream.store.lease import SECONDS, Lease, Leasing
from trustream.store.leases import Leases
from trustream.store.limits import name_fault

T = TypeVar("T")


class LeasedStore(Leasing):
    """A store in a database that gives leases; see `Leasing`."""

    _guard: CallGuard

    @property
    def _database(self) -> Database:
        raise NotImplementedError

    def _forget(self) -> None:
        raise NotImplementedError

    @property
    def _leases(self) -> Leases:
        return Leases(self._database)

    def take_lease(self, name: str, holder: Holder, *, seconds: float = SECONDS) -> Lease:
        fault = name_fault(name)
        if fault is not None:
            raise ValueError(f"name {name!r:.60} {fault}")
        if not (math.isfinite(seconds) and seconds > 0):
            raise ValueError(f"seconds is {seconds}; give a positive number")
        return self._leases.take(name, holder, seconds, self._call)

    @guarded
    def _call(self, work: Callable[[], T]) -> T:
        return work()

    @guarded
    def renew_lease(self, lease: Lease) -> None:
        self._leases.renew(lease)

    @guarded
    def release_lease(self, lease: Lease) -> None:
        self._leases.release(lease)

    @guarded
    def lease(self, name: str) -> Lease | None:
        return None if name_fault(name) is not None else self._leases.read(name)
