"""A store that is opened when it is needed, and anew when it could not be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from trustream.store import open_store
from trustream.store.errors import StoreError
from trustream.store.protocol import Store

T = TypeVar("T")


class StoreHandle:
    """A store, for one thread.

    A handle of a file that was moved away stays useless when the file is put back: after an error
    it is closed, and the next call opens the store again.

    Args:
        url: address of the store.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open_store(f"{folder}/topics.db").close()
    ...     handle = StoreHandle(f"{folder}/topics.db")
    ...     handle.call(lambda store: store.totals().documents)
    ...     handle.close()
    0
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._store: Store | None = None

    def call(self, work: Callable[[Store], T]) -> T:
        """Do some work with the store, and return what it returns."""
        if self._store is None:
            self._store = open_store(self._url, create=False)
        try:
            return work(self._store)
        except StoreError:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the store."""
        store, self._store = self._store, None
        if store is not None:
            store.close()
