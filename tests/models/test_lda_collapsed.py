"""The collapsed local step: EM for the posterior mode, and priors that do not run away."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse, special

from tests.helpers import planted_lda
from trustream.estimators import LatentDirichletAllocation
from trustream.inference import empirical_bayes, memoized
from trustream.inference.state import State
from trustream.models.lda import CollapsedLdaModel, LazyRows, LdaModel, LdaPrior

N_TOPICS, N_WORDS = 3, 12


def setting() -> tuple:
    """(model, prior, lambda, batch, natural, gamma) of a few documents with all words."""
    rng = np.random.default_rng(0)
    counts = sparse.csr_matrix(rng.poisson(1.0, (8, N_WORDS)).astype(float) + np.eye(8, N_WORDS, 4))
    model = CollapsedLdaModel(N_TOPICS, N_WORDS, dtype="float64")
    prior = LdaPrior.of(np.array([0.2, 0.5, 1.1]), np.float64(0.3), N_TOPICS, N_WORDS)
    lambda_ = LazyRows.of(rng.gamma(2.0, 1.0, (N_WORDS, N_TOPICS)))
    batch = model.batch(counts, slice(None))
    natural = model.restrict(lambda_, prior, batch)
    local, _ = model.beliefs(prior, batch, None)
    gamma, _ = model.local_step(natural, prior, batch, local, 3, 0.0)
    return model, prior, lambda_, batch, natural, gamma, counts.toarray()


def test_objective_is_the_log_joint_density() -> None:
    """J is log p(x, theta, beta) under Dir(alpha + 1), Dir(eta + 1), below beta's highest density.

    The density is SciPy's, term by term.
    """
    from scipy.stats import dirichlet

    model, prior, lambda_, batch, natural, gamma, counts = setting()
    theta = gamma / gamma.sum(axis=1, keepdims=True)
    rows = lambda_.dense(prior.pattern)
    beta = (rows / rows.sum(axis=0)).T
    words = (counts * np.log(theta @ beta)).sum(axis=1)
    documents = words + [dirichlet.logpdf(t, prior.alpha + 1) for t in theta]
    np.testing.assert_allclose(
        model.local_bound(natural, prior, batch, gamma), documents, rtol=1e-12
    )
    eta = np.full(N_WORDS, 0.3)
    highest = dirichlet.logpdf(eta / eta.sum(), eta + 1)
    topics = sum(dirichlet.logpdf(b, eta + 1) - highest for b in beta)
    np.testing.assert_allclose(model.global_bound(lambda_, prior), topics, rtol=1e-12)


def test_local_step_ends_at_the_mode() -> None:
    """No theta nearby has a higher density, topics given."""
    model, prior, _, batch, natural, gamma, _ = setting()
    gamma, _ = model.local_step(natural, prior, batch, gamma, 3000, 0.0)
    best = model.local_bound(natural, prior, batch, gamma)
    rng = np.random.default_rng(1)
    for size in (1e-1, 1e-3):
        moved = gamma * np.exp(size * rng.standard_normal(gamma.shape))
        assert (model.local_bound(natural, prior, batch, moved) < best).all()


def test_memoized_objective_never_falls() -> None:
    model, prior, lambda_, _, _, _, counts = setting()
    data = sparse.csr_matrix(counts)
    state = memoized.init(model, State(lambda_, prior), 2)
    values = []
    for _ in range(6):
        for index, rows in enumerate((slice(0, 4), slice(4, 8))):
            batch = model.batch(data, rows)
            state, _ = memoized.step(model, state, batch, index, n_local=2, local_tol=0.0)
        values.append(memoized.bound(model, state))
    assert np.diff(values).min() > -1e-9 * abs(values[0]) and values[-1] > values[0] + 0.1


def test_uncertain_counts_are_evidence_of_a_small_alpha() -> None:
    """A thousandth of a token on average is most often none and sometimes one."""
    model = CollapsedLdaModel(2, 5, dtype="float64")
    alpha = np.array([0.05, 0.4])
    prior = LdaPrior.of(alpha, np.float64(0.1), 2, 5)
    expected = {
        1e-3: np.exp(-1e-3) * special.digamma(alpha) - np.expm1(-1e-3) * special.digamma(alpha + 1),
        60.0: special.digamma(alpha + 60.0),
    }
    for mean, psi in expected.items():
        gamma = np.tile(alpha + mean, (3, 1))
        lambda_ = LazyRows.of(np.ones((5, 2)))
        found = model.prior_evidence(lambda_, prior, None, [gamma], None)["alpha"].mean_log
        np.testing.assert_allclose(found, psi - special.digamma(gamma[0].sum()), rtol=1e-5)


def test_priors_are_learned() -> None:
    """alpha and eta end near those that documents were drawn with; psi at the mean would not."""
    rng = np.random.default_rng(3)
    counts, _ = planted_lda(rng, 8, 300, 1500, 60, 0.1, 0.05)
    options = {"learn_priors": True, "max_iter": 10, "random_state": 0}
    lda = LatentDirichletAllocation(8, local="collapsed", **options).fit(counts)
    assert 0.05 < lda.doc_topic_prior_.mean() < 0.2
    # Not `topic_word_prior_`, by which documents are predicted best: here any eta does that well.
    assert 0.025 < lda._state.prior.eta < 0.1
    # With psi at the mean, the rule of mean field, alpha grows and grows.
    model = lda._reading_model()
    batch = model.batch(counts, slice(None))
    ends = {}
    for kind in (CollapsedLdaModel, LdaModel):
        state, rule = lda._state, kind(8, 300)
        natural = model.restrict(state.lambda_, state.prior, batch)
        gamma, _ = model.beliefs(state.prior, batch, None)
        for _ in range(60):
            gamma, _ = model.local_step(natural, state.prior, batch, gamma, 30, 0.0)
            state = empirical_bayes.update(
                rule, state, None, [gamma], rho=1.0, rng=None, learn=("alpha",)
            )
        ends[kind] = state.prior.alpha.mean()
    assert 0.05 < ends[CollapsedLdaModel] < 0.2
    assert ends[LdaModel] > 1.5 * ends[CollapsedLdaModel]


@pytest.mark.parametrize("method", ["trust-region", "natural-gradient", "batch", "memoized"])
def test_estimators_learn_with_it(method: str) -> None:
    """Planted topics come out, and what is called a bound is mean field's."""
    rng = np.random.default_rng(5)
    counts, topics = planted_lda(rng, 5, 100, 800, 60, 0.1, 0.05)
    lda = LatentDirichletAllocation(
        5, local="collapsed", learning_method=method, max_iter=10, n_init=2, random_state=1
    ).fit(counts)
    found = lda.components_ / np.linalg.norm(lda.components_, axis=1, keepdims=True)
    planted = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    best = (planted @ found.T).max(axis=1)
    assert np.sort(best)[1 if method != "trust-region" else 0] > 0.9
    exact = lda.completion(counts[:100], random_state=0).per_word
    assert lda.bound(counts[:100]).per_word < exact
    assert lda.perplexity(counts[:100]) > np.exp(-exact)
