"""Keep child processes away from databases that their parent has open when it forks.

The child must not touch what its parent has open. Over an inherited connection it would talk to
the parent's server session, and SQLite would believe that the child has the parent's locks: a
store that the child opens by itself could then lose what it acknowledged. So a fork waits until
no thread is in the middle of something, and the child lets go of everything before it goes on.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from contextlib import suppress
from typing import Protocol

# Seconds that a fork waits for threads that are in the middle of something.
_PATIENCE = 5.0


class Inherited(Protocol):
    """An open database that a child would inherit."""

    # Held while the database is being used.
    lock: threading.RLock

    def leave(self, *, quiet: bool) -> None:
        """Let go of it in a child without a trace; `quiet` if nobody was using it at the fork."""


class _Registry:
    """The open databases of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # A WeakSet would call Python when one goes, and swallow an interrupt that comes then.
        self._all: list[weakref.ref[Inherited]] = []
        # While the process forks: whether the lock above is held, and what else.
        self._locked = False
        self._held: list[tuple[Inherited, bool]] = []

    def add(self, handle: Inherited) -> None:
        """Keep a database in the list for as long as it lives."""
        with self._lock:
            self._all = [*(ref for ref in self._all if ref() is not None), weakref.ref(handle)]

    def before(self) -> None:
        """Wait until no thread uses a database; all threads wait for them in the same order."""
        deadline = time.monotonic() + _PATIENCE
        self._locked = self._lock.acquire()
        alive = [handle for ref in self._all if (handle := ref()) is not None]
        for handle in sorted(alive, key=id):
            left = max(deadline - time.monotonic(), 0.0)
            self._held.append((handle, handle.lock.acquire(timeout=left)))

    def after_in_parent(self) -> None:
        """After a fork, let the threads of the parent go on."""
        held, self._held = self._held, []
        for handle, got in held:
            if got:
                handle.lock.release()
        if self._locked:
            self._locked = False
            self._lock.release()

    def after_in_child(self) -> None:
        """In the child, let go of everything: neither databases nor their locks are used again."""
        held, self._held = self._held, []
        self._lock, self._locked = threading.Lock(), False
        self._all = []
        for handle, got in held:
            with suppress(Exception):
                handle.leave(quiet=got)


_OPEN = _Registry()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_OPEN.before,
        after_in_parent=_OPEN.after_in_parent,
        after_in_child=_OPEN.after_in_child,
    )


def remember(handle: Inherited) -> None:
    """Make children leave a database alone that this process has open."""
    _OPEN.add(handle)
