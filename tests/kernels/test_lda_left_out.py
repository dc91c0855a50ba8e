"""Kernels for documents that are left out: each does the same as its twin and as plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import DTYPES, Array
from tests.kernels.inputs import RTOL, make_batch, rows_like
from trustream.kernels.lda import compiled, reference
from trustream.models.lda.batch import WordBatch


def slowly(batch: WordBatch, *arrays: Array) -> tuple[Array, Array]:
    """What is kept (nnz, K) and the sums (D, 2, K), number by number in float64."""
    put_in, weights, rows, level, extra = (a.astype(np.float64) for a in arrays)
    k = rows.shape[1]
    kept, sums = np.zeros((batch.ids.size, k)), np.zeros((batch.size, 2, k))
    for d in range(batch.size):
        for i in range(batch.indptr[d], batch.indptr[d + 1]):
            w = batch.ids[i]
            total = sum(weights[d, j] * rows[w, j] for j in range(k))
            for j in range(k):
                share = weights[d, j] * rows[w, j] / total + (extra[w, j] if extra.size else 0.0)
                there = max(rows[w, j] - level[w if level.size > 1 else 0], 0.0)
                taken = min(put_in[i] * share, there)
                kept[i, j] = there - taken
                sums[d] += np.outer([taken, there - taken], np.eye(k)[j])
    return kept, sums


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 7, 8, 33])
@pytest.mark.parametrize("beside", [False, True])
def test_leave_out(beside: bool, k: int, dtype: str) -> None:
    rng = np.random.default_rng(k)
    batch = make_batch(rng, dtype, weights="real")
    rows = rows_like(rng, (batch.n_words, k), dtype)
    weights = rng.dirichlet(np.full(k, 0.3), batch.size).astype(dtype)
    put_in = (batch.counts * rng.uniform(0, 3, batch.ids.size)).astype(dtype)
    extra = rng.uniform(0, 2, (batch.n_words, k)) if beside else np.empty((0, 0))
    for n_levels in (1, batch.n_words):
        level = rng.uniform(0, 0.5, n_levels).astype(dtype)
        arrays = (put_in, weights, rows, level, extra.astype(dtype))
        expected = slowly(batch, *arrays)
        for module in (reference, compiled):
            kept, sums = np.full((batch.ids.size, k), -1, dtype), np.full((batch.size, 2, k), -1.0)
            # In parts, as threads take them; the last document is nobody's.
            for start, stop in ((0, 5), (5, batch.size - 1)):
                module.leave_out(batch.indptr, batch.ids, *arrays, kept, sums, start, stop)
            last = batch.indptr[-2]
            assert (kept[last:] == -1).all() and (sums[-1] == -1).all()
            assert (kept[:last] >= 0).all()
            # Differences of numbers of up to a hundred.
            close = {"rtol": RTOL[dtype], "atol": 100 * RTOL[dtype]}
            np.testing.assert_allclose(kept[:last], expected[0][:last], **close)
            np.testing.assert_allclose(sums[:-1], expected[1][:-1], **close)


@pytest.mark.parametrize("module", [reference, compiled])
def test_a_word_that_no_topic_of_a_document_has(module: object) -> None:
    """Takes nothing out, instead of dividing by zero."""
    rows, weights = np.array([[2.0, 0.0]]), np.array([[0.0, 1.0]])
    kept, sums = np.empty((1, 2)), np.empty((1, 2, 2))
    arrays = (np.array([0, 1]), np.array([0], np.int32), np.ones(1), weights, rows, np.zeros(1))
    module.leave_out(*arrays, np.empty((0, 0)), kept, sums, 0, 1)  # type: ignore[attr-defined]
    assert kept.tolist() == [[2.0, 0.0]] and sums.tolist() == [[[0.0, 0.0], [2.0, 0.0]]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 7, 8, 33])
def test_weighted_sums(k: int, dtype: str) -> None:
    rng = np.random.default_rng(k)
    rows, weights = rows_like(rng, (50, k), dtype), rows_like(rng, (9, k), dtype)
    documents = np.sort(rng.integers(9, size=50))
    expected = [rows[i].astype(float) @ weights[d].astype(float) for i, d in enumerate(documents)]
    for module in (reference, compiled):
        values = np.empty(50)
        module.weighted_sums(rows, weights, documents, values)
        np.testing.assert_allclose(values, expected, rtol=RTOL[dtype])
        module.weighted_sums(rows[:0], weights, documents[:0], values[:0])
