"""Kernels for rows of lambda, gamma and a matrix of counts: each does the same as its twin."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from scipy.special import digamma

from tests.helpers import DTYPES, random_counts
from tests.kernels.inputs import rows_like
from trustream.kernels.lda import compiled, reference

# Where it is said that overwritten rows are noted, if nobody wants them.
NOWHERE = np.empty(0, bool)


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
        module.scatter_rows(back, words, 1e-3, 0.3, pattern, rows, NOWHERE, 0, 35)
        assert (rows[35:] == -1).all() and (np.delete(back, words[:35], axis=0) == -1).all()
        # Taking the shift away cancels: the error is that of lambda + shift, divided by scale.
        np.testing.assert_allclose(
            back[words[:35]], stored[words[:35]], rtol=8 * eps, atol=5e3 * eps
        )
        results.append(rows)
    np.testing.assert_allclose(results[1], results[0], rtol=4 * eps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 8, 9])
@pytest.mark.parametrize("pattern", ["one", "of words", "of words and topics"])
def test_average_rows(pattern: str, k: int, dtype: str) -> None:
    """Twins agree with the formula in float64, and words outside the range are left alone.

    The other table is stored as `scatter_rows` does it, to the bit, after it was read.
    """
    rng = np.random.default_rng(k)
    shape = {"one": (1, 1), "of words": (60, 1), "of words and topics": (60, k)}[pattern]
    stored, other = (rows_like(rng, (60, k), dtype) for _ in range(2))
    rows, levels = rows_like(rng, (40, k), dtype), rng.uniform(0.1, 2, shape)
    words = rng.permutation(60)[:40].astype(np.int32)
    a, b, c = 0.7, 0.4, 0.05
    expected = stored.astype(np.float64)
    for i in range(3, 35):
        w = words[i]
        level = levels[w] if len(levels) > 1 else levels[0]
        expected[w] += a * rows[i].astype(float) - b * other[w].astype(float) - c * level
    eps = float(np.finfo(dtype).eps)
    no_rows = np.empty((0, k), dtype)
    for module in (reference, compiled):
        found, table, plain = stored.copy(), other.copy(), other.copy()
        into = (words, 1e-3, 0.3, levels, rows, NOWHERE)
        module.average_rows(found, table, a, b, c, table, *into, no_rows, NOWHERE, 3, 35)
        untouched = np.delete(np.arange(60), words[3:35])
        np.testing.assert_array_equal(found[untouched], stored[untouched])
        # Differences of numbers of up to a hundred.
        np.testing.assert_allclose(found, expected, rtol=8 * eps, atol=200 * eps)
        module.scatter_rows(plain, *into, 3, 35)
        np.testing.assert_array_equal(table, plain)
        before = found.copy()
        module.average_rows(found, table, a, b, c, table, *into, no_rows, NOWHERE, 0, 0)
        np.testing.assert_array_equal(found, before)
        np.testing.assert_array_equal(table, plain)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("module", [reference, compiled])
@pytest.mark.parametrize("levels", ["one", "of words and topics"])
def test_overwritten_rows_are_noted(levels: str, module: ModuleType, dtype: str) -> None:
    """Rows that a kernel overwrites are noted as they were, to the bit, and no others."""
    rng = np.random.default_rng(3)
    stored, other = (rows_like(rng, (60, 9), dtype) for _ in range(2))
    words, rows = rng.permutation(60)[:40].astype(np.int32), rows_like(rng, (40, 9), dtype)
    pattern = {"one": np.ones((1, 1)), "of words and topics": rng.uniform(0.1, 2, (60, 9))}[levels]
    into = (words, 1e-3, 0.3, pattern)

    def check(old: np.ndarray, noted: np.ndarray, table: np.ndarray, others: np.ndarray) -> None:
        assert not noted[:3].any() and noted[3:35].all() and not noted[35:].any()
        np.testing.assert_array_equal(old[3:35], table[words[3:35]])
        np.testing.assert_array_equal(old[:3], others[:3])
        np.testing.assert_array_equal(old[35:], others[35:])

    found, plain = stored.copy(), stored.copy()
    given, noted = rows.copy(), np.zeros(40, bool)
    module.scatter_rows(found, *into, given, noted, 3, 35)
    module.scatter_rows(plain, *into, rows, NOWHERE, 3, 35)
    np.testing.assert_array_equal(found, plain)
    check(given, noted, stored, rows)

    mean, table = other.copy(), stored.copy()
    given, noted = rows.copy(), np.zeros(40, bool)
    old, old_noted = np.full((40, 9), -1, dtype), np.zeros(40, bool)
    by = (0.7, 0.4, 0.05)
    module.average_rows(mean, table, *by, table, *into, given, noted, old, old_noted, 3, 35)
    np.testing.assert_array_equal(table, plain)
    check(given, noted, stored, rows)
    check(old, old_noted, other, np.full_like(old, -1))
    mean_plain, table = other.copy(), stored.copy()
    no_rows = np.empty((0, 9), dtype)
    module.average_rows(
        mean_plain, table, *by, table, *into, rows, NOWHERE, no_rows, NOWHERE, 3, 35
    )
    np.testing.assert_array_equal(mean, mean_plain)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (5, 7), (30, 8), (4, 100)])
def test_psi_sums(dtype: str, shape: tuple[int, int]) -> None:
    rows = rows_like(np.random.default_rng(0), shape, dtype)
    results = []
    for module in (reference, compiled):
        by_column = np.empty(shape[1])
        of_sums, largest = module.psi_sums(rows, by_column)
        results.append(np.r_[by_column, of_sums, largest])
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


@pytest.mark.parametrize("data", ["float32", "float64", "int64", "uint16", "bool"])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_take_entries(data: str, index: str) -> None:
    """Rows in the order asked for, empty ones among them, whatever kind of numbers they hold."""
    rng = np.random.default_rng(3)
    counts = random_counts(rng, 20, 50, 8)
    counts.data[counts.indptr[4] : counts.indptr[5]] = 0
    counts.eliminate_zeros()
    rows = np.array([7, 4, 0, 19, 7])
    expected = counts[rows].astype(data)
    indptr, indices = counts.indptr.astype(index), counts.indices.astype(index)
    for module in (reference, compiled):
        words, taken = np.full(expected.nnz, -1, np.int32), np.empty(expected.nnz, np.float32)
        module.take_entries(indptr, indices, counts.data.astype(data), rows, words, taken)
        np.testing.assert_array_equal(words, expected.indices)
        np.testing.assert_array_equal(taken, expected.data)
        module.take_entries(indptr, indices, counts.data, rows[:0], words[:0], taken[:0])


@pytest.mark.parametrize("n_words", [1, 2048, 2049, 5_000_000])
def test_index_words_of_any_vocabulary(n_words: int) -> None:
    """Numbers of words of one digit or several come out sorted, each once."""
    rng = np.random.default_rng(n_words)
    wanted = np.r_[rng.integers(n_words, size=3000), 0, n_words - 1].astype(np.int32)
    n = wanted.size
    arrays = [np.empty(n + 1, kind) for kind in ("i4", "i4", "i8", "i4", "i8", "f8", "f8")]
    ends = np.array([0, n])
    lookup = np.full(n_words, -1, np.int32)
    found = compiled.index_words(ends, wanted, np.ones(n, np.float32), lookup, *arrays)
    np.testing.assert_array_equal(arrays[0][:found], np.unique(wanted))
    np.testing.assert_array_equal(arrays[0][arrays[1][:n]], wanted)


@pytest.mark.parametrize("seed", range(5))
def test_index_words(seed: int) -> None:
    """Words are numbered in order, their documents listed in order; both twins."""
    rng = np.random.default_rng(seed)
    counts = random_counts(rng, [1, 2, 5, 30, 60][seed], 50, [0, 1, 8, 8, 20][seed])
    n = counts.nnz
    lookup = np.full(50, -1, np.int32)
    results = []
    for module in (reference, compiled):
        words, ids = np.empty(n, np.int32), np.empty(n, np.int32)
        word_ptr, positions = np.empty(n + 1, np.int64), np.empty(n, np.int64)
        documents = np.empty(n, np.int32)
        lengths, word_counts = np.empty(counts.shape[0]), np.empty(n)
        arrays = (words, ids, word_ptr, documents, positions, lengths, word_counts)
        indptr = counts.indptr.astype(np.int64)
        n_words = module.index_words(indptr, counts.indices, counts.data, lookup, *arrays)
        assert (lookup == -1).all()
        np.testing.assert_array_equal(lengths, np.asarray(counts.sum(axis=1)).ravel())
        np.testing.assert_array_equal(
            word_counts[:n_words], np.asarray(counts.sum(axis=0)).ravel()[words[:n_words]]
        )
        results.append((words[:n_words], ids, word_ptr[: n_words + 1], documents, positions))
    for expected, found in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected)
    words, ids, word_ptr, documents, positions = results[1]
    np.testing.assert_array_equal(words[ids], counts.indices)
    assert list(words) == sorted(set(counts.indices.tolist()))
    for w in range(words.size):
        mine = slice(word_ptr[w], word_ptr[w + 1])
        assert (ids[positions[mine]] == w).all()
        assert (np.diff(documents[mine]) > 0).all()
        np.testing.assert_array_equal(
            documents[mine], np.searchsorted(counts.indptr, positions[mine], "right") - 1
        )
