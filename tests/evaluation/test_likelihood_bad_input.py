"""What cannot be scored is refused with a reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from trustream.evaluation import (
    chib,
    completion,
    completion_from,
    importance,
    left_to_right,
    split_tokens,
)

TOPICS = np.array([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25]])
COUNTS = np.array([[1, 2, 0], [0, 1, 3]])
NO_WORD = np.array([[0.5, 0.5, 0.0], [0.75, 0.25, 0.0]])

BAD: list[tuple[str, Any, Any, Any]] = [
    ("3 words and topics has 2", COUNTS, [[0.5, 0.5]], 0.1),
    ("must sum to 1, but row 1 sums to 2", COUNTS, TOPICS * [[1], [2]], 0.1),
    ("negative entries, in row 1", COUNTS, [[1, 0, 0], [1.5, -0.5, 0]], 0.1),
    ("topics has NaN", COUNTS, [[np.nan, 0, 0], [1, 0, 0]], 0.1),
    ("two dimensions", COUNTS, [0.5, 0.5], 0.1),
    ("two dimensions", COUNTS, np.empty((0, 3)), 0.1),
    ("whole numbers, got 0.5", [[0.5, 0, 1]], TOPICS, 0.1),
    ("negative entries", [[-1, 0, 1]], TOPICS, 0.1),
    ("counts has entries that are NaN", [[np.nan, 0, 1]], TOPICS, 0.1),
    ("matrix of numbers", [["a", "b", "c"]], TOPICS, 0.1),
    ("matrix of numbers", np.ones((2, 2, 3)), TOPICS, 0.1),
    ("document 1 of counts has 1e.30 tokens", [[1, 0, 1], [0, 1e30, 0]], TOPICS, 0.1),
    ("document 0 of counts has .* 2.53", np.full((1, 3), 2**62), TOPICS, 0.1),
    ("document 0 of counts has .* 2.53", np.full((1, 3), 2**63 + 5, np.uint64), TOPICS, 0.1),
    ("counts has 9.22337e.18 tokens", np.tile([2**53, 0, 0], (1024, 1)), TOPICS, 0.1),
    ("nothing to score", np.zeros((2, 3)), TOPICS, 0.1),
    ("nothing to score", sparse.csr_matrix((0, 3)), TOPICS, 0.1),
    ("alpha must be positive", COUNTS, TOPICS, 0.0),
    ("alpha must be positive", COUNTS, TOPICS, [0.1, np.nan]),
    ("each of the 2 topics", COUNTS, TOPICS, [0.1, 0.1, 0.1]),
    ("word 2 occurs, but every topic", COUNTS, NO_WORD, 0.1),
]


@pytest.mark.parametrize("estimator", [chib, left_to_right, importance, completion])
@pytest.mark.parametrize(("message", "counts", "topics", "alpha"), BAD)
def test_bad_input(estimator: Any, message: str, counts: Any, topics: Any, alpha: Any) -> None:
    with pytest.raises(ValueError, match=message):
        estimator(counts, topics, alpha)


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (chib, {"n_iter": 0}),
        (chib, {"n_burn": -1}),
        (chib, {"n_repeats": 1.5}),
        (chib, {"max_document_tokens": 0}),
        (left_to_right, {"max_document_tokens": 1.5}),
        (left_to_right, {"n_particles": 0}),
        (left_to_right, {"n_resampled": -1}),
        (importance, {"n_samples": 0}),
        (completion, {"n_repeats": 0}),
        (completion, {"n_iter": 0}),
        (chib, {"n_jobs": 0}),
        (chib, {"backend": "fortran"}),
    ],
)
def test_bad_options(estimator: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        estimator(COUNTS, TOPICS, 0.1, **options)


@pytest.mark.parametrize(("estimator", "most"), [(chib, 1_000_000), (left_to_right, 100_000)])
def test_documents_too_long_to_walk_through(estimator: Any, most: int) -> None:
    """A count of 2^31 - 1 would take hours and tens of gigabytes; the limit can be changed."""
    for long in (most + 1, 2**31 - 1, 2**52):
        with pytest.raises(ValueError, match=rf"document 1 .* {long:,} tokens.*={most:,}: split"):
            estimator([[1, 2, 0], [0, long, 0]], TOPICS, 0.1)
    with pytest.raises(ValueError, match="more than max_document_tokens=3"):
        estimator(COUNTS, TOPICS, 0.1, max_document_tokens=3)
    assert estimator(COUNTS, TOPICS, 0.1, max_document_tokens=4).n_tokens.tolist() == [3, 4]


def test_importance_takes_documents_of_any_length() -> None:
    """And their tokens are added without a loss of digits."""
    result = importance([[2**52, 1, 0]], TOPICS, 0.1, n_samples=5, random_state=0)
    assert result.n_tokens.tolist() == [2**52 + 1] and np.isfinite(result.per_word)


@pytest.mark.parametrize("estimator", [chib, left_to_right, importance, completion])
def test_what_stands_at_one_place_counts_together(estimator: Any) -> None:
    """In any order, and a half and a half are a whole."""
    parts = sparse.csr_array((2, 3))
    parts.data = np.array([2.5, 0.5, 1.0, -0.5, -0.5, 1.0])
    parts.indices, parts.indptr = np.array([1, 0, 0, 0, 1, 1]), np.array([0, 5, 6])
    whole = np.array([[1, 2, 0], [0, 1, 0]])
    found = estimator(parts, TOPICS, 0.1, random_state=0).per_document
    np.testing.assert_array_equal(found, estimator(whole, TOPICS, 0.1, random_state=0).per_document)
    assert parts.data.tolist() == [2.5, 0.5, 1.0, -0.5, -0.5, 1.0]


def test_bad_halves() -> None:
    with pytest.raises(ValueError, match="same documents"):
        completion(COUNTS, TOPICS, 0.1, hidden=COUNTS[:1])
    with pytest.raises(ValueError, match="hidden has 2 documents and no tokens"):
        completion(COUNTS, TOPICS, 0.1, hidden=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="two tokens"):
        completion([[1, 0, 0]], TOPICS, 0.1)
    with pytest.raises(ValueError, match="theta must be documents x topics"):
        completion_from([[0.5, 0.5]], TOPICS, COUNTS)
    with pytest.raises(ValueError, match="rows of theta"):
        completion_from([[0.5, 0.6]] * 2, TOPICS, COUNTS)
    with pytest.raises(ValueError, match="whole numbers"):
        split_tokens([[0.5]])


def test_words_that_do_not_occur_may_be_impossible() -> None:
    """Stored zeros too; and nothing is NaN at the edges of what numbers can hold."""
    counts = sparse.csr_matrix(([1, 2, 0], [0, 1, 2], [0, 3]), shape=(1, 3))
    topics = np.array([[1e-300, 1.0, 0.0], [1.0, 1e-300, 0.0]])
    for estimator in (chib, left_to_right, completion):
        for alpha in (1e-30, 1e-5, 1e10):
            result = estimator(counts, topics, alpha, random_state=0)  # type: ignore[operator]
            assert np.isfinite(result.per_document).all()
            assert result.standard_error is None or not np.isnan(result.standard_error)


def test_float32_topics_are_divided_by_their_sums() -> None:
    result = chib(COUNTS, TOPICS.astype(np.float32) * np.float32(1.0005), 0.1, random_state=0)
    np.testing.assert_allclose(
        result.per_document, chib(COUNTS, TOPICS, 0.1, random_state=0).per_document, rtol=1e-6
    )
