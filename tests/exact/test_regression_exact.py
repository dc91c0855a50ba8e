"""Regressions against closed forms and quadrature on tiny data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

from trustream import BayesianLinearRegression, ProbitRegression
from trustream.inference import batch as batch_vb
from trustream.inference.state import State
from trustream.models.regression import (
    GroupedData,
    GroupedLinearModel,
    GroupedProbitModel,
    PopulationPrior,
    ProbitModel,
    ProbitNatural,
    RowData,
    WeightsPrior,
)

# --- linear regression without groups: everything is known


def rows(n: int = 30, d: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return X, X @ rng.standard_normal(d) + 2.0 + 0.7 * rng.standard_normal(n)


A, NOISE, NU = 0.7, 1.3, 2.5  # precision of weights, variance and degrees of freedom of the noise


def exact(X: np.ndarray, y: np.ndarray, new: np.ndarray, intercept: bool) -> tuple[Any, ...]:
    """Mean and covariance of weights, mean and standard deviation of y at `new`, log evidence.

    From textbooks' formulas, with inverses and the density of a multivariate t.
    """
    ones = [np.ones(1)] if intercept else []
    prior = np.concatenate([np.full(X.shape[1], 1 / A), [1e6] * len(ones)])
    Z, N = (np.column_stack([part, *(np.ones(len(part)) for _ in ones)]) for part in (X, new))
    V = np.linalg.inv(np.diag(1 / prior) + Z.T @ Z)
    m = V @ Z.T @ y
    nu = NU + len(y)
    Psi = NU * NOISE + ((y - Z @ m) ** 2).sum() + (m**2 / prior).sum()
    variance = Psi / (nu - 2)
    spread = variance * (1 + ((N @ V) * N).sum(axis=1))
    marginal = np.eye(len(y)) + Z @ np.diag(prior) @ Z.T
    evidence = stats.multivariate_t(np.zeros(len(y)), NOISE * marginal, df=NU).logpdf(y)
    return m, variance * V, N @ m, np.sqrt(spread), variance, evidence


def estimator(**options: Any) -> BayesianLinearRegression:
    return BayesianLinearRegression(
        standardize=False, weight_precision=A, noise_variance_prior=NOISE,
        noise_degrees_of_freedom_prior=NU, **options,
    )  # fmt: skip


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("method", ["auto", "batch", "memoized", "streaming-batch", "parts"])
def test_linear_regression_is_exact(method: str, intercept: bool) -> None:
    """Posterior, predictive and evidence to 1e-10, however the rows come."""
    X, y = rows()
    new = np.random.default_rng(2).standard_normal((5, 4))
    if method == "parts":
        model = estimator(fit_intercept=intercept)
        for part in (slice(0, 11), slice(11, 12), slice(12, 30)):
            model.partial_fit(X[part], y[part])
    else:
        model = estimator(fit_intercept=intercept, learning_method=method, batch_size=7)
        if method == "streaming-batch":
            model.set_params(batch_size=None)
        model.fit(X, y)
    m, covariance, mean, std, variance, evidence = exact(X, y, new, intercept)
    close = {"rtol": 1e-10, "atol": 1e-12}
    found = [*model.coef_, model.intercept_] if intercept else model.coef_
    np.testing.assert_allclose(found, m, **close)
    np.testing.assert_allclose(model.coef_covariance_, covariance, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.coef_std_, np.sqrt(np.diag(covariance))[:4], **close)
    np.testing.assert_allclose(model.noise_variance_, variance, **close)
    for a, b in zip(model.predict(new, return_std=True), (mean, std), strict=True):
        np.testing.assert_allclose(a, b, **close)
    np.testing.assert_allclose(30 * model.elbo(X, y), evidence, rtol=1e-10)
    state = model._state
    found = model._current_model().evidence(state.lambda_, state.prior)
    np.testing.assert_allclose(found, evidence, rtol=1e-10)


@pytest.mark.parametrize("method", ["trust-region", "natural-gradient"])
def test_stochastic_steps_come_close(method: str) -> None:
    X, y = rows(400)
    m, _, _, _, variance, _ = exact(X, y, X, True)
    model = estimator(learning_method=method, random_state=0).fit(X, y)
    np.testing.assert_allclose([*model.coef_, model.intercept_], m, atol=0.02)
    np.testing.assert_allclose(model.noise_variance_, variance, rtol=0.02)


def test_coordinates_change_no_result() -> None:
    """Standardised, and in the data's own units with the prior that means the same.

    There x~ = x / 3 and y~ = y / 5, and a weight of precision a has precision 9 a.
    """
    X, y = rows()
    X = 3 * (X - X.mean(axis=0)) / X.std(axis=0)
    y = 5 * (y - y.mean()) / y.std()
    one = BayesianLinearRegression(weight_precision=2.0, noise_degrees_of_freedom_prior=1.0)
    two = BayesianLinearRegression(
        weight_precision=18.0, noise_degrees_of_freedom_prior=1.0, noise_variance_prior=25.0,
        standardize=False,
    )  # fmt: skip
    one.fit(X, y), two.fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-10)
    np.testing.assert_allclose(one.coef_covariance_, two.coef_covariance_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(one.lower_bound_, two.lower_bound_, rtol=1e-10)
    for a, b in zip(*(model.predict(X, return_std=True) for model in (one, two)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_the_best_precision_has_the_most_evidence() -> None:
    X, y = rows()
    found = BayesianLinearRegression().fit(X, y)
    best = BayesianLinearRegression(weight_precision=found.weight_precision_).fit(X, y)
    np.testing.assert_allclose(found.coef_, best.coef_, rtol=1e-10)
    np.testing.assert_allclose(found.lower_bound_, best.lower_bound_, rtol=1e-12)
    for factor in (0.01, 0.5, 0.9, 1.1, 2.0, 100.0):
        other = BayesianLinearRegression(weight_precision=factor * found.weight_precision_)
        assert other.fit(X, y).lower_bound_ < best.lower_bound_


# --- probit without groups


@pytest.mark.parametrize("n", [12, 48, 192])
@pytest.mark.parametrize("seed", range(100, 104))
def test_probit_is_at_the_mode_with_the_curvature_there(n: int, seed: int) -> None:
    """And apart from the exact posterior by as much as Laplace's approximation is, and no more.

    With l the log-density of w, c = -l'' and t = l''' at the mode, the next terms of the expansion
    put the mean at mode + t / (2 c^2), a lean of the order of n^-1/2 standard deviations. What is
    left falls like n^-3/2, and errors of standard deviations and probabilities like 1/n.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1))
    y = np.where(X[:, 0] + rng.standard_normal(n) > 0, 1, 0)
    model = ProbitRegression(standardize=False, fit_intercept=False, tol=0.0).fit(X, y)
    side = 2 * y - 1

    def log_joint(w: np.ndarray) -> np.ndarray:
        likelihood = special.log_ndtr(np.multiply.outer(w, side * X[:, 0])).sum(axis=-1)
        return likelihood + stats.norm.logpdf(w)

    mode = optimize.minimize_scalar(lambda w: -log_joint(np.array(w)), tol=1e-12).x
    at = [log_joint(mode + i * 1e-2) for i in range(-2, 3)]
    curvature = -(-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * 1e-4)
    third = (at[4] - 2 * at[3] + 2 * at[1] - at[0]) / 2e-6
    np.testing.assert_allclose(model.coef_, mode, atol=1e-6)
    np.testing.assert_allclose(model.coef_std_, curvature**-0.5, rtol=1e-5)
    new = np.array([-2.0, 0.1, 1.5])
    found = model.predict_proba(new[:, np.newaxis])[:, 1]
    np.testing.assert_allclose(
        found, special.ndtr(new * mode / np.sqrt(1 + new**2 / curvature)), atol=1e-6
    )
    # The exact posterior.
    w = np.linspace(-8, 8, 20_001)
    top = log_joint(np.array(mode))
    density = np.exp(log_joint(w) - top)
    evidence = top + np.log(np.trapezoid(density, w))
    assert 0 < evidence - n * model.lower_bound_  # z and w apart: the bound is loose
    density /= np.trapezoid(density, w)
    mean = np.trapezoid(w * density, w)
    std = np.sqrt(np.trapezoid((w - mean) ** 2 * density, w))
    lean = third / (2 * curvature**2)
    assert abs(mean - mode - lean) < 5 * n**-1.5 * std
    assert abs(model.coef_std_[0] / std - 1) < 1.5 / n
    probability = np.trapezoid(density * special.ndtr(np.multiply.outer(new, w)), w, axis=1)
    np.testing.assert_allclose(found, probability, atol=0.8 / n)


def test_local_bound_of_a_probit_by_quadrature() -> None:
    """E_q[log N(z | x w, 1) / q(z)] over w ~ N(m, V) and z ~ N(x m, 1) on one side."""
    model = ProbitModel(n_weights=1)
    m, V, x = 0.4, 0.3, 1.7
    prior = WeightsPrior(np.zeros(1), np.ones(1), 0.0, 1.0, np.ones(1))
    lambda_ = ProbitNatural(np.array([[1 / V]]), np.array([m / V]), np.eye(1))
    for y in (-1.0, 1.0):
        batch = model.batch(RowData(np.array([[x]]), np.array([y])), slice(None))
        nodes, weights = np.polynomial.hermite_e.hermegauss(40)
        w, weights = m + np.sqrt(V) * nodes, weights / np.sqrt(2 * np.pi)
        z = y * np.linspace(0, 12, 200_001)
        log_q = stats.norm.logpdf(z, x * m) - special.log_ndtr(y * x * m)
        log_p = sum(a * stats.norm.logpdf(z, x * b) for a, b in zip(weights, w, strict=True))
        value = np.trapezoid(np.exp(log_q) * (log_p - log_q), np.abs(z))
        np.testing.assert_allclose(model.local_bound(lambda_, prior, batch), value, rtol=1e-7)


# --- tiny hierarchies, by quadrature over mu, Sigma and v

PRIOR = PopulationPrior(np.zeros(1), np.ones(1), 0.0, 1.0, 0.5, np.array([[1.5]]), 4.0, 2.0, 3.0)
OFFSETS = np.array([0, 3, 4, 9])


def tiny() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    x = rng.standard_normal(9)
    w = np.repeat([1.5, 0.2, 0.9], np.diff(OFFSETS))
    return x, x * w + 0.5 * rng.standard_normal(9)


def population_grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """mu and Sigma on a grid, and the logarithm of prior times volume, all (n,)."""
    mu, log_Sigma = np.linspace(-5, 5, 161), np.linspace(-5, 4, 181)
    mu, log_Sigma = (part.ravel() for part in np.meshgrid(mu, log_Sigma, indexing="ij"))
    Sigma = np.exp(log_Sigma)
    weight = stats.invgamma(PRIOR.nu / 2, scale=1.5 / 2).logpdf(Sigma) + log_Sigma
    weight += stats.norm(0, np.sqrt(Sigma / PRIOR.s)).logpdf(mu)
    return mu, Sigma, weight + np.log(10 / 160) + np.log(9 / 180)


def converged(model: Any, data: GroupedData) -> tuple[Any, float, Any]:
    """lambda, bound and beliefs at the end of batch VB."""
    state = State(model.initial(PRIOR, np.random.default_rng(0)), PRIOR)
    local = None
    before = -np.inf
    for _ in range(3000):
        state, info = batch_vb.step(model, state, data, [slice(None)], local, n_local=5)
        local = info.local
        if info.objective[0] - before < 1e-12:
            break
        before = info.objective[0]
    return state.lambda_, info.objective[0], local[0]


def summary(log_weight: np.ndarray, value: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of a value under these weights."""
    weight = np.exp(log_weight - special.logsumexp(log_weight))
    mean = float(weight @ value)
    return mean, float(np.sqrt(weight @ (value - mean) ** 2))


def test_hierarchical_linear_regression() -> None:
    x, y = tiny()
    model = GroupedLinearModel(n_weights=1)
    lambda_, bound, _ = converged(model, GroupedData(x[:, None], y, OFFSETS))
    mu, Sigma, weight = population_grid()
    v = np.exp(np.linspace(-5, 3, 81))
    noise = stats.invgamma(3.0 / 2, scale=2.0 / 2).logpdf(v) + np.log(v) + np.log(8 / 80)
    log_joint = np.empty((v.size, mu.size))
    shift = np.empty((v.size, mu.size))  # E[w_1] given mu, Sigma and v
    for i, variance in enumerate(v):
        total = weight + noise[i]
        for g in range(3):
            part = slice(OFFSETS[g], OFFSETS[g + 1])
            a, b, c = x[part] @ x[part], x[part] @ y[part], y[part] @ y[part]
            K, h = 1 / Sigma + a / variance, mu / Sigma + b / variance
            total = total - (part.stop - part.start) / 2 * np.log(2 * np.pi * variance)
            total = total - np.log(Sigma * K) / 2
            total = total + (h**2 / K - mu**2 / Sigma - c / variance) / 2
            if g == 0:
                shift[i] = h / K
        log_joint[i] = total
    evidence = special.logsumexp(log_joint)
    assert 0 < evidence - bound < 1
    mean, std = summary(log_joint.ravel(), np.tile(mu, v.size))
    found = model.expected(lambda_, PRIOR)[0][0]
    assert abs(found - mean) < 0.1 * std
    # What is not known of Sigma and v is missing.
    ratio = np.sqrt(model.mean_covariance(lambda_)[0, 0]) / std
    assert 0.75 < ratio < 1.05
    moments = model.batch(GroupedData(x[:, None], y, OFFSETS), slice(None))
    weights, _ = model.weights_of_groups(lambda_, PRIOR, moments, None)
    exact_weight, _ = summary(log_joint.ravel(), shift.ravel())
    assert abs(weights[0, 0] - exact_weight) < 0.1


def best_probit_beliefs(x: np.ndarray, side: np.ndarray) -> tuple[float, np.ndarray]:
    """The highest bound of q(mu, Sigma) prod_g N(w_g | m_g, C_g), by a general optimiser.

    q(mu, Sigma) is normal-inverse-gamma, N(mu | m, Sigma / s) IG(Sigma | nu/2, Psi/2). Returns the
    bound, and m followed by the m_g.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights /= np.sqrt(2 * np.pi)
    s0, Psi0, nu0 = PRIOR.s, float(PRIOR.Psi[0, 0]), PRIOR.nu

    def bound(theta: np.ndarray) -> float:
        m, (s, Psi, nu) = theta[0], np.exp(theta[1:4])
        location, std = theta[4:7], np.exp(theta[7:10])
        precision, log_Sigma = nu / Psi, np.log(Psi / 2) - special.digamma(nu / 2)
        value = 0.0
        for g in range(3):
            w = location[g] + std[g] * nodes
            for i in range(OFFSETS[g], OFFSETS[g + 1]):
                value += weights @ special.log_ndtr(side[i] * x[i] * w)
            square = precision * ((location[g] - m) ** 2 + std[g] ** 2) + 1 / s
            value += -(np.log(2 * np.pi) + log_Sigma + square) / 2  # log N(w | mu, Sigma)
            value += np.log(2 * np.pi * np.e * std[g] ** 2) / 2  # entropy
        kl = (s0 / s - 1 + np.log(s / s0) + s0 * precision * m**2) / 2
        a, b, a0, b0 = nu / 2, Psi / 2, nu0 / 2, Psi0 / 2
        kl += (a - a0) * special.digamma(a) - special.gammaln(a) + special.gammaln(a0)
        kl += a0 * np.log(b / b0) + a * (b0 - b) / b
        return float(value - kl)

    start = np.concatenate([[0.0], np.log([3.5, 2.0, 7.0]), np.zeros(3), np.full(3, -0.5)])
    found = optimize.minimize(lambda theta: -bound(theta), start, tol=1e-9)
    return -float(found.fun), found.x[[0, 4, 5, 6]]


def test_hierarchical_probit_regression() -> None:
    """The best beliefs of their form to 1e-5, and how far these are from the exact posterior."""
    x, y = tiny()
    side = np.where(y > 0, 1.0, -1.0)
    data = GroupedData(x[:, None], side, OFFSETS)
    model = GroupedProbitModel(n_weights=1)
    lambda_, bound, local = converged(model, data)
    best, places = best_probit_beliefs(x, side)
    np.testing.assert_allclose(bound, best, atol=1e-8)
    np.testing.assert_allclose(model.expected(lambda_, PRIOR)[0][0], places[0], atol=1e-5)
    np.testing.assert_allclose(local[:, 0], places[1:], atol=1e-5)
    # The exact posterior, by quadrature.
    mu, Sigma, log_joint = population_grid()
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights /= np.sqrt(2 * np.pi)
    w = mu[:, None] + np.sqrt(Sigma)[:, None] * nodes
    first = np.empty(mu.size)
    for g in range(3):
        rows_ = range(OFFSETS[g], OFFSETS[g + 1])
        likelihood = np.exp(sum(special.log_ndtr(side[i] * x[i] * w) for i in rows_))
        if g == 0:
            first = (likelihood * w) @ weights / (likelihood @ weights)
        log_joint = log_joint + np.log(likelihood @ weights)
    evidence = special.logsumexp(log_joint)
    mean, std = summary(log_joint, mu)
    exact_weight, _ = summary(log_joint, first)
    missed = [
        evidence - bound,
        (places[0] - mean) / std,
        np.sqrt(model.mean_covariance(lambda_)[0, 0]) / std,
        (local[0, 0] - exact_weight) / np.sqrt(local[0, 1]),
    ]
    # What beliefs of this form miss on these nine rows: nats, and standard deviations.
    np.testing.assert_allclose(missed, [0.782, -0.169, 0.783, -0.367], atol=2e-3)


@pytest.mark.parametrize("probit", [False, True])
def test_batch_vb_ends_where_the_bound_is_flat(probit: bool) -> None:
    """The derivative of the bound in every part of lambda that q has, by differences."""
    x, y = tiny()
    y = np.where(y > 0, 1.0, -1.0) if probit else y
    data = GroupedData(x[:, None], y, OFFSETS)
    model: Any = (GroupedProbitModel if probit else GroupedLinearModel)(n_weights=1)
    lambda_, value, local = converged(model, data)
    batch = model.batch(data, slice(None))

    def bound(moved: Any) -> float:
        fitted, _ = model.local_step(moved, PRIOR, batch, local, 20, 0.0)
        local_bound = model.local_bound(moved, PRIOR, batch, fitted).sum()
        return float(local_bound + model.global_bound(moved, PRIOR))

    np.testing.assert_allclose(bound(lambda_), value, rtol=1e-9)
    for name in lambda_._fields:
        if name == "spread":
            continue
        part = getattr(lambda_, name)
        h = 1e-3 * np.abs(part).max()
        up, down = (bound(lambda_._replace(**{name: part + sign * h})) for sign in (1, -1))
        assert abs(up - down) / 2 < 1e-5, name
        assert max(up, down) < value  # and it is a maximum
