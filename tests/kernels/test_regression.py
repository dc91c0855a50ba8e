"""Kernels of regressions: twins agree, far into the tails, and parts add up to the whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from tests.helpers import BACKENDS
from trustream import kernels


def groups_of(rng: np.random.Generator, n_groups: int = 70, p: int = 4) -> tuple[Any, ...]:
    """X, y, offsets; one group is empty, one has a single row, one a column of zeros."""
    lengths = rng.integers(1, 12, size=n_groups)
    lengths[:2] = 0, 1
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    X = rng.standard_normal((offsets[-1], p))
    X[offsets[2] : offsets[3], 1] = 0
    return X, rng.standard_normal(offsets[-1]), offsets


def expectations(rng: np.random.Generator, p: int = 4) -> tuple[np.ndarray, np.ndarray]:
    half = rng.standard_normal((p, 2 * p))
    return half @ half.T / p, rng.standard_normal(p)


def run(name: str, backend: str, parts: list[tuple[int, int]]) -> list[np.ndarray]:
    """All outputs of a kernel, computed part by part."""
    rng = np.random.default_rng(3)
    X, y, offsets = groups_of(rng)
    n, p = offsets.size - 1, X.shape[1]
    precision, linear = expectations(rng)
    kernel = getattr(kernels.get("regression", backend), name)
    values = np.zeros(n)
    if name == "linear_groups":
        moments = np.zeros((n, p, p)), np.zeros((n, p)), np.zeros(n)
        kernels.get("regression", backend).group_moments(X, y, offsets, 0, n, *moments)
        means, covariances = np.zeros((n, p)), np.zeros((n, p, p))
        sums = np.zeros(1 + p + 2 * p * p)
        for start, stop in parts:
            kernel(*moments, precision, linear, 1.7, start, stop, means, covariances, values, sums)
        return [*moments, means, covariances, values, sums]
    x = rng.standard_normal((n, 2, p))
    earlier = x.swapaxes(1, 2) @ x, rng.standard_normal((n, p))
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    weights /= np.sqrt(2 * np.pi)
    beliefs = np.concatenate([np.zeros((n, p)), np.tile(np.eye(p).ravel(), (n, 1))], axis=1)
    sums = np.zeros(p + 2 * p * p)
    for start, stop in parts:
        kernel(
            X, np.sign(y), offsets, *earlier, precision, linear, nodes, weights, 5, 0.0, start,
            stop, beliefs, values, sums,
        )  # fmt: skip
    return [beliefs, values, sums]


@pytest.mark.parametrize("name", ["linear_groups", "probit_groups"])
def test_twins_agree(name: str) -> None:
    compiled, reference = (run(name, backend, [(0, 70)]) for backend in ("compiled", "reference"))
    for a, b in zip(compiled, reference, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11 * np.abs(b).max())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["linear_groups", "probit_groups"])
def test_parts_are_the_whole(name: str, backend: str) -> None:
    whole, parts = (run(name, backend, some) for some in ([(0, 70)], [(40, 70), (0, 40)]))
    for a, b in zip(whole[:-1], parts[:-1], strict=True):
        assert (a == b).all()
    np.testing.assert_allclose(whole[-1], parts[-1], rtol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_float32_rows_are_summed_in_float64(backend: str) -> None:
    X, y, offsets = groups_of(np.random.default_rng(0))
    n, p = offsets.size - 1, X.shape[1]
    results = []
    for dtype in (np.float32, np.float64):
        moments = np.zeros((n, p, p)), np.zeros((n, p)), np.zeros(n)
        rows = X.astype(np.float32).astype(dtype), y.astype(np.float32).astype(dtype)
        kernels.get("regression", backend).group_moments(*rows, offsets, 0, n, *moments)
        results.append(moments)
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("backend", BACKENDS)
def test_truncated_normals(backend: str) -> None:
    """Against SciPy near zero, and against the asymptotic series far out."""
    location = np.array([0.0, 0.3, -0.3, 5.0, -5.0, -11.9, -12.1, 1e3, -1e3, -1e6])
    y = np.ones(location.size)
    y[1] = -1.0
    mean, variance, log_mass = (np.empty(location.size) for _ in range(3))
    kernel = kernels.get("regression", backend).truncated
    kernel(location, y, 0, location.size, mean, variance, log_mass)
    np.testing.assert_allclose(log_mass, special.log_ndtr(y * location), rtol=1e-12, atol=1e-300)
    near = slice(0, 5)
    ends = np.where(y[near] > 0, -location[near], -np.inf), np.where(y[near] > 0, np.inf, -0.3)
    exact = stats.truncnorm(*ends, loc=location[near])
    np.testing.assert_allclose(mean[near], exact.mean(), rtol=1e-9)
    np.testing.assert_allclose(variance[near], exact.var(), rtol=1e-8)
    x = 1e3
    np.testing.assert_allclose(mean[8], 1 / x - 2 / x**3, rtol=1e-8)
    np.testing.assert_allclose(variance[8], 1 / x**2, rtol=1e-3)
    assert np.isfinite(mean).all() and (0 <= variance).all() and (variance <= 1).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_step_raises_the_value(backend: str) -> None:
    """Each step on the beliefs of a probit's groups, from a bad start as well."""
    rng = np.random.default_rng(5)
    X, y, offsets = groups_of(rng)
    n, p = offsets.size - 1, X.shape[1]
    precision, linear = expectations(rng)
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    weights /= np.sqrt(2 * np.pi)
    beliefs = np.concatenate([np.full((n, p), 9.0), np.tile(4 * np.eye(p).ravel(), (n, 1))], 1)
    kernel = kernels.get("regression", backend).probit_groups
    empty, values = (np.empty((0, p, p)), np.empty((0, p))), []
    for _ in range(25):
        values.append(np.empty(n))
        kernel(
            X, np.sign(y), offsets, *empty, precision, linear, nodes, weights, 1, 0.0, 0, n,
            beliefs, values[-1], np.zeros(p + 2 * p * p),
        )  # fmt: skip
    rises = np.diff(values, axis=0)
    assert rises.min() > -1e-12 and rises[0].max() > 1
    assert np.abs(rises[-1]).max() < 1e-3
