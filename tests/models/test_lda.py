"""LDA's own promises: priors, batches, beliefs, samples and the stochastic bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse, special

from tests.helpers import BACKENDS, DTYPES, counts_of, planted_lda, random_counts, snapshot
from trustream.evaluation import completion
from trustream.inference import batch as batch_vb
from trustream.inference import empirical_bayes, trust_region
from trustream.inference.state import State
from trustream.kernels.priors import reference
from trustream.models.lda import LazyRows, LdaModel, LdaPrior, sample_prior

K, V = 4, 30


@pytest.mark.parametrize(
    ("eta", "shape"),
    [(0.3, ()), (np.linspace(0.1, 1, V), (V,)), (np.linspace(0.1, 1, K * V).reshape(K, V), (K, V))],
    ids=["scalar", "per word", "seeded"],
)
def test_prior(eta: Any, shape: tuple[int, ...]) -> None:
    """A prior gives back what it was made of, its sums, and any words' part of it."""
    prior = LdaPrior.of([0.1, 0.2, 0.3, 0.4], eta, K, V)
    np.testing.assert_array_equal(prior.dense(), eta)
    assert prior.dense().shape == shape
    full = np.broadcast_to(eta, (K, V))
    np.testing.assert_allclose(prior.totals, full.sum(axis=1), rtol=1e-14)
    words = np.array([7, 3])
    np.testing.assert_array_equal(np.broadcast_to(prior.rows(words), (2, K)), full[:, words].T)


@pytest.mark.parametrize("n_topics", [1, K])
def test_given_arrays_are_not_written_to(n_topics: int) -> None:
    """Learning eta per word changes the prior in place, but not the arrays it was made from."""
    alpha, eta = np.full(n_topics, 0.2), np.linspace(0.1, 1, V)
    given = [eta, eta[np.newaxis].copy()] if n_topics == 1 else [eta]
    for each in given:
        before = snapshot([alpha, each])
        model = LdaModel(n_topics, V, eta_per_word=True)
        prior = LdaPrior.of(alpha, each, n_topics, V)
        state = State(model.initial(prior, np.random.default_rng(0)), prior)
        counts = random_counts(np.random.default_rng(1), 10, V, 8)
        batch = model.batch(counts, slice(None))
        options = {"rho": 0.5, "n_documents": 10, "n_inner": 2, "n_local": 3}
        state, info = trust_region.step(model, state, batch, **options)
        state = empirical_bayes.update(model, state, batch, [info.local], rho=0.5, rng=None)
        assert (state.prior.dense() != eta).any()
        assert snapshot([alpha, each]) == before


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_batches_are_their_rows(backend: str, kind: Any) -> None:
    """A slice, an array of rows in any order, rows twice: words and counts of those documents."""
    counts = kind(random_counts(np.random.default_rng(2), 20, V, 6, "real"))
    model = LdaModel(K, V, "float64", backend)
    for rows in (slice(None), slice(3, 9), slice(5, 5), np.array([4, 2, 2, 19]), np.arange(20)):
        batch = model.batch(counts, rows)
        expected = counts[rows].toarray()
        rebuilt = np.zeros(expected.shape)
        for d in range(batch.size):
            entries = slice(batch.indptr[d], batch.indptr[d + 1])
            rebuilt[d, batch.words[batch.ids[entries]]] = batch.counts[entries]
        np.testing.assert_array_equal(rebuilt, expected)
        np.testing.assert_allclose(batch.lengths, expected.sum(axis=1), rtol=1e-14)
        totals = expected.sum(axis=0)[batch.words]
        np.testing.assert_allclose(batch.word_counts, totals, rtol=1e-14)
        assert np.unique(batch.words).size == batch.n_words


def test_batch_of_wide_indices() -> None:
    """64-bit indices, as large sparse matrices have them, and integer counts."""
    counts = random_counts(np.random.default_rng(3), 9, V, 6)
    wide = counts.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    wide.data = wide.data.astype(np.int64)
    model = LdaModel(K, V)
    for rows in (slice(2, 7), np.array([5, 1])):
        assert snapshot(model.batch(wide, rows)) == snapshot(model.batch(counts, rows))


@pytest.mark.parametrize("dtype", DTYPES)
def test_initial(dtype: str) -> None:
    """Gamma(100, 0.01): mean 1 and standard deviation 0.1, to three standard errors."""
    model = LdaModel(50, 2000, dtype)
    lambda_ = model.initial(LdaPrior.of(0.1, 0.1, 50, 2000), np.random.default_rng(4))
    assert lambda_.stored.dtype == dtype
    np.testing.assert_allclose(lambda_.stored.mean(), 1, atol=3 * 0.1 / np.sqrt(1e5))
    np.testing.assert_allclose(lambda_.stored.std(), 0.1, rtol=3 / np.sqrt(2e5))
    np.testing.assert_allclose(lambda_.totals, lambda_.stored.sum(axis=0, dtype=np.float64))


