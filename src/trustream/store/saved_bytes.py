"""The methods of a store that save bytes under names, such as checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from trustream.store.call_guard import guarded
from trustream.store.database import Database
from trustream.store.lease import Lease
from trustream.store.leased_store import LeasedStore
from trustream.store.limits import name_fault

T = TypeVar("T")
# Bytes are saved in parts of this size.
_PART = 1 << 24


class SavedBytes(LeasedStore):
    """A store in a database that saves bytes; see `Store`."""

    @guarded
    def _look_up(self, name: str, query: Callable[[Database, str], T | None]) -> T | None:
        """What a query finds under a name; nothing under one that no store accepts."""
        if name_fault(name) is not None:
            return None
        return self._database.run(lambda: query(self._database, name), write=False)

    @guarded
    def save(
        self,
        name: str,
        content: bytes,
        *,
        lease: Lease | None = None,
        beside: Mapping[str, bytes] | None = None,
    ) -> None:
        database = self._database
        saved = {name: _parts(content)}
        saved.update({other: _parts(more) for other, more in (beside or {}).items()})
        for other in saved:
            fault = name_fault(other)
            if fault is not None:
                raise ValueError(f"name {other!r:.60} {fault}")

        def work() -> None:
            if lease is not None:
                self._leases.check_save(lease, name)
            # In one order, so that two of them never wait for each other.
            for other in sorted(saved):
                database.put_saved(other, saved[other])

        database.run(work, write=True)

    @guarded
    def saved_names(self) -> list[str]:
        return self._database.run(self._database.saved_names, write=False)

    def load(self, name: str) -> bytes | None:
        parts = self._look_up(name, Database.saved)
        return b"".join(parts) if parts else None

    def saved_version(self, name: str) -> int | None:
        return self._look_up(name, Database.saved_version)

    @guarded
    def change_saved(
        self,
        name: str,
        change: Callable[[bytes], bytes | None],
        *,
        missing: bytes | None = None,
    ) -> bool:
        database = self._database
        if name_fault(name) is not None:
            return False

        def work() -> bool:
            database.lock_saved(name)
            found = database.saved(name)
            before = b"".join(found) if found else missing
            changed = None if before is None else change(before)
            if changed is None:
                return False
            database.overwrite()
            database.put_saved(name, _parts(changed))
            return True

        return database.run(work, write=True)


def _parts(content: bytes) -> list[bytes]:
    view = memoryview(content)
    return [bytes(view[i : i + _PART]) for i in range(0, max(len(view), 1), _PART)]
