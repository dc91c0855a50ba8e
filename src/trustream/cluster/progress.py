"""Measure how a cluster is doing: throughput of workers, time of exchanges, efficiency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic

from trustream.cluster.pool import Pool
from trustream.streaming.cluster_progress import ClusterProgress, WorkerProgress

# Steps that the figures are about.
_STEPS = 20


class Meter:
    """Collects what steps on a cluster take.

    Attributes:
        sent, received: bytes of this step.
    """

    def __init__(self) -> None:
        self.sent = self.received = 0
        self._exchange = self._busy = 0.0
        self._steps: list[tuple[float, float, float, int, int, int, float]] = []

    def begin(self) -> None:
        """A step begins; one before it may have ended in an error."""
        self.sent = self.received = 0
        self._exchange = self._busy = 0.0

    @contextmanager
    def exchanging(self) -> Iterator[None]:
        """Time in which something is put or collected."""
        start = monotonic()
        yield
        self._exchange += monotonic() - start

    def asked(self, seconds: float, computed: Sequence[float]) -> None:
        """Workers were asked and answered after `seconds`, of which they computed so many each."""
        # Clocks of two machines differ a little.
        self._exchange += max(0.0, seconds - max(computed, default=0.0))
        self._busy += sum(computed)

    def stepped(self, seconds: float, n_documents: int) -> None:
        """A step is done."""
        entry = (
            seconds, self._exchange, self._busy, n_documents, self.sent, self.received, monotonic(),
        )  # fmt: skip
        self._steps = [*self._steps[1 - _STEPS :], entry]

    def progress(self, pool: Pool) -> ClusterProgress | None:
        """Of the last steps; None before the first."""
        if not self._steps:
            return None
        n, first, last = len(self._steps), self._steps[0], self._steps[-1]
        seconds, exchange, busy, documents, sent, received, _ = (
            sum(values) for values in zip(*self._steps, strict=True)
        )
        # From the end of the first step to that of the last: draws and scores included.
        elapsed, counted = last[6] - first[6], documents - first[3]
        if n == 1 or elapsed <= 0:
            elapsed, counted = seconds, documents
        workers = tuple(
            WorkerProgress(
                "" if one.place is None else one.place.host,
                one.n_documents / one.seconds if one.seconds else 0.0,
                one.n_deaths,
            )
            for one in pool.statistics
        )
        return ClusterProgress(
            pool.n_workers,
            pool.size,
            counted / elapsed,
            exchange / n,
            seconds / n,
            min(1.0, busy / (seconds * max(pool.n_workers, 1))),
            int(sent / n),
            int(received / n),
            workers,
        )
