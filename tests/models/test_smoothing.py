"""How much what is shown is smoothed, by leaving documents out: against plain loops and grids."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import DTYPES, Array, planted_lda
from trustream import LatentDirichletAllocation
from trustream.evaluation import completion
from trustream.models.lda import LazyRows, LdaModel, LdaPrior, smoothing
from trustream.models.lda.smoothing import LeftOut, best_eta, left_out

V, K = 12, 3


def documents() -> sparse.csr_matrix:
    """Eight, of which the first and one in the middle are empty, and one has one word."""
    counts = np.random.default_rng(0).poisson(0.7, (8, V)).astype(float)
    counts[[0, 5]] = 0
    counts[3] = 0
    counts[3, 4] = 5
    return sparse.csr_matrix(counts)


def learned(
    model: LdaModel, prior: LdaPrior, counts: Any, n_passes: int = 30
) -> tuple[LazyRows, Array]:
    """lambda = eta + counts n_vk, and n_vk, made by these documents."""
    lambda_ = model.initial(prior, np.random.default_rng(1))
    batch = model.batch(counts, slice(None))
    for _ in range(n_passes):
        natural = model.restrict(lambda_, prior, batch)
        gamma, _ = model.beliefs(prior, batch, None)
        _, statistics = model.local_step(natural, prior, batch, gamma, 100, 0.0)
        total = model.add_statistics(model.zero_statistics(), batch, statistics)
        lambda_ = model.posterior(prior, total)
    return lambda_, lambda_.dense(prior.pattern) - prior.rows(slice(None))


def sampled(
    model: LdaModel, lambda_: LazyRows, prior: LdaPrior, batch: Any, weight: float
) -> LeftOut:
    """`left_out` with tokens of theta that are always the same."""
    return left_out(model, lambda_, prior, batch, weight, np.random.default_rng(7))


def slow_log_likelihood(
    counts: Array, hidden: Array, n: Array, old_eta: Array, theta: Array, eta: Array, weight: float
) -> float:
    """Each document is taken out of n_vk, and its hidden tokens predicted with eta (V,)."""
    value = 0.0
    topics = (n + old_eta[:, np.newaxis]) / (n + old_eta[:, np.newaxis]).sum(axis=0)
    for d in range(counts.shape[0]):
        others = n.copy()
        for v in np.flatnonzero(counts[d]):
            phi = theta[d] * topics[v]
            phi /= phi.sum()
            for k in range(n.shape[1]):
                others[v, k] = max(0.0, n[v, k] - weight * counts[d, v] * phi[k])
        sums = others.sum(axis=0)
        for v in np.flatnonzero(counts[d]):
            predicted = 0.0
            for k in range(n.shape[1]):
                predicted += theta[d, k] * (others[v, k] + eta[v]) / (sums[k] + eta.sum())
            value += hidden[d, v] * np.log(predicted)
    return value


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["one eta", "eta of words", "other shift"])
@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_against_a_loop(weight: float, kind: str, dtype: str) -> None:
    """Documents are left out one by one, in plain loops."""
    eta = np.random.default_rng(2).uniform(0.05, 0.3, V) if kind == "eta of words" else 0.1
    prior = LdaPrior.of([0.2, 0.4, 0.3], eta, K, V)
    counts, model = documents(), LdaModel(K, V, dtype)
    lambda_, n = learned(model, prior, counts)
    if kind == "other shift":
        # eta was another one when lambda was learned.
        prior = replace(prior, eta=0.03)
    rtol = 1e-5 if dtype == "float32" else 1e-10
    batch = model.batch(counts, slice(None))
    sample = sampled(model, lambda_, prior, batch, weight)
    hidden = np.zeros((8, V))
    hidden[sample.documents, batch.words[batch.ids]] = sample.counts
    assert 0 < hidden.sum() < counts.sum() and (hidden <= counts.toarray()).all()
    pattern = np.broadcast_to(prior.pattern[:, 0], V)
    for eta in (0.003, 0.1, 2.0):
        expected = slow_log_likelihood(
            counts.toarray(),
            hidden,
            n,
            lambda_.shift * pattern,
            sample.theta,
            eta * pattern,
            weight,
        )
        assert sample.log_likelihood(eta) == pytest.approx(expected, rel=rtol)
    # theta is that of a local step, and a document without words has the prior's.
    np.testing.assert_allclose(sample.theta.sum(axis=1), 1.0)
    np.testing.assert_allclose(sample.theta[[0, 5]], np.array([[0.2, 0.4, 0.3]] * 2) / 0.9)
    # Words and sums agree: nothing is left out of one and not of the other.
    n = n.astype(np.float64)
    for d in range(8):
        pairs = sample.documents == d
        gone = n[batch.words[batch.ids[pairs]]] - sample.rows[pairs]
        left = n.sum(axis=0) - gone.sum(axis=0)
        np.testing.assert_allclose(left, sample.sums[d], rtol=rtol, atol=rtol)


def test_leaving_out_matters() -> None:
    """The negative control: with all documents in the counts, next to no eta seems best."""
    counts, _ = planted_lda(np.random.default_rng(0), 5, 200, 60, 30, 0.2, 0.05)
    model, prior = LdaModel(5, 200), LdaPrior.of(0.2, 0.1, 5, 200)
    lambda_, _ = learned(model, prior, counts)
    batch = model.batch(counts, slice(None))
    out = best_eta(sampled(model, lambda_, prior, batch, 1.0), 0.1)
    kept = best_eta(sampled(model, lambda_, prior, batch, 1e-9), 0.1)
    assert kept < 1e-4 < 1e-3 < out


@pytest.mark.parametrize("seed", range(4))
def test_the_best_eta_of_a_grid(seed: int) -> None:
    """2,000 values, 0.7 % apart; the search is for 5 % and loses next to nothing."""
    rng = np.random.default_rng(seed)
    counts, _ = planted_lda(rng, 5, 200, [20, 30, 60, 100][seed], 30, 0.2, 0.05)
    model, prior = LdaModel(5, 200), LdaPrior.of(0.2, 0.1, 5, 200)
    lambda_, _ = learned(model, prior, counts)
    sample = sampled(model, lambda_, prior, model.batch(counts, slice(None)), 1.0)
    grid = np.geomspace(1e-5, 10, 2000)
    values = [sample.log_likelihood(float(eta)) for eta in grid]
    best = int(np.argmax(values))
    found = best_eta(sample, 0.1)
    assert 0 < best < 1999
    assert found == pytest.approx(grid[best], rel=0.06)
    assert sample.log_likelihood(found) > values[best] - 1e-3 * abs(values[best])


def test_a_topic_of_one_document() -> None:
    """What it put in is all there is: without it the topic knows nothing, and no more than that.

    Topic 0 is document 0, whose words no other has. Left out, words and sums of the topic are both
    zero, and it predicts 1/V; a sum that went below zero would make its words likelier than that.
    """
    counts = np.zeros((4, V))
    counts[0, :3] = [4, 2, 1]
    counts[1:, 3:] = np.random.default_rng(3).poisson(2.0, (3, V - 3))
    prior = LdaPrior.of(0.01, 0.1, 2, V)
    for dtype in DTYPES:
        model = LdaModel(2, V, dtype)
        n = np.zeros((V, 2))
        n[:, 0], n[:, 1] = counts[0], counts[1:].sum(axis=0)
        lambda_ = model.posterior(prior, n.astype(dtype))
        # Totals that are kept from step to step are off by rounding.
        lambda_ = replace(lambda_, totals=lambda_.totals * (1 - 1e-5))
        batch = model.batch(sparse.csr_matrix(counts), slice(None))
        # More than is there is never taken out, whatever the weight.
        for weight in (1.0, 3.0, 1e6):
            sample = sampled(model, lambda_, prior, batch, weight)
            assert sample.theta[0, 0] > 0.99
            n_hidden = sample.counts[:3].sum()
            assert 0 < n_hidden < 7
            np.testing.assert_allclose(sample.rows[:3, 0], 0, atol=0.1)
            np.testing.assert_allclose(sample.sums[0, 0], sample.rows[:3, 0].sum(), atol=1e-6)
            assert (sample.rows >= 0).all() and (sample.sums >= 0).all()
            for d in range(4):
                mine = sample.rows[sample.documents == d].sum(axis=0, dtype=np.float64)
                assert (sample.sums[d] >= mine * (1 - 1e-6)).all()
            # A probability that is no more than what the topic's words have left.
            shorter = {name: getattr(sample, name)[:3] for name in ("documents", "counts", "rows")}
            alone = sample._replace(**shorter, pattern=sample.pattern[:3])
            for eta in (1e-5, 0.1, 10.0):
                assert alone.log_likelihood(eta) < n_hidden * np.log(0.5)
                assert np.isfinite(sample.log_likelihood(eta))


def test_documents_without_words() -> None:
    """They say nothing; a sample of them alone leaves eta as it was."""
    prior, counts = LdaPrior.of(0.2, 0.1, K, V), documents()
    model = LdaModel(K, V, "float64")
    lambda_, _ = learned(model, prior, counts)
    samples = [
        sampled(model, lambda_, prior, model.batch(counts, rows), 1.0)
        for rows in (slice(None), np.array([1, 2, 3, 4, 6, 7]), np.array([0, 5]))
    ]
    for eta in (0.01, 1.0):
        assert samples[0].log_likelihood(eta) == pytest.approx(samples[1].log_likelihood(eta))
        assert samples[2].log_likelihood(eta) == 0
    assert best_eta(samples[2], 0.37) == 0.37
    # Likewise of a matrix without any words.
    rng, empty = np.random.default_rng(0), sparse.csr_matrix((3, V))
    assert model.smoothing(lambda_, prior, empty, 1.0, 0.37, rng) == 0.37
    assert model.smoothing(lambda_, prior, empty, 1.0, None, rng) is None


def test_few_documents_move_eta_a_little() -> None:
    """By the part of a sample that they are, on the scale of log eta."""
    counts, _ = planted_lda(np.random.default_rng(0), K, V, 40, 10, 0.2, 0.1)
    prior, model = LdaPrior.of(0.2, 0.5, K, V), LdaModel(K, V)
    lambda_, _ = learned(model, prior, counts)
    rng = np.random.default_rng(0)
    rng.choice(40, 40, replace=False)  # the documents of the sample: all of them
    batch = model.batch(counts, slice(None))
    sample = left_out(model, lambda_, prior, batch, 1.0, rng)
    found = model.smoothing(lambda_, prior, counts, 1.0, None, np.random.default_rng(0))
    share = min(1.0, 1 / smoothing.sample_share(K, counts.nnz))
    assert share < 0.02
    assert found == pytest.approx(0.5 * (best_eta(sample, 0.5) / 0.5) ** share)
    # From where it was, if there is such a value.
    again = model.smoothing(lambda_, prior, counts, 1.0, 0.2, np.random.default_rng(0))
    assert again == pytest.approx(0.2 * (best_eta(sample, 0.5) / 0.2) ** share)


def test_what_is_not_smoothed() -> None:
    """Seeded topics, etas that are learned for each word, and one word."""
    counts, rng = documents(), np.random.default_rng(0)
    for model, eta in (
        (LdaModel(K, V), np.full((K, V), 0.1)),
        (LdaModel(K, V, eta_per_word=True), 0.1),
        (LdaModel(K, 1), 0.1),
    ):
        prior = LdaPrior.of(0.1, eta, K, model.n_words)
        lambda_ = model.initial(prior, rng)
        assert model.smoothing(lambda_, prior, counts[:, : model.n_words], 1.0, None, rng) is None


def test_smoothed_changes_the_priors_part_only() -> None:
    prior, model = LdaPrior.of(0.2, np.linspace(0.1, 0.3, V), K, V), LdaModel(K, V, "float64")
    lambda_, n = learned(model, prior, documents())
    before = lambda_.dense(prior.pattern)
    shown, new = model.smoothed(lambda_, prior, 0.25)
    np.testing.assert_allclose(
        shown.dense(new.pattern), n + 0.25 * prior.pattern, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_allclose(shown.totals, shown.dense(new.pattern).sum(axis=0), rtol=1e-12)
    assert new.eta == 0.25 and prior.eta == 1.0
    np.testing.assert_array_equal(lambda_.dense(prior.pattern), before)


# --- what it is for


def score(lda: Any, counts: Any) -> float:
    """Of held-out documents, in nats a word."""
    topics = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    return completion(counts, topics, lda.doc_topic_prior_, random_state=0).per_word


@pytest.mark.parametrize(
    ("n_documents", "n_topics", "n_words", "gain"),
    [(100, 20, 500, 0.003), (300, 40, 1000, 0.005), (2000, 10, 200, -0.002)],
)
def test_documents_that_were_held_out(
    n_documents: int, n_topics: int, n_words: int, gain: float
) -> None:
    """With few documents they are predicted better than by the eta of empirical Bayes, and with
    many not worse: on average over seeds, of which one or the other may lose a little."""
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        counts, _ = planted_lda(rng, n_topics, n_words, n_documents + 300, 50, 0.1, 0.02)
        lda = LatentDirichletAllocation(n_topics, random_state=seed).fit(counts[:n_documents])
        state = lda._state
        assert lda.topic_word_prior_ == state.smoothing < 0.95 * state.prior.eta
        shown = score(lda, counts[n_documents:])
        lda._state = replace(state, smoothing=None)
        assert lda.topic_word_prior_ == state.prior.eta
        gains.append(shown - score(lda, counts[n_documents:]))
    assert np.mean(gains) > gain


@pytest.mark.parametrize(
    ("learn", "eta"),
    [(False, 0.3), ("alpha", 0.3), (False, "of words"), ("alpha", "of words"), (True, "of words")],
)
def test_a_given_eta_stays(learn: Any, eta: Any) -> None:
    """Also one for each word where priors are learned, which none of them is as a whole."""
    counts, _ = planted_lda(np.random.default_rng(0), K, 40, 200, 20, 0.2, 0.1)
    given = np.linspace(0.1, 0.4, 40) if eta == "of words" else eta
    options: dict[str, Any] = {"learn_priors": learn, "topic_word_prior": given, "random_state": 0}
    for method in ("trust-region", "batch", "memoized"):
        lda = LatentDirichletAllocation(K, learning_method=method, **options).fit(counts)
        np.testing.assert_array_equal(lda.topic_word_prior_, given)
        assert lda._state.smoothing is None and lda._state.population is not None
    lda = LatentDirichletAllocation(K, **options)
    for _ in range(4):
        lda.partial_fit(counts[:50])
        np.testing.assert_array_equal(lda.topic_word_prior_, given)


def test_seeded_topics_are_learned_from_the_documents_that_there_are() -> None:
    """Neither a population nor smoothing, also when priors are learned."""
    counts, topics = planted_lda(np.random.default_rng(0), K, 40, 200, 20, 0.2, 0.1)
    seeds = 0.05 + topics
    for learn in (True, False):
        lda = LatentDirichletAllocation(
            K, topic_word_prior=seeds, learn_priors=learn, random_state=0
        ).fit(counts)
        for _ in range(2):
            np.testing.assert_array_equal(lda.topic_word_prior_, seeds)
            assert (lda._state.population, lda._state.smoothing) == (None, None)
            lda.partial_fit(counts[:50])
    # A population that is asked for is taken, and what is shown is not smoothed.
    lda = LatentDirichletAllocation(K, topic_word_prior=seeds, population=1000).fit(counts)
    assert (lda._state.population, lda._state.smoothing) == (1000, None)
    np.testing.assert_array_equal(lda.topic_word_prior_, seeds)


@pytest.mark.parametrize(
    "options",
    [{"population": None}, {"learn_priors": False}, {"learning_method": "streaming-vb"}],
)
@pytest.mark.parametrize("how", ["fit", "partial_fit"])
def test_smoothing_ends_where_nothing_is_smoothed(options: Any, how: str) -> None:
    """What is shown has the eta that is learned again, or that was learned last."""
    counts, _ = planted_lda(np.random.default_rng(0), K, 40, 200, 20, 0.2, 0.1)
    lda = LatentDirichletAllocation(K, random_state=0, warm_start=True).fit(counts)
    assert lda._state.smoothing is not None
    getattr(lda.set_params(**options), how)(counts)
    assert lda._state.smoothing is None
    assert lda.topic_word_prior_ == pytest.approx(lda._state.prior.eta)
