"""Poisson factorisation on tiny data, against the evidence by quadrature and an optimiser.

The counts' shares z are enumerated, items' factors and activities are integrated in closed form,
and users' factors on a grid of their logarithms, where sums converge exponentially fast.
"""

from __future__ import annotations

import functools
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import gammaln, logsumexp

from tests.helpers import BACKENDS
from trustream.families import gamma
from trustream.inference import batch as batch_vb
from trustream.inference.state import State
from trustream.models.factorization import FactorModel, FactorPrior
from trustream.models.factorization.natural import FactorLocal

K, V = 2, 2
COUNTS = np.array([[1.0, 0.0], [0.0, 2.0]])
PRIOR = FactorPrior(V, 1.2, 2.5, 1.5, 2.0, 1.4)


def splits(x: float) -> list[tuple[int, int]]:
    """All ways to share a count out among two components."""
    return [(z, int(x) - z) for z in range(int(x) + 1)]


def log_evidence(x: np.ndarray, prior: FactorPrior, step: float = 0.5) -> float:
    """log p(x), with N users and two components.

    Given z and theta, beta is integrated in closed form, and so is xi:

        int prod_k Gamma(theta_k; c, xi) Gamma(xi; c', d') dxi
          = d'^c' G(A) / (G(c') G(c)^K) prod_k theta_k^(c-1) / (d' + sum_k theta_k)^A,  A = c' + K c
    """
    a, b, c = prior.item_shape, prior.item_rate, prior.user_shape
    c2, d = prior.activity_shape, prior.activity_rate
    n_users = x.shape[0]
    log_theta = np.arange(-14.0, 5.0, step)
    grids = np.meshgrid(*[log_theta] * (K * n_users), indexing="ij", sparse=True)
    theta = [[np.exp(grids[u * K + k]) for k in range(K)] for u in range(n_users)]
    prior_part: Any = 0.0
    for u in range(n_users):
        prior_part = prior_part + c2 * np.log(d) + gammaln(c2 + K * c) - gammaln(c2)
        prior_part = prior_part - K * gammaln(c) - (c2 + K * c) * np.log(d + sum(theta[u]))
    sums = [sum(theta[u][k] for u in range(n_users)) for k in range(K)]
    values = []
    for z in product(*[splits(count) for count in x.ravel()]):
        shares = np.array(z, float).reshape(n_users, V, K)
        by_item, by_user = shares.sum(axis=0), shares.sum(axis=1)
        value = prior_part - gammaln(shares + 1).sum()
        for u, k in product(range(n_users), range(K)):
            # theta^(c - 1 + n) d theta = theta^(c + n) d log theta
            value = value + (c + by_user[u, k]) * grids[u * K + k]
        for k in range(K):
            total = (a + by_item[:, k]).sum()
            constant = V * a * np.log(b) + (gammaln(a + by_item[:, k]) - gammaln(a)).sum()
            value = value + constant - total * np.log(b + sums[k])
        values.append(logsumexp(value) + K * n_users * np.log(step))
    return float(logsumexp(values))


class Beliefs(NamedTuple):
    """All of q, each with the shapes of the equations: phi (N, V, K), theta (N, K), beta (V, K)."""

    phi: np.ndarray
    theta: tuple[np.ndarray, np.ndarray]
    xi: np.ndarray
    beta: tuple[np.ndarray, np.ndarray]


def full_bound(x: np.ndarray, prior: FactorPrior, q: Beliefs) -> float:
    """E[log p(x, z, theta, xi, beta) / q] term by term, in nats."""
    shape_xi = prior.activity_shape + K * prior.user_shape
    xi, log_xi = gamma.mean(shape_xi, q.xi), gamma.expected_log(shape_xi, q.xi)
    log_theta, theta = gamma.expected_log(*q.theta), gamma.mean(*q.theta)
    log_beta, beta = gamma.expected_log(*q.beta), gamma.mean(*q.beta)
    logs = log_theta[:, None, :] + log_beta[None] - np.log(q.phi)
    value = (x[:, :, None] * q.phi * logs).sum() - gammaln(x + 1).sum()
    value -= (theta @ beta.T).sum()
    c = prior.user_shape
    value += (c * log_xi[:, None] - gammaln(c) + (c - 1) * log_theta - xi[:, None] * theta).sum()
    value += gamma.entropy(*q.theta).sum()
    value -= gamma.kl(shape_xi, q.xi, prior.activity_shape, prior.activity_rate).sum()
    return float(value - gamma.kl(*q.beta, prior.item_shape, prior.item_rate).sum())


def beliefs_of(model: FactorModel, lambda_: Any, prior: FactorPrior, local: FactorLocal) -> Beliefs:
    """The same q as the model's; phi is the best for the others."""
    shapes, rates = lambda_.dense_shapes().astype(float), lambda_.rates
    xi = prior.activity_posterior_shape(K) / local.activity
    theta = (local.shape.astype(float), xi[:, None] + shapes.sum(axis=0) / rates)
    beta = (shapes, np.broadcast_to(rates, shapes.shape))
    logs = gamma.expected_log(*theta)[:, None, :] + gamma.expected_log(*beta)[None]
    phi = np.exp(logs - logsumexp(logs, axis=2, keepdims=True))
    return Beliefs(phi, theta, local.activity, beta)


