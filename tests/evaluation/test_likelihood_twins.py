"""Compiled and reference kernels, threads, seeds and blocks all give the same likelihoods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import Array, random_counts
from trustream.evaluation import (
    chib,
    completion,
    completion_from,
    document_blocks,
    importance,
    left_to_right,
    split_tokens,
)
from trustream.kernels.likelihood import compiled, reference

ESTIMATORS: list[tuple[Any, dict[str, Any]]] = [
    (chib, {"n_iter": 6, "n_burn": 3, "n_repeats": 2}),
    (chib, {"n_iter": 1, "n_burn": 0, "n_repeats": 1}),
    (left_to_right, {"n_particles": 4}),
    (left_to_right, {"n_particles": 4, "unbiased": True}),
    (left_to_right, {"n_particles": 4, "unbiased": True, "n_resampled": 3}),
    (importance, {"n_samples": 20}),
    (completion, {"n_repeats": 3}),
]


def problem(n_topics: int = 9, n_documents: int = 30) -> tuple[sparse.csr_matrix, Array, Array]:
    """Documents of a few words, topics some of whose entries are zero, and alpha."""
    rng = np.random.default_rng(n_topics)
    counts = random_counts(rng, n_documents, 40, 8, "zeros")
    topics = rng.dirichlet(np.full(40, 0.2), size=n_topics)
    topics[1:][topics[1:] < 1e-3] = 0.0
    topics[0] += 1e-9
    topics /= topics.sum(axis=1, keepdims=True)
    return counts, topics, rng.uniform(0.01, 0.5, n_topics)


def same(first: Any, second: Any) -> bool:
    return all(
        np.array_equal(getattr(first, name), getattr(second, name))
        for name in ("per_document", "n_tokens", "variance")
    )


def test_same_functions() -> None:
    for name in compiled.__all__:
        assert callable(getattr(reference, name))


@pytest.mark.parametrize("n_topics", [1, 2, 9, 33])
@pytest.mark.parametrize(("estimator", "options"), ESTIMATORS)
def test_twins(estimator: Any, options: dict[str, Any], n_topics: int) -> None:
    """The same random numbers lead to the same estimates, up to rounding."""
    counts, topics, alpha = problem(n_topics, 12)
    results = [
        estimator(counts, topics, alpha, random_state=5, backend=backend, **options)
        for backend in ("reference", "compiled")
    ]
    np.testing.assert_allclose(results[1].per_document, results[0].per_document, rtol=1e-9)
    np.testing.assert_array_equal(results[1].n_tokens, results[0].n_tokens)
    if results[0].variance is not None:
        np.testing.assert_allclose(results[1].variance, results[0].variance, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(("estimator", "options"), ESTIMATORS)
def test_threads_seeds_and_blocks(
    estimator: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit for bit the same with any number of threads, any blocks and any other documents."""
    counts, topics, alpha = problem()

    def run(seed: Any = 7, n_jobs: int = 1, rows: Any = slice(None)) -> Any:
        return estimator(counts[rows], topics, alpha, random_state=seed, n_jobs=n_jobs, **options)

    one = run()
    for n_jobs in (2, 5, -1):
        assert same(one, run(n_jobs=n_jobs))
    assert same(run(np.random.default_rng(7)), run(np.random.default_rng(7)))
    assert same(run(np.random.RandomState(7)), run(np.random.RandomState(7)))
    assert not same(one, run(8))
    np.testing.assert_array_equal(run(rows=slice(11)).per_document, one.per_document[:11])
    monkeypatch.setattr(document_blocks, "_ENTRIES", 20)
    assert same(one, run(n_jobs=2))
    monkeypatch.setattr(document_blocks, "_ENTRIES", 1 << 20)
    monkeypatch.setattr(document_blocks, "_NUMBERS", 1)
    assert same(one, run(n_jobs=2))


def test_generators_move_on() -> None:
    counts, topics, alpha = problem()
    generator = np.random.default_rng(0)
    results = [chib(counts, topics, alpha, random_state=generator) for _ in range(2)]
    assert not same(*results)


@pytest.mark.parametrize("kind", ["dense", "csr_matrix", "csr_array", "coo", "unsorted"])
def test_kinds_of_counts(kind: str) -> None:
    """The same result for each, and the input stays as it was."""
    counts, topics, alpha = problem()
    expected = chib(counts, topics, alpha, random_state=0)
    given: Any = {
        "dense": counts.toarray(),
        "csr_matrix": counts.astype(np.uint16),
        "csr_array": sparse.csr_array(counts),
        "coo": counts.tocoo(),
        "unsorted": counts[:, ::-1][:, ::-1].tocsr(),
    }[kind]
    if kind == "unsorted":
        first = counts.copy()
        for d in range(counts.shape[0]):
            row = slice(first.indptr[d], first.indptr[d + 1])
            first.indices[row], first.data[row] = first.indices[row][::-1], first.data[row][::-1]
        given = sparse.csr_matrix((first.data, first.indices, first.indptr), shape=first.shape)
    before = [given.copy()] if kind == "dense" else [given.data.copy(), given.nnz]
    assert same(chib(given, topics, alpha, random_state=0), expected)
    after = [given] if kind == "dense" else [given.data, given.nnz]
    for x, y in zip(before, after, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(("estimator", "options"), ESTIMATORS)
def test_progress(estimator: Any, options: dict[str, Any]) -> None:
    """It rises to the number of documents."""
    counts, topics, alpha = problem()
    seen: list[tuple[int, int]] = []
    estimator(counts, topics, alpha, progress=lambda n, total: seen.append((n, total)), **options)
    assert seen[-1] == (30, 30)
    assert [n for n, _ in seen] == sorted(n for n, _ in seen)


def test_completion_of_given_halves() -> None:
    """The halves of split_tokens with the same seed give the same scores, theta too."""
    counts, topics, alpha = problem()
    whole = completion(counts, topics, alpha, random_state=3)
    observed, hidden = split_tokens(counts, 3)
    assert ((observed + hidden) - sparse.csr_array(counts)).nnz == 0
    given = completion(observed, topics, alpha, hidden=hidden)
    np.testing.assert_allclose(given.per_document, whole.per_document, rtol=1e-9)
    assert given.standard_error == 0.0 and whole.standard_error is None
    np.testing.assert_array_equal(given.n_tokens, hidden.sum(axis=1))
    theta = np.tile(alpha / alpha.sum(), (30, 1))
    prior = completion_from(theta, topics, hidden)
    expected = [
        n @ np.log(np.where(n > 0, t @ topics, 1.0))
        for n, t in zip(hidden.toarray(), theta, strict=True)
    ]
    np.testing.assert_allclose(prior.per_document, expected)
    assert prior.per_word < given.per_word or prior.per_word > given.per_word


def test_halves_are_uniform() -> None:
    """Each token is observed half of the time, each pair together as often as it should."""
    counts = np.tile([[1, 1, 1, 1]], (6000, 1))
    observed = split_tokens(counts, 0)[0].toarray()
    assert (observed.sum(axis=1) == 2).all()
    together = observed.T @ observed / 6000
    expected = np.where(np.eye(4, dtype=bool), 1 / 2, 1 / 6)
    assert np.abs(together - expected).max() < 4 * np.sqrt(0.25 / 6000)
