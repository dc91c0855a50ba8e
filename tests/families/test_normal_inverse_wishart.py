"""The three normal-inverse-Wishart families against sampling, ratios of normalisers, quadrature."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from tests.families.numeric import check_exponential_family
from trustream.families import inverse_wishart, symmetric
from trustream.families import normal_inverse_gamma as nig
from trustream.families import normal_inverse_wishart as niw
from trustream.families import tied_normal_inverse_wishart as tied
from trustream.kernels import threads

K, D = 3, 2
FAMILIES = {"full": niw, "diag": nig, "tied": tied}
each_family = pytest.mark.parametrize("kind", FAMILIES)


def random_natural(kind: str, seed: int = 0, d: int = D) -> Any:
    """K distributions far from the origin's prior."""
    rng = np.random.default_rng(seed)
    m, s = rng.normal(0, 1, (K, d)), rng.gamma(4.0, 1.0, K) + 0.5
    half = rng.normal(0, 1, (K, d, 2 * d))
    Psi, nu = half @ half.transpose(0, 2, 1) + np.eye(d), d + 3 + rng.gamma(3.0, 1.0, K)
    if kind == "diag":
        return nig.natural(m, s, np.diagonal(Psi, axis1=1, axis2=2), nu)
    if kind == "tied":
        return tied.natural(m, s, Psi[0], nu[0])
    return niw.natural(m, s, Psi, nu)


def add_point(kind: str, lambda_: Any, x: np.ndarray, k: int) -> Any:
    """lambda + f(x) for a data point of component k."""
    one = np.eye(K)[k]
    square = x**2 if kind == "diag" else np.outer(x, x)
    C = square if kind == "tied" else one.reshape(K, *[1] * square.ndim) * square
    nu = np.ones(1) if kind == "tied" else one
    return type(lambda_)(
        lambda_.s + one, lambda_.sm + one[:, None] * x, lambda_.C + C, lambda_.nu + nu
    )


@each_family
def test_natural_and_traditional_parameters(kind: str) -> None:
    family = FAMILIES[kind]
    lambda_ = random_natural(kind)
    m, s, Psi, nu, *factor = family.traditional(lambda_)
    for value, again in zip(lambda_, family.natural(m, s, Psi, nu), strict=True):
        np.testing.assert_allclose(value, again)
    if factor:
        np.testing.assert_allclose(factor[0] @ np.swapaxes(factor[0], -1, -2), Psi)


@each_family
def test_expectations_and_means_agree_with_samples(kind: str) -> None:
    family: ModuleType = FAMILIES[kind]
    lambda_ = random_natural(kind)
    rng = np.random.default_rng(1)
    with threads.one_blas_thread():  # many tiny products: threads would only wait for each other
        draws = [family.sample(lambda_, rng) for _ in range(5_000)]
    mu = np.array([draw[0] for draw in draws])
    Sigma = np.array([draw[1] for draw in draws])
    if kind == "diag":
        precision = 1 / Sigma
        linear, log_det = precision * mu, np.log(precision).sum(axis=-1)
    else:
        precision = np.linalg.inv(Sigma)
        log_det = -np.linalg.slogdet(Sigma)[1]
        each = precision if kind == "full" else precision[:, None]
        linear = (each @ mu[..., None])[..., 0]
    quadratic = (mu * linear).sum(axis=-1)
    x = np.array([[0.5, -1.0], [2.0, 1.0]])
    sampled = (quadratic, linear, precision, log_det)
    for value, draw in zip(family.expected(lambda_), sampled, strict=True):
        error = draw.std(axis=0) / np.sqrt(len(draws))
        assert (np.abs(value - draw.mean(axis=0)) < 5 * error).all()
    for value, draw in zip(family.mean(lambda_), (mu, Sigma), strict=True):
        error = draw.std(axis=0) / np.sqrt(len(draws))
        assert (np.abs(value - draw.mean(axis=0)) < 5 * error).all()
    # E[log N(x | mu, Sigma)] and log E[N(x | mu, Sigma)] for each point and component.
    difference = x[None, :, None] - mu[:, None]
    if kind == "diag":
        distance = (difference**2 * precision[:, None]).sum(axis=-1)
    else:
        each = precision[:, None] if kind == "full" else precision[:, None, None]
        distance = np.einsum(
            "tnki,tnkij,tnkj->tnk",
            difference,
            np.broadcast_to(each, (*difference.shape, D)),
            difference,
        )
    spread = log_det[:, None] if kind != "tied" else log_det[:, None, None]
    log_density = (spread - distance - D * np.log(2 * np.pi)) / 2
    for value, draw in (
        (family.expected_log_likelihood(lambda_, x), log_density),
        (np.exp(family.predictive_log_density(lambda_, x)), np.exp(log_density)),
    ):
        error = draw.std(axis=0) / np.sqrt(len(draws))
        assert (np.abs(value - draw.mean(axis=0)) < 5 * error).all()


