"""Kernels that learn priors: the compiled ones against NumPy and SciPy, psi' against mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numba import njit
from scipy.special import digamma

from tests.helpers import DTYPES
from tests.kernels.inputs import rows_like
from trustream.kernels import compiled, compiled_priors, reference


@njit
def trigamma(x):  # type: ignore[no-untyped-def]
    return compiled_priors._trigamma(x)


def test_trigamma() -> None:
    """Right to 1e-14 of its size."""
    x = np.geomspace(1e-6, 1e12, 400)
    with mpmath.workdps(30):
        true = [float(mpmath.zeta(2, mpmath.mpf(float(value)))) for value in x]
    found = [trigamma(value) for value in x]
    np.testing.assert_allclose(found, true, rtol=1e-14)


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize(("multiplicity", "rest"), [(1.0, 0.0), (500.0, 0.0), (1.0, 35.0)])
@pytest.mark.parametrize("rho", [0.01, 1.0])
def test_steps(size: int, multiplicity: float, rest: float, rho: float) -> None:
    """The same evidence, direction and step; expected logs come from another Dirichlet."""
    if size == 1 and multiplicity == 1 and rest == 0:
        rest = 2.0  # the single coordinate of a distribution is 1
    rng = np.random.default_rng(size)
    old, true = rng.gamma(0.5, 1.0, (2, size)) + 0.01
    mean_log = np.log(rng.dirichlet(np.append(true, 1.0))[:size] + 1e-9)
    arguments = (old, mean_log, multiplicity, rest)
    results = []
    for module in (reference, compiled):
        direction, new = np.empty(size), np.empty(size)
        value = module.dirichlet_evidence(*arguments)
        module.dirichlet_direction(*arguments, direction)
        moved = module.dirichlet_step(*arguments, rho, 1e-6, 1e4, 20, np.empty(size), new)
        assert moved
        results.append([value, *direction, *new])
    np.testing.assert_allclose(results[1], results[0], rtol=1e-10)
    assert (np.array(results[0][-size:]) != old).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_no_step_on_evidence_that_is_not_finite(bad: float) -> None:
    for module in (reference, compiled):
        old, mean_log = np.array([0.1, 0.2]), np.array([-1.0, bad])
        spare = np.empty((2, 2))
        assert not module.dirichlet_step(old, mean_log, 1.0, 0.0, 0.5, 1e-6, 1e4, 20, *spare)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 7), (30, 8), (4, 100)])
def test_psi_sums(dtype: str, shape: tuple[int, int]) -> None:
    rows = rows_like(np.random.default_rng(0), shape, dtype)
    results = []
    for module in (reference, compiled):
        by_column = np.empty(shape[1])
        of_sums = module.psi_sums(rows, by_column)
        results.append(np.r_[by_column, of_sums])
    np.testing.assert_allclose(results[1], results[0], rtol=2e-5 if dtype == "float32" else 1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 7, 8, 100])
@pytest.mark.parametrize("levels", [1, 12])
def test_stored_psi_sums(dtype: str, k: int, levels: int) -> None:
    """Twins agree, and words outside the range are left alone."""
    rng = np.random.default_rng(k)
    stored, level = rows_like(rng, (20, k), dtype), rng.gamma(1.0, 1.0, (levels, 1))
    words = rng.integers(20, size=12).astype(np.int32)
    results = []
    for module in (reference, compiled):
        sums = np.full(12, -1.0)
        module.stored_psi_sums(stored, words, 1.7, level, sums, 2, 11)
        assert (sums[[0, 1, 11]] == -1).all()
        results.append(sums)
    expected = digamma(1.7 * stored[words].astype(np.float64) + level).sum(axis=1)
    np.testing.assert_allclose(results[0][2:11], expected[2:11], rtol=1e-12)
    np.testing.assert_allclose(results[1], results[0], rtol=2e-5 if dtype == "float32" else 1e-11)
