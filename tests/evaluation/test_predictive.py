"""Predictive densities of mixtures: they integrate to one, and agree with independent ones."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
import pytest
from scipy import integrate, sparse, stats

from tests.helpers import Array
from tests.models.mixtures import GAUSSIAN, KINDS, Setup, setup, some_lambda
from trustream import BernoulliMixture, GaussianMixture
from trustream.evaluation.predictive_density import (
    Predictive,
    bernoulli_log_density,
    predictive,
    student_t_log_density,
)
from trustream.families import dirichlet
from trustream.models.mixture.gaussian_covariance import DIAG, FULL, TIED

each_kind = pytest.mark.parametrize("kind", GAUSSIAN)


def student_parameters(kind: str, d: int, k: int = 3, seed: int = 0) -> dict[str, Any]:
    """Arguments of `student_t_log_density`, those of each component well apart."""
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(k, d, d))
    squares = roots @ roots.swapaxes(-1, -2) + 0.1 * np.eye(d)
    scales = {"full": squares, "diag": rng.gamma(2, 1, (k, d)), "tied": squares[0]}[kind]
    return {
        "weights": rng.dirichlet(np.ones(k)),
        "means": rng.normal(0, 4, (k, d)),
        "scales": scales,
        "degrees_of_freedom": rng.gamma(3, 2, k),
        "covariance_type": kind,
    }


def posterior_parameters(case: Setup, lambda_: Any) -> dict[str, Any]:
    """Those of a Gaussian model's predictive density, by the formulas in the docstring."""
    model, prior, _ = case
    family = {"full": FULL, "diag": DIAG, "tied": TIED}[model.covariance_type].family(lambda_)
    m, s, nu = family.sm / family.s[:, None], family.s, family.nu
    kind, d = model.covariance_type, model.n_features
    L = np.linalg.cholesky(np.atleast_2d(np.diag(prior.Psi) if kind == "diag" else prior.Psi))
    outer = family.sm[:, :, None] * m[:, None, :]
    if kind == "diag":
        df = nu
        scales = (family.C - family.sm * m) * ((s + 1) / (s * df))[:, None]
        scales = scales * np.diag(L) ** 2
    else:
        df = np.broadcast_to(nu - d + 1, s.shape)
        Psi = family.C - (outer.sum(axis=0) if kind == "tied" else outer)
        scales = L @ (Psi * ((s + 1) / (s * df))[:, None, None]) @ L.T
        scales = (scales + scales.swapaxes(-1, -2)) / 2
    return {
        "weights": dirichlet.mean(lambda_.gamma),
        "means": prior.mean + m @ L.T,
        "scales": scales,
        "degrees_of_freedom": df,
        "covariance_type": "diag" if kind == "diag" else "full",
    }


# --- Student t


@each_kind
def test_student_densities_integrate_to_one(kind: str) -> None:
    parameters = student_parameters(kind, d=1)

    def density(x: float) -> float:
        return float(np.exp(student_t_log_density([[x]], **parameters))[0])

    points = np.sort(parameters["means"][:, 0])
    edges = [-np.inf, *points, np.inf]
    total = sum(integrate.quad(density, a, b)[0] for a, b in itertools.pairwise(edges))
    assert total == pytest.approx(1, abs=1e-6)


@each_kind
def test_student_densities_agree_with_scipy(kind: str) -> None:
    d, k = 3, 3
    parameters = student_parameters(kind, d)
    # Far from the origin, where differences of squares would cancel.
    parameters["means"] += 1e6
    x = 1e6 + np.random.default_rng(1).normal(0, 5, (20, d))
    total = np.zeros(20)
    for j in range(k):
        weight, m, df = (parameters[name][j] for name in ("weights", "means", "degrees_of_freedom"))
        scale = parameters["scales"] if kind == "tied" else parameters["scales"][j]
        if kind == "diag":
            total += weight * stats.t(df, m, np.sqrt(scale)).pdf(x).prod(axis=1)
        else:
            total += weight * stats.multivariate_t(m, scale, df).pdf(x)
    np.testing.assert_allclose(student_t_log_density(x, **parameters), np.log(total), rtol=1e-8)


