"""Tiny LDA against the sum over all topic assignments, and every term of the bound written out.

theta and beta are integrated out analytically (Dirichlet-multinomials), so that the evidence is
a sum of 2^tokens numbers:

    p(x) = sum_z prod_d DM(z_d; alpha) prod_k DM(words of topic k; eta_k).
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse, special

from tests.helpers import BACKENDS, DTYPES, Array, counts_of
from trustream.families import dirichlet
from trustream.inference import batch as batch_vb
from trustream.inference.state import State
from trustream.models.lda import LdaModel, LdaPrior

DOCUMENTS = [[0, 0, 1], [2, 1], [0, 2, 2, 2], [1, 1, 0]]
N_WORDS = 3


class Posterior(NamedTuple):
    """log p(x), E[theta] (documents, K) and E[beta] (K, words) by enumeration."""

    log_evidence: float
    theta: Array
    beta: Array


def log_dirichlet_multinomial(counts: Array, a: Array) -> Array:
    """log-probability of ordered sequences of draws with these counts, along the last axis."""
    return dirichlet.log_normalizer(a + counts) - dirichlet.log_normalizer(a)


def enumerate_posterior(documents: list[list[int]], alpha: Array, eta: Array) -> Posterior:
    """Sum over all assignments of the tokens to the K topics; eta is (K, words)."""
    tokens = [(d, v) for d, document in enumerate(documents) for v in document]
    assignments = np.array(list(itertools.product(range(eta.shape[0]), repeat=len(tokens))))
    topic = np.eye(eta.shape[0])[assignments]
    document = np.eye(len(documents))[[d for d, _ in tokens]]
    word = np.eye(eta.shape[1])[[v for _, v in tokens]]
    by_document = np.einsum("atk,td->adk", topic, document)
    by_topic = np.einsum("atk,tv->akv", topic, word)
    log_joint = log_dirichlet_multinomial(by_document, alpha).sum(axis=1)
    log_joint += log_dirichlet_multinomial(by_topic, eta).sum(axis=1)
    weights = special.softmax(log_joint)
    theta = np.tensordot(weights, dirichlet.mean(by_document + alpha), axes=1)
    beta = np.tensordot(weights, dirichlet.mean(by_topic + eta), axes=1)
    return Posterior(float(special.logsumexp(log_joint)), theta, beta)


def slow_elbo(counts: Array, alpha: Array, eta: Array, lambda_: Array, gamma: Array) -> float:
    """The bound from its definition, token by token, with phi the optimum given lambda and gamma.

    E_q[log p(beta)] + E_q[log p(theta)] + E_q[log p(z | theta)] + E_q[log p(x | z, beta)]
    - E_q[log q(beta)] - E_q[log q(theta)] - E_q[log q(z)]
    """
    log_beta = np.array([special.digamma(row) - special.digamma(row.sum()) for row in lambda_])
    value = 0.0
    for k in range(eta.shape[0]):
        for a, sign in ((eta[k], 1), (lambda_[k], -1)):
            density = special.gammaln(a.sum()) - special.gammaln(a).sum()
            value += sign * (density + ((a - 1) * log_beta[k]).sum())
    for d in range(counts.shape[0]):
        log_theta = special.digamma(gamma[d]) - special.digamma(gamma[d].sum())
        for a, sign in ((alpha, 1), (gamma[d], -1)):
            density = special.gammaln(a.sum()) - special.gammaln(a).sum()
            value += sign * (density + ((a - 1) * log_theta).sum())
        for v in range(counts.shape[1]):
            phi = special.softmax(log_theta + log_beta[:, v])
            for k in range(phi.size):
                inside = log_theta[k] + log_beta[k, v] - np.log(phi[k])
                value += counts[d, v] * phi[k] * inside
    return float(value)


def batch_vb_run(
    model: LdaModel, prior: LdaPrior, counts: sparse.csr_matrix, seed: int, n_passes: int
) -> tuple[State, list[Array], float]:
    """State, beliefs and bound L(lambda, phi) after `n_passes` passes."""
    state = State(model.initial(prior, np.random.default_rng(seed)), prior)
    local, bound = None, -np.inf
    for _ in range(n_passes):
        last = state
        state, info = batch_vb.step(model, state, counts, [slice(None)], local, n_local=10)
        local, bound = info.local, info.objective[0]
    return last, local, bound


def full(prior: LdaPrior, n_topics: int, n_words: int) -> Array:
    """eta as (K, V)."""
    eta = prior.dense()
    return np.broadcast_to(eta if eta.ndim == 2 else np.atleast_1d(eta), (n_topics, n_words))


PRIORS = [
    pytest.param(0.5, 0.5, id="symmetric"),
    pytest.param([0.2, 1.5], 0.1, id="vector alpha"),
    pytest.param(0.1, [0.05, 0.4, 1.0], id="eta per word"),
    pytest.param([1.0, 2.0], [[2.0, 0.1, 0.1], [0.3, 0.3, 0.9]], id="seeded topics"),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("alpha", "eta"), PRIORS)
def test_elbo_is_its_definition_and_below_the_evidence(
    alpha, eta, backend: str, dtype: str
) -> None:
    """The bound equals the slow one to 1e-12 (float32 parameters: 1e-5) and is below log p(x).

    Below by at least 0.5 nats here, where topics are uncertain, so rounding cannot decide.
    """
    counts = counts_of(DOCUMENTS, N_WORDS)
    model = LdaModel(2, N_WORDS, dtype, backend)
    prior = LdaPrior.of(alpha, eta, 2, N_WORDS)
    exact = enumerate_posterior(DOCUMENTS, prior.alpha, full(prior, 2, N_WORDS))
    for seed, n_passes in itertools.product(range(2), (1, 15)):
        state, local, bound = batch_vb_run(model, prior, counts, seed, n_passes)
        lambda_ = state.lambda_.dense(prior.pattern).T.astype(np.float64)
        gamma = local[0].astype(np.float64)
        slow = slow_elbo(counts.toarray(), prior.alpha, full(prior, 2, N_WORDS), lambda_, gamma)
        np.testing.assert_allclose(bound, slow, rtol=1e-12 if dtype == "float64" else 1e-5)
        assert bound < exact.log_evidence - 0.5


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("eta", [0.3, [0.2, 0.7, 0.4]])
def test_elbo_is_the_evidence_with_one_topic(eta, backend: str) -> None:
    """With K = 1 nothing is hidden but beta, whose posterior is in the family: no gap at all."""
    counts = counts_of([*DOCUMENTS, []], N_WORDS)
    model = LdaModel(1, N_WORDS, "float64", backend)
    prior = LdaPrior.of(0.7, eta, 1, N_WORDS)
    exact = enumerate_posterior(DOCUMENTS, prior.alpha, full(prior, 1, N_WORDS))
    state, _, bound = batch_vb_run(model, prior, counts, 0, 2)
    np.testing.assert_allclose(bound, exact.log_evidence, rtol=1e-12)
    np.testing.assert_allclose(model.expected(state.lambda_, prior), exact.beta, rtol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("alpha", "eta"), PRIORS)
def test_terms_of_the_bound(alpha, eta, backend: str, dtype: str) -> None:
    """global_bound and divergence are sums over topics of Dirichlet divergences.

    Exact where the batch has all words; local_bound of an empty document is -KL(gamma || alpha).
    """
    rng = np.random.default_rng(1)
    model = LdaModel(2, N_WORDS, dtype, backend)
    prior = LdaPrior.of(alpha, eta, 2, N_WORDS)
    eta = full(prior, 2, N_WORDS)
    batch = model.batch(counts_of([*DOCUMENTS, []], N_WORDS), slice(None))
    rtol = 1e-12 if dtype == "float64" else 1e-5

    def dense(value) -> Array:
        return value.dense(prior.pattern).T.astype(np.float64)

    one, two = model.initial(prior, rng), model.initial(prior, rng)
    expected = -dirichlet.kl(dense(one), eta).sum()
    np.testing.assert_allclose(model.global_bound(one, prior), expected, rtol=rtol)
    naturals = [model.restrict(value, prior, batch) for value in (one, two)]
    found = model.divergence(naturals[0], prior, batch, None)
    np.testing.assert_allclose(found, -expected, rtol=rtol)
    found = model.divergence(*naturals[:1], prior, batch, naturals[1])
    expected = dirichlet.kl(dense(one), dense(two)).sum()
    # The divergence of two near ones is a small difference of large numbers.
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=10 * rtol)
    gamma = rng.gamma(2.0, 1.0, (5, 2)).astype(dtype)
    bound = model.local_bound(naturals[0], prior, batch, gamma)
    expected = -dirichlet.kl(gamma[4].astype(np.float64), prior.alpha)
    np.testing.assert_allclose(bound[4], expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_expectations_in_an_easy_case(backend: str, dtype: str) -> None:
    """Well separated topics, told apart by their prior: E[beta] and E[theta] within 0.001.

    Each document is of one topic, and each topic has its words. Mean field is then right but for
    the small chance of other assignments: the bound is 0.002 nats below the evidence. Before
    learning, beta is 0.3 off.
    """
    documents = [[0, 0, 0, 1], [2, 2, 2], [0, 1, 0], [2, 2, 2, 2]]
    seeds = np.array([[0.5, 0.3, 0.01], [0.01, 0.05, 0.5]])
    prior = LdaPrior.of(0.05, seeds, 2, N_WORDS)
    exact = enumerate_posterior(documents, prior.alpha, seeds)
    model = LdaModel(2, N_WORDS, dtype, backend)
    start = State(model.initial(prior, np.random.default_rng(0)), prior)
    assert np.abs(model.expected(start.lambda_, prior) - exact.beta).max() > 0.3
    # The batch step's first local step is taken with the seeds.
    state = State(model.posterior(prior, model.zero_statistics()), prior)
    local = None
    for _ in range(15):
        state, info = batch_vb.step(
            model, state, counts_of(documents, N_WORDS), [slice(None)], local, n_local=10
        )
        local = info.local
    np.testing.assert_allclose(model.expected(state.lambda_, prior), exact.beta, atol=0.001)
    np.testing.assert_allclose(dirichlet.mean(local[0]), exact.theta, atol=0.001)
    assert exact.log_evidence - 0.01 < info.objective[0] < exact.log_evidence
