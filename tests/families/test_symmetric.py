"""Packed storage, factors and inverses of stacks of symmetric matrices."""

from __future__ import annotations

import numpy as np
import pytest

from trustream.families import symmetric


def stack(k: int, d: int, seed: int = 0) -> np.ndarray:
    half = np.random.default_rng(seed).standard_normal((k, d, 2 * d))
    return half @ half.transpose(0, 2, 1)


@pytest.mark.parametrize("d", [1, 2, 5, 16, 17, 33, 70])
def test_packing_and_inverse(d: int) -> None:
    matrices = stack(3, d)
    packed = symmetric.pack(matrices)
    assert packed.shape == (3, symmetric.packed_size(d))
    np.testing.assert_array_equal(symmetric.unpack(packed, d), matrices)
    same, factor = symmetric.cholesky(matrices, symmetric.rounding_noise(matrices))
    assert same is matrices
    np.testing.assert_allclose(np.tril(factor), factor)
    np.testing.assert_allclose(factor @ factor.transpose(0, 2, 1), matrices, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        symmetric.inverse(factor) @ matrices, np.broadcast_to(np.eye(d), (3, d, d)), atol=1e-8
    )
    np.testing.assert_allclose(symmetric.log_det(factor), np.linalg.slogdet(matrices)[1])


def test_only_what_is_indefinite_is_repaired() -> None:
    good = stack(1, 4)[0]
    values, vectors = np.linalg.eigh(good)
    values[0] = -1e-12
    bad = (vectors * values) @ vectors.T
    broken = np.full((4, 4), np.nan)
    repaired, factor = symmetric.cholesky(np.stack([good, bad, broken]), np.full(3, 1e-10))
    np.testing.assert_array_equal(repaired[0], good)
    np.testing.assert_allclose(repaired[1], bad, atol=1e-9)
    assert np.linalg.eigvalsh(repaired[1]).min() > 0.9e-10
    np.testing.assert_allclose(factor[1] @ factor[1].T, repaired[1], atol=1e-12)
    assert np.isnan(factor[2]).all()
