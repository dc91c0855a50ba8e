"""Seats of workers on the nodes of a cluster: who sits there is started, watched and replaced.

A seat has a number and, at any time, at most one worker. One that dies, or no longer answers, is
replaced by another. There are more seats when there is room for more and nobody said how many.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from trustream.cluster.connection import ray_module
from trustream.cluster.errors import ClusterError, first_line
from trustream.cluster.sources import Source
from trustream.cluster.worker import Worker, WorkerPlace

# Seconds between two looks at workers that come and go.
LOOK = 0.25
# Seconds between two looks at how many processors the cluster has.
_GROWS = 5.0
# Seconds between two questions to a worker whether it is there, and seconds after which one that
# has not answered, or has been overtaken and still is not done, is replaced.
_ASK, _HANGS = 15.0, 60.0
# Workers that end one after the other before one gets ready, after which it is no accident, and
# most seconds that a seat stays empty after such a worker.
_MOST_FAILURES, _PAUSE = 10, 2.0


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


@dataclass(eq=False)
class Seat:
    """A worker by its number; the actor may change.

    Attributes:
        handle: of the actor; None while the seat is empty.
        starting: its first answer, while that is waited for.
        begins: when the next one is to be started, if the seat is empty.
        n_failures: actors in a row that ended before they were ready.
        overtaken: answers that nobody waits for any more, and since when.
        asked: the question whether it is there, and when it was asked; None if it was answered.
        answered: when it was last known to be there.
    """

    number: int
    handle: Any = None
    starting: Any = None
    begins: float = 0.0
    n_failures: int = 0
    statistics: WorkerStatistics = field(default_factory=WorkerStatistics)
    overtaken: dict[Any, float] = field(default_factory=dict)
    asked: tuple[Any, float] | None = None
    answered: float = 0.0

    @property
    def is_ready(self) -> bool:
        """Whether a worker sits here that can be called."""
        return self.handle is not None and self.starting is None


class Seats:
    """The seats of a pool; see there for the arguments.

    Attributes:
        all: of them, by number.
    """

    def __init__(
        self, source: Source | None, n_workers: int | None, n_threads: int, patience: float
    ) -> None:
        self._ray = ray_module()
        self._source, self._n_threads, self.patience = source, n_threads, patience
        self._wanted, self._grown, self._tended = n_workers, 0.0, 0.0
        self._n_failures, self._failure = 0, ""
        self._here = self._ray.get_runtime_context().get_node_id()
        self._strategy = self._placement()
        # A worker answers whether it is there while it computes.
        self._actor = self._ray.remote(concurrency_groups={"presence": 1})(Worker)
        self.all: list[Seat] = []
        try:
            self._grow()
            self._wait()
        except BaseException:
            self.end()
            raise

    # --- where there is room

    @property
    def _only_here(self) -> bool:
        return self._source is not None and self._source.only_here

    def _placement(self) -> Any:
        """Anywhere, or here, where a source can only be read here."""
        if not self._only_here:
            return "SPREAD"
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        assert self._source is not None
        wanted, room = self._wanted or 1, self._room
        if room < wanted and (room == 0 or self._n_nodes > 1):
            raise ClusterError(
                f"{self._source.name} is a file that only workers on this machine can read, which "
                f"has room for {room} of {wanted} workers: move the documents to PostgreSQL "
                "(trustream init postgresql://...), or ask for fewer workers"
            )
        return NodeAffinitySchedulingStrategy(self._here, soft=False)

    @property
    def _n_nodes(self) -> int:
        return sum(bool(node["Alive"]) for node in self._ray.nodes())

    @property
    def _room(self) -> int:
        """Workers for which there are processors, here or on all nodes."""
        return sum(
            int(node["Resources"].get("CPU", 0.0)) // self._n_threads
            for node in self._ray.nodes()
            if node["Alive"] and (not self._only_here or node["NodeID"] == self._here)
        )

    # --- workers that come and go

    @property
    def ready(self) -> list[Seat]:
        """Those with a worker that can be called."""
        return [seat for seat in self.all if seat.is_ready]

    def _grow(self) -> None:
        """As many seats as are wanted now."""
        wanted = max(1, self._room) if self._wanted is None else self._wanted
        for number in range(len(self.all), wanted):
            self.all.append(Seat(number))
            self._begin(self.all[-1])
        self._grown = time.monotonic()

    def resize(self, n_workers: int) -> None:
        """Have so many from now on; the workers of those that are too many end."""
        self._wanted = n_workers
        for seat in self.all[n_workers:]:
            self._end(seat)
        del self.all[n_workers:]
        self._grow()
        self._wait()

    def _begin(self, seat: Seat) -> None:
        seat.handle = self._actor.options(
            num_cpus=self._n_threads,
            max_restarts=0,
            max_concurrency=2,  # it reads ahead while it computes
            scheduling_strategy=self._strategy,
        ).remote(self._source, self._n_threads)
        seat.starting = seat.handle.place.remote()

    def _wait(self) -> None:
        """For all workers for whom there is room, and at least for one."""
        start = latest = time.monotonic()
        n_before = 0
        while len(self.ready) < len(self.all):
            self.tend(wait=LOOK)
            n_ready, now = len(self.ready), time.monotonic()
            if n_ready > n_before:
                n_before, latest = n_ready, now
            # The others may come when there is room for them.
            if n_ready and (n_ready >= self._room or now - latest > self.patience / 12):
                return
            self.check_hope(start + self.patience)

    def check_hope(self, deadline: float) -> None:
        """Raise an error if there will be no worker, or is none at the deadline."""
        if self._n_failures >= _MOST_FAILURES:
            raise ClusterError(f"workers end as soon as they start: {self._failure}")
        if not self.ready and time.monotonic() > deadline:
            free = self._ray.available_resources().get("CPU", 0.0)
            raise ClusterError(
                f"no worker was ready for {self.patience:g} seconds: each needs "
                f"{self._n_threads} free CPU, and the cluster has {free:g} free on "
                f"{self._n_nodes} nodes; add nodes (ray start --address HOST:PORT), or ask for less"
            )

    def tend_lately(self) -> None:
        """As `tend`, unless that was just done."""
        if time.monotonic() - self._tended > LOOK:
            self.tend()

    def tend(self, wait: float = 0.0) -> None:
        """Take note of workers that got ready, died or hang, and replace those that are gone."""
        now = self._tended = time.monotonic()
        if self._wanted is None and now - self._grown > _GROWS:
            self._grow()
        for seat in self.all:
            if seat.handle is None and now > seat.begins:
                self._begin(seat)
        self._note_started(wait)
        for seat in self.ready:
            # Both are looked at: what is over is to be forgotten.
            if any([self._dawdles(seat, now), self._is_gone(seat, now)]):
                self.replace(seat)

    def _note_started(self, wait: float) -> None:
        starting = {seat.starting: seat for seat in self.all if seat.starting is not None}
        if not starting:
            if wait and not self.ready:
                time.sleep(wait)
            return
        done, _ = self._ray.wait(list(starting), num_returns=len(starting), timeout=wait)
        for reference in done:
            seat = starting[reference]
            try:
                seat.statistics.place = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                self._n_failures, self._failure = self._n_failures + 1, first_line(error)
                seat.n_failures += 1
                self._empty(seat)
                # One that ends at once, over and over, must not keep a machine busy.
                seat.begins = time.monotonic() + min(_PAUSE, 0.05 * 2**seat.n_failures)
            else:
                seat.starting, seat.n_failures, self._n_failures = None, 0, 0
                seat.answered = time.monotonic()

    def _dawdles(self, seat: Seat, now: float) -> bool:
        """Whether a worker has been at something for long that nobody waits for any more."""
        if not seat.overtaken:
            return False
        done, _ = self._ray.wait(
            list(seat.overtaken), num_returns=len(seat.overtaken), timeout=0, fetch_local=False
        )
        for reference in done:
            del seat.overtaken[reference]
        return bool(seat.overtaken) and now - min(seat.overtaken.values()) > _HANGS

    def _is_gone(self, seat: Seat, now: float) -> bool:
        """Whether a worker is dead, or has not answered for long."""
        if seat.asked is None:
            if now - seat.answered > _ASK:
                question = seat.handle.place.options(concurrency_group="presence").remote()
                seat.asked = question, now
            return False
        question, since = seat.asked
        done, _ = self._ray.wait([question], timeout=0)
        if not done:
            return now - since > _HANGS
        seat.asked, seat.answered = None, now
        try:
            self._ray.get(question)
        except self._ray.exceptions.RayError:
            return True
        return False

    def replace(self, seat: Seat) -> None:
        """Start another worker in the place of one that is dead, or of no use."""
        if seat.starting is None:
            seat.statistics.n_deaths += 1
        self._empty(seat)
        if seat in self.all:  # and not taken away
            self._begin(seat)

    def _empty(self, seat: Seat) -> None:
        self._end(seat)
        seat.handle = seat.starting = seat.asked = None
        seat.statistics.place = None
        seat.overtaken.clear()

    # --- end

    def end(self) -> None:
        """End all workers."""
        for seat in self.all:
            self._end(seat)
        self.all = []

    def _end(self, seat: Seat) -> None:
        # The worker, its node, or Ray itself may be gone already.
        with suppress(Exception):
            self._ray.kill(seat.handle, no_restart=True)