@each_kind
def test_the_model_and_the_plain_density_agree(kind: str) -> None:
    case = setup(kind)
    lambda_ = some_lambda(case)
    parameters = posterior_parameters(case, lambda_)
    batch = case.model.batch(case.x, slice(None))
    values = case.model.predictive_log_density(lambda_, case.prior, batch)
    np.testing.assert_allclose(student_t_log_density(case.x, **parameters), values, rtol=1e-8)
    if kind != "diag":
        by_scipy = [
            stats.multivariate_t(m, scale, df).pdf(case.x)
            for m, scale, df in zip(
                *(parameters[n] for n in ("means", "scales", "degrees_of_freedom")), strict=True
            )
        ]
        np.testing.assert_allclose(np.exp(values), parameters["weights"] @ by_scipy, rtol=1e-8)


@each_kind
def test_fitted_gaussian_mixtures_integrate_to_one(kind: str) -> None:
    x = np.random.default_rng(0).normal([[-3.0], [4.0]] * 50, 1.0)
    mixture = GaussianMixture(3, covariance_type=kind, max_iter=3, random_state=0).fit(x)
    # z = x / (1 + |x|) maps the line, heavy tails and all, to an interval.
    z = (np.arange(40_000) + 0.5) / 20_000 - 1
    grid, slope = z / (1 - np.abs(z)), 1 / (1 - np.abs(z)) ** 2
    density = np.exp(predictive(mixture, grid[:, None]).per_point)
    assert (density * slope).sum() / 20_000 == pytest.approx(1, abs=1e-5)


def test_one_number_for_all_degrees_of_freedom() -> None:
    parameters = student_parameters("full", 2)
    values = []
    for df in (2.5, np.full(3, 2.5)):
        values.append(student_t_log_density(np.eye(2), **parameters | {"degrees_of_freedom": df}))
    np.testing.assert_array_equal(*values)


# --- Bernoulli


def all_points(d: int) -> Array:
    return np.array(list(itertools.product((0, 1), repeat=d)))


def test_bernoulli_probabilities_sum_to_one() -> None:
    rng = np.random.default_rng(0)
    weights, p = rng.dirichlet(np.ones(3)), rng.beta(0.5, 0.5, (3, 8))
    assert np.exp(bernoulli_log_density(all_points(8), weights, p)).sum() == pytest.approx(1)


def test_certain_features_and_empty_components() -> None:
    """p of 0 and 1 and weights of 0 are exact; a point that cannot be has -inf."""
    weights, p = [0.5, 0.5, 0.0], np.array([[0.0, 1.0, 0.3], [0.0, 0.2, 1.0], [1.0, 0.5, 0.5]])
    x = all_points(3)
    expected = [sum(w * np.where(row, q, 1 - q).prod() for w, q in zip(weights, p)) for row in x]  # noqa: B905
    values = bernoulli_log_density(x, weights, p)
    np.testing.assert_allclose(np.exp(values), expected, rtol=1e-12)
    assert np.isneginf(values[x[:, 0] == 1]).all()
    sparse_values = bernoulli_log_density(sparse.csr_matrix(x), weights, p)
    np.testing.assert_allclose(sparse_values, values, rtol=1e-12)
    result = predictive(lambda X: bernoulli_log_density(X, weights, p), x)
    assert (result.mean, result.standard_error) == (-np.inf, np.inf)


def test_the_bernoulli_model_is_the_plain_density_of_its_mean() -> None:
    case = setup("bernoulli", d=7)
    lambda_ = some_lambda(case)
    points = all_points(7)
    batch = case.model.batch(points, slice(None))
    values = case.model.predictive_log_density(lambda_, case.prior, batch)
    assert np.exp(values).sum() == pytest.approx(1)
    expected = case.model.expected(lambda_, case.prior)
    np.testing.assert_allclose(bernoulli_log_density(points, *expected), values, rtol=1e-10)


