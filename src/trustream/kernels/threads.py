"""Running a kernel on parts of its range in several threads, with the same result as in one.

Each part writes only its own rows; sums over parts are the caller's, in a fixed order. Parts may
therefore be taken by any thread, and the number of threads changes nothing but the time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from trustream.kernels import spin

Part = tuple[int, int]


def available_cores() -> int:
    """Cores that this process may use.

    >>> available_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def n_threads(n_jobs: int | None) -> int:
    """Threads for scikit-learn's n_jobs; None is all cores, -1 as well, -2 all but one.

    >>> n_threads(3)
    3
    """
    cores = available_cores()
    if n_jobs is None:
        return cores
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            f"n_jobs must be None for all cores, or a whole number other than 0, got {n_jobs!r}"
        )
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def split(n_items: int, part_size: int) -> list[Part]:
    """Ranges of `part_size` items that cover range(n_items), the last one perhaps shorter.

    >>> split(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(i, min(i + part_size, n_items)) for i in range(0, n_items, part_size)]


def run(work: Callable[[int, int], object], parts: Sequence[Part], n_threads: int) -> None:
    """Call work(start, stop) for every part, in up to `n_threads` threads at once.

    The calling thread takes parts as well. The first exception is raised after all have stopped,
    and so is an interrupt: who catches it finds no thread at work on the arrays any more.
    """
    # next() on a list iterator is atomic: each part is taken once.
    remaining = iter(parts)

    def take() -> None:
        for start, stop in remaining:
            work(start, stop)

    tasks = [_Task(take) for _ in range(min(n_threads, len(parts)) - 1)]
    try:
        try:
            if tasks:
                _workers(os.getpid()).send(tasks)
            take()
        finally:
            errors = _finish(tasks)
    except BaseException:
        # Once more: an interrupt may have come just before the wait for the others.
        try:
            _finish(tasks)
        except BaseException:
            _finish(tasks)
            raise
        raise
    for error in errors:
        if error is not None:
            raise error


def _finish(tasks: Sequence[_Task]) -> list[BaseException | None]:
    """Wait for all tasks, whatever interrupts; their errors."""
    errors, interrupt = [], None
    for task in tasks:
        while True:
            try:
                task.finish()
                break
            except BaseException as error:
                interrupt = error
        errors.append(task.error)
    if interrupt is not None:
        raise interrupt
    return errors


class _Task:
    """Something for a worker to do, unless the one who asked for it has finished first.

    A kernel's parts take tens of microseconds, less than waking a thread does, and an executor's
    futures several times that. So this is as little as will do: one claim, made by the worker to
    begin or by the caller to call it off, and one lock that says when it is done. `ended` says the
    same to a caller who looks without sleeping.
    """

    __slots__ = ("_claim", "_done", "_take", "ended", "error")

    def __init__(self, take: Callable[[], None]) -> None:
        self._take = take
        # By whom; `setdefault` is atomic, and the same claimant may ask again.
        self._claim: dict[str, str] = {}
        self._done = threading.Lock()
        self._done.acquire()
        self.ended = np.zeros(1, np.int64)
        self.error: BaseException | None = None

    def do(self) -> None:
        """Called by a worker."""
        if self._claim.setdefault("by", "worker") == "worker":
            try:
                self._take()
            except BaseException as error:
                self.error = error
            finally:
                self._done.release()

    def finish(self) -> None:
        """Called by the caller: wait for the worker, if it has begun."""
        if self._claim.setdefault("by", "caller") == "worker":
            if _can_spin():
                spin.until_changed(self.ended, 0)
            # Given back at once: an interrupted caller comes again.
            with self._done:
                pass


class _Workers:
    """Threads that wait for tasks, as many as were ever wanted at once."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Task] = SimpleQueue()
        self._n_threads = 0
        self._n_sent = np.zeros(1, np.int64)
        self._lock = threading.Lock()

    def send(self, tasks: Sequence[_Task]) -> None:
        """Hand tasks over, with enough threads to do them all at once."""
        if self._n_threads < len(tasks):
            with self._lock:
                while self._n_threads < len(tasks):
                    self._n_threads += 1
                    name = f"trustream-{self._n_threads}"
                    threading.Thread(target=self._work, name=name, daemon=True).start()
        for task in tasks:
            self._queue.put(task)
        self._n_sent += 1

    def _work(self) -> None:
        task: _Task | None = None
        while True:
            seen = int(self._n_sent[0])
            if self._queue.empty():
                # A caller who looks learns only now that the last task has ended, when this
                # thread has let go of the interpreter lock, which the caller needs next.
                told = None if task is None else task.ended
                task = None  # and with it the arrays that it worked on
                if _can_spin() and spin.until_changed(self._n_sent, seen, told, spin.GRACE):
                    continue
                task = self._queue.get()
            else:
                if task is not None:
                    task.ended[0] = 1
                try:
                    task = self._queue.get_nowait()
                except Empty:
                    task = None
                    continue
            task.do()


def _can_spin() -> bool:
    """Whether other threads can run while this one spins."""
    return available_cores() > 1


@cache
def _workers(pid: int) -> _Workers:
    """Those of this process; keyed by its id because threads do not survive a fork."""
    return _Workers()


@cache
def _blas_libraries() -> list[Any]:
    # Looking for the libraries that are loaded takes milliseconds: once.
    return [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]


def _set_threads(library: Any, n_threads: int) -> None:
    # Newer versions of threadpoolctl let one thread alone change the limit, and ignore the others.
    getattr(library, "_real_set_num_threads", library.set_num_threads)(n_threads)


class _BlasLimit:
    """The limit of one BLAS thread, which is the whole process': set by the first thread that
    wants it, lifted by the last one that is done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: set[object] = set()
        # Libraries with the threads that they had, while the limit is set.
        self._before: list[tuple[Any, int]] | None = None

    def acquire(self, user: object) -> None:
        with self._lock:
            if self._before is None:
                self._before = [(lib, lib.get_num_threads()) for lib in _blas_libraries()]
            for library, _ in self._before:
                _set_threads(library, 1)
            self._users.add(user)

    def release(self, user: object) -> None:
        """Also of a user whose `acquire` was interrupted."""
        with self._lock:
            self._users.discard(user)
            if not self._users and self._before is not None:
                for library, n_threads in self._before:
                    _set_threads(library, n_threads)
                self._before = None


@cache
def _blas_limit(pid: int) -> _BlasLimit:
    """That of this process; in a child, the threads that wanted the limit are not there."""
    return _BlasLimit()


_blas = threading.local()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread: its own threading would make sums depend on the number of cores.

    Several threads may be inside at once. Entering it again inside costs nothing.
    """
    if getattr(_blas, "limited", False):
        yield
        return
    limit, user = _blas_limit(os.getpid()), object()
    try:
        limit.acquire(user)
        _blas.limited = True
        yield
    finally:
        _blas.limited = False
        try:
            limit.release(user)
        except BaseException:  # an interrupt, or a second one
            try:
                limit.release(user)
            except BaseException:
                limit.release(user)
                raise
            raise
