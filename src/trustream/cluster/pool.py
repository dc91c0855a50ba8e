"""Workers on the nodes of a cluster, and calls that get done whatever becomes of a worker.

A call that is lost with its worker is made again on another one, and one that takes far longer than
the others is made on a second worker as well. Each call has one result: the first that arrives.
Workers that have died are replaced (`seats`); until a new one is ready, the others do its work.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any
from weakref import WeakSet

from trustream.cluster.addresses import parse_address
from trustream.cluster.calls import Call, Open, Pending, Running, Stayed
from trustream.cluster.connection import connected, ray_module
from trustream.cluster.errors import ClusterError, first_line, no_room
from trustream.cluster.seats import LOOK, Seat, Seats, WorkerStatistics
from trustream.cluster.sources import Source

# A call is a straggler if it takes so many seconds, and so many times the median of the others.
_LONG, _TIMES = 2.0, 4.0
# Or so many seconds, if there are no others.
_ALONE = 30.0
# Times that one call is lost with its worker, after which it is no accident.
_MOST_LOSSES = 10


@contextmanager
def pool_on(
    cluster: str,
    source: Source | None,
    workers: int | None = None,
    worker_threads: int = 1,
    object_store_bytes: int | None = None,
) -> Iterator[Pool]:
    """Workers that read from a source, on a cluster that is started or joined for them.

    Args:
        cluster: its address, see `parse_address`.
        source, workers, worker_threads: see `Pool`.
        object_store_bytes: see `connected`.

    Raises:
        ValueError: the address or a number is wrong.
        ClusterError: there is no cluster, or no worker gets ready.
    """
    check_numbers(workers, worker_threads)
    n_cpus = None if workers is None else workers * worker_threads
    with (
        connected(parse_address(cluster), n_cpus=n_cpus, object_store_bytes=object_store_bytes),
        Pool(source, workers, n_threads=worker_threads) as pool,
    ):
        yield pool


def check_numbers(workers: int | None, worker_threads: int) -> None:
    """Refuse numbers of workers and of their threads that make no sense.

    >>> check_numbers(0, 1)
    Traceback (most recent call last):
    ...
    ValueError: workers is 0, expected 1 or more, or None for all cores
    """
    if worker_threads < 1:
        raise ValueError(f"worker_threads is {worker_threads}, expected 1 or more")
    if workers is not None and workers < 1:
        raise ValueError(f"workers is {workers}, expected 1 or more, or None for all cores")


class Pool:
    """Workers that read from one source. A context manager: at its end they are gone.

    Args:
        source: of documents; None for calls that need none.
        n_workers: how many; None is one for each processor of the cluster, also of nodes that are
            added later.
        n_threads: processors of each.
        patience: seconds to wait for a worker if there is none.

    Raises:
        ClusterError: no worker could be started, or the source cannot be read by all of them.
    """

    def __init__(
        self,
        source: Source | None,
        n_workers: int | None = None,
        *,
        n_threads: int = 1,
        patience: float = 120.0,
    ) -> None:
        check_numbers(n_workers, n_threads)
        self._ray = ray_module()
        self._pending = WeakSet[Pending]()
        self._seats = Seats(source, n_workers, n_threads, patience)

    # --- workers

    @property
    def n_workers(self) -> int:
        """Workers that are ready."""
        return len(self._seats.ready)

    @property
    def size(self) -> int:
        """Workers that there should be."""
        return len(self._seats.all)

    @property
    def ready_places(self) -> list[int]:
        """Numbers of the workers that calls should be given to; of all, if none is ready."""
        self._seats.tend_lately()
        ready = [seat.number for seat in self._seats.ready if not seat.overtaken]
        return ready or [seat.number for seat in self._seats.all]

    @property
    def statistics(self) -> list[WorkerStatistics]:
        """Of each worker."""
        return [seat.statistics for seat in self._seats.all]

    def resize(self, n_workers: int) -> None:
        """Have so many workers from now on; those that are too many end."""
        check_numbers(n_workers, 1)
        self._seats.resize(n_workers)

    # --- calls

    def put(self, value: Any) -> Any:
        """A value for the arguments of several calls, which travels to each node once.

        Raises:
            ClusterError: there is no room for it.
        """
        try:
            return self._ray.put(value)
        except self._full as error:
            raise no_room(error) from error

    @property
    def _full(self) -> tuple[type[Exception], ...]:
        errors = self._ray.exceptions
        return errors.ObjectStoreFullError, errors.OutOfDiskError

    def run(self, calls: Sequence[Call]) -> list[Any]:
        """The results of calls, in their order.

        Raises:
            ClusterError: there is no worker left, or no room for arguments or results.
            Exception: whatever a call raised on its worker.
        """
        return self.finish(self.start(calls))

    def start(self, calls: Sequence[Call]) -> Pending:
        """Begin with calls; do something else, and `finish` them, or `abandon` them."""
        self._seats.tend_lately()
        pending = Pending(calls)
        self._pending.add(pending)
        try:
            for open_ in pending.open.values():
                self._submit(open_)
        except BaseException:
            self.abandon(pending)
            raise
        return pending

    def finish(self, pending: Pending) -> list[Any]:
        """Wait for what was started; see `run`."""
        try:
            return self._finish(pending)
        except BaseException:
            self.abandon(pending)
            raise

    def abandon(self, pending: Pending) -> None:
        """Wait for calls no longer; workers that are at them get other work when they are done."""
        for open_ in pending.open.values():
            self._overtake(open_)
        pending.open.clear()
        pending.results.clear()

    def _finish(self, pending: Pending) -> list[Any]:
        deadline = time.monotonic() + self._seats.patience
        while pending.open:
            references = [ref for open_ in pending.open.values() for ref in open_.running]
            if references:
                done, waiting = self._ray.wait(
                    references, num_returns=len(references), timeout=LOOK
                )
                for number in [*pending.open]:
                    self._take(pending, pending.open[number], {*done})
                deadline = time.monotonic() + self._seats.patience
                if waiting:
                    self._seats.tend()
                    self._help(pending)
            else:
                self._seats.tend(wait=LOOK)
                self._seats.check_hope(deadline)
            for open_ in pending.open.values():
                if not open_.running:
                    self._submit(open_)
        return pending.results

    def _submit(self, open_: Open, besides: Collection[Seat] = ()) -> None:
        """Give a call to a worker, if there is one for it."""
        call, ready = open_.call, [seat for seat in self._seats.ready if seat not in besides]
        prompt = [seat for seat in ready if not seat.overtaken]
        if not besides:
            prompt = prompt or ready
        if not prompt:
            return
        wanted = call.place % self.size
        seat = next((seat for seat in prompt if seat.number == wanted), None)
        if seat is None or besides:
            seat = min(prompt, key=self._load)
        arguments = [self._reference(one) for one in call.arguments]
        if not seat.is_ready:
            return  # what a lost argument was made of has cost it
        try:
            method = seat.handle.call.options(num_returns=2 if call.stays else 1)
            references = method.remote(call.function, *arguments)
        except self._full as error:
            raise no_room(error) from error
        # Of a result that stays only the seconds are waited for.
        result, reference = references if call.stays else (None, references)
        open_.running[reference] = Running(seat, seat.handle, result, time.monotonic())

    def _load(self, seat: Seat) -> int:
        """Calls that a worker is at."""
        return len(seat.overtaken) + sum(some.n_running(seat) for some in self._pending)

    def _reference(self, argument: Any) -> Any:
        """An argument as Ray takes it; a result that stayed and was lost is made again."""
        if not isinstance(argument, Stayed):
            return argument
        if argument.reference is None:
            (again,) = self.run([argument.call])
            argument.reference = again.reference
        return argument.reference

    def _take(self, pending: Pending, open_: Open, done: set[Any]) -> None:
        """Take the first result of a call, or note that a worker was lost with it."""
        errors = self._ray.exceptions
        for reference in [one for one in open_.running if one in done]:
            seat, handle, result, _ = open_.running.pop(reference)
            try:
                answer = self._ray.get(reference)
            except errors.RayTaskError as error:
                self._check(open_, error)
                continue
            except self._full as error:
                raise no_room(error) from error
            except errors.RayError as error:
                self._lose(open_, error)
                if seat.handle is handle and isinstance(error, errors.RayActorError):
                    self._seats.replace(seat)
                continue
            call = open_.call
            value, seconds = (Stayed(call, result), answer) if call.stays else answer
            statistics = seat.statistics
            statistics.n_calls += 1
            statistics.n_documents += call.n_documents
            statistics.seconds += seconds
            pending.results[open_.number] = value
            pending.seconds.append(seconds)
            self._overtake(open_)
            del pending.open[open_.number]
            return

    def _check(self, open_: Open, error: Any) -> None:
        """Raise what a call raised, unless all that it lacks is an argument that was lost."""
        errors, cause = self._ray.exceptions, error.cause
        stayed = [one for one in open_.call.arguments if isinstance(one, Stayed)]
        if isinstance(cause, errors.ObjectLostError) and stayed:
            for one in stayed:
                one.reference = None
            self._lose(open_, error)
            return
        if isinstance(cause, self._full):
            raise no_room(error) from error
        if cause is None or isinstance(cause, errors.RayError):
            raise ClusterError(f"a worker could not do its work: {first_line(error)}") from error
        raise cause from None

    def _lose(self, open_: Open, error: BaseException) -> None:
        open_.n_losses += 1
        if open_.n_losses > _MOST_LOSSES:
            raise ClusterError(
                f"the same work was lost {open_.n_losses} times with its worker, the last "
                f"time because of this: {first_line(error)}. If workers need more memory "
                "than their nodes have, use smaller batches or fewer workers on a node"
            ) from error

    def _overtake(self, open_: Open) -> None:
        """Nobody waits any more for those who are at a call."""
        now = time.monotonic()
        for reference, running in open_.running.items():
            if running.seat.handle is running.handle:
                running.seat.overtaken[reference] = now
        open_.running.clear()

    def _help(self, pending: Pending) -> None:
        """Have calls that take far longer than others made on one more worker."""
        now = time.monotonic()
        # Without any to compare with, only the patient wait.
        long = max(_LONG, _TIMES * median(pending.seconds)) if pending.seconds else _ALONE
        for open_ in pending.open.values():
            if open_.call.alone or not open_.running:
                continue
            running = list(open_.running.values())
            # The more of them are at it, the more it is the call that takes so long.
            if now - max(one.since for one in running) > long * 2 ** (len(running) - 1):
                self._submit(open_, besides=[one.seat for one in running])

    # --- end

    def close(self) -> None:
        """End the workers."""
        self._seats.end()

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
