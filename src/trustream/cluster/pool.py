"""Workers on the nodes of a cluster, and calls that get done whatever becomes of a worker.

A call that is lost with its worker is made again on another one, and one that takes far longer than
the others is made on a second worker as well. Each call has one result: the first that arrives.
Workers that have died are replaced; until a new one is ready, the others do its work.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median
from typing import Any, NamedTuple

from trustream.cluster.connection import ray_module
from trustream.cluster.errors import ClusterError
from trustream.cluster.sources import Source
from trustream.cluster.worker import Worker, WorkerPlace

# Seconds between two looks at workers that come and go while calls are waited for.
_LOOK = 0.25
# A call is a straggler if it takes so many seconds, and so many times the median of the others.
_LONG, _TIMES = 2.0, 4.0
# Or so many seconds, if there are no others.
_ALONE = 30.0
# Seconds after which a worker that was overtaken and still has not answered is replaced.
_HANGS = 60.0
# Workers that die one after the other before one gets ready, and times that one call is lost with
# its worker, after which it is no accident.
_MOST_FAILURES, _MOST_LOSSES = 10, 10
# Seconds between two looks at how many processors the cluster has.
_GROWS = 5.0


@dataclass(frozen=True)
class Call:
    """function(worker, *arguments), to be made on some worker.

    Attributes:
        function: at the top level of a module; its result depends on arguments and data alone.
        arguments: what `Pool.put` returned arrives as the value that was put.
        place: number of the worker that should make it, if it can; it may have kept something.
        n_documents: that it looks at, for the statistics.
        alone: whether it is not to be made on two workers at once, however long it takes.
        stays: whether the result stays in the cluster. What is returned for it can be given to
            other calls as an argument.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    place: int = 0
    n_documents: int = 0
    alone: bool = False
    stays: bool = False


@dataclass
class WorkerStatistics:
    """What one worker, or those who took its place, have done.

    Attributes:
        place: where it runs; None while it is starting.
        n_calls, n_documents: calls made, and documents that they looked at.
        seconds: that the calls took on the worker.
        n_deaths: how often it died and was replaced.
    """

    place: WorkerPlace | None = None
    n_calls: int = 0
    n_documents: int = 0
    seconds: float = 0.0
    n_deaths: int = 0


@dataclass
class _Slot:
    """A worker by its number; the actor may change."""

    number: int
    handle: Any = None
    starting: Any = None
    statistics: WorkerStatistics = field(default_factory=WorkerStatistics)
    running: set[Any] = field(default_factory=set)
    # Answers that nobody waits for any more, and since when.
    overtaken: dict[Any, float] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        return self.handle is not None and self.starting is None


class _Running(NamedTuple):
    """A call that some worker is at."""

    slot: _Slot
    handle: Any
    result: Any
    since: float


@dataclass
class _Open:
    """A call without a result yet."""

    number: int
    call: Call
    running: dict[Any, _Running] = field(default_factory=dict)
    n_losses: int = 0


