"""Tiny mixtures against the sum over all assignments of data points to components.

The weights and the components' parameters are integrated out analytically, so that the evidence
is a sum of K^N numbers:

    p(x) = sum_z DM(z; alpha) prod_k exp(a(eta + sum_{n: z_n = k} f(x_n)) - a(eta)) prod_n g(x_n)

with a the log-normaliser of the components' prior.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import special

from tests.helpers import BACKENDS, Array
from trustream.families import beta, dirichlet
from trustream.families import normal_inverse_gamma as nig
from trustream.families import normal_inverse_wishart as niw
from trustream.families import tied_normal_inverse_wishart as tied
from trustream.inference import batch as batch_vb
from trustream.inference.state import State
from trustream.models.mixture import BernoulliModel, BernoulliPrior, GaussianModel, GaussianPrior

K = 2
ALPHA = np.array([1.5, 0.8])
KINDS = ("bernoulli", "full", "diag", "tied")


class Posterior(NamedTuple):
    """log p(x), and E[z] (N, K) given that the first point is in component 0."""

    log_evidence: float
    z: Array


class Case(NamedTuple):
    """A model with its prior and data, and the marginal likelihood of data given assignments."""

    model: Any
    prior: Any
    x: Array
    log_marginal: Callable[[Array, Array], float]


def case(kind: str, backend: str = "reference", k: int = K, easy: bool = False) -> Case:
    """Seven points, in two clear groups if `easy`."""
    rng = np.random.default_rng(7)
    alpha = ALPHA[:k]
    if kind == "bernoulli":
        x = np.array([[1, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 1, 0], [0, 0, 0], [1, 0, 0]])
        if easy:
            x = np.repeat([[1] * 8 + [0] * 8, [0] * 8 + [1] * 8], [4, 3], axis=0)
        d = x.shape[1]
        a, b = rng.gamma(4.0, 0.25, (2, d))
        model = BernoulliModel(n_components=k, n_features=d, dtype="float64", backend=backend)
        prior = BernoulliPrior(alpha, a, b)

        def log_marginal(x: Array, z: Array) -> float:
            ones, zeros = z.T @ x, z.T @ (1 - x)
            after = beta.log_normalizer(a + ones, b + zeros)
            return float((after - beta.log_normalizer(a, b)).sum())

        return Case(model, prior, x, log_marginal)
    d = 2
    x = rng.normal(3.0, 1.0, (7, d))
    x[:4] += [12.0, -9.0] if easy else [1.0, -1.0]
    mean, s, nu = x.mean(axis=0) + 0.3, 0.4, 4.5
    Psi = np.array([[2.0, 0.5], [0.5, 1.0]])
    Psi = np.diag(Psi) if kind == "diag" else Psi
    model = GaussianModel(
        n_components=k, n_features=d, covariance_type=kind, dtype="float64", backend=backend
    )
    family: Any = {"full": niw, "diag": nig, "tied": tied}[kind]
    stacked = Psi if kind == "tied" else np.broadcast_to(Psi, (k, *Psi.shape))
    degrees = nu if kind == "tied" else np.full(k, nu)
    # In the data's own coordinates: the model's are the prior's.
    eta = family.natural(np.broadcast_to(mean, (k, d)), np.full(k, s), stacked, degrees)

    def log_marginal(x: Array, z: Array) -> float:
        counts, squares = z.sum(axis=0), x[:, :, None] * x[:, None, :]
        if kind == "diag":
            C, n = z.T @ x**2, counts
        elif kind == "full":
            C, n = np.einsum("nk,nij->kij", z, squares), counts
        else:
            C, n = squares.sum(axis=0), counts.sum(keepdims=True)
        after = family.Natural(eta.s + counts, eta.sm + z.T @ x, eta.C + C, eta.nu + n)
        change = np.sum(family.log_normalizer(after)) - np.sum(family.log_normalizer(eta))
        return float(change - x.size / 2 * np.log(2 * np.pi))

    return Case(model, GaussianPrior(alpha, mean, s, Psi, nu), x, log_marginal)


def enumerate_posterior(case: Case, x: Array) -> Posterior:
    """Sum over all K^N assignments."""
    k = case.model.n_components
    alpha = case.prior.alpha
    log_joint, assignments = [], []
    for labels in itertools.product(range(k), repeat=len(x)):
        z = np.eye(k)[list(labels)]
        weights = dirichlet.log_normalizer(alpha + z.sum(axis=0)) - dirichlet.log_normalizer(alpha)
        log_joint.append(float(weights) + case.log_marginal(x, z))
        assignments.append(z)
    log_joint, z = np.array(log_joint), np.array(assignments)
    # Components are told apart by the first point, where their prior does not do it.
    first = z[:, 0, 0] == 1
    posterior = np.tensordot(special.softmax(log_joint[first]), z[first], axes=1)
    return Posterior(float(special.logsumexp(log_joint)), posterior)


def fit(case: Case, seed: int = 0, n_passes: int = 30) -> tuple[State, Array, list[float]]:
    """Batch VB: (state, phi, bounds)."""
    state = State(case.model.initial(case.prior, np.random.default_rng(seed)), case.prior)
    blocks, locals_, bounds = [slice(0, 4), slice(4, None)], None, []
    for _ in range(n_passes):
        state, info = batch_vb.step(case.model, state, case.x, blocks, locals_, n_local=1)
        locals_ = info.local
        bounds.append(info.objective[0])
    return state, np.concatenate(locals_), bounds


def elbo(case: Case, lambda_: Any) -> float:
    batch = case.model.batch(case.x, slice(None))
    local = case.model.local_bound(lambda_, case.prior, batch, None).sum()
    return case.model.global_bound(lambda_, case.prior) + float(local)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_evidence_is_never_below_the_bound(kind: str, backend: str) -> None:
    tiny = case(kind, backend)
    evidence = enumerate_posterior(tiny, tiny.x).log_evidence
    best = -np.inf
    for seed in range(5):
        state, _, bounds = fit(tiny, seed)
        assert (np.diff(bounds) > -1e-9).all()
        bounds.append(elbo(tiny, state.lambda_))
        assert max(bounds) <= evidence
        best = max(best, bounds[-1])
    assert best > evidence - 4  # the bound is a bound on this evidence, not on any


@pytest.mark.parametrize("kind", KINDS)
def test_beliefs_of_well_separated_data(kind: str) -> None:
    easy = case(kind, easy=True)
    exact = enumerate_posterior(easy, easy.x)
    fits = [fit(easy, seed) for seed in range(5)]
    state, phi, _ = max(fits, key=lambda found: found[2][-1])
    if phi[0, 0] < 0.5:
        phi = phi[:, ::-1]
    np.testing.assert_allclose(phi, exact.z, atol=0.05)
    assert exact.log_evidence - 2 < elbo(easy, state.lambda_) <= exact.log_evidence


@pytest.mark.parametrize("kind", KINDS)
def test_one_component_is_exact(kind: str) -> None:
    """With K = 1 there is nothing to approximate: bound = evidence, predictive = its ratio."""
    tiny = case(kind, k=1)
    state, phi, _ = fit(tiny, n_passes=2)
    np.testing.assert_array_equal(phi, 1)
    exact = enumerate_posterior(tiny, tiny.x).log_evidence
    model, prior = tiny.model, tiny.prior
    batch = model.batch(tiny.x, slice(None))
    np.testing.assert_allclose(elbo(tiny, state.lambda_), exact, rtol=1e-10)
    predictive = model.predictive_log_density(state.lambda_, prior, batch)
    for n, point in enumerate(tiny.x):
        with_point = enumerate_posterior(tiny, np.vstack([tiny.x, point])).log_evidence
        np.testing.assert_allclose(predictive[n], with_point - exact, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_predictive_density_of_known_assignments(kind: str) -> None:
    """Given z, E[pi] and the components' own predictive densities mix to a ratio of evidences."""
    tiny = case(kind)
    model, prior, x = tiny.model, tiny.prior, tiny.x
    z = np.eye(K)[[0, 0, 1, 0, 1, 1, 0]]
    batch = model.batch(x, slice(None))
    total = model.add_statistics(model.zero_statistics(), batch, model.beliefs(prior, batch, z)[1])
    lambda_ = model.posterior(prior, total)

    def log_joint(x: Array, z: Array) -> float:
        counts = dirichlet.log_normalizer(ALPHA + z.sum(axis=0)) - dirichlet.log_normalizer(ALPHA)
        return float(counts) + tiny.log_marginal(x, z)

    predictive = model.predictive_log_density(lambda_, prior, batch)
    for n, point in enumerate(x):
        both = [log_joint(np.vstack([x, point]), np.vstack([z, row])) for row in np.eye(K)]
        expected = special.logsumexp(both) - log_joint(x, z)
        np.testing.assert_allclose(predictive[n], expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "diag", "tied"])
def test_predictive_density_integrates_to_one(kind: str) -> None:
    rng = np.random.default_rng(0)
    shape = (1,) if kind == "diag" else (1, 1)
    prior = GaussianPrior(ALPHA, [50.0], 0.5, np.full(shape, 3.0), 2.5)
    model = GaussianModel(
        n_components=K, n_features=1, covariance_type=kind, dtype="float64", backend="reference"
    )
    lambda_ = model.initial(prior, rng)
    # Student t with few degrees of freedom: a grid that grows with the distance.
    grid = 50.0 + np.sinh(np.linspace(-14, 14, 20_001))
    density = np.exp(
        model.predictive_log_density(lambda_, prior, model.batch(grid[:, None], slice(None)))
    )
    np.testing.assert_allclose(np.trapezoid(density, grid), 1, rtol=1e-4)
