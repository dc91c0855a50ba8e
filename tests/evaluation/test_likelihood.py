"""Estimators of held-out likelihood against exact values of tiny and of long documents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.evaluation import exact
from tests.helpers import Array
from trustream.evaluation import HeldOut, chib, importance, left_to_right
from trustream.evaluation.standard_errors import log_mean_exp

TOPICS = np.array([[0.6, 0.3, 0.05, 0.05], [0.1, 0.1, 0.4, 0.4], [0.05, 0.05, 0.1, 0.8]])
DOCUMENTS = np.array([[2, 1, 0, 1], [0, 0, 3, 4], [0, 0, 0, 0], [1, 0, 0, 0], [3, 0, 1, 4]])
ALPHA = np.array([0.6, 1.2, 0.8])


def tiny(n_topics: int) -> tuple[Array, Array, Array, Array]:
    """Documents, topics, alpha and exact log-likelihoods."""
    topics, alpha = TOPICS[:n_topics], ALPHA[:n_topics]
    truth = [exact.enumerated(n, topics, alpha) for n in DOCUMENTS]
    return DOCUMENTS, topics, alpha, np.array(truth)


def long_document(n_tokens: int = 200) -> tuple[Array, Array, Array, float]:
    """One document about both of two topics, and its exact log-likelihood.

    The prior is for one topic or the other: few draws from it are near the document.
    """
    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(60, 0.3), size=2) + 1e-4
    topics /= topics.sum(axis=1, keepdims=True)
    alpha = np.array([2e-3, 1e-3])
    counts = rng.multinomial(n_tokens, np.array([0.55, 0.45]) @ topics)
    return counts[None, :], topics, alpha, exact.by_numbers(counts, topics, alpha)


def repeated(estimator: Any, n: int, *args: Any, **options: Any) -> tuple[Array, Array]:
    """Mean and standard error of exp(estimate - truth) over n copies of each document.

    Copies have streams of their own. The last of args is the truth.
    """
    counts, topics, alpha, truth = args
    result = estimator(np.repeat(counts, n, axis=0), topics, alpha, random_state=1, **options)
    ratio = np.exp(result.per_document.reshape(counts.shape[0], n) - np.reshape(truth, (-1, 1)))
    return ratio.mean(axis=1), ratio.std(axis=1, ddof=1) / np.sqrt(n)


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_the_exact_values_agree(n_topics: int) -> None:
    """The oracles are right: three ways to the same number."""
    counts, topics, alpha, truth = tiny(n_topics)
    for n, value in zip(counts, truth, strict=True):
        if n_topics == 1:
            assert np.isclose(value, n @ np.log(topics[0]))
        elif n_topics == 2:
            assert np.isclose(value, exact.by_numbers(n, topics, alpha))
            assert np.isclose(value, exact.by_quadrature(n, topics, alpha))
    long, topics, alpha, value = long_document()
    assert np.isclose(value, exact.by_quadrature(long[0], topics, alpha))


UNBIASED: list[tuple[Any, dict[str, Any]]] = [
    (chib, {"n_iter": 1, "n_burn": 0, "n_repeats": 1}),
    (chib, {"n_iter": 2, "n_burn": 1, "n_repeats": 1}),
    (chib, {"n_iter": 5, "n_burn": 3, "n_repeats": 2}),
    (left_to_right, {"n_particles": 1, "unbiased": True}),
    (left_to_right, {"n_particles": 3, "unbiased": True}),
    (left_to_right, {"n_particles": 2, "unbiased": True, "n_resampled": 0}),
    (left_to_right, {"n_particles": 2, "unbiased": True, "n_resampled": 2}),
    (importance, {"n_samples": 2}),
]


@pytest.mark.parametrize("n_topics", [2, 3])
@pytest.mark.parametrize(("estimator", "options"), UNBIASED)
def test_unbiased_whatever_the_effort(
    estimator: Any, options: dict[str, Any], n_topics: int
) -> None:
    """The mean of p_hat / p is 1 within four standard errors, however little work goes in."""
    mean, error = repeated(estimator, 20_000, *tiny(n_topics), **options)
    assert (np.abs(mean - 1) < 4 * error + 1e-9).all()
    assert error.max() < 0.03


def test_plain_left_to_right_is_biased() -> None:
    """Its mean is too high by a percent on tiny documents, and 20 particles do not help.

    The negative control of the test above: so many copies do tell a bias.
    """
    mean, error = repeated(left_to_right, 12_000, *tiny(3), n_particles=20)
    assert np.abs(mean - 1).max() < 0.05
    assert ((mean - 1)[[1, 4]] > 5 * error[[1, 4]]).all()


def test_long_document() -> None:
    """200 tokens: chib and left to right come close, sampling from the prior does not.

    Errors of 40 copies, root of the mean square, in nats per document: they fall as effort grows,
    but not those of plain left to right, which stay at several standard errors.
    """
    counts, topics, alpha, truth = long_document()
    many = np.repeat(counts, 40, axis=0)

    def error(estimator: Any, **options: Any) -> tuple[float, float]:
        result = estimator(many, topics, alpha, random_state=0, **options)
        difference = result.per_document - truth
        claimed = np.inf if result.variance is None else np.sqrt(result.variance.mean())
        return float(np.sqrt((difference**2).mean())), float(claimed)

    little, _ = error(chib, n_iter=2, n_repeats=1)
    much, claimed = error(chib)
    assert 4 * much < little and much < 0.2 and much < 2 * claimed
    little, _ = error(left_to_right, n_particles=2, unbiased=True)
    much, claimed = error(left_to_right, n_particles=50, unbiased=True)
    few, _ = error(left_to_right, n_particles=50, unbiased=True, n_resampled=2)
    assert 4 * much < little and much < 4.0 and much < 2 * claimed
    assert much < few < little
    plain, claimed = error(left_to_right, n_particles=50)
    assert 3.0 < plain < 10.0 and plain > 2.5 * claimed
    control, _ = error(importance, n_samples=1000)
    assert control > 20.0


@pytest.mark.parametrize("estimator", [chib, left_to_right, importance])
def test_standard_error_is_what_the_seed_changes(estimator: Any) -> None:
    """The spread over 60 seeds agrees with the standard error that one of them reports."""
    counts, topics, alpha, _ = tiny(3)
    options = {"unbiased": True} if estimator is left_to_right else {}
    results = [estimator(counts, topics, alpha, random_state=i, **options) for i in range(60)]
    spread = np.std([r.per_word for r in results], ddof=1)
    claimed = np.sqrt(np.mean([r.standard_error**2 for r in results]))
    assert 0.6 < spread / claimed < 1.6


def test_plain_left_to_right_standard_error() -> None:
    """Tiny documents only: it leaves out the order of the tokens, which matters in longer ones."""
    counts, topics, alpha, _ = tiny(3)
    results = [left_to_right(counts, topics, alpha, random_state=i) for i in range(60)]
    spread = np.std([r.per_word for r in results], ddof=1)
    claimed = np.sqrt(np.mean([r.standard_error**2 for r in results]))  # type: ignore[operator]
    assert 0.6 < spread / claimed < 1.6


@pytest.mark.parametrize("estimator", [chib, left_to_right, importance])
def test_one_topic_is_exact(estimator: Any) -> None:
    counts, topics, _, truth = tiny(1)
    result = estimator(counts, topics, 1e-3, random_state=0)
    np.testing.assert_allclose(result.per_document, truth, rtol=1e-12)
    assert result.standard_error < 1e-10
    assert result.per_document[2] == 0.0 and result.n_tokens[2] == 0


def test_standard_error_over_documents() -> None:
    """That of a ratio of sums: the spread over many samples of documents is what is claimed."""
    rng = np.random.default_rng(0)
    n_tokens = rng.integers(1, 50, size=(400, 100))
    values = -2.0 * n_tokens + np.sqrt(n_tokens) * rng.normal(size=n_tokens.shape)
    results = [HeldOut("test", v, n, None) for v, n in zip(values, n_tokens, strict=True)]
    spread = np.std([r.per_word for r in results])
    claimed = np.mean([r.standard_error_documents for r in results])  # type: ignore[arg-type]
    assert 0.85 < spread / claimed < 1.15
    one = HeldOut("test", values[0, :1], n_tokens[0, :1], None)
    assert one.standard_error_documents is None and one.standard_error is None
    assert "±" not in repr(one)


def test_log_mean_exp_and_its_jackknife() -> None:
    """By definition, also where one value outweighs the others beyond what numbers can hold."""
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=(20, 7)), np.zeros((1, 7))])
    mean, variance = log_mean_exp(values)
    left_out = np.log((np.exp(values).sum(axis=1, keepdims=True) - np.exp(values)) / 6)
    np.testing.assert_allclose(mean, np.log(np.exp(values).mean(axis=1)), atol=1e-14)
    np.testing.assert_allclose(variance, 6 * left_out.var(axis=1), rtol=1e-9, atol=1e-14)
    mean, variance = log_mean_exp(np.array([[-1e4, -9e3], [-np.inf, 0.0], [-np.inf, -np.inf]]))
    np.testing.assert_allclose(mean, [-9e3 - np.log(2), -np.log(2), -np.inf])
    np.testing.assert_allclose(variance, [1e6 / 4, np.inf, np.inf])
    assert log_mean_exp(np.zeros((2, 1)))[1] is None


@pytest.mark.slow
def test_much_effort_on_a_long_document() -> None:
    """1,000 tokens: both unbiased estimators come within four standard errors of the truth."""
    counts, topics, alpha, truth = long_document(1000)
    for result in (
        chib(counts, topics, alpha, n_iter=2000, n_repeats=20, random_state=0),
        left_to_right(counts, topics, alpha, n_particles=500, unbiased=True, random_state=0),
    ):
        assert result.variance is not None
        error = float(np.sqrt(result.variance[0]))
        assert abs(result.per_document[0] - truth) < 4 * error and error < 2.0
