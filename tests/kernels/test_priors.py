"""Kernels that learn priors: the compiled ones against NumPy and SciPy, psi' against mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from numba import njit

from trustream.kernels.priors import compiled, reference


@njit
def trigamma(x):  # type: ignore[no-untyped-def]
    return compiled._trigamma(x)


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
