"""Steps with two one-core workers on Ray next to one process with two threads, same batches.

On two cores this is efficiency, not speed-up: both have the same processors, and the cluster has to
carry its work to and fro beside.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import corpora
from benchmarks.harness.rows import Row, Setup, at_least, information
from trustream.cluster.addresses import parse_address
from trustream.cluster.connection import connected
from trustream.cluster.executor import ClusterExecutor
from trustream.cluster.fitting import AllRows
from trustream.cluster.parquet_source import ParquetSource, write_counts
from trustream.cluster.pool import Pool
from trustream.learning.defaults import for_topics
from trustream.learning.learner import Learner
from trustream.models.lda import LdaModel, LdaPrior

FILES = ("wiki_en.npz",)
BATCHES = (500, 2_000, 10_000)
TARGETS = {("local", 10_000): 0.8, ("exact", 10_000): 0.6}
N_TOPICS, MANY_TOPICS, N_WORKERS, N_PARTS = 100, 400, 2, 8
# What `prediction` is fitted to.
RESULTS = Path("bench-results") / "cluster-steps.json"


@dataclass(frozen=True)
class Measured:
    """Means over the steps of one run.

    Attributes:
        mode: "one process", "exact" or "local".
        batch_size, n_topics: B and K.
        n_pairs, n_words: pairs of document and word in a batch, and its different words, W.
        seconds: of a step, batch included; the best of the steps.
        batch_seconds: of preparing the batch, in the same step.
        exchange: seconds in which workers were asked, less what the busiest computed.
        busy: seconds that workers computed, all together.
        n_exchanges: times that workers were asked.
        sent, received: bytes.
    """

    mode: str
    batch_size: int
    n_topics: int
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
    batches = BATCHES if not setup.quick else (500,)
    cases = [(size, N_TOPICS) for size in batches]
    if not setup.quick:
        cases.append((2_000, MANY_TOPICS))
    n_steps = setup.choose(6, 2)
    found: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder, connected(parse_address("local"), n_cpus=3):
        write_counts(f"{folder}/wiki.parquet", counts, group_size=2_500)
        source = ParquetSource.of(f"{folder}/wiki.parquet")
        with Pool(source, N_WORKERS) as pool:
            counted = _Counted(pool)
            for size, n_topics in cases:
                recipe = for_topics(n_topics, batch_size=size)
                for mode in ("one process", "exact", "local", "one process"):
                    found += [_run(mode, counts, counted, source, recipe, n_topics, n_steps)]
            memory = _memory(pool)
    for size, n_topics in cases:
        some = [one for one in found if (one.batch_size, one.n_topics) == (size, n_topics)]
        alone = min(one.seconds for one in some if one.mode == "one process")
        for one in some:
            if one.mode != "one process":
                yield from _rows(one, alone)
    yield information("memory of the driver, K = 100, 20,000 articles", memory["driver"], "MB")
    yield information("memory of a worker, with its row groups", memory["worker"], "MB", **memory)
    if not setup.quick:
        RESULTS.parent.mkdir(parents=True, exist_ok=True)
        RESULTS.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")


def _rows(one: Measured, alone: float) -> Iterator[Row]:
    name = f"{one.mode}, batches of {one.batch_size:,}, K = {one.n_topics}"
    efficiency = alone / one.seconds
    target = TARGETS.get((one.mode, one.batch_size)) if one.n_topics == N_TOPICS else None
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


def _run(
    mode: str,
    counts: sp.csr_array,
    pool: Any,
    source: ParquetSource,
    recipe: Any,
    n_topics: int,
    n_steps: int,
) -> Measured:
    """Steps on batches that follow one another, after two that warm up."""
    n_documents, n_words = counts.shape
    size = recipe.batch_size
    model = LdaModel(n_topics, n_words, n_threads=2)
    data: Any = counts
    if mode == "one process":
        learner = Learner(model, recipe)
    else:
        exact_steps = None if mode == "exact" else 0
        recipe = replace(recipe, n_parts=N_PARTS, exact_steps=exact_steps)
        executor = ClusterExecutor(pool, N_PARTS, exact_steps)
        learner, data = Learner(model, recipe, executor), AllRows(pool, source, counts.nnz)
    rng = np.random.default_rng(0)
    state = learner.start(LdaPrior.of(0.1, 0.05, n_topics, n_words), rng)
    taken: list[tuple[float, float, float, float]] = []
    first = 0
    for number in range(n_steps + 2):
        rows = np.arange(first, first + size) % n_documents
        first += size
        asked = getattr(pool, "n_asked", 0)
        start = time.perf_counter()
        batch = learner.batch(data, rows)
        prepared = time.perf_counter()
        state, _ = learner.step(state, batch, n_documents, rng=rng, rho=0.05, looks=1.0)
        end = time.perf_counter()
        pairs = float(np.diff(counts.indptr)[rows].sum())
        if number > 1:
            asked = getattr(pool, "n_asked", 0) - asked
            taken.append((end - start, prepared - start, pairs, float(asked)))
    words = np.unique(counts[rows].indices).size
    best = min(taken)
    common = (mode, size, n_topics, best[2], float(words), best[0], best[1])
    if mode == "one process":
        return Measured(*common)
    # The steps of the meter, without those that warm up: seconds, exchange, busy, ...
    steps = np.array([entry[:6] for entry in executor.meter._steps[2:]], float)
    _, exchange, busy, _, sent, received = steps[steps[:, 0].argmin()]
    return Measured(*common, exchange, busy, best[3], sent, received)


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
