"""What it costs to look at a CSR matrix before anything reads it, as a share of a fit."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.core import articles
from benchmarks.harness.rows import Row, Setup, at_most
from benchmarks.harness.timing import interleaved
from trustream import LatentDirichletAllocation, matrices

FILES = articles.FILES
N_TOPICS = 20


def measure(setup: Setup) -> Iterator[Row]:
    """Time of `matrices.csr` over that of one pass with few topics, the shortest of fits."""
    counts = articles.load(setup)[: setup.choose(20_000, 5_000)]
    estimator = LatentDirichletAllocation(
        n_components=N_TOPICS, max_iter=1, n_jobs=setup.n_threads, random_state=0
    )
    timings = interleaved(
        {"validation": lambda: matrices.csr(counts), "fit": lambda: estimator.fit(counts)},
        setup.choose(5, 2),
    )
    best = {name: min(times) for name, times in timings.items()}
    yield at_most(
        f"validation of {counts.shape[0]:,} articles as CSR, share of one pass, K={N_TOPICS}",
        100 * best["validation"] / best["fit"],
        1.0,
        "%",
        best_ms={name: 1e3 * time for name, time in best.items()},
        timings=timings,
    )
