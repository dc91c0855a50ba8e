"""A trainer's score is document completion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import planted_lda
from trustream import LatentDirichletAllocation
from trustream.evaluation import completion, completion_from, split_tokens
from trustream.models.lda import LdaModel
from trustream.streaming.lda.score import score


@pytest.fixture(scope="module")
def fitted() -> tuple[Any, Any]:
    counts, _ = planted_lda(np.random.default_rng(0), 12, 200, 500, 40, 0.1, 0.05)
    lda = LatentDirichletAllocation(15, random_state=0).fit(counts[:400])
    return lda, sparse.csr_array(counts[400:])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_is_the_completion_of_the_same_halves(fitted: tuple[Any, Any], dtype: str) -> None:
    lda, counts = fitted
    state = lda._shown
    # An empty document and one of a single word are left out.
    counts = counts.tolil()
    counts[0], counts[1] = 0, 0
    counts[1, 3] = 1
    counts = sparse.csr_array(counts)
    found = score(LdaModel(15, 200), state.lambda_, state.prior, counts, 7)
    topics = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    expected = completion(counts, topics, lda.doc_topic_prior_, random_state=7)
    assert found.per_word == pytest.approx(expected.per_word, abs=2e-4)
    assert found.n_tokens == expected.n_tokens.sum()
    assert found.n_documents == (expected.n_tokens > 0).sum() == 98
    _, hidden = split_tokens(counts, 7)
    totals = lda.components_.sum(axis=1, dtype=np.float64)
    frequency = (totals @ topics / totals.sum())[np.newaxis]
    alone = completion_from(np.ones((100, 1)), frequency, hidden)
    assert found.frequencies == pytest.approx(alone.per_word, abs=1e-6)
    assert found.gain > 0.3


def test_documents_without_two_words_have_no_score(fitted: tuple[Any, Any]) -> None:
    lda, _ = fitted
    counts = sparse.csr_array(np.eye(3, 200))
    assert score(LdaModel(15, 200), lda._state.lambda_, lda._state.prior, counts, 0) is None


def test_rare_words_of_large_models_are_scored() -> None:
    """Numbers far apart: no zero, no infinity."""
    counts = sparse.csr_array(np.tile(np.r_[1000, 1, np.zeros(998)].astype(int), (20, 1)))
    lda = LatentDirichletAllocation(30, random_state=0, topic_word_prior=1e-4).fit(counts)
    found = score(LdaModel(30, 1000), lda._state.lambda_, lda._state.prior, counts[:5], 0)
    assert found is not None and np.isfinite([found.per_word, found.frequencies]).all()
