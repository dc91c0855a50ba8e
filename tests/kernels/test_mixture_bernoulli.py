"""The Bernoulli mixture's compiled kernels against their NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import DTYPES
from trustream.kernels import LANES
from trustream.kernels.mixture import compiled, reference

TWINS = (compiled, reference)
TOLERANCE = {"float32": 2e-6, "float64": 1e-13}
each_size = pytest.mark.parametrize("k", [1, 3, 8, 31, 32, 45])
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def width(k: int) -> int:
    return -(-k // LANES) * LANES


def data(dtype: str, seed: int = 0, d: int = 23) -> tuple[sparse.csr_array, tuple[np.ndarray, ...]]:
    """Twelve rows, one of them empty, one full; entries between 0 and 1 among them."""
    rng = np.random.default_rng(seed)
    x = rng.random((12, d)) * (rng.random((12, d)) < 0.3)
    x[2], x[3] = 0, 1
    rows = sparse.csr_array(x.astype(dtype))
    return rows, (rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data)


@each_dtype
@each_size
def test_scores(dtype: str, k: int) -> None:
    rng = np.random.default_rng(k)
    a, b = np.exp(rng.uniform(-5, 14, (2, 50, k))).astype(dtype)
    results = []
    for kernels in TWINS:
        weights, constants = np.full((50, width(k)), 9, dtype=dtype), np.full(k, 9.0)
        kernels.scores(a, b, weights, constants, 3, 47)
        np.testing.assert_array_equal(weights[[0, 2, 47, 49]], 9)
        np.testing.assert_array_equal(weights[3:47, k:], 0)
        results.append((weights[3:47], constants))
    # psi(0.01) is -100: differences are right relative to the numbers they are made of.
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=300 * TOLERANCE[dtype])


@each_dtype
@each_size
def test_products_moments_and_totals(dtype: str, k: int) -> None:
    rng = np.random.default_rng(k)
    x, csr = data(dtype)
    weights = np.zeros((23, width(k)), dtype=dtype)
    weights[:, :k] = rng.standard_normal((23, k))
    phi = rng.random((12, k)).astype(dtype)
    for kernels in TWINS:
        out, sums = np.full((12, k), 9, dtype=dtype), np.full((23, width(k)), 9, dtype=dtype)
        kernels.products(*csr, weights, out, 1, 11)
        np.testing.assert_array_equal(out[[0, 11]], 9)
        np.testing.assert_allclose(
            out[1:11], (x @ weights[:, :k])[1:11], atol=20 * TOLERANCE[dtype]
        )
        kernels.moments(*csr, phi, sums, 1, 11)
        expected = x[1:11].T @ phi[1:11]
        np.testing.assert_allclose(sums[:, :k], expected, atol=20 * TOLERANCE[dtype])
        total = np.full(23, 9.0)
        kernels.totals(csr[1], csr[2], total)
        np.testing.assert_allclose(total, x.sum(axis=0), rtol=1e-5)


@each_dtype
@each_size
def test_complement_and_blend(dtype: str, k: int) -> None:
    rng = np.random.default_rng(k)
    sums = rng.random((9, width(k))).astype(dtype)
    counts = rng.random(k).astype(dtype)
    results = []
    for kernels in TWINS:
        ones, zeros, out = np.empty((3, 9, k), dtype=dtype)
        kernels.complement(sums, counts, ones, zeros)
        np.testing.assert_array_equal(ones, sums[:, :k])
        assert (zeros >= 0).all()
        same, rest = np.empty((2, 9, k), dtype=dtype)
        kernels.complement(sums[:, :1].copy(), counts, same, rest)
        np.testing.assert_array_equal(same, np.repeat(sums[:, :1], k, axis=1))
        np.testing.assert_array_equal(rest, np.maximum(counts - same, 0))
        kernels.blend(ones.ravel(), zeros.ravel(), ones.ravel(), 0.3, 50.0, out.reshape(-1))
        single = np.empty_like(out)
        kernels.blend(ones.ravel(), counts[:1], ones.ravel(), 0.3, 50.0, single.reshape(-1))
        results.append((zeros, out, single))
    for found, expected in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64])
def test_compress(dtype: type) -> None:
    rng = np.random.default_rng(0)
    x = (rng.integers(1, 4, (7, 24)) * (rng.random((7, 24)) < 0.3)).astype(dtype)
    x[1], x[2] = 0, 1
    expected = sparse.csr_array(x)
    twice = np.repeat(x, 2, axis=0)
    for kernels in TWINS:
        indptr = np.empty(8, dtype=np.int64)
        indices, values = np.empty(x.size + 1, dtype=np.int32), np.empty(x.size + 1)
        kernels.compress(twice, np.arange(7) * 2, indptr, indices, values)
        np.testing.assert_array_equal(indptr, expected.indptr)
        np.testing.assert_array_equal(indices[: expected.nnz], expected.indices)
        np.testing.assert_array_equal(values[: expected.nnz], expected.data)