@functools.cache
def fitted(backend: str) -> tuple[FactorModel, State, FactorLocal]:
    """Batch VB to convergence."""
    model = FactorModel(K, V, "float64", backend)
    state = State(model.initial(PRIOR, np.random.default_rng(1)), PRIOR)
    data, local = sparse.csr_matrix(COUNTS), None
    for _ in range(400):
        state, info = batch_vb.step(model, state, data, [slice(None)], local, n_local=20)
        local = info.local
    return model, state, local[0]


def test_quadrature_converges() -> None:
    """A grid half as fine gives the same evidence: the oracle can be trusted."""
    fine, coarse = (log_evidence(COUNTS, PRIOR, step) for step in (0.5, 0.65))
    np.testing.assert_allclose(fine, coarse, rtol=1e-6)
    # All counts that are likely together have probability one; a single user, who is quick.
    one = sum(
        np.exp(log_evidence(np.array([[i, j]], float), PRIOR, 0.5))
        for i, j in product(range(9), range(9))
    )
    assert 0.9 < one < 1.0


@pytest.mark.parametrize("backend", BACKENDS)
def test_bound_is_below_the_evidence(backend: str) -> None:
    """And is that of the equations, close to the evidence on so little data."""
    model, state, local = fitted(backend)
    batch = model.batch(sparse.csr_matrix(COUNTS), slice(None))
    natural = model.restrict(state.lambda_, PRIOR, batch)
    found = model.local_bound(natural, PRIOR, batch, local).sum()
    found += model.global_bound(state.lambda_, PRIOR)
    written = full_bound(COUNTS, PRIOR, beliefs_of(model, state.lambda_, PRIOR, local))
    np.testing.assert_allclose(found, written, rtol=1e-10)
    evidence = log_evidence(COUNTS, PRIOR)
    assert evidence - 2.0 < found < evidence


@pytest.mark.parametrize("backend", BACKENDS)
def test_updates_reach_an_optimum(backend: str) -> None:
    """An optimiser that knows nothing of the updates finds nothing better near by."""
    model, state, local = fitted(backend)
    q = beliefs_of(model, state.lambda_, PRIOR, local)
    parts = [np.log(q.phi), *(np.log(p) for p in (*q.theta, q.xi, *q.beta))]
    start = np.concatenate([part.ravel() for part in parts])

    def negative(vector: np.ndarray) -> float:
        pieces, at = [], 0
        for part in parts:
            pieces.append(vector[at : at + part.size].reshape(part.shape))
            at += part.size
        phi = np.exp(pieces[0] - logsumexp(pieces[0], axis=2, keepdims=True))
        theta, beta = (np.exp(pieces[1]), np.exp(pieces[2])), (np.exp(pieces[4]), np.exp(pieces[5]))
        return -full_bound(COUNTS, PRIOR, Beliefs(phi, theta, np.exp(pieces[3]), beta))

    assert np.abs(optimize.approx_fprime(start, negative, 1e-6)).max() < 1e-4
    found = optimize.minimize(negative, start, method="BFGS", options={"gtol": 1e-7})
    assert -negative(start) > -found.fun - 1e-6


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_update_is_the_best_of_its_block(backend: str) -> None:
    """Users given items, and items given users, from a lambda that is no optimum."""
    model = FactorModel(K, V, "float64", backend)
    lambda_ = model.initial(PRIOR, np.random.default_rng(3))
    batch = model.batch(sparse.csr_matrix(COUNTS), slice(None))
    natural = model.restrict(lambda_, PRIOR, batch)
    local, _ = model.beliefs(PRIOR, batch, None)
    local, statistics = model.local_step(natural, PRIOR, batch, local, 2000, 0.0)
    at = beliefs_of(model, lambda_, PRIOR, local)

    def users(vector: np.ndarray) -> Beliefs:
        shape, rate, xi = (np.exp(part) for part in np.split(vector, [4, 8]))
        theta = (shape.reshape(2, K), rate.reshape(2, K))
        logs = gamma.expected_log(*theta)[:, None, :] + gamma.expected_log(*at.beta)[None]
        return Beliefs(np.exp(logs - logsumexp(logs, axis=2, keepdims=True)), theta, xi, at.beta)

    start = np.log(np.concatenate([at.theta[0].ravel(), at.theta[1].ravel(), at.xi])) + 0.3
    best = optimize.minimize(
        lambda v: -full_bound(COUNTS, PRIOR, users(v)), start, options={"gtol": 1e-8}
    )
    q = users(best.x)
    np.testing.assert_allclose(q.theta[0], at.theta[0], rtol=1e-3)
    np.testing.assert_allclose(q.theta[1], at.theta[1], rtol=1e-3)
    np.testing.assert_allclose(q.xi, at.xi, rtol=1e-3)

    def items(vector: np.ndarray) -> Beliefs:
        shape, rate = (np.exp(part).reshape(V, K) for part in np.split(vector, 2))
        return at._replace(beta=(shape, rate))

    updated = model.posterior(
        PRIOR, model.add_statistics(model.zero_statistics(), batch, statistics)
    )
    best = optimize.minimize(
        lambda v: -full_bound(COUNTS, PRIOR, items(v)), np.zeros(2 * V * K), options={"gtol": 1e-8}
    )
    shape, rate = items(best.x).beta
    np.testing.assert_allclose(shape, updated.dense_shapes(), rtol=1e-3)
    # The optimiser may choose a rate for each item, and chooses one for all.
    np.testing.assert_allclose(rate, np.broadcast_to(updated.rates, (V, K)), rtol=1e-3)
