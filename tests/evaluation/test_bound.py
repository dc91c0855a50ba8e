"""The lower bound per word, and the topics' term apart from it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special

from tests.helpers import planted_lda
from trustream import LatentDirichletAllocation
from trustream.evaluation import bound


def test_one_topic_is_exact_up_to_the_topics_uncertainty() -> None:
    """With K = 1 there is nothing to infer: the term of a document is sum_w n_w E[log beta_w]."""
    rng = np.random.default_rng(0)
    lambda_ = rng.gamma(1.0, 2.0, (1, 6)) + 0.1
    counts = rng.poisson(1.0, (4, 6))
    expected = counts @ (special.digamma(lambda_[0]) - special.digamma(lambda_.sum()))
    found = bound(counts, lambda_, 0.3, 0.5)
    np.testing.assert_allclose(found.per_document, expected, rtol=1e-10)
    np.testing.assert_allclose(found.per_word, expected.sum() / counts.sum(), rtol=1e-10)
    np.testing.assert_allclose(found.perplexity, np.exp(-expected.sum() / counts.sum()))


def test_topics_term_is_a_divergence_and_does_not_depend_on_the_documents() -> None:
    rng = np.random.default_rng(1)
    lambda_ = rng.gamma(1.0, 2.0, (3, 8)) + 0.1
    eta = rng.gamma(1.0, 1.0, 8) + 0.1
    few, many = (bound(rng.poisson(1.0, (n, 8)) + 1, lambda_, 0.3, eta) for n in (2, 50))
    kl = 0.0
    for row in lambda_:
        kl += special.gammaln(row.sum()) - special.gammaln(row).sum()
        kl -= special.gammaln(eta.sum()) - special.gammaln(eta).sum()
        kl += (row - eta) @ (special.digamma(row) - special.digamma(row.sum()))
    assert few.topics == many.topics
    np.testing.assert_allclose(few.topics, -kl, rtol=1e-10)


def test_the_estimators_bound_is_the_same() -> None:
    """And its per-word figure is that of its own perplexity, whatever the topics cost."""
    counts, _ = planted_lda(np.random.default_rng(2), 3, 40, 60, 30, 0.2, 0.1)
    lda = LatentDirichletAllocation(3, dtype="float64", random_state=0).fit(counts)
    found = lda.bound(counts)
    arrays = bound(counts, lda.components_, lda.doc_topic_prior_, lda.topic_word_prior_)
    np.testing.assert_allclose(found.per_document, arrays.per_document, rtol=1e-3)
    np.testing.assert_allclose(found.topics, arrays.topics, rtol=1e-9)
    np.testing.assert_allclose(found.perplexity, lda.perplexity(counts), rtol=1e-9)
    total = found.per_document.sum() + found.topics
    np.testing.assert_allclose(total / counts.shape[0], lda.elbo(counts), rtol=1e-9)


def test_threads_change_nothing() -> None:
    counts, topics = planted_lda(np.random.default_rng(3), 3, 40, 60, 30, 0.2, 0.1)
    one, two = (bound(counts, 100 * topics + 0.1, 0.2, 0.1, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.per_document, two.per_document)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"counts": np.zeros((2, 3))}, "at least one word"),
        ({"counts": -np.ones((2, 3))}, "not negative"),
        ({"counts": np.ones((2, 4))}, "widths differ"),
        ({"counts": np.full((2, 3), 1e30)}, "document 0 of counts has 3e.30 tokens, at most"),
        ({"counts": np.full((2, 3), 1e-40)}, "the 2 documents of counts have 6e-40 words in all"),
        ({"lambda_": np.zeros((2, 3))}, "positive"),
        ({"lambda_": np.full((2, 3), np.inf)}, "positive and finite"),
        ({"alpha": np.nan}, "alpha must be positive"),
        ({"alpha": sparse.csr_array(np.ones((2, 3)))}, "sequence"),
        ({"eta": 0.0}, "eta must be positive"),
    ],
)
def test_bad_input(change: dict[str, object], message: str) -> None:
    good = {"counts": np.ones((2, 3)), "lambda_": np.ones((2, 3)), "alpha": 0.1, "eta": 0.1}
    with pytest.raises(ValueError, match=message):
        bound(**{**good, **change})