def test_stochastic_bound_is_unbiased() -> None:
    """Over all batches, N/B times a batch's bound plus the global one averages to the full one."""
    counts, _ = planted_lda(np.random.default_rng(5), K, V, 24, 20, 0.3, 0.2)
    model = LdaModel(K, V, "float64")
    prior = LdaPrior.of(0.3, 0.2, K, V)
    state = State(model.initial(prior, np.random.default_rng(6)), prior)
    _, info = batch_vb.step(model, state, counts, [slice(None)], n_local=10)
    stochastic = []
    for rows in np.split(np.random.default_rng(7).permutation(24), 4):
        batch = model.batch(counts, rows)
        natural = model.restrict(state.lambda_, prior, batch)
        bound = model.local_bound(natural, prior, batch, info.local[0][rows]).sum()
        stochastic.append(24 / 6 * bound + model.global_bound(state.lambda_, prior))
    assert np.ptp(stochastic) > 1
    np.testing.assert_allclose(np.mean(stochastic), info.objective[0], rtol=1e-12)


def test_local_step_goes_on_from_where_it_was() -> None:
    """Five iterations, then five from there, are ten, bit for bit."""
    counts = random_counts(np.random.default_rng(8), 12, V, 8)
    model = LdaModel(K, V)
    prior = LdaPrior.of(0.3, 0.2, K, V)
    batch = model.batch(counts, slice(None))
    lambda_ = model.initial(prior, np.random.default_rng(0))
    natural = model.restrict(lambda_, prior, batch)
    start, _ = model.beliefs(prior, batch, None)
    once, s_once = model.local_step(natural, prior, batch, start, 10, 0.0)
    half, _ = model.local_step(natural, prior, batch, start, 5, 0.0)
    twice, s_twice = model.local_step(natural, prior, batch, half, 5, 0.0)
    assert snapshot(twice) == snapshot(once)
    assert snapshot(model.materialise(s_twice)) == snapshot(model.materialise(s_once))


def test_memory_order_of_beliefs_does_not_matter() -> None:
    """Evidence for alpha is a mean over documents, however gamma lies in memory."""
    model = LdaModel(K, V, "float64")
    prior = LdaPrior.of(0.3, 0.2, K, V)
    lambda_ = model.initial(prior, np.random.default_rng(0))
    gamma = np.random.default_rng(1).gamma(1.0, 1.0, (6, K)) + 0.1
    expected = (special.digamma(gamma) - special.digamma(gamma.sum(axis=1))[:, np.newaxis]).mean(0)
    for local in (gamma, np.asfortranarray(gamma)):
        evidence = model.prior_evidence(lambda_, prior, None, [local], None)["alpha"]
        np.testing.assert_allclose(evidence.mean_log, expected, rtol=1e-12)
        assert evidence.n_draws == 6


def test_unseen_words_have_their_prior() -> None:
    """After batch VB a word that never occurs has eta in every topic."""
    counts = counts_of([[0, 1, 2], [2, 3, 3], [0, 0]], 6)
    model = LdaModel(2, 6, "float64")
    prior = LdaPrior.of(0.3, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 2, 6)
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    state, _ = batch_vb.step(model, state, counts, [slice(None)], n_local=5)
    lambda_ = state.lambda_.dense(prior.pattern)
    np.testing.assert_array_equal(lambda_[4:], [[0.5, 0.5], [0.6, 0.6]])
    np.testing.assert_allclose(lambda_.sum(), 2 * 2.1 + 8)


def test_samples_follow_the_model() -> None:
    """Means of theta and of each topic are those of their priors; words come from theta beta."""
    rng = np.random.default_rng(9)
    seeds = np.vstack([np.linspace(1, 3, 8), np.linspace(3, 1, 8)])
    prior = LdaPrior.of([1.0, 3.0], seeds, 2, 8)
    draws = [sample_prior(prior, np.full(400, 50), 8, rng) for _ in range(200)]
    betas, thetas = (np.array([draw[i] for draw in draws]) for i in (0, 1))
    expected = seeds / seeds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(betas.mean(axis=0), expected, atol=0.025)
    np.testing.assert_allclose(thetas.mean(axis=(0, 1)), [0.25, 0.75], atol=0.005)
    for beta, theta, counts in draws[:5]:
        assert (counts.sum(axis=1) == 50).all() and counts.shape == (400, 8)
        mean = 50 * (theta @ beta)
        z = (counts.toarray() - mean) / np.sqrt(mean * (1 - mean / 50))
        # 3200 numbers of mean 0 and variance 1, nearly.
        assert abs(z.mean()) < 0.1 and 0.9 < z.std() < 1.1