class Pending:
    """Calls that were started; `Pool.finish` waits for their results."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self.open = {number: _Open(number, call) for number, call in enumerate(calls)}
        self.results: list[Any] = [None] * len(calls)
        self.seconds: list[float] = []


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
        self._ray = ray_module()
        self._source, self._n_threads, self._patience = source, n_threads, patience
        self._wanted, self._looked = n_workers, 0.0
        self._n_failures, self._failure = 0, ""
        self._here = self._ray.get_runtime_context().get_node_id()
        self._strategy = self._placement(n_workers)
        self._actor = self._ray.remote(Worker)
        self._slots: list[_Slot] = []
        self._grow()
        self._wait_for_workers()

    def _placement(self, n_workers: int | None) -> Any:
        """Anywhere, or here, where a source can only be read here."""
        if self._source is None or not self._source.only_here:
            return "SPREAD"
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        room = self._n_here
        if n_workers is not None and n_workers > room and self._n_nodes > 1:
            raise ClusterError(
                f"{self._source.name} is a file that only workers on this machine can read, which "
                f"has room for {room} of {n_workers} workers: move the documents to PostgreSQL "
                "(trustream init postgresql://...), or ask for fewer workers"
            )
        return NodeAffinitySchedulingStrategy(self._here, soft=False)

    @property
    def _n_nodes(self) -> int:
        return sum(bool(node["Alive"]) for node in self._ray.nodes())

    @property
    def _n_here(self) -> int:
        """Workers for which this node has processors."""
        cpus = sum(
            node["Resources"].get("CPU", 0.0)
            for node in self._ray.nodes()
            if node["NodeID"] == self._here
        )
        return max(1, int(cpus) // self._n_threads)

    def _grow(self) -> None:
        """As many workers as are wanted now."""
        wanted = self._wanted
        if wanted is None:
            cpus = int(self._ray.cluster_resources().get("CPU", 1.0))
            only_here = self._source is not None and self._source.only_here
            wanted = self._n_here if only_here else max(1, cpus // self._n_threads)
        for number in range(len(self._slots), wanted):
            self._slots.append(_Slot(number))
            self._begin(self._slots[-1])
        self._looked = time.monotonic()

    def _begin(self, slot: _Slot) -> None:
        slot.handle = self._actor.options(
            num_cpus=self._n_threads,
            max_restarts=0,
            max_concurrency=2,  # it reads ahead while it computes
            scheduling_strategy=self._strategy,
        ).remote(self._source, self._n_threads)
        slot.starting = slot.handle.place.remote()

    # --- workers

    @property
    def n_workers(self) -> int:
        """Workers that are ready."""
        return sum(slot.is_ready for slot in self._slots)

    @property
    def size(self) -> int:
        """Workers that there should be."""
        return len(self._slots)

    @property
    def ready_places(self) -> list[int]:
        """Numbers of the workers that calls should be given to; of all, if none is ready."""
        ready = [slot.number for slot in self._slots if slot.is_ready and not slot.overtaken]
        return ready or [slot.number for slot in self._slots]

    @property
    def statistics(self) -> list[WorkerStatistics]:
        """Of each worker."""
        return [slot.statistics for slot in self._slots]

    def _wait_for_workers(self) -> None:
        """For all of them if there is room, and at least for one."""
        deadline, start = time.monotonic() + self._patience, time.monotonic()
        while self.n_workers < self.size:
            self._tend(wait=_LOOK)
            if self.n_workers and time.monotonic() - start > self._patience / 4:
                return  # the others may come when there is room for them
            self._check_hope(deadline)

    def _check_hope(self, deadline: float) -> None:
        if self._n_failures >= _MOST_FAILURES:
            raise ClusterError(f"workers end as soon as they start: {self._failure}")
        if self.n_workers == 0 and time.monotonic() > deadline:
            free = self._ray.available_resources().get("CPU", 0.0)
            raise ClusterError(
                f"no worker was ready for {self._patience:g} seconds: each needs "
                f"{self._n_threads} free CPU, and the cluster has {free:g} free on "
                f"{self._n_nodes} nodes; add nodes (ray start --address HOST:PORT), or ask for less"
            )

    def _tend(self, wait: float = 0.0) -> None:
        """Take note of workers that got ready, died or hang, and replace those that are gone."""
        now = time.monotonic()
        if self._wanted is None and now - self._looked > _GROWS:
            self._grow()
        starting = {slot.starting: slot for slot in self._slots if slot.starting is not None}
        if starting:
            done, _ = self._ray.wait(list(starting), num_returns=len(starting), timeout=wait)
            for ref in done:
                slot = starting[ref]
                try:
                    slot.statistics.place = self._ray.get(ref)
                    slot.starting, self._n_failures = None, 0
                except self._ray.exceptions.RayError as error:
                    self._n_failures, self._failure = self._n_failures + 1, _first_line(error)
                    self._replace(slot)
        for slot in self._slots:
            if not slot.overtaken:
                continue
            done, _ = self._ray.wait(
                list(slot.overtaken), num_returns=len(slot.overtaken), timeout=0
            )
            for ref in done:
                del slot.overtaken[ref]
            if slot.overtaken and now - min(slot.overtaken.values()) > _HANGS:
                self._replace(slot)

    def _replace(self, slot: _Slot) -> None:
        """Start another actor in the place of one that is dead, or of no use."""
        self._end(slot)
        slot.statistics.n_deaths += slot.starting is None
        slot.statistics.place = None
        slot.running.clear()
        slot.overtaken.clear()
        self._begin(slot)

    def resize(self, n_workers: int) -> None:
        """Have so many workers from now on; those that are too many end."""
        self._wanted = n_workers
        for slot in self._slots[n_workers:]:
            self._end(slot)
        del self._slots[n_workers:]
        self._grow()
        self._wait_for_workers()

    def kill(self, number: int) -> None:
        """End a worker; another takes its place."""
        self._replace(self._slots[number])

    # --- calls

    def put(self, value: Any) -> Any:
        """A value for the arguments of several calls, which travels to each node once.

        Raises:
            ClusterError: there is no room for it.
        """
        try:
            return self._ray.put(value)
        except self._full as error:
            raise _no_room(error) from error

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
        """Begin with calls; do something else, and `finish` them."""
        pending = Pending(calls)
        for open_ in pending.open.values():
            self._submit(open_)
        return pending

    def finish(self, pending: Pending) -> list[Any]:
        """Wait for what was started; see `run`."""
        deadline = time.monotonic() + self._patience
        while pending.open:
            refs = [ref for open_ in pending.open.values() for ref in open_.running]
            if refs:
                done, waiting = self._ray.wait(refs, num_returns=len(refs), timeout=_LOOK)
                for number in [*pending.open]:
                    self._take(pending, pending.open[number], {*done})
                deadline = time.monotonic() + self._patience
                if waiting:
                    self._tend()
                    self._help(pending)
            else:
                self._tend(wait=_LOOK)
                self._check_hope(deadline)
            for open_ in pending.open.values():
                if not open_.running:
                    self._submit(open_)
        return pending.results

    def _submit(self, open_: _Open, besides: _Slot | None = None) -> None:
        """Give a call to a worker, if there is one for it."""
        ready = [slot for slot in self._slots if slot.is_ready and slot is not besides]
        prompt = [slot for slot in ready if not slot.overtaken] or ready
        if besides is not None:
            prompt = [slot for slot in ready if not slot.overtaken]
        if not prompt:
            return
        wanted = open_.call.place % len(self._slots)
        slot = next((slot for slot in prompt if slot.number == wanted), None)
        if slot is None or besides is not None:
            slot = min(prompt, key=lambda slot: len(slot.running))
        try:
            method = slot.handle.call.options(num_returns=2 if open_.call.stays else 1)
            refs = method.remote(open_.call.function, *open_.call.arguments)
        except self._full as error:
            raise _no_room(error) from error
        # Of a result that stays only the seconds are waited for.
        result, ref = refs if open_.call.stays else (None, refs)
        slot.running.add(ref)
        open_.running[ref] = _Running(slot, slot.handle, result, time.monotonic())

    def _take(self, pending: Pending, open_: _Open, done: set[Any]) -> None:
        """Take the first result of a call, or note that a worker was lost with it."""
        errors = self._ray.exceptions
        for ref in [ref for ref in open_.running if ref in done]:
            slot, handle, result, _ = open_.running.pop(ref)
            slot.running.discard(ref)
            try:
                answer = self._ray.get(ref)
                result, seconds = (result, answer) if open_.call.stays else answer
            except errors.RayTaskError as error:
                if isinstance(error.cause, self._full):
                    raise _no_room(error) from error
                raise (error.cause or error) from None
            except self._full as error:
                raise _no_room(error) from error
            except errors.RayError as error:
                open_.n_losses += 1
                if open_.n_losses > _MOST_LOSSES:
                    raise ClusterError(
                        f"the same work was lost {open_.n_losses} times with its worker, the last "
                        f"time because of this: {_first_line(error)}. If workers need more memory "
                        "than their nodes have, use smaller batches or fewer workers on a node"
                    ) from error
                if slot.handle is handle and isinstance(error, errors.RayActorError):
                    self._replace(slot)
                continue
            statistics = slot.statistics
            statistics.n_calls += 1
            statistics.n_documents += open_.call.n_documents
            statistics.seconds += seconds
            pending.results[open_.number] = result
            pending.seconds.append(seconds)
            for other, running in open_.running.items():
                running.slot.running.discard(other)
                running.slot.overtaken[other] = time.monotonic()
            del pending.open[open_.number]
            return

    def _help(self, pending: Pending) -> None:
        """Have calls that take far longer than others made on a second worker as well."""
        now = time.monotonic()
        # Without any to compare with, only the patient wait.
        long = max(_LONG, _TIMES * median(pending.seconds)) if pending.seconds else _ALONE
        for open_ in pending.open.values():
            if len(open_.running) != 1 or open_.call.alone:
                continue
            (running,) = open_.running.values()
            if now - running.since > long:
                self._submit(open_, besides=running.slot)

    # --- end

    def close(self) -> None:
        """End the workers."""
        for slot in self._slots:
            self._end(slot)
        self._slots = []

    def _end(self, slot: _Slot) -> None:
        # The worker, its node, or Ray itself may be gone already.
        with suppress(Exception):
            self._ray.kill(slot.handle, no_restart=True)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]


def _no_room(error: BaseException) -> ClusterError:
    return ClusterError(
        f"Ray has no room for the arrays of a step ({_first_line(error)}): start its nodes with "
        "more memory for objects (ray start --object-store-memory BYTES), or use smaller batches"
    )
