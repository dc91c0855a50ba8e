"""What a worker of a cluster holds: a connection to the data, and what its calls have kept."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, NamedTuple

from trustream.cluster.sources import OpenSource, Source
from trustream.kernels import threads

# Entries of `Worker.kept`: parts of this batch and of the next, and a little more.
_MOST_KEPT = 256


class WorkerPlace(NamedTuple):
    """Where a worker runs."""

    node: str
    host: str
    pid: int


class Kept:
    """A table of limited size; what was used longest ago is dropped first.

    >>> kept = Kept(2)
    >>> [kept.get(key, lambda: key.upper()) for key in "abac"], kept.has("b")
    (['A', 'B', 'A', 'C'], False)
    """

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most, self._lock = most, Lock()
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()

    def has(self, key: Hashable) -> bool:
        """Whether there is something under the key."""
        return key in self._entries

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What is kept under the key; made and kept if there is nothing."""
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
        value = make()
        self.put(key, value)
        return value

    def put(self, key: Hashable, value: Any) -> None:
        """Keep something under the key."""
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)


class Worker:
    """Makes calls on data that it reads itself; an actor of Ray holds one.

    Args:
        source: of documents; opened by the first call that reads.
        n_threads: for computing.

    Attributes:
        kept: what calls want to find again. A worker that was killed and replaced has nothing: a
            call finds what it needs, or makes it anew.
        n_threads: for computing.
    """

    def __init__(self, source: Source | None, n_threads: int = 1) -> None:
        self._source, self._lock = source, Lock()
        self._opened: OpenSource | None = None
        self.kept, self.n_threads = Kept(), n_threads

    @property
    def source(self) -> OpenSource:
        """The documents, open."""
        with self._lock:
            if self._opened is None:
                if self._source is None:
                    raise ValueError("the worker was started without a source of documents")
                self._opened = self._source.open()
            return self._opened

    def place(self) -> WorkerPlace:
        """Where it runs; the first thing that is asked."""
        import socket

        import ray

        node = ray.get_runtime_context().get_node_id()
        return WorkerPlace(node, socket.gethostname(), os.getpid())

    def call(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
        """function(worker, *arguments), and the seconds that it took here."""
        start = time.perf_counter()
        with threads.one_blas_thread():
            result = function(self, *arguments)
        return result, time.perf_counter() - start