@pytest.mark.parametrize("kind", ["scalar", "per word", "words of a batch"])
def test_evidence_is_the_part_of_the_bound_that_depends_on_the_prior(kind: str) -> None:
    """A change of alpha or eta changes the bound by `n_draws` times the change of the evidence."""
    rng = np.random.default_rng(10)
    counts = random_counts(rng, 12, V, 4)
    model = LdaModel(K, V, "float64", eta_per_word=kind != "scalar")
    prior = LdaPrior.of(0.3, 0.2, K, V)
    lambda_ = model.initial(prior, rng)
    batch = model.batch(counts, slice(0, 3 if kind == "words of a batch" else 12))
    natural = model.restrict(lambda_, prior, batch)
    gamma, _ = model.local_step(natural, prior, batch, model.beliefs(prior, batch, None)[0], 5, 0.0)
    given = batch if kind == "words of a batch" else None
    evidence = model.prior_evidence(lambda_, prior, given, [gamma], None)
    assert evidence["eta"].parameter.size < V or kind == "per word"

    def bound(changed: LdaPrior) -> float:
        local = model.local_bound(natural, changed, batch, gamma).sum()
        return float(local + model.global_bound(lambda_, changed))

    before = bound(prior)
    for name, e in evidence.items():
        new = e.parameter * rng.uniform(0.5, 2, e.parameter.size)
        rise = reference.dirichlet_evidence(new, *e[1:4])
        rise -= reference.dirichlet_evidence(*e[:4])
        lambda_, changed = model.replace_prior(lambda_, prior, given, {name: new})
        np.testing.assert_allclose(bound(changed) - before, e.n_draws * rise, rtol=1e-9)


def test_one_topic_or_word_gives_no_evidence() -> None:
    for n_topics, n_words, names in ((1, 5, {"eta"}), (3, 1, {"alpha"}), (1, 1, set())):
        model = LdaModel(n_topics, n_words)
        prior = LdaPrior.of(0.3, 0.2, n_topics, n_words)
        lambda_ = model.initial(prior, np.random.default_rng(0))
        gamma = np.ones((2, n_topics), np.float32)
        assert set(model.prior_evidence(lambda_, prior, None, [gamma], None)) == names


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_topics_without_tokens_leave_no_word_without_beliefs(backend: str) -> None:
    # What is shown of topics without tokens has sums of V eta, a hundredth of a token, beside
    # thousands. The third word is known to a topic alone that the document leaves.
    k, v, eta = 24, 40, 1e-5
    rows = np.full((v, k), eta)
    rows[:8, 0] = rows[8:16, 1] = rows[16:, 2] = 500.0
    lambda_ = LazyRows(rows.astype(np.float32), 1.0, 0.0, rows.sum(axis=0))
    model = LdaModel(k, v, max_doc_topics=k, backend=backend)
    prior = LdaPrior.of(0.045, eta, k, v)
    counts = np.zeros((1, v), int)
    counts[0, [0, 1, 2, 3, 8, 9, 10, 20]] = [3, 1, 1, 1, 2, 1, 1, 40]
    batch = model.batch(sparse.csr_array(counts), slice(None))
    natural = model.restrict(lambda_, prior, batch)
    start, _ = model.beliefs(prior, batch, None)
    gamma, statistics = model.local_step(natural, prior, batch, start, 50, 1e-4)
    assert np.isfinite(gamma).all()
    assert gamma.sum() == pytest.approx(0.045 * k + 50)
    assert model.materialise(statistics).rows.sum() == pytest.approx(50, rel=1e-5)
    tokens = gamma[0] - 0.045
    assert tokens[:3] == pytest.approx([6, 4, 40], abs=0.05)
    # The same bound as with numbers that have room for all of it.
    wide = LdaModel(k, v, dtype="float64", backend=backend)
    exact = wide.local_bound(
        wide.restrict(LazyRows(rows, 1.0, 0.0, rows.sum(axis=0)), prior, batch),
        prior, wide.batch(sparse.csr_array(counts), slice(None)), gamma.astype(np.float64),
    )  # fmt: skip
    assert model.local_bound(natural, prior, batch, gamma) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_words_and_not_alpha_choose_the_topic_of_a_short_document(backend: str) -> None:
    """One topic is twenty times as frequent, another makes each of four words ten times as likely.

    By Bayes' rule the odds of the second are about 10^4 / 20.
    """
    k, v = 50, 60
    rows = np.full((v, k), 10_000.0)
    rows[:4] = 1.0
    rows[:4, 7], rows[:4, 0] = 1000.0, 100.0
    alpha = np.full(k, 0.01)
    alpha[0] = 0.2
    prior = LdaPrior.of(alpha, 0.1, k, v)
    counts = sparse.csr_array(np.eye(1, v) + np.eye(1, v, 1) + np.eye(1, v, 2) + np.eye(1, v, 3))
    model = LdaModel(k, v, backend=backend, strides=True)
    batch = model.batch(counts, slice(None))
    natural = model.restrict(LazyRows.of(rows.astype(np.float32)), prior, batch)
    start, _ = model.beliefs(prior, batch, None)
    assert start == pytest.approx(np.full((1, k), (alpha.sum() + 4) / k))
    gamma, _ = model.local_step(natural, prior, batch, start, 50, 1e-4)
    assert gamma[0, 7] > 3.5 and gamma[0, 0] < 0.5
    topics = (rows / rows.sum(axis=0)).T
    given, hidden = counts, sparse.csr_array(np.eye(1, v, 3))
    score = completion(given, topics, alpha, hidden=hidden, backend=backend).per_word
    expected = (alpha + np.eye(k)[7] * 4) / (alpha.sum() + 4) @ topics[:, 3]
    assert score == pytest.approx(np.log(expected), abs=0.01)
