"""Hold a lease of a store: a thread gives the signs of life until it is given back."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from dataclasses import replace

from trustream.store.errors import StoreError
from trustream.store.holders import Holder
from trustream.store.lease import SECONDS, Lease, LeaseLostError
from trustream.store.opening import open_store
from trustream.store.protocol import Store

# Signs of life in the time that a holder may be silent.
_BEATS = 6
_UNREACHABLE = (StoreError, OSError, ValueError)


class HeldLease:
    """Take a lease and hold it, until `release`, the end of `with`, or the end of the process.

    A thread with a connection of its own gives signs of life. It ends when the lease is given
    back, when somebody else has taken it over, or when nobody has this object any more.

    Parameters
    ----------
    store : Store
    name : str
        What to hold.
    seconds : float, default=30
        For how long the process may stand still before others may take over.

    Raises
    ------
    LeaseHeldError
        If somebody else holds it.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = open_store(folder.name + "/topics.db")
    >>> with HeldLease(store, "model") as held:
    ...     store.save("model", b"...", lease=held.lease)
    ...     HeldLease(store, "model")
    Traceback (most recent call last):
        ...
    trustream.store.lease.LeaseHeldError: 'model' of ... is held by process ... on ..., since ...
    >>> store.lease("model") is None
    True
    >>> store.close(); folder.cleanup()
    """

    def __init__(self, store: Store, name: str, *, seconds: float = SECONDS) -> None:
        self._store = store
        self._shared = _Shared(store.take_lease(name, Holder.here(), seconds=seconds))
        # It must not refer to this object, which would then never be collected.
        self._thread = threading.Thread(
            target=_keep, args=(self._shared, store.url), name="trustream-lease", daemon=True
        )
        self._end = weakref.finalize(self, self._shared.end)
        # A thread cannot do much when Python ends; others see that the process has ended.
        self._end.atexit = False
        self._thread.start()

    @property
    def lease(self) -> Lease:
        """The lease, to save under."""
        return self._shared.lease

    def accept_replacement(self) -> None:
        """Go on after a ReplacedError: load what is saved now, after this call."""
        found = self._store.lease(self.lease.name)
        if found is not None and found.token == self.lease.token:
            self._shared.lease = replace(self.lease, replaced=found.replaced)

    def check(self) -> None:
        """Raise a LeaseLostError if a sign of life has shown that somebody else took over."""
        if self._shared.lost is not None:
            raise self._shared.lost

    def release(self) -> None:
        """Give the lease back; a second time does nothing."""
        shared = self._shared
        if shared.ended.is_set() or os.getpid() != shared.pid:
            return
        shared.lease.holder.retire()
        try:
            # If the store was closed, the thread does it.
            with suppress(StoreError):
                self._store.release_lease(shared.lease)
                shared.released = True
        finally:
            self._end()
        self._thread.join(5.0)

    def __enter__(self) -> HeldLease:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class _Shared:
    """What a held lease and its thread share."""

    def __init__(self, lease: Lease) -> None:
        self.lease, self.pid = lease, os.getpid()
        self.ended = threading.Event()
        self.released = False
        self.lost: LeaseLostError | None = None

    def end(self) -> None:
        """Have the thread end, and give the lease back if that was not done."""
        self.ended.set()


def _keep(shared: _Shared, url: str) -> None:
    """What the thread does."""
    store: Store | None = None
    lease = shared.lease
    try:
        while not shared.ended.wait(lease.seconds / _BEATS):
            try:
                store = open_store(url, create=False) if store is None else store
                store.renew_lease(lease)
            except LeaseLostError as error:
                shared.lost = error
                return
            except _UNREACHABLE:
                # It cannot be reached now: the holder is told when it wants to save.
                if store is not None:
                    store.close()
                    store = None
        if not shared.released:
            store = open_store(url, create=False) if store is None else store
            store.release_lease(lease)
    except _UNREACHABLE:
        pass  # others see that the process has ended, or gives no sign of life
    finally:
        if store is not None:
            store.close()
