"""Every compiled kernel does what its reference twin does, in both precisions, edge cases included.

Tolerances: both twins round, in a different order, sums of up to a few hundred numbers; the local
step repeats that up to 20 times. 2e-4 (float32) and 1e-11 (float64) relative hold with a margin of
about 10; a wrong index or a forgotten term is off by far more.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import DTYPES, Array, random_counts
from trustream.kernels import BLOCK, LANES, compiled, reference
from trustream.models.lda import LdaModel
from trustream.models.lda_batch import WordBatch

RTOL = {"float32": 2e-4, "float64": 1e-11}
TOPICS = [1, 7, 8, 9, 100, 129]


def padded(n: int) -> int:
    return -(-n // LANES) * LANES


def make_batch(
    rng: np.random.Generator, dtype: str, n_documents: int = 12, weights: str = "integer"
) -> WordBatch:
    """12 documents of about 20 of 90 words; the first is empty, the second has one word."""
    counts = random_counts(rng, n_documents, 90, 20, weights)
    return LdaModel(2, 90, dtype, "reference").batch(counts, slice(None))


def rows_like(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Numbers as lambda has them: mostly small, some large."""
    return (0.01 + rng.gamma(0.3, 5.0, shape)).astype(dtype)


def local_inputs(rng: np.random.Generator, batch: WordBatch, k: int, dtype: str) -> dict[str, Any]:
    table = np.empty((batch.n_words, padded(k)), dtype)
    offset = np.empty(batch.n_words, dtype)
    reference.exp_digamma(
        rows_like(rng, (batch.n_words, k), dtype), table, offset, 0, batch.n_words
    )
    return {
        "indptr": batch.indptr,
        "ids": batch.ids,
        "counts": batch.counts,
        "table": table,
        "offset": offset.astype(np.float64),
        "factor": rng.uniform(0.01, 1, k).astype(dtype),
        "alpha": rng.uniform(0.01, 0.5, k).astype(dtype),
        "gamma": rows_like(rng, (batch.size, k), dtype),
    }


def run_local(module: Any, inputs: dict[str, Any], n_local: int, tol: float) -> tuple[Array, Array]:
    """gamma and n_dw phi_dwk after the local step."""
    gamma = inputs["gamma"].copy()
    theta = np.full((gamma.shape[0], inputs["table"].shape[1]), np.nan, gamma.dtype)
    ratio = np.full_like(inputs["counts"], np.nan)
    names = ("indptr", "ids", "counts", "table", "factor", "alpha")
    arrays = [inputs[name] for name in names]
    module.lda_local(*arrays, gamma, theta, ratio, n_local, tol, 0, gamma.shape[0])
    assert (theta[:, gamma.shape[1] :] == 0).all()
    documents = np.repeat(np.arange(gamma.shape[0]), np.diff(inputs["indptr"]))
    phi = ratio[:, np.newaxis] * theta[documents] * inputs["table"][inputs["ids"]]
    return gamma, phi[:, : gamma.shape[1]]


def check_local(
    inputs: dict[str, Any], dtype: str, n_local: int, tol: float = 0.0, rtol: float | None = None
) -> Array:
    """Twins agree, and phi sums to the counts; returns gamma."""
    rtol = rtol or RTOL[dtype]
    expected = run_local(reference, inputs, n_local, tol)
    found = run_local(compiled, inputs, n_local, tol)
    for a, b in zip(found, expected, strict=True):
        scale = np.abs(b).max(initial=1e-3)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * 1e-3 * scale)
    np.testing.assert_allclose(found[1].sum(axis=1), inputs["counts"], rtol=RTOL[dtype])
    return found[0]


def test_same_functions_with_the_same_signatures() -> None:
    def public(module: Any) -> dict[str, list[str]]:
        own = {n: f for n, f in vars(module).items() if not n.startswith("_") and callable(f)}
        own = {n: getattr(f, "py_func", f) for n, f in own.items()}
        own = {n: f for n, f in own.items() if getattr(f, "__module__", "") == module.__name__}
        return {n: list(inspect.signature(f).parameters) for n, f in own.items()}

    assert public(compiled) == public(reference)
    assert len(public(compiled)) == 10


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", TOPICS)
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
    """Words that do not fit into one tile of the compiled kernel are read in several.

    float32 sums over 150,000 words are right to 1e-3; a tile left out would be off by a third.
    """
    rng = np.random.default_rng(4)
    n_words = int(2.3 * compiled._TILE / padded(k))
    huge = sparse.csr_matrix(rng.gamma(1.0, 1.0, (1, n_words)))
    small = random_counts(rng, 4, n_words, 30, "real")
    counts = sparse.vstack([small, huge, small], format="csr")
    batch = LdaModel(k, n_words, dtype).batch(counts, slice(None))
    assert np.diff(batch.indptr).max() > 2 * compiled._TILE // padded(k)
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


