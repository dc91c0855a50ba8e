"""Measure one pass of the estimator, for information: the time that a user waits."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.core import articles
from benchmarks.harness.rows import Row, Setup, information
from benchmarks.harness.timing import interleaved
from trustream import LatentDirichletAllocation

FILES = articles.FILES


def measure(setup: Setup) -> Iterator[Row]:
    """fit with 100 topics and max_iter=1, everything else as it comes."""
    n_documents = setup.choose(20_000, 5_000)
    counts = articles.load(setup)[:n_documents]
    estimator = LatentDirichletAllocation(
        n_components=100, max_iter=1, n_jobs=setup.n_threads, random_state=0
    )
    estimator.partial_fit(counts[:100])
    timings = interleaved({"fit": lambda: estimator.fit(counts)}, setup.choose(2, 1), warm=False)
    yield information(
        f"one pass over {n_documents:,} articles, K=100, defaults",
        min(timings["fit"]),
        "s",
        timings=timings,
    )
