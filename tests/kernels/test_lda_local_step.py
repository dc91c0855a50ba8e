"""The local step of LDA, the hot kernel: both twins do the same, edge cases included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from tests.helpers import DTYPES, Array, planted_lda, random_counts
from tests.kernels.inputs import RTOL, TOPICS, local_inputs, make_batch, padded
from trustream.kernels.lda import (
    ALL_TOPICS,
    COLUMNS_ROOM,
    NARROW,
    NEGLIGIBLE_ALPHA,
    compiled,
    compiled_active_topics,
    reference,
)
from trustream.models.lda import LdaModel


def run_local(
    module: Any,
    inputs: dict[str, Any],
    n_local: int,
    tol: float,
    collapsed: bool = False,
    most: int = ALL_TOPICS,
    strides: bool = False,
) -> tuple[Array, Array]:
    """gamma and n_dw phi_dwk after the local step."""
    gamma = inputs["gamma"].copy()
    theta = np.full((gamma.shape[0], inputs["table"].shape[1]), np.nan, gamma.dtype)
    ratio = np.full_like(inputs["counts"], np.nan)
    names = ("indptr", "ids", "counts", "table", "factor", "alpha")
    arrays = [inputs[name] for name in names]
    settings = (collapsed, most, n_local, tol, strides)
    module.lda_local(*arrays, gamma, theta, ratio, *settings, 0, gamma.shape[0])
    assert (theta[:, gamma.shape[1] :] == 0).all()
    documents = np.repeat(np.arange(gamma.shape[0]), np.diff(inputs["indptr"]))
    phi = ratio[:, np.newaxis] * theta[documents] * inputs["table"][inputs["ids"]]
    return gamma, phi[:, : gamma.shape[1]]


def check_local(
    inputs: dict[str, Any],
    dtype: str,
    n_local: int,
    tol: float = 0.0,
    rtol: float | None = None,
    **kind: Any,
) -> Array:
    """Twins agree, and phi sums to the counts; returns gamma."""
    rtol = rtol or RTOL[dtype]
    expected = run_local(reference, inputs, n_local, tol, **kind)
    found = run_local(compiled, inputs, n_local, tol, **kind)
    for a, b in zip(found, expected, strict=True):
        scale = np.abs(b).max(initial=1e-3)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * 1e-3 * scale)
    np.testing.assert_allclose(found[1].sum(axis=1), inputs["counts"], rtol=RTOL[dtype])
    return found[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [*TOPICS, NARROW + 3])
@pytest.mark.parametrize("n_local", [0, 1, 20])
def test_lda_local(k: int, n_local: int, dtype: str) -> None:
    rng = np.random.default_rng(k)
    inputs = local_inputs(rng, make_batch(rng, dtype), k, dtype)
    gamma = check_local(inputs, dtype, n_local)
    if n_local:
        # An empty document has nothing but its prior.
        np.testing.assert_array_equal(gamma[0], inputs["alpha"])
    else:
        np.testing.assert_array_equal(gamma, inputs["gamma"])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weights", ["real", "zeros"])
def test_lda_local_with_weights(weights: str, dtype: str) -> None:
    rng = np.random.default_rng(3)
    inputs = local_inputs(rng, make_batch(rng, dtype, weights=weights), 9, dtype)
    check_local(inputs, dtype, 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [9, 129])
def test_lda_local_of_a_huge_document(k: int, dtype: str) -> None:
    """A document that has no room in columns is read from the table itself.

    float32 sums over 150,000 words are right to 1e-3.
    """
    rng = np.random.default_rng(4)
    n_words = int(2.3 * COLUMNS_ROOM / padded(k))
    huge = sparse.csr_matrix(rng.gamma(1.0, 1.0, (1, n_words)))
    small = random_counts(rng, 4, n_words, 30, "real")
    counts = sparse.vstack([small, huge, small], format="csr")
    batch = LdaModel(k, n_words, dtype).batch(counts, slice(None))
    assert np.diff(batch.indptr).max() > 2 * COLUMNS_ROOM // padded(k)
    rtol = 1e-3 if dtype == "float32" else None
    check_local(local_inputs(rng, batch, k, dtype), dtype, 3, rtol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("tol", [1e-1, 1e-2])
def test_lda_local_stops(tol: float, dtype: str) -> None:
    """Each document stops after the first iteration that moves gamma by less than `tol`."""
    rng = np.random.default_rng(5)
    inputs = local_inputs(rng, make_batch(rng, dtype), 9, dtype)
    for module in (reference, compiled):
        stopped, _ = run_local(module, inputs, 100, tol)
        steps = np.array([run_local(module, inputs, n, 0.0)[0] for n in range(40)])
        change = np.abs(np.diff(steps.astype(np.float64), axis=0)).mean(axis=2)
        # The empty document is done at once, and does not show when it stops.
        n_done = {d: int(np.argmax((steps[:, d] == stopped[d]).all(axis=1))) for d in range(1, 12)}
        for d, n in n_done.items():
            assert n > 0 and change[n - 1, d] < tol * 1.0001
            assert (change[: n - 1, d] > tol * 0.9999).all()
        assert len(set(n_done.values())) > 3


def abs_change(module: Any, inputs: dict[str, Any], gamma: Array, collapsed: bool) -> Array:
    """By how much one iteration from there moves gamma, a document."""
    after, _ = run_local(module, {**inputs, "gamma": gamma}, 1, 0.0, collapsed)
    return np.abs(after.astype(np.float64) - gamma).mean(axis=1)


@pytest.mark.parametrize("collapsed", [False, True])
@pytest.mark.parametrize("k", [9, 40])
def test_strides_lead_to_the_same_place_sooner(k: int, collapsed: bool) -> None:
    """Extrapolated or not, gamma ends where it stays; extrapolated, in half of the iterations.

    One iteration more tells how far from there it is.
    """
    rng = np.random.default_rng(k)
    inputs = planted_inputs(rng, k)
    settings: dict[str, Any] = {"collapsed": collapsed, "strides": True}
    for n_local in (4, 5, 6, 7, 20):
        check_local(inputs, "float64", n_local, rtol=1e-7, **settings)
    plain, _ = run_local(compiled, inputs, 4000, 0.0, collapsed)
    strides = check_local(inputs, "float64", 2000, tol=1e-9, rtol=1e-6, **settings)
    close = np.abs(strides - plain).sum(axis=1) < 1e-3
    # Two ways may lead to different optima, seldom.
    assert close.mean() > 0.9
    left = {}
    for name, n_local in (("plain", 40), ("strides", 20)):
        gamma, _ = run_local(compiled, inputs, n_local, 0.0, collapsed, strides=name == "strides")
        left[name] = abs_change(compiled, inputs, gamma, collapsed).mean()
    assert left["strides"] < left["plain"]


def planted_inputs(rng: np.random.Generator, k: int) -> dict[str, Any]:
    """50 documents of k topics that are known, from an even start."""
    counts, topics = planted_lda(rng, k, 300, 50, 100, 0.1, 0.05)
    batch = LdaModel(k, 300, "float64", "reference").batch(counts, slice(None))
    table = np.zeros((batch.n_words, padded(k)))
    table[:, :k] = topics.T[batch.words] + 1e-6
    return {
        "indptr": batch.indptr,
        "ids": batch.ids,
        "counts": batch.counts,
        "table": table,
        "factor": np.ones(k),
        "alpha": np.full(k, 0.1),
        "gamma": 0.1 + np.tile(batch.lengths[:, None] / k, (1, k)),
    }


@pytest.mark.parametrize("dtype", DTYPES)
def test_lda_local_works_only_on_its_range(dtype: str) -> None:
    rng = np.random.default_rng(6)
    inputs = local_inputs(rng, make_batch(rng, dtype), 9, dtype)
    names = ("indptr", "ids", "counts", "table", "factor", "alpha")
    for module in (reference, compiled):
        gamma = inputs["gamma"].copy()
        theta = np.full((gamma.shape[0], 16), -1, dtype)
        ratio = np.full_like(inputs["counts"], -1)
        settings = (False, ALL_TOPICS, 5, 0.0, False)
        module.lda_local(*[inputs[n] for n in names], gamma, theta, ratio, *settings, 3, 7)
        begin, end = inputs["indptr"][3], inputs["indptr"][7]
        assert (ratio[begin:end] >= 0).all()
        assert (ratio[:begin] == -1).all() and (ratio[end:] == -1).all()
        outside = np.r_[0:3, 7 : gamma.shape[0]]
        assert (theta[outside] == -1).all()
        np.testing.assert_array_equal(gamma[outside], inputs["gamma"][outside])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [*TOPICS, NARROW + 3])
@pytest.mark.parametrize("n_local", [0, 1, 20])
def test_collapsed_local_step(k: int, n_local: int, dtype: str) -> None:
    rng = np.random.default_rng(k)
    inputs = local_inputs(rng, make_batch(rng, dtype), k, dtype)
    check_local(inputs, dtype, n_local, collapsed=True)


def test_collapsed_local_step_is_em() -> None:
    """Each iteration raises the posterior density of theta under Dir(alpha + 1), topics given."""
    rng = np.random.default_rng(2)
    inputs = local_inputs(rng, make_batch(rng, "float64"), 9, "float64")
    inputs["factor"][:] = 1
    beta = inputs["table"][inputs["ids"], :9]
    documents = np.repeat(np.arange(12), np.diff(inputs["indptr"]))
    values = []
    for n_local in range(1, 30):
        gamma, _ = run_local(compiled, inputs, n_local, 0.0, collapsed=True)
        theta = gamma / gamma.sum(axis=1, keepdims=True)
        words = inputs["counts"] * np.log((theta[documents] * beta).sum(axis=1))
        density = np.bincount(documents, words, 12) + np.log(theta) @ inputs["alpha"]
        values.append(density)
    gains = np.diff(values, axis=0)
    assert (gains >= -1e-12).all() and gains[0, 1:].min() > 1e-3


def used_inputs(rng: np.random.Generator, k: int, dtype: str, large: bool) -> dict[str, Any]:
    """Documents of two of k topics, with small or large alpha, from an even start."""
    batch = make_batch(rng, dtype)
    inputs = local_inputs(rng, batch, k, dtype)
    inputs["alpha"] = rng.uniform(*((0.1, 0.3) if large else (0.01, 0.05)), k).astype(dtype)
    inputs["gamma"] = (inputs["alpha"] + batch.lengths[:, None] / k).astype(dtype)
    inputs["factor"] = np.ones(k, dtype)
    return inputs


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("collapsed", [False, True])
@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("k, most", [(9, 4), (100, 8), (129, 40), (129, 1), (NARROW + 3, 50)])
def test_twins_leave_the_same_topics_alone(
    k: int, most: int, large: bool, collapsed: bool, dtype: str
) -> None:
    rng = np.random.default_rng([k, most])
    inputs = used_inputs(rng, k, dtype, large)
    for n_local in (2, 8):
        gamma = check_local(inputs, dtype, n_local, collapsed=collapsed, most=most)
    tokens = gamma - inputs["alpha"]
    n_used = np.count_nonzero(tokens > 1e-6, axis=1)
    assert (n_used[1:] >= 1).all() and n_used.min() < k / 2
    # More are left only where going down to `most` would not save half of the work.
    assert all(n <= most or 2 * padded(most) > padded(int(n)) for n in n_used)


@pytest.mark.parametrize("large", [False, True])
def test_topics_left_alone_hardly_matter(large: bool) -> None:
    """What is left alone is what a document does not use: gamma ends close to where all lead."""
    rng = np.random.default_rng(8)
    inputs = used_inputs(rng, 129, "float64", large)
    everything, _ = run_local(compiled, inputs, 200, 0.0)
    some, _ = run_local(compiled, inputs, 200, 0.0, most=64)
    lengths = np.bincount(np.repeat(np.arange(12), np.diff(inputs["indptr"])), inputs["counts"], 12)
    moved = np.abs(some - everything).sum(axis=1)
    assert (moved <= 0.05 * lengths).all()
    assert (moved > 0).any()


def test_a_negligible_alpha_is_negligible() -> None:
    from scipy.special import digamma

    assert np.exp(digamma(NEGLIGIBLE_ALPHA)) < 1e-4


@pytest.mark.parametrize("k", [129])
def test_a_huge_document_leaves_topics_alone(k: int) -> None:
    rng = np.random.default_rng(4)
    n_words = int(2.3 * COLUMNS_ROOM / padded(k))
    huge = sparse.csr_matrix(rng.gamma(1.0, 1.0, (1, n_words)))
    batch = LdaModel(k, n_words, "float64").batch(huge, slice(None))
    check_local(local_inputs(rng, batch, k, "float64"), "float64", 6, most=16)


@njit
def smallest(x, n, rank):  # type: ignore[no-untyped-def]
    return compiled_active_topics.smallest(x, n, rank)


def test_selection_is_that_of_sorting() -> None:
    """Of any rank, with ties, and of a part of the numbers."""
    rng = np.random.default_rng(9)
    for n in (1, 2, 7, 40):
        x = rng.integers(0, 12, n).astype(np.float32)
        for rank in range(n):
            longer = np.r_[x, np.full(3, -5, np.float32)]
            assert smallest(longer, n, rank) == np.sort(x)[rank]
            np.testing.assert_array_equal(np.sort(longer[:n]), np.sort(x))
            assert (longer[n:] == -5).all()
