"""Steps with two one-core workers on Ray next to one process with two threads, same batches.

On two cores this is efficiency, not speed-up: both have the same processors, and the cluster has to
carry its work to and fro beside. All modes take turns, all cases come up several times in the run,
and the shortest step of each counts: other programs on the machine only lengthen steps.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import corpora
from benchmarks.cluster.kept import keep, kept
from benchmarks.harness.rows import Row, Setup, at_least, information
from trustream.cluster.connection import connected
from trustream.cluster.executor import ClusterExecutor
from trustream.cluster.fitting import AllRows
from trustream.cluster.parquet_counts import write_counts
from trustream.cluster.parquet_source import ParquetSource
from trustream.cluster.pool import Pool
from trustream.learning.defaults import for_topics
from trustream.learning.learner import Learner
from trustream.models.lda import LdaModel, LdaPrior

FILES = ("wiki_en.npz",)
BATCHES = (500, 2_000, 10_000)
TARGETS = {("local", 10_000): 0.8, ("exact", 10_000): 0.6}
N_TOPICS, MANY_TOPICS, N_WORKERS, N_PARTS = 100, 400, 2, 8
# Times that all cases are measured, one after the other, and steps of each mode each time.
N_REPEATS, N_STEPS = 2, 5


class Case(NamedTuple):
    """B and K."""

    batch_size: int
    n_topics: int


@dataclass(frozen=True)
class Measured:
    """What the shortest of some steps took.

    Attributes:
        mode: "one process", "exact" or "local".
        batch_size, n_topics: B and K.
        n_parts: parts of a batch.
        n_pairs, n_words: pairs of document and word in a batch, and its different words, W.
        seconds: of the step, batch included.
        batch_seconds: of preparing the batch, in the same step.
        exchange: seconds in which workers were asked, less what the busiest computed.
        busy: seconds that workers computed, all together.
        n_exchanges: times that workers were asked.
        sent, received: bytes.
    """

    mode: str
    batch_size: int
    n_topics: int
    n_parts: int
    n_pairs: float
    n_words: float
    seconds: float
    batch_seconds: float
    exchange: float = 0.0
    busy: float = 0.0
    n_exchanges: float = 0.0
    sent: float = 0.0
    received: float = 0.0


def measure(setup: Setup) -> Iterator[Row]:
    """Efficiency by mode and batch, bytes, and memory."""
    counts = sp.csr_array(corpora.wiki(setup.data, "wiki_en")[: setup.choose(20_000, 2_000)])
    cases = [Case(500, N_TOPICS)]
    if not setup.quick:
        cases += [Case(2_000, N_TOPICS), Case(10_000, N_TOPICS), Case(2_000, MANY_TOPICS)]
    with tempfile.TemporaryDirectory() as folder, connected("local", n_cpus=3):
        write_counts(f"{folder}/wiki.parquet", counts, group_size=2_500)
        source = ParquetSource.of(f"{folder}/wiki.parquet")
        with Pool(source, N_WORKERS) as pool:
            measured = [_Case(case, counts, pool, source) for case in cases]
            for _ in range(setup.choose(N_REPEATS, 1)):
                for one in measured:
                    one.measure(setup.choose(N_STEPS, 2))
            memory = _memory(pool)
    found = [one.best() for one in measured]
    for some in found:
        alone = next(one.seconds for one in some if one.mode == "one process")
        for one in some:
            if one.mode != "one process":
                yield from _rows(one, alone)
    yield information("memory of the driver, with all articles for one process", memory["driver"],
                      "MB")  # fmt: skip
    yield information("memory of a worker, with its row groups", memory["worker"], "MB", **memory)
    if not setup.quick:
        steps = [asdict(one) for some in found for one in some]
        keep("steps", {"steps": steps, "memory": memory})


def measured_steps() -> list[Measured]:
    """What the last run has measured."""
    return [Measured(**one) for one in kept("steps")["steps"]]


class _Case:
    """All modes on the same documents, which take turns."""

    def __init__(self, case: Case, counts: sp.csr_array, pool: Pool, source: ParquetSource) -> None:
        self._batch_size, self._n_documents, self._n_rounds = case.batch_size, counts.shape[0], 0
        self._runs = [_Run(case, "one process", 1, counts, pool, source)]
        n_parts = [N_WORKERS, N_PARTS] if case.batch_size == max(BATCHES) else [N_WORKERS]
        for n in n_parts:
            self._runs += [_Run(case, mode, n, counts, pool, source) for mode in ("exact", "local")]

    def measure(self, n_steps: int) -> None:
        """So many steps of each mode, after some that warm up."""
        n_warm = 1 if self._n_rounds else 2
        for number in range(n_steps + n_warm):
            first = self._n_rounds * self._batch_size
            rows = np.arange(first, first + self._batch_size) % self._n_documents
            turn = self._n_rounds % len(self._runs)
            for run in self._runs[turn:] + self._runs[:turn]:
                run.step(rows, warm=number < n_warm)
            self._n_rounds += 1

    def best(self) -> list[Measured]:
        """The shortest step of each mode."""
        return [run.best() for run in self._runs]


def _rows(one: Measured, alone: float) -> Iterator[Row]:
    name = f"{one.mode}, batches of {one.batch_size:,}, K = {one.n_topics}, {one.n_parts} parts"
    efficiency = alone / one.seconds
    target = None
    if one.n_topics == N_TOPICS and one.n_parts == N_WORKERS:
        target = TARGETS.get((one.mode, one.batch_size))
    details = {"one_process": alone, **asdict(one)}
    if target is None:
        yield information(f"{name}: time of one process over it", efficiency, "x", **details)
    else:
        yield at_least(f"{name}: time of one process over it", efficiency, target, "x", **details)
    table = one.n_words * one.n_topics * 4
    total = (one.sent + one.received) / table
    yield information(f"{name}: bytes over words x topics x 4", total, "x", table_bytes=table)


class _Counted:
    """A pool that counts how often its workers are asked."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self.n_asked = pool, 0

    def start(self, calls: Any) -> Any:
        self.n_asked += 1
        return self._pool.start(calls)

    def run(self, calls: Any) -> Any:
        return self._pool.finish(self.start(calls))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)


