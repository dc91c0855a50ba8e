"""Read a store from several threads at once, each with a handle of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from trustream.service.store_handle import StoreHandle
from trustream.store.protocol import Store

T = TypeVar("T")


class Readers:
    """Threads that read a store; calls of one store would wait for each other.

    Args:
        url: address of the store.
        n: threads.

    >>> import tempfile, asyncio
    >>> from trustream.store import open_store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open_store(f"{folder}/topics.db").close()
    ...     readers = Readers(f"{folder}/topics.db", 2)
    ...     asyncio.run(readers.run(lambda store: store.totals().documents))
    ...     readers.close()
    0
    """

    def __init__(self, url: str, n: int) -> None:
        self._url = url
        self._local = threading.local()
        self._opened: list[StoreHandle] = []
        self._pool = ThreadPoolExecutor(n, "trustream-reader")

    async def run(self, work: Callable[[Store], T]) -> T:
        """Do some work with a store in one of the threads, and return what it returns."""
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Callable[[Store], T]) -> Future[T]:
        """The same without an event loop: what it will return."""
        return self._pool.submit(self._call, work)

    def _call(self, work: Callable[[Store], T]) -> T:
        handle: StoreHandle | None = getattr(self._local, "handle", None)
        if handle is None:
            handle = self._local.handle = StoreHandle(self._url)
            self._opened.append(handle)
        return handle.call(work)

    def close(self) -> None:
        """Wait for what is being read, and close all handles."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        for handle in self._opened:
            handle.close()
