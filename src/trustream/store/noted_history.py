"""The methods of a store that keep a history: bytes noted under a name, in slots of time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trustream.store.call_guard import guarded
from trustream.store.limits import name_fault
from trustream.store.saved_bytes import SavedBytes

# Slots of this many seconds are the smallest.
_LEAST = 1.0


class NotedHistory(SavedBytes):
    """A store in a database that keeps histories; see `Store`."""

    @guarded
    def note_history(
        self, name: str, content: bytes, time: float, *, every: Sequence[float]
    ) -> int:
        database = self._database
        fault = name_fault(name)
        if fault is not None:
            raise ValueError(f"name {name!r:.60} {fault}")
        if not math.isfinite(time):
            raise ValueError(f"time is {time}; give seconds since 1970")
        for seconds in every:
            if not (math.isfinite(seconds) and seconds >= _LEAST):
                raise ValueError(f"every has {seconds}; give widths of slots of a second or more")
        return database.run(
            lambda: sum(
                database.add_history(name, float(seconds), int(time // seconds), time, content)
                for seconds in every
            ),
            write=True,
        )

    @guarded
    def history(
        self, name: str, every: float, since: float | None = None, until: float | None = None
    ) -> list[tuple[float, bytes]]:
        if name_fault(name) is not None:
            return []
        first = -math.inf if since is None else since
        last = math.inf if until is None else until
        database = self._database
        return database.run(lambda: database.history(name, float(every), first, last), write=False)

    @guarded
    def expire_history(self, name: str, every: float, before: float) -> int:
        if not math.isfinite(before):
            raise ValueError(f"before is {before}; give seconds since 1970")
        database = self._database
        return database.run(lambda: database.expire_history(name, float(every), before), write=True)
