"""Every compiled kernel of LDA does what its reference twin does, in both precisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers import DTYPES
from tests.kernels.inputs import RTOL, TOPICS, local_inputs, make_batch, padded, rows_like
from trustream.kernels import BLOCK
from trustream.kernels.lda import compiled, reference


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", TOPICS)
def test_lda_statistics(k: int, dtype: str) -> None:
    rng = np.random.default_rng(k)
    batch = make_batch(rng, dtype, 40, "zeros")
    assert batch.n_words > BLOCK
    theta = rows_like(rng, (batch.size, padded(k)), dtype)
    table = rows_like(rng, (batch.n_words, padded(k)), dtype)
    ratio = rng.gamma(1.0, 1.0, batch.counts.size).astype(dtype)
    results = []
    for module in (reference, compiled):
        statistics = np.full((batch.n_words, k), np.nan, dtype)
        totals = np.full((-(-batch.n_words // BLOCK), k), np.nan)
        for start, stop in ((0, BLOCK), (BLOCK, batch.n_words)):
            arrays = (batch.word_ptr, batch.documents, batch.positions, ratio, theta, table)
            module.lda_statistics(*arrays, statistics, totals, start, stop)
        results.append((statistics, totals))
        np.testing.assert_allclose(totals.sum(axis=0), statistics.sum(axis=0, dtype=np.float64))
    for expected, found in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=RTOL[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", TOPICS)
@pytest.mark.parametrize("weights", ["integer", "real", "zeros"])
def test_lda_bound(k: int, weights: str, dtype: str) -> None:
    """Both twins sum in float64, so that they agree to 1e-12 whatever the type of the inputs."""
    rng = np.random.default_rng(k)
    inputs = local_inputs(rng, make_batch(rng, dtype, weights=weights), k, dtype)
    names = ("indptr", "ids", "counts", "table", "offset", "factor", "alpha", "gamma")
    bounds = []
    for module in (reference, compiled):
        bound = np.full(inputs["gamma"].shape[0], np.nan)
        module.lda_bound(*[inputs[n] for n in names], bound, 0, bound.size)
        bounds.append(bound)
    tolerance = 1e-12 if dtype == "float64" else 3e-7
    scale = np.abs(bounds[0]).max()
    np.testing.assert_allclose(bounds[1], bounds[0], rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", ["one", "words", "full", "float64"])
def test_dirichlet_terms(shape: str, dtype: str) -> None:
    rng = np.random.default_rng(7)
    rows = rows_like(rng, (150, 9), dtype)
    sizes = {"one": (1, 1), "words": (150, 1), "full": (150, 9), "float64": (150, 9)}
    other = rows_like(rng, sizes[shape], "float64" if shape == "float64" else dtype)
    results = []
    for module in (reference, compiled):
        terms = np.full((3, 3, 9), np.nan)
        for start, stop in ((0, 2 * BLOCK), (2 * BLOCK, 150)):
            module.dirichlet_terms(rows, other, terms, start, stop)
        results.append(terms)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", TOPICS)
@pytest.mark.parametrize("prior", [(1, 1), (30, 1), (30, 0)])
@pytest.mark.parametrize("width", [1, 0])
def test_blend_rows(k: int, prior: tuple[int, int], width: int, dtype: str) -> None:
    """Equation 14, for every shape of prior and statistics; a width of 0 stands for K."""
    rng = np.random.default_rng(8)
    anchor = rows_like(rng, (30, k), dtype)
    eta = rows_like(rng, (prior[0], prior[1] or k), dtype)
    statistics = rows_like(rng, (30, width or k), dtype)
    for rho in (1.0, 0.3, 1e-8):
        results = []
        for module in (reference, compiled):
            rows = np.full_like(anchor, -1)
            module.blend_rows(anchor, eta, statistics, rho, 17.5, rows, 2, 29)
            assert (rows[:2] == -1).all() and (rows[29:] == -1).all()
            results.append(rows)
        np.testing.assert_allclose(results[1], results[0], rtol=10 * np.finfo(dtype).eps)


def update_recipe(rng: np.random.Generator, n: int, k: int, dtype: str) -> tuple[Any, Any]:
    """n words of a larger table, and what to blend them with at rho = 0.3 and N/B = 17.5.

    Returns a function of eta that gives the kernel's arguments, and the words' rows (n, k).
    """
    stored = rows_like(rng, (2 * n, k), dtype)
    words = rng.permutation(2 * n)[:n].astype(np.int32)
    keep, gain = 0.7, 0.3 * 17.5

    def recipe(eta: Any) -> tuple[Any, ...]:
        return stored, words, keep, (0.3 * eta).astype(dtype), gain

    return recipe, stored[words]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", TOPICS)
@pytest.mark.parametrize("prior", ["one", "words", "full"])
def test_lda_update(k: int, prior: str, dtype: str) -> None:
    """One pass gives what statistics, blend and exp(psi) give one after the other.

    What is not asked for changes nothing of the rest, and parts of the range are left alone.
    """
    rng = np.random.default_rng(k)
    batch = make_batch(rng, dtype, 40, "zeros")
    n = batch.n_words
    theta = rows_like(rng, (batch.size, padded(k)), dtype)
    theta[:, k:] = 0
    old = rows_like(rng, (n, padded(k)), dtype)
    ratio = rng.gamma(1.0, 1.0, batch.counts.size).astype(dtype)
    recipe, anchor = update_recipe(rng, n, k, dtype)
    eta = rows_like(rng, {"one": (1, 1), "words": (n, 1), "full": (n, k)}[prior], dtype)
    blend = recipe(eta)
    beliefs = (batch.word_ptr, batch.documents, batch.positions, ratio, theta, old)
    blocks = (-(-n // BLOCK), k)
    statistics, totals, expected = np.empty_like(anchor), np.empty(blocks), np.empty_like(anchor)
    reference.lda_statistics(*beliefs, statistics, totals, 0, n)
    reference.blend_rows(anchor, eta, statistics, 0.3, 17.5, expected, 0, n)
    for module in (reference, compiled):
        for wanted in ("rows", "table", "both"):
            rows = np.full((0 if wanted == "table" else n, k), -1, dtype)
            table = np.full((0 if wanted == "rows" else n, padded(k)), -1, dtype)
            offset, sums = np.full(n, -1, dtype), np.full(blocks, -1.0)
            out = (rows, table, offset, sums)
            module.lda_update(*beliefs, *blend, False, *out, BLOCK, n)
            assert (rows[:BLOCK] == -1).all() and (table[:BLOCK] == -1).all()
            assert (sums[0] == -1).all()
            module.lda_update(*beliefs, *blend, False, *out, 0, BLOCK)
            np.testing.assert_allclose(sums, totals, rtol=RTOL[dtype])
            if wanted != "table":
                np.testing.assert_allclose(rows, expected, rtol=RTOL[dtype])
            if wanted == "both":
                again, level = np.full_like(table, -1), np.full_like(offset, -1)
                module.exp_digamma(rows, again, level, 0, n)
                np.testing.assert_array_equal(table, again)
                np.testing.assert_array_equal(offset, level)
            elif wanted == "table":
                again, level = np.empty_like(table), np.empty_like(offset)
                reference.exp_digamma(expected, again, level, 0, n)
                # The offsets of the twins are not the same choice.
                shifted = again * np.exp(offset.astype(np.float64) - level)[:, np.newaxis]
                large = shifted[:, :k] > 1e-20
                np.testing.assert_allclose(
                    table[:, :k][large], shifted[:, :k][large], rtol=100 * RTOL[dtype]
                )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [7, 16])
def test_lda_update_without_documents(k: int, dtype: str) -> None:
    """Anchor and prior are blended, nothing else is read or summed."""
    rng = np.random.default_rng(k)
    n = BLOCK + 10
    recipe, anchor = update_recipe(rng, n, k, dtype)
    eta = rows_like(rng, (n, 1), dtype)
    nobody = (np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))
    nothing = (np.empty(0, dtype), np.empty((0, padded(k)), dtype), np.empty((0, padded(k)), dtype))
    for module in (reference, compiled):
        rows, table, offset = (
            np.empty((n, k), dtype),
            np.empty((n, padded(k)), dtype),
            np.empty(n, dtype),
        )
        out = (rows, table, offset, np.empty((0, k)))
        module.lda_update(*nobody, *nothing, *recipe(eta), False, *out, 0, n)
        np.testing.assert_allclose(rows, 0.7 * anchor + 0.3 * eta, rtol=RTOL[dtype])
        again, level = np.empty_like(table), np.empty_like(offset)
        module.exp_digamma(rows, again, level, 0, n)
        np.testing.assert_array_equal(table, again)
        np.testing.assert_array_equal(offset, level)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [7, 16])
def test_lda_update_of_collapsed_beliefs(k: int, dtype: str) -> None:
    """The table is the blended rows themselves."""
    rng = np.random.default_rng(k)
    batch = make_batch(rng, dtype, 40)
    n = batch.n_words
    theta, old = (rows_like(rng, (m, padded(k)), dtype) for m in (batch.size, n))
    ratio = rng.gamma(1.0, 1.0, batch.counts.size).astype(dtype)
    beliefs = (batch.word_ptr, batch.documents, batch.positions, ratio, theta, old)
    recipe, _ = update_recipe(rng, n, k, dtype)
    blend = recipe(np.full((1, 1), 0.1, dtype))
    for module in (reference, compiled):
        rows, table = np.empty((n, k), dtype), np.full((n, padded(k)), -1, dtype)
        offset, sums = np.full(n, -1, dtype), np.empty((-(-n // BLOCK), k))
        out = (rows, table, offset, sums)
        module.lda_update(*beliefs, *blend, True, *out, 0, n)
        np.testing.assert_array_equal(table[:, :k], rows)
        assert (table[:, k:] == 0).all() and (offset == 0).all()
