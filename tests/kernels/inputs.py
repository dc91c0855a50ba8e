"""Random inputs for the kernels, as a batch has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.helpers import Array, random_counts
from trustream.kernels import LANES
from trustream.kernels.lda import reference
from trustream.models.lda import LdaModel
from trustream.models.lda.batch import WordBatch

# Both twins round, in a different order, sums of up to a few hundred numbers; the local step
# repeats that up to 20 times. These hold with a margin of about 10; a wrong index or a forgotten
# term is off by far more.
RTOL = {"float32": 2e-4, "float64": 1e-11}
TOPICS = [1, 7, 8, 9, 100, 129]


def padded(n: int) -> int:
    return -(-n // LANES) * LANES


def make_batch(
    rng: np.random.Generator, dtype: str, n_documents: int = 12, weights: str = "integer"
) -> WordBatch:
    """12 documents of about 20 of 90 words; the first is empty, the second has one word."""
    counts = random_counts(rng, n_documents, 90, 20, weights)
    return LdaModel(2, 90, dtype, "reference").batch(counts, slice(None))


def rows_like(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Numbers as lambda has them: mostly small, some large."""
    return (0.01 + rng.gamma(0.3, 5.0, shape)).astype(dtype)


def local_inputs(rng: np.random.Generator, batch: WordBatch, k: int, dtype: str) -> dict[str, Any]:
    table = np.empty((batch.n_words, padded(k)), dtype)
    offset = np.empty(batch.n_words, dtype)
    reference.exp_digamma(
        rows_like(rng, (batch.n_words, k), dtype), table, offset, 0, batch.n_words
    )
    return {
        "indptr": batch.indptr,
        "ids": batch.ids,
        "counts": batch.counts,
        "table": table,
        "offset": offset.astype(np.float64),
        "factor": rng.uniform(0.01, 1, k).astype(dtype),
        "alpha": rng.uniform(0.01, 0.5, k).astype(dtype),
        "gamma": rows_like(rng, (batch.size, k), dtype),
    }