# --- the result


def test_estimators_and_their_result() -> None:
    x = np.random.default_rng(0).random((60, 5)) < 0.3
    mixture = BernoulliMixture(2, max_iter=2, random_state=0, dtype="float64").fit(x)
    result = predictive(mixture, x)
    np.testing.assert_array_equal(result.per_point, mixture.score_samples(x))
    assert result.mean == pytest.approx(mixture.score(x))
    assert result.n_points == 60
    assert result.standard_error == pytest.approx(result.per_point.std(ddof=1) / np.sqrt(60))
    plain = bernoulli_log_density(x, mixture.weights_, mixture.means_)
    np.testing.assert_allclose(plain, result.per_point, rtol=1e-10)
    assert Predictive(np.array([-1.0])).standard_error == np.inf


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_change_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def values() -> Array:
        if kind == "bernoulli":
            return bernoulli_log_density(all_points(4), [0.4, 0.6], [[0.1] * 4, [0.7] * 4])
        return student_t_log_density(all_points(4), **student_parameters(kind, 4))

    expected = values()
    module = importlib.import_module("trustream.evaluation.predictive_density")
    monkeypatch.setattr(module, "_BLOCK_NUMBERS", 36)
    np.testing.assert_allclose(values(), expected, rtol=1e-13)


# --- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": [1.0, 2.0]}, r"X has shape \(2,\), expected \('any', 'any'\)"),
        ({"X": [[np.nan, 0.0]]}, "X has entries that are NaN"),
        ({"X": np.empty((2, 0))}, "at least one column"),
        ({"weights": [0.5, 0.5]}, r"means has shape \(3, 2\), expected \(2, 2\)"),
        ({"weights": [0.5, 0.5, 0.5]}, "weights must not be negative and have sum 1"),
        ({"weights": [1.5, -0.5, 0.0]}, "weights must not be negative and have sum 1"),
        ({"scales": np.ones((3, 2))}, r"scales has shape \(3, 2\), expected \(3, 2, 2\)"),
        ({"scales": -np.ones((3, 2)), "covariance_type": "diag"}, "scales must be positive, got"),
        ({"scales": np.ones((3, 2, 2))}, "positive definite"),
        ({"scales": np.tile([[1.0, 0.5], [0.0, 1.0]], (3, 1, 1))}, "symmetric"),
        ({"degrees_of_freedom": 0}, "degrees_of_freedom must be positive, got 0"),
        ({"degrees_of_freedom": np.inf}, "degrees_of_freedom has entries that are NaN or infinite"),
        ({"covariance_type": "spherical"}, "covariance_type must be one of"),
    ],
)
def test_bad_student(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        student_t_log_density(**{"X": np.eye(2), **student_parameters("full", 2), **change})


@pytest.mark.parametrize(
    ("X", "p", "message"),
    [
        ([[0, 2]], [[0.5, 0.5]], "other values than 0 and 1"),
        ([[0, np.nan]], [[0.5, 0.5]], "other values than 0 and 1"),
        ([[0, 1, 0]], [[0.5, 0.5]], r"X has shape \(1, 3\), expected \(any, 2\)"),
        ([[0, 1]], [[0.5, 1.5]], "probabilities go from 0.5 to 1.5"),
        ([[0, 1]], [[0.5, 0.5]] * 2, r"probabilities has shape \(2, 2\), expected \(1, 'any'\)"),
    ],
)
def test_bad_bernoulli(X: Any, p: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bernoulli_log_density(X, [1.0], p)


def test_bad_models() -> None:
    for model, X, message in (
        (object(), [[0]], "model is a object, expected a fitted mixture"),
        (lambda X: np.zeros(0), np.empty((0, 2)), "X has no data points"),
        (lambda X: np.zeros((2, 1)), [[0], [1]], r"shape \(2, 1\), expected \(2,\)"),
        (lambda X: np.array([0, np.nan]), [[0], [1]], "density of data point 1 is NaN"),
    ):
        with pytest.raises(ValueError, match=message):
            predictive(model, X)
