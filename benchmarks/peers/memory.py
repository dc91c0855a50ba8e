"""Memory of a fit above what the process had after its imports, next to its input and lambda."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.core import articles
from benchmarks.core.memory import csr_bytes, resident
from benchmarks.harness.rows import Row, Setup, at_most
from benchmarks.peers import workloads
from trustream import LatentDirichletAllocation

FILES = articles.FILES
_TIMES, _SLACK = 2, 100e6


def measure(setup: Setup) -> Iterator[Row]:
    """Peak less start in MB; at most twice input and lambda, and 100 MB."""
    # Kernels that are compiled and kept before: compilation takes memory as well, once.
    LatentDirichletAllocation(2, max_iter=1).fit(np.eye(3))
    wiki = articles.load(setup)[: setup.choose(20_000, 5_000)]
    wide = workloads.zipf(setup.choose(20_000, 5_000))
    for counts, n_topics in ((wiki, 100), (wiki, 400), (wide, 100)):
        used = resident(counts, n_topics, "trust-region", setup.n_threads)
        csr, lambda_ = csr_bytes(counts), counts.shape[1] * n_topics * 4
        n_documents, n_words = counts.shape
        yield at_most(
            f"memory of a fit, {n_documents:,} documents, {n_words:,} words, K={n_topics}",
            (used["peak"] - used["start"]) / 1e6,
            round((_TIMES * (csr + lambda_) + _SLACK) / 1e6),
            "MB",
            csr_mb=csr / 1e6,
            lambda_mb=lambda_ / 1e6,
            resident_mb={stage: n / 1e6 for stage, n in used.items()},
        )
