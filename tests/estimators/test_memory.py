"""How much memory a fit needs beside its data."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from trustream import LatentDirichletAllocation

N_TOPICS, N_WORDS = 50, 40_000


@pytest.mark.parametrize("method", ["batch", "trust-region", "natural-gradient"])
def test_a_fit_holds_two_lambdas_at_most(method: str) -> None:
    """Of all words: one that is learned from and one that is made of it; no start is kept."""
    rng = np.random.default_rng(0)
    words = rng.integers(N_WORDS, size=500).astype(np.int32)
    counts = sp.csr_array(
        (np.ones(words.size), words, np.arange(0, words.size + 1, 10)), shape=(50, N_WORDS)
    )
    model = LatentDirichletAllocation(
        N_TOPICS, learning_method=method, max_iter=2, n_jobs=1, random_state=0
    )
    model.fit(counts)  # with all modules and kernels loaded
    tracemalloc.start()
    try:
        LatentDirichletAllocation(**model.get_params()).fit(counts)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * N_TOPICS * N_WORDS * 4
