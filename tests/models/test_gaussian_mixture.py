"""What is particular to the mixture of Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from tests.models.mixtures import (
    GAUSSIAN,
    NATURAL_GRADIENT,
    TRUST_REGION,
    Setup,
    fit,
    gaussian_prior,
    setup,
    some_lambda,
)
from trustream.families import dirichlet
from trustream.families import normal_inverse_gamma as nig
from trustream.families import normal_inverse_wishart as niw
from trustream.families import tied_normal_inverse_wishart as tied
from trustream.inference import trust_region
from trustream.inference.state import State
from trustream.models.mixture import (
    GaussianExpected,
    GaussianModel,
    GaussianPrior,
    gaussian_features,
)
from trustream.models.mixture.gaussian_covariance import DIAG, FULL, TIED

each_kind = pytest.mark.parametrize("kind", GAUSSIAN)


def matched_confusion(phi: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Share of each planted component's points that its own matched component takes."""
    k = phi.shape[1]
    shares = np.zeros((k, k))
    np.add.at(shares, z, phi)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares[optimize.linear_sum_assignment(-shares)]


# --- coordinates


@each_kind
def test_shifted_and_scaled_data_give_the_same_beliefs(kind: str) -> None:
    """x -> A x + c with the prior moved along: same lambda, phi; bound less log |A| a point."""
    model, prior, x = setup(kind)
    rng = np.random.default_rng(5)
    A = np.diag(np.exp(rng.normal(0, 3, 5)))
    if kind != "diag":
        A = A @ np.tril(rng.normal(size=(5, 5)) + 3 * np.eye(5))
    Psi = np.diag(A) ** 2 * prior.Psi if kind == "diag" else A @ prior.Psi @ A.T
    Psi = Psi if kind == "diag" else (Psi + Psi.T) / 2
    moved = GaussianPrior(prior.alpha, A @ prior.mean + 1e4, prior.s, Psi, prior.nu)
    results = []
    for p, data in ((prior, x), (moved, x @ A.T + 1e4)):
        state = State(model.initial(p, np.random.default_rng(0)), p)
        batch = model.batch(data, slice(None))
        state, info = trust_region.step(
            model, state, batch, rho=0.5, n_documents=1000.0, n_inner=3, n_local=1
        )
        bound = model.local_bound(state.lambda_, p, batch, None)
        density = model.predictive_log_density(state.lambda_, p, batch)
        results.append(
            (state.lambda_, info.local, bound, density, model.expected(state.lambda_, p))
        )
    (first, phi, bound, density, expected), (second, phi2, bound2, density2, expected2) = results
    for one, two in zip(first, second, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(phi, phi2, atol=1e-6)
    log_det = np.linalg.slogdet(A)[1]
    np.testing.assert_allclose(bound2, bound - log_det, rtol=1e-6)
    np.testing.assert_allclose(density2, density - log_det, rtol=1e-6)
    np.testing.assert_allclose(expected2.means, expected.means @ A.T + 1e4, rtol=1e-8)
    moved_covariances = (
        expected.covariances * np.diag(A) ** 2 if kind == "diag" else A @ expected.covariances @ A.T
    )
    np.testing.assert_allclose(expected2.covariances, moved_covariances, rtol=1e-4)


@each_kind
def test_expected_parameters_are_those_of_the_data(kind: str) -> None:
    """One component that has seen everything: the data's mean and covariance."""
    model, prior, x = setup(kind, k=1, n=5000)
    batch = model.batch(x, slice(None))
    lambda_ = model.posterior(prior, model.beliefs(prior, batch, None)[1])
    weights, means, covariances = model.expected(lambda_, prior)
    cov = np.cov(x, rowvar=False)
    np.testing.assert_array_equal(weights, [1])
    np.testing.assert_allclose(means[0], x.mean(axis=0), rtol=1e-3)
    if kind == "diag":
        np.testing.assert_allclose(covariances[0], np.diag(cov), rtol=1e-2)
    else:
        found = covariances if kind == "tied" else covariances[0]
        np.testing.assert_allclose(found, cov, atol=1e-2 * np.abs(cov).max())


def quadratic_form_error(x: np.ndarray, lambda_: Any, prior: GaussianPrior) -> float:
    """Largest absolute error, in nats, of the packed scores against triangular solves."""
    k, d = lambda_.sm.shape
    model = GaussianModel(n_components=k, n_features=d, dtype="float64")
    batch = model.batch(x, slice(None))
    scores = model.scores(lambda_, prior)
    block = model.features(prior, batch).block(0, len(x))[: len(x)]
    exact = niw.expected_log_likelihood(FULL.family(lambda_), prior.to_y(x))
    exact = exact + dirichlet.expected_log(lambda_.gamma) - prior.log_det_factor
    packed = block @ scores.weights.T + scores.constants
    # Scores of -1e8 do not need to be right to 1e-6: compare where a belief could be.
    near = exact > exact.max(axis=1, keepdims=True) - 1e3
    return float(np.abs(packed - exact)[near].max())


@pytest.mark.parametrize(
    ("distance", "correlation", "tolerance"),
    [(10.0, 0.0, 1e-9), (1e4, 0.0, 1e-5), (10.0, 1 - 1e-8, 3e-5), (1e4, 1 - 1e-6, 1e-3)],
)
def test_accuracy_of_packed_quadratic_forms(
    distance: float, correlation: float, tolerance: float
) -> None:
    """Clusters far apart, and nearly collinear features that the prior knows nothing of."""
    rng = np.random.default_rng(0)
    d, n = 8, 80
    covariance = np.full((d, d), correlation) + (1 - correlation) * np.eye(d)
    noise = rng.standard_normal((n, d)) @ np.linalg.cholesky(covariance).T
    centres = distance * rng.standard_normal((4, d)) @ np.linalg.cholesky(covariance).T
    z = np.arange(n) % 4
    x = centres[z] + noise
    variances = x.var(axis=0)
    prior = GaussianPrior(np.ones(4), x.mean(axis=0), 1.0, np.diag(variances) * 1e-9, d + 2.0)
    model = GaussianModel(n_components=4, n_features=d, dtype="float64")
    batch = model.batch(x, slice(None))
    lambda_ = model.posterior(prior, model.beliefs(prior, batch, np.eye(4)[z])[1])
    assert quadratic_form_error(x, lambda_, prior) < tolerance
    np.testing.assert_array_equal(model.local_step(lambda_, prior, batch)[0].argmax(axis=1), z)


def test_features_are_the_same_kept_or_computed(monkeypatch) -> None:
    for kind in GAUSSIAN:
        case = setup(kind)
        model, prior, x = case
        lambda_ = some_lambda(case)
        kept = model.local_step(lambda_, prior, model.batch(x, slice(None)))
        monkeypatch.setattr(gaussian_features, "_KEPT_NUMBERS", 0)
        computed = model.local_step(lambda_, prior, model.batch(x, slice(None)))
        monkeypatch.undo()
        np.testing.assert_array_equal(kept[0], computed[0])
        for one, two in zip(kept[1], computed[1], strict=True):
            np.testing.assert_array_equal(one, two)


def test_features_follow_the_prior() -> None:
    """The same batch under another prior: nothing of the first one is left over."""
    case = setup("full")
    model, prior, x = case
    other = GaussianPrior(prior.alpha, prior.mean + 1, 2.0, 3 * prior.Psi, prior.nu)
    batch = model.batch(x, slice(None))
    lambda_ = some_lambda(case)
    model.local_bound(lambda_, prior, batch)
    again = model.local_bound(lambda_, other, batch)
    np.testing.assert_array_equal(
        again, model.local_bound(lambda_, other, model.batch(x, slice(None)))
    )


# --- validity


def psi_and_factor(kind: str, lambda_: Any) -> tuple[np.ndarray, np.ndarray]:
    """Psi_k (K, D, D) in the prior's coordinates, and their Cholesky factors."""
    if kind == "diag":
        Psi = nig.traditional(DIAG.family(lambda_)).Psi
        Psi = Psi[..., None] * np.eye(Psi.shape[-1])
        return Psi, np.sqrt(Psi)
    family: Any = TIED.family(lambda_) if kind == "tied" else FULL.family(lambda_)
    found: Any = tied.traditional(family) if kind == "tied" else niw.traditional(family)
    d = found.Psi.shape[-1]
    return found.Psi.reshape(-1, d, d), found.factor.reshape(-1, d, d)


def degenerate(name: str, size: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Data that make covariances singular or numbers large."""
    if name == "equal":
        return np.tile(rng.normal(0, 5, d), (size, 1))
    if name == "line":
        return np.outer(rng.normal(0, 5, size), np.ones(d))
    if name == "huge":
        return rng.normal(0, 1e7, (size, d))
    if name == "outlier":
        x = rng.standard_normal((size, d))
        x[0] = 1e12
        return x
    return rng.standard_normal((size, d))


@each_kind
@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    name=st.sampled_from(["equal", "line", "huge", "outlier", "plain"]),
    size=st.sampled_from([1, 2, 7]),
    rho=st.sampled_from([1e-8, 0.1, 0.5, 1.0]),
    scale=st.sampled_from([1e-3, 1.0, 1e6]),
    seed=st.integers(0, 1000),
)
def test_psi_stays_positive_definite(
    kind: str, name: str, size: int, rho: float, scale: float, seed: int
) -> None:
    """Supplement 4.2: after any step, and for any phi; Psi_k - Psi stays positive semi-definite."""
    k, d = 3, 4
    rng = np.random.default_rng(seed)
    x = degenerate(name, size, d, rng)
    Psi = np.exp(rng.normal(0, 2, d))
    prior = GaussianPrior(
        np.ones(k), rng.normal(0, 1, d), 0.5, Psi if kind == "diag" else np.diag(Psi), d + 1.5
    )
    model = GaussianModel(
        n_components=k, n_features=d, covariance_type=kind, backend="reference", dtype="float64"
    )
    batch = model.batch(x, slice(None))
    lambda_ = model.initial(prior, rng)
    phi = rng.dirichlet(np.full(k, 0.01), size) if seed % 2 else np.eye(k)[np.zeros(size, int)]
    statistics = model.beliefs(prior, batch, np.maximum(phi, 1e-300))[1]
    blended = model.blend(lambda_, prior, batch, statistics, rho, scale)
    state, info = trust_region.step(
        model, State(lambda_, prior), batch, rho=rho, n_documents=scale * size, n_inner=3, n_local=1
    )
    for natural in (blended, state.lambda_):
        Psi, factor = psi_and_factor(kind, natural)
        assert (np.diagonal(factor, axis1=1, axis2=2) > 0).all()
        # In exact arithmetic Psi_k is at least the prior's Psi, here I. Rounding errors are
        # relative to C: what they do not reach must be right.
        noise = 1e-13 * np.abs(natural.C).max()
        assert np.linalg.eigvalsh(Psi).min() > 0.99 - noise
        assert model.is_finite(natural)
    assert np.isfinite(info.local).all()
    np.testing.assert_allclose(info.local.sum(axis=1), 1)
    assert np.isfinite(model.local_bound(state.lambda_, prior, batch, None)).all()
    assert np.isfinite(model.global_bound(state.lambda_, prior))
    assert np.isfinite(model.predictive_log_density(state.lambda_, prior, batch)).all()


@each_kind
@pytest.mark.parametrize("value", [1e120, np.nan, np.inf])
def test_data_that_overflow_are_refused(kind: str, value: float) -> None:
    case = setup(kind)
    model, prior, x = case
    state = State(some_lambda(case), prior)
    bad = x[:20].copy()
    bad[3, 2] = value
    with pytest.raises(FloatingPointError, match="too far"):
        trust_region.step(
            model,
            state,
            model.batch(bad, slice(None)),
            rho=0.5,
            n_documents=100.0,
            n_inner=2,
            n_local=1,
        )


GOOD = {"alpha": np.ones(2), "mean": np.zeros(2), "s": 1.0, "Psi": np.eye(2), "nu": 4.0}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": [1.0, -1.0]}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"mean": [0.0, np.nan]}, "mean"),
        ({"s": 0.0}, "s must"),
        ({"nu": 1.0}, "nu must be above D - 1"),
        ({"nu": np.nan}, "nu must"),
        ({"Psi": np.eye(3)}, "Psi must have shape"),
        ({"Psi": np.array([[1.0, 0.5], [0.0, 1.0]])}, "symmetric"),
        ({"Psi": np.array([[1.0, 2.0], [2.0, 1.0]])}, "positive definite"),
        ({"Psi": [1.0, 0.0]}, "Psi must be positive"),
    ],
)
def test_bad_priors_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GaussianPrior(**(GOOD | change))


def test_prior_and_model_must_fit() -> None:
    prior = GaussianPrior(**GOOD)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"needs Psi of shape \(D,\)"):
        GaussianModel(n_components=2, n_features=2, covariance_type="diag").initial(prior, rng)
    with pytest.raises(ValueError, match="the model has 3 of 2"):
        GaussianModel(n_components=3, n_features=2).initial(prior, rng)


# --- sampling


@each_kind
def test_samples_have_the_expected_moments(kind: str) -> None:
    rng = np.random.default_rng(0)
    covariance = np.array([[[2.0, 0.8], [0.8, 1.0]], [[0.5, -0.2], [-0.2, 0.3]]])
    shown = {
        "full": covariance,
        "diag": np.diagonal(covariance, axis1=1, axis2=2),
        "tied": covariance[0],
    }[kind]
    means = np.array([[10.0, 0.0], [0.0, -5.0]])
    model = GaussianModel(n_components=2, n_features=2, covariance_type=kind)
    x, z = model.sample(GaussianExpected(np.array([0.3, 0.7]), means, shown), 40_000, rng)
    np.testing.assert_allclose(np.bincount(z) / z.size, [0.3, 0.7], atol=0.01)
    for k in range(2):
        cov = np.cov(x[z == k], rowvar=False)
        expected = covariance[0] if kind == "tied" else covariance[k]
        expected = np.diag(np.diag(expected)) if kind == "diag" else expected
        np.testing.assert_allclose(x[z == k].mean(axis=0), means[k], atol=0.05)
        np.testing.assert_allclose(cov, expected, atol=0.06)


@each_kind
def test_draws_from_the_prior_have_its_moments(kind: str) -> None:
    d = 2
    Psi = np.array([[4.0, 1.0], [1.0, 2.0]])
    nu = d + 6.0
    prior = GaussianPrior([2.0, 2.0], [7.0, -3.0], 2.0, np.diag(Psi) if kind == "diag" else Psi, nu)
    model = GaussianModel(n_components=2, n_features=d, covariance_type=kind)
    rng = np.random.default_rng(0)
    draws = [model.sample_prior(prior, 5, rng) for _ in range(2000)]
    assert draws[0][1].shape == (5, d)
    means = np.array([draw[0].means for draw in draws])
    covariances = np.array([draw[0].covariances for draw in draws])
    np.testing.assert_allclose(means.mean(axis=(0, 1)), prior.mean, atol=0.05)
    spare = nu - 2 if kind == "diag" else nu - d - 1
    axes = 0 if kind == "tied" else (0, 1)
    np.testing.assert_allclose(covariances.mean(axis=axes), prior.Psi / spare, rtol=0.1)


def test_sampling_needs_finite_covariances() -> None:
    prior = GaussianPrior(**(GOOD | {"nu": 2.5}))
    model = GaussianModel(n_components=2, n_features=2)
    lambda_ = model.posterior(prior, model.zero_statistics())
    expected = model.expected(lambda_, prior)
    assert np.isinf(expected.covariances).all()
    with pytest.raises(ValueError, match="infinite"):
        model.sample(expected, 3, np.random.default_rng(0))


# --- planted components


def planted(kind: str, seed: int, k: int, d: int, n: int) -> tuple[Setup, np.ndarray]:
    """Clusters whose centres overlap but whose shapes differ, or far apart if tied."""
    rng = np.random.default_rng(100 + seed)
    z = rng.integers(k, size=n)
    noise = rng.standard_normal((n, d))
    if kind == "full":
        axes = np.linalg.qr(rng.normal(size=(k, d, d)))[0] * np.geomspace(0.25, 4, d)
        x = rng.normal(0, 1, (k, d))[z] + np.einsum("nij,nj->ni", axes[z], noise)
    elif kind == "diag":
        scales = np.exp(rng.normal(0, 1, (k, d)))
        x = rng.normal(0, 1.5, (k, d))[z] + scales[z] * noise
    else:
        x = rng.normal(0, 3, (k, d))[z] + noise
    model = GaussianModel(
        n_components=k, n_features=d, covariance_type=kind, start_count=n / (10 * k)
    )
    return Setup(model, gaussian_prior(kind, x, k), x), z


@each_kind
def test_planted_components_are_found_and_natural_gradients_lose_some(kind: str) -> None:
    """The negative control: with natural gradients for trust regions this test fails."""
    k, d, n = 6, 10 if kind == "full" else 20, 3000
    losers = 0
    for seed in range(5):
        case, z = planted(kind, seed, k, d, n)
        used, found = {}, {}
        for name, step in (("tr", TRUST_REGION), ("ng", NATURAL_GRADIENT)):
            lambda_ = fit(case, step, seed, batch_size=50, n_epochs=3).lambda_
            used[name] = int((lambda_.gamma > n / k / 10).sum())
            everything = case.model.batch(case.x, slice(None))
            phi, _ = case.model.local_step(lambda_, case.prior, everything)
            found[name] = int((matched_confusion(phi, z) > 0.9).sum())
        assert used["tr"] == found["tr"] == k
        losers += used["ng"] < k and found["ng"] < k
    assert losers >= 4
