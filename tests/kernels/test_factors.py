"""Kernels of Poisson factorisation: the compiled twin computes what the reference does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers import DTYPES
from tests.kernels.inputs import RTOL, TOPICS, local_inputs, make_batch, padded
from trustream import kernels

C, C2 = 0.3, 0.8


def numbers(k: int) -> tuple[float, float, float]:
    """c, A = c' + K c and d'."""
    return C, C2 + k * C, 2.0


def inputs(k: int, dtype: str, weights: str = "integer", scale: float = 1.0) -> dict[str, Any]:
    """Users as documents of LDA's tests, with rates, sums and beliefs to start from."""
    rng = np.random.default_rng(k)
    batch = make_batch(rng, dtype, weights=weights)
    batch.counts[:] *= scale
    given = local_inputs(rng, batch, k, dtype)
    rates = rng.uniform(0.5, 4.0, k)
    return {
        "batch": batch,
        "table": given["table"],
        "offset": given["offset"],
        "rates": rates,
        "sums": rng.uniform(0.2, 3.0, k),
        "shape": rng.gamma(2.0, 2.0, (batch.size, k)).astype(dtype),
        "activity": rng.gamma(2.0, 2.0, batch.size),
    }


def local(backend: str, given: dict[str, Any], n_local: int, tol: float = 0.0) -> list[Any]:
    batch, table = given["batch"], given["table"]
    k, dtype = given["shape"].shape[1], table.dtype
    shape, activity = given["shape"].copy(), given["activity"].copy()
    theta, ratio = np.full((batch.size, padded(k)), 7.0, dtype), np.empty_like(batch.counts)
    factor = (given["rates"].min() / given["rates"]).astype(dtype)
    kernels.get("factors", backend).factor_local(
        *batch.by_document, table, factor, given["sums"].astype(dtype), *numbers(k), shape,
        activity, theta, ratio, n_local, tol, 0, batch.size,
    )  # fmt: skip
    assert (theta[:, k:] == 0).all()
    # theta and ratio are up to a constant of each user.
    users = np.repeat(np.arange(batch.size), np.diff(batch.indptr))
    shares = ratio[:, np.newaxis] * theta[users] * table[batch.ids]
    return [shape, activity, shares]


def bound(backend: str, given: dict[str, Any]) -> np.ndarray:
    batch, out = given["batch"], np.empty(given["batch"].size)
    four = (*numbers(given["shape"].shape[1]), C2)
    kernels.get("factors", backend).factor_bound(
        *batch.by_document, given["table"], given["offset"], np.log(given["rates"]), given["sums"],
        *four, given["shape"], given["activity"], out, 0, batch.size,
    )  # fmt: skip
    return out


@pytest.mark.parametrize("k", [*TOPICS, 600])
@pytest.mark.parametrize("n_local", [0, 1, 10])
@pytest.mark.parametrize("dtype", DTYPES)
def test_local_steps_agree(k: int, n_local: int, dtype: str) -> None:
    """More components than fit the copy of a user's table (600) take the other way."""
    given = inputs(k, dtype)
    results = [local(backend, given, n_local) for backend in kernels.BACKENDS]
    for found, expected in zip(*results, strict=True):
        scale = np.abs(expected).max() if expected.size else 1.0
        np.testing.assert_allclose(found, expected, rtol=RTOL[dtype], atol=RTOL[dtype] * scale)


@pytest.mark.parametrize("weights", ["real", "zeros"])
@pytest.mark.parametrize("scale", [1.0, 1e12])
@pytest.mark.parametrize("dtype", DTYPES)
def test_any_counts(weights: str, scale: float, dtype: str) -> None:
    given = inputs(9, dtype, weights, scale)
    for found, expected in zip(*(local(b, given, 10) for b in kernels.BACKENDS), strict=True):
        assert np.isfinite(found).all()
        np.testing.assert_allclose(found, expected, rtol=10 * RTOL[dtype], atol=1e-6 * scale)


@pytest.mark.parametrize("k", TOPICS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bounds_agree(k: int, dtype: str) -> None:
    given = inputs(k, dtype)
    found, expected = (bound(backend, given) for backend in kernels.BACKENDS)
    np.testing.assert_allclose(found, expected, rtol=RTOL[dtype])


@pytest.mark.parametrize("backend", kernels.BACKENDS)
def test_each_round_raises_the_bound(backend: str) -> None:
    """The bound after 0, 1, 2, ... rounds; a user without items has nothing but the prior."""
    given = inputs(7, "float64")
    values = []
    for n_local in range(8):
        shape, activity, _ = local(backend, given, n_local)
        values.append(bound(backend, {**given, "shape": shape, "activity": activity}))
    # The first beliefs are no result of a round: their rate does not belong to their shape.
    assert (np.diff(values, axis=0)[1:] > -1e-9).all()
    assert (values[-1] > values[1]).all()
    empty = local(backend, given, 500)[0][0]
    np.testing.assert_allclose(empty, C)


@pytest.mark.parametrize("backend", kernels.BACKENDS)
def test_shares_add_up_to_counts(backend: str) -> None:
    """sum_k x_ui phi_uik = x_ui."""
    given = inputs(9, "float64")
    shares = local(backend, given, 5)[-1]
    np.testing.assert_allclose(shares.sum(axis=1), given["batch"].counts)
