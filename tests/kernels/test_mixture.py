"""The mixtures' compiled kernels against their NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers import DTYPES
from trustream.kernels.mixture import compiled, reference

TOLERANCE = {"float32": 2e-6, "float64": 1e-13}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 3, 8, 41])
def test_softmax(dtype: str, k: int) -> None:
    rng = np.random.default_rng(k)
    scores = (rng.standard_normal((9, k)) * 10.0 ** rng.integers(-2, 3, (9, 1))).astype(dtype)
    constants = rng.standard_normal(k).astype(dtype)
    results = []
    for kernels in (compiled, reference):
        phi, counts = scores.copy(), np.full(k, 7.0)
        kernels.softmax(phi, constants, counts, 2, 8)
        np.testing.assert_array_equal(phi[[0, 1, 8]], scores[[0, 1, 8]])
        np.testing.assert_allclose(counts, phi[2:8].sum(axis=0), rtol=1e-5)
        results.append(phi[2:8])
    np.testing.assert_allclose(results[0], results[1], rtol=1e-4, atol=TOLERANCE[dtype])
    np.testing.assert_allclose(results[0].sum(axis=1), 1, rtol=10 * TOLERANCE[dtype])


@pytest.mark.parametrize("d", [1, 2, 9])
def test_quadratic_features(d: int) -> None:
    y = np.random.default_rng(d).standard_normal((6, d))
    out = [np.empty((6, d + d * (d + 1) // 2)) for _ in range(2)]
    compiled.quadratic_features(y, out[0])
    reference.quadratic_features(y, out[1])
    np.testing.assert_array_equal(out[0], out[1])
    rows, columns = np.triu_indices(d)
    np.testing.assert_array_equal(out[0][:, d:], (y[:, :, None] * y[:, None])[:, rows, columns])
