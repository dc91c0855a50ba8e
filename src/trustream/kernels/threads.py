"""Running a kernel on parts of its range in several threads, with the same result as in one.

Each part writes only its own rows; sums over parts are the caller's, in a fixed order. Parts may
therefore be taken by any thread, and the number of threads changes nothing but the time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

Part = tuple[int, int]


def available_cores() -> int:
    """Cores that this process may use.

    >>> available_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def split(n_items: int, part_size: int) -> list[Part]:
    """Ranges of `part_size` items that cover range(n_items), the last one perhaps shorter.

    >>> split(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(i, min(i + part_size, n_items)) for i in range(0, n_items, part_size)]


def run(work: Callable[[int, int], object], parts: Sequence[Part], n_threads: int) -> None:
    """Call work(start, stop) for every part, in up to `n_threads` threads at once.

    The calling thread takes parts as well. The first exception is raised after all have stopped.
    """
    n_helpers = min(n_threads, len(parts)) - 1
    if n_helpers < 1:
        for start, stop in parts:
            work(start, stop)
        return
    # next() on a list iterator is atomic: each part is taken once.
    remaining = iter(parts)

    def take() -> None:
        for start, stop in remaining:
            work(start, stop)

    pool = _pool(os.getpid())
    helpers: list[Future[None]] = [pool.submit(take) for _ in range(n_helpers)]
    try:
        take()
    finally:
        for helper in helpers:
            # A helper that has not begun finds nothing left to do: no need to wait for it.
            if not helper.cancel():
                helper.result()


@cache
def _pool(pid: int) -> ThreadPoolExecutor:
    """One pool a process; keyed by process id because threads do not survive a fork."""
    return ThreadPoolExecutor(max_workers=64, thread_name_prefix="trustream")


_blas = threading.local()


@cache
def _controller() -> ThreadpoolController:
    # Looking for the loaded BLAS libraries takes milliseconds: once.
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread: its own threading would make sums depend on the number of cores.

    Entering it again inside costs nothing.
    """
    if getattr(_blas, "limited", False):
        yield
        return
    with _controller().limit(limits=1, user_api="blas"):
        _blas.limited = True
        try:
            yield
        finally:
            _blas.limited = False
