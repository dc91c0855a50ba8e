"""Batch updates next to hmmlearn's variational models, from the same posterior with the same prior.

What is the same is compared: posteriors, and bounds of categorical models. hmmlearn's bound of
Gaussian models leaves out (D/2) log 2 pi for each observation, and its diagonal covariances follow
another model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hmmlearn.vhmm import VariationalCategoricalHMM, VariationalGaussianHMM

from trustream.families import normal_inverse_wishart as niw
from trustream.families import symmetric
from trustream.inference import batch as batch_vb
from trustream.inference.state import State
from trustream.models.hmm import (
    CategoricalHmmNatural,
    CategoricalHmmPrior,
    GaussianHmmNatural,
    GaussianHmmPrior,
    HmmModel,
    Sequences,
)

K, V, D, N_PASSES = 4, 7, 2, 12
LENGTHS = [30, 1, 25, 60, 44]
RTOL = 1e-6
rng = np.random.default_rng(0)
START, TRANSITIONS = rng.gamma(5.0, 1.0, K), rng.gamma(5.0, 1.0, (K, K))
PRIOR_START, PRIOR_TRANSITIONS = np.full(K, 0.6), rng.gamma(4.0, 0.2, (K, K))


def passes(model: HmmModel, state: State, data: Sequences) -> list[tuple[Any, float]]:
    """lambda after each pass, and the bound before its update."""
    found = []
    for _ in range(N_PASSES):
        state, info = batch_vb.step(model, state, data, [slice(0, 2), slice(2, 5)], n_local=1)
        found.append((state.lambda_, info.objective[0]))
    return found


def chain(peer: Any) -> None:
    """Start and transitions as ours."""
    peer.startprob_prior_, peer.transmat_prior_ = PRIOR_START, PRIOR_TRANSITIONS
    peer.startprob_posterior_, peer.transmat_posterior_ = START.copy(), TRANSITIONS.copy()


@pytest.mark.parametrize("implementation", ["log", "scaling"])
def test_categorical(implementation: str) -> None:
    draw = np.random.default_rng(1)
    x = np.minimum(draw.integers(4, size=160) + np.repeat([0, 3, 1, 2], 40), V - 1)
    emissions, eta = draw.gamma(5.0, 1.0, (K, V)), draw.gamma(4.0, 0.2, V)
    model = HmmModel(n_components=K, n_features=V)
    prior = CategoricalHmmPrior(PRIOR_START, PRIOR_TRANSITIONS, eta)
    state = State(CategoricalHmmNatural(START, TRANSITIONS, emissions), prior)
    ours = passes(model, state, Sequences.of(x, LENGTHS, V))
    for n_iter in (1, N_PASSES):
        peer = VariationalCategoricalHMM(
            K, n_features=V, n_iter=n_iter, tol=-np.inf, init_params="",
            implementation=implementation,
        )  # fmt: skip
        chain(peer)
        peer.emissionprob_prior_ = np.repeat(eta[np.newaxis], K, axis=0)
        peer.emissionprob_posterior_ = emissions.copy()
        peer.fit(x[:, np.newaxis], LENGTHS)
        lambda_ = ours[n_iter - 1][0]
        np.testing.assert_allclose(lambda_.start, peer.startprob_posterior_, rtol=RTOL)
        np.testing.assert_allclose(lambda_.transitions, peer.transmat_posterior_, rtol=RTOL)
        np.testing.assert_allclose(lambda_.emissions, peer.emissionprob_posterior_, rtol=RTOL)
    np.testing.assert_allclose([bound for _, bound in ours], list(peer.monitor_.history), rtol=RTOL)


def test_gaussian() -> None:
    draw = np.random.default_rng(2)
    means = np.array([[0.0, 0], [4, 1], [-3, 5], [1, -4]])
    x = means[np.repeat([0, 1, 2, 3], 40)] + draw.standard_normal((160, D)) @ [[1, 0.4], [0, 0.8]]
    mean, s, Psi, nu = np.array([0.5, 0.2]), 0.7, np.array([[2.0, 0.3], [0.3, 1.5]]), 4.0
    first = means + draw.standard_normal((K, D))
    counts, scales = np.full(K, 9.0), np.repeat(3 * np.eye(D)[np.newaxis], K, axis=0)
    model = HmmModel(n_components=K, n_features=D, emissions="gaussian")
    prior = GaussianHmmPrior(PRIOR_START, PRIOR_TRANSITIONS, mean, s, Psi, nu)
    inverse = prior.mixture.inverse_factor
    y = prior.mixture.to_y(first)
    natural = niw.natural(y, counts, inverse @ scales @ inverse.T, counts)
    parts = natural.s, natural.sm, symmetric.pack(natural.C), natural.nu
    state = State(GaussianHmmNatural(START, TRANSITIONS, *parts), prior)
    ours = passes(model, state, Sequences.of(x, LENGTHS, D))
    for n_iter in (1, N_PASSES):
        peer = VariationalGaussianHMM(
            K, covariance_type="full", n_iter=n_iter, tol=-np.inf, init_params=""
        )
        chain(peer)
        peer.n_features = D
        peer.means_prior_, peer.beta_prior_ = np.repeat(mean[np.newaxis], K, axis=0), np.full(K, s)
        peer.means_posterior_, peer.beta_posterior_ = first.copy(), counts.copy()
        peer.dof_prior_, peer.dof_posterior_ = np.full(K, nu), counts.copy()
        peer.scale_prior_ = np.repeat(Psi[np.newaxis], K, axis=0)
        peer.scale_posterior_, peer._covars_ = scales.copy(), scales / 9
        peer.fit(x, LENGTHS)
        lambda_ = ours[n_iter - 1][0]
        np.testing.assert_allclose(lambda_.start, peer.startprob_posterior_, rtol=RTOL)
        np.testing.assert_allclose(lambda_.transitions, peer.transmat_posterior_, rtol=RTOL)
        form = niw.Natural(lambda_.s, lambda_.sm, symmetric.unpack(lambda_.C, D), lambda_.nu)
        found = niw.traditional(form)
        np.testing.assert_allclose(found.s, peer.beta_posterior_, rtol=RTOL)
        np.testing.assert_allclose(found.nu, peer.dof_posterior_, rtol=RTOL)
        shown = prior.mixture.to_x(found.m)
        np.testing.assert_allclose(shown, peer.means_posterior_, rtol=RTOL, atol=RTOL)
        Psi_x = prior.mixture.covariance_to_x(found.Psi)
        np.testing.assert_allclose(Psi_x, peer.scale_posterior_, rtol=RTOL, atol=RTOL)
    constant = len(x) * D / 2 * np.log(2 * np.pi)
    rises = np.diff([bound for _, bound in ours]), np.diff(peer.monitor_.history)
    print(np.array([bound for _, bound in ours]) + constant - np.array(peer.monitor_.history))
    np.testing.assert_allclose(rises[0], rises[1], rtol=1e-4, atol=1e-5)