@pytest.mark.parametrize("dtype", DTYPES)
def test_lda_local_works_only_on_its_range(dtype: str) -> None:
    rng = np.random.default_rng(6)
    inputs = local_inputs(rng, make_batch(rng, dtype), 9, dtype)
    names = ("indptr", "ids", "counts", "table", "factor", "alpha")
    for module in (reference, compiled):
        gamma = inputs["gamma"].copy()
        theta = np.full((gamma.shape[0], 16), -1, dtype)
        ratio = np.full_like(inputs["counts"], -1)
        module.lda_local(*[inputs[n] for n in names], gamma, theta, ratio, 5, 0.0, 3, 7)
        begin, end = inputs["indptr"][3], inputs["indptr"][7]
        assert (ratio[begin:end] >= 0).all()
        assert (ratio[:begin] == -1).all() and (ratio[end:] == -1).all()
        outside = np.r_[0:3, 7 : gamma.shape[0]]
        assert (theta[outside] == -1).all()
        np.testing.assert_array_equal(gamma[outside], inputs["gamma"][outside])


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
    """Equation 11, for every shape of prior and statistics; a width of 0 stands for K."""
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


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pattern_shape", [(1, 1), (60, 1), (60, 9)])
def test_gather_and_scatter_rows(pattern_shape: tuple[int, int], dtype: str) -> None:
    """Twins agree, scatter undoes gather, and other words are left alone."""
    rng = np.random.default_rng(9)
    stored = rows_like(rng, (60, 9), dtype) * np.dtype(dtype).type(1e3)
    pattern = rng.uniform(0.1, 2, pattern_shape)
    words = rng.permutation(60)[:40].astype(np.int32)
    eps = float(np.finfo(dtype).eps)
    results = []
    for module in (reference, compiled):
        rows, back = np.full((40, 9), -1, dtype), np.full_like(stored, -1)
        module.gather_rows(stored, words, 1e-3, 0.3, pattern, rows, 0, 35)
        module.scatter_rows(back, words, 1e-3, 0.3, pattern, rows, 0, 35)
        assert (rows[35:] == -1).all() and (np.delete(back, words[:35], axis=0) == -1).all()
        # Taking the shift away cancels: the error is that of lambda + shift, divided by scale.
        np.testing.assert_allclose(
            back[words[:35]], stored[words[:35]], rtol=8 * eps, atol=5e3 * eps
        )
        results.append(rows)
    np.testing.assert_allclose(results[1], results[0], rtol=4 * eps)


@pytest.mark.parametrize("seed", range(5))
def test_index_words(seed: int) -> None:
    """Words are numbered by first appearance, their documents listed in order; both twins."""
    rng = np.random.default_rng(seed)
    counts = random_counts(rng, [1, 2, 5, 30, 60][seed], 50, [0, 1, 8, 8, 20][seed])
    n = counts.nnz
    lookup = np.full(50, -1, np.int32)
    results = []
    for module in (reference, compiled):
        words, ids = np.empty(n, np.int32), np.empty(n, np.int32)
        word_ptr, positions = np.empty(n + 1, np.int64), np.empty(n, np.int64)
        documents = np.empty(n, np.int32)
        arrays = (words, ids, word_ptr, documents, positions)
        indptr = counts.indptr.astype(np.int64)
        n_words = module.index_words(indptr, counts.indices, lookup, *arrays)
        assert (lookup == -1).all()
        results.append((words[:n_words], ids, word_ptr[: n_words + 1], documents, positions))
    for expected, found in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected)
    words, ids, word_ptr, documents, positions = results[1]
    np.testing.assert_array_equal(words[ids], counts.indices)
    assert list(words) == list(dict.fromkeys(counts.indices.tolist()))
    for w in range(words.size):
        mine = slice(word_ptr[w], word_ptr[w + 1])
        assert (ids[positions[mine]] == w).all()
        assert (np.diff(documents[mine]) > 0).all()
        np.testing.assert_array_equal(
            documents[mine], np.searchsorted(counts.indptr, positions[mine], "right") - 1
        )