class _Run:
    """A model that learns in one of the modes."""

    def __init__(
        self,
        case: Case,
        mode: str,
        n_parts: int,
        counts: sp.csr_array,
        pool: Pool,
        source: ParquetSource,
    ) -> None:
        self._case, self._mode, self._n_parts, self._counts = case, mode, n_parts, counts
        n_words = counts.shape[1]
        recipe = for_topics(case.n_topics, batch_size=case.batch_size)
        model = LdaModel(case.n_topics, n_words, n_threads=2)
        self._pool = _Counted(pool)
        self._data: Any = counts
        if mode == "one process":
            self._learner = Learner(model, recipe)
        else:
            exact_steps = None if mode == "exact" else 0
            recipe = replace(recipe, n_parts=n_parts, exact_steps=exact_steps)
            shared: Any = self._pool
            self._executor = ClusterExecutor(shared, n_parts, exact_steps)
            self._learner = Learner(model, recipe, self._executor)
            self._data = AllRows(self._pool, source, counts.nnz)
        self._rng = np.random.default_rng(0)
        prior = LdaPrior.of(0.1, 0.05, case.n_topics, n_words)
        self._state = self._learner.start(prior, self._rng)
        self._taken: list[Measured] = []

    def step(self, rows: Any, warm: bool) -> None:
        """Learn from a batch, and note what it took unless it only warms up."""
        asked, n_documents = self._pool.n_asked, self._counts.shape[0]
        start = time.perf_counter()
        batch = self._learner.batch(self._data, rows)
        prepared = time.perf_counter()
        # Looks at which a step has both of its inner iterations, as in the first passes.
        self._state, _ = self._learner.step(
            self._state, batch, n_documents, rng=self._rng, rho=0.05, looks=0.0
        )
        end = time.perf_counter()
        if warm:
            return
        some = self._counts[rows]
        found = Measured(
            self._mode,
            *(self._case.batch_size, self._case.n_topics, self._n_parts),
            *(float(some.nnz), float(np.unique(some.indices).size)),
            *(end - start, prepared - start),
        )
        if self._mode != "one process":
            # Seconds, exchange, busy, documents, sent, received of the step.
            _, exchange, busy, _, sent, received = self._executor.meter._steps[-1][:6]
            found = replace(
                found,
                exchange=exchange,
                busy=busy,
                sent=float(sent),
                received=float(received),
                n_exchanges=float(self._pool.n_asked - asked),
            )
        self._taken.append(found)

    def best(self) -> Measured:
        """The shortest step."""
        return min(self._taken, key=lambda one: one.seconds)


def _memory(pool: Pool) -> dict[str, float]:
    """Peak resident memory in MB of this process and of the largest worker."""
    places = [worker.place for worker in pool.statistics if worker.place]
    workers = [_peak(place.pid) for place in places]
    return {"driver": _peak("self"), "worker": max(workers), "workers": sum(workers)}


def _peak(pid: int | str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the system does not tell how much memory a process takes")