@each_family
def test_predictive_density_is_a_ratio_of_normalisers(kind: str) -> None:
    family = FAMILIES[kind]
    lambda_ = random_natural(kind)
    x = np.random.default_rng(2).normal(0, 3, (4, D))
    values = family.predictive_log_density(lambda_, x)
    before = np.sum(family.log_normalizer(lambda_))
    for n in range(len(x)):
        for k in range(K):
            after = np.sum(family.log_normalizer(add_point(kind, lambda_, x[n], k)))
            np.testing.assert_allclose(values[n, k], after - before - D / 2 * np.log(2 * np.pi))


@each_family
def test_predictive_density_integrates_to_one(kind: str) -> None:
    family = FAMILIES[kind]
    lambda_ = random_natural(kind, d=1)
    for k in range(K):
        total, _ = integrate.quad(
            lambda x, k=k: np.exp(family.predictive_log_density(lambda_, np.array([[x]]))[0, k]),
            -np.inf,
            np.inf,
        )
        assert abs(total - 1) < 1e-6


@each_family
def test_identities_of_an_exponential_family(kind: str) -> None:
    family = FAMILIES[kind]
    shapes = [part.shape for part in random_natural(kind)]
    matrix = kind != "diag"

    def flat(natural: Any) -> np.ndarray:
        s, sm, C, nu = natural
        C = symmetric.pack(C) if matrix else C
        return np.concatenate([part.ravel() for part in (s, sm, C, nu)])

    def natural(x: np.ndarray) -> Any:
        sizes = np.cumsum([np.prod(shape) for shape in shapes])
        packed = symmetric.pack(np.zeros(shapes[2])).size if matrix else np.prod(shapes[2])
        cuts = np.cumsum([sizes[0], sizes[1] - sizes[0], packed])
        s, sm, C, nu = np.split(x, cuts.astype(int))
        if matrix:
            C = symmetric.unpack(C.reshape(*shapes[2][:-2], -1), D)
        return type(random_natural(kind))(s, sm.reshape(shapes[1]), C.reshape(shapes[2]), nu)

    def statistics(x: np.ndarray) -> np.ndarray:
        expected = family.expected(natural(x))
        # An entry off the diagonal of a packed matrix stands for two.
        double = 2 - symmetric.pack(np.eye(D)) if matrix else 1.0
        square = symmetric.pack(expected.precision) * double if matrix else expected.precision
        parts = (expected.quadratic / -2, expected.linear, square / -2)
        return np.concatenate([part.ravel() for part in (*parts, expected.log_det_precision / 2)])

    check_exponential_family(
        lambda x: float(np.sum(family.log_normalizer(natural(x)))),
        statistics,
        lambda x, y: float(np.sum(family.kl(natural(x), natural(y)))),
        flat(random_natural(kind, 0)),
        flat(random_natural(kind, 1)),
    )


def test_one_dimension_is_the_same_in_all_three() -> None:
    m, s, Psi, nu = np.array([[0.5]]), np.array([2.0]), np.array([[3.0]]), np.array([4.0])
    x = np.array([[-1.0], [2.0]])
    full, diag = niw.natural(m, s, Psi[None], nu), nig.natural(m, s, Psi, nu)
    one = tied.natural(m, s, Psi, nu)
    other = (niw.natural(m + 1, s, Psi[None], nu), nig.natural(m + 1, s, Psi, nu))
    for name in ("expected_log_likelihood", "predictive_log_density"):
        values = [getattr(f, name)(p, x) for f, p in ((niw, full), (nig, diag), (tied, one))]
        np.testing.assert_allclose(values[0], values[1])
        np.testing.assert_allclose(values[0], values[2])
    np.testing.assert_allclose(niw.log_normalizer(full), nig.log_normalizer(diag))
    np.testing.assert_allclose(niw.log_normalizer(full), tied.log_normalizer(one))
    np.testing.assert_allclose(niw.kl(full, other[0]), nig.kl(diag, other[1]))
    np.testing.assert_allclose(
        niw.predictive_log_density(full, x)[:, 0],
        stats.t(4.0, 0.5, np.sqrt(3.0 * 3 / (2 * 4))).logpdf(x[:, 0]),
    )


def test_inverse_wishart_density_and_mean() -> None:
    Psi = np.array([[2.0, 0.3], [0.3, 1.0]])
    factor, nu = np.linalg.cholesky(Psi), np.array(5.0)
    Sigma = np.array([[1.0, -0.2], [-0.2, 0.7]])
    log_density = (
        -(5 + D + 1) / 2 * np.linalg.slogdet(Sigma)[1]
        - np.trace(Psi @ np.linalg.inv(Sigma)) / 2
        - inverse_wishart.log_normalizer(factor, nu)
    )
    reference = stats.invwishart(5, Psi)
    np.testing.assert_allclose(log_density, reference.logpdf(Sigma))
    np.testing.assert_allclose(inverse_wishart.mean(Psi, nu), reference.mean())
    assert np.isinf(inverse_wishart.mean(Psi, np.array(3.0))).all()
