"""Normal-inverse-gamma distributions, for Gaussians with a diagonal covariance.

    p(mu, v) = prod_d N(mu_d | m_d, v_d / s) IG(v_d | nu/2, Psi_d/2)

Every coordinate has a normal-inverse-Wishart distribution of dimension one (supplement 4.2 with
D = 1); all coordinates share s and nu, because every data point counts once in each of them.

    lambda = (s, s m, C, nu),       C = Psi + s m^2
    t      = (-sum_d mu_d^2 / (2 v_d), mu_d / v_d, -1 / (2 v_d), -sum_d log(v_d) / 2)
    f(x)   = (1, x, x^2, 1),        s, nu > 0

Arrays are float64 and may be stacked: s, nu (...,), sm and C (..., D). The functions are those of
`normal_inverse_wishart`, with vectors where that has matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, gammaln

from trustream.families.normal_inverse_wishart import Expectations as Expectations
from trustream.families.normal_inverse_wishart import Natural as Natural

Float64 = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)


class Traditional(NamedTuple):
    """m (..., D), s (...,), Psi (..., D), nu (...,)."""

    m: Float64
    s: Float64
    Psi: Float64
    nu: Float64


def natural(m: ArrayLike, s: ArrayLike, Psi: ArrayLike, nu: ArrayLike) -> Natural:
    """Return the natural parameters (s, s m, Psi + s m^2, nu).

    >>> natural([1.0, 0.0], 2.0, [1.0, 1.0], 3.0).C
    array([3., 1.])
    """
    m, s, Psi, nu = (np.asarray(value, dtype=np.float64) for value in (m, s, Psi, nu))
    sm = s[..., None] * m
    return Natural(s, sm, Psi + sm * m, nu)


def traditional(lambda_: Natural) -> Traditional:
    """Return m = sm / s and Psi = C - s m^2, kept above the rounding errors of that difference.

    >>> traditional(natural([1.0, 0.0], 2.0, [1.0, 1.0], 3.0)).Psi
    array([1., 1.])
    """
    s, sm, C, nu = lambda_
    m = sm / s[..., None]
    return Traditional(m, s, np.maximum(C - sm * m, _EPS * C), nu)


def expected(lambda_: Natural) -> Expectations:
    """Return the expectations that the likelihood needs.

        precision E[1/v_d] = nu / Psi_d,  linear E[mu_d/v_d] = nu m_d / Psi_d,
        quadratic E[sum_d mu_d^2/v_d] = D/s + nu sum_d m_d^2 / Psi_d,
        log_det_precision E[sum_d log 1/v_d] = D psi(nu/2) + D log 2 - sum_d log Psi_d

    >>> expected(natural([1.0], 1.0, [2.0], 4.0)).linear
    array([2.])
    """
    m, s, Psi, nu = traditional(lambda_)
    d = m.shape[-1]
    precision = nu[..., None] / Psi
    linear = precision * m
    quadratic = d / s + (m * linear).sum(axis=-1)
    log_det = d * (digamma(nu / 2) + np.log(2)) - np.log(Psi).sum(axis=-1)
    return Expectations(quadratic, linear, precision, log_det)


def expected_log_likelihood(lambda_: Natural, x: Float64) -> Float64:
    """Return E[log N(x_n | mu_k, diag v_k)] for x (B, D), shape (B, K).

        -nu/2 sum_d (x_d - m_d)^2 / Psi_d - D/(2 s) + E[sum_d log 1/v_d]/2 - (D/2) log 2 pi

    >>> one = Natural(*(part[None] for part in natural([0.0], 1.0, [1.0], 3.0)))
    >>> expected_log_likelihood(one, np.zeros((2, 1))).shape
    (2, 1)
    """
    m, s, Psi, nu = traditional(lambda_)
    d = m.shape[-1]
    constant = (expected(lambda_).log_det_precision - d / s - d * np.log(2 * np.pi)) / 2
    distance = (np.square(x[:, None] - m) / Psi).sum(axis=-1)
    return np.asarray(constant - nu / 2 * distance)


def log_normalizer(lambda_: Natural) -> Float64:
    """Return a(lambda) with base measure prod_d v_d^(-3/2), shape (...,).

        (D/2) log(2 pi / s) + (nu D/2) log 2 + D log Gamma(nu/2) - (nu/2) sum_d log Psi_d

    >>> value = log_normalizer(natural([0.0], 2 * np.pi, [1.0], 2.0))
    >>> bool(np.isclose(value, np.log(2)))
    True
    """
    m, s, Psi, nu = traditional(lambda_)
    d = m.shape[-1]
    constant = np.log(2 * np.pi / s) / 2 + nu / 2 * np.log(2) + gammaln(nu / 2)
    return np.asarray(d * constant - nu / 2 * np.log(Psi).sum(axis=-1))


def kl(lambda_: Natural, other: Natural) -> Float64:
    """Return KL(q_lambda || q_other) in nats, shape (...,): the sum over coordinates of

        (s2/s - 1 - log(s2/s))/2 + (s2 nu/2) (m - m2)^2 / Psi + (nu/2) (Psi2/Psi - 1)
        + (nu2/2) log(Psi/Psi2) + log Gamma(nu2/2) - log Gamma(nu/2) + ((nu - nu2)/2) psi(nu/2)

    >>> one = natural([0.0], 1.0, [1.0], 3.0)
    >>> float(kl(one, one))
    0.0
    """
    m, s, Psi, nu = traditional(lambda_)
    m2, s2, Psi2, nu2 = traditional(other)
    ratio = s2 / s
    shared = (ratio - 1 - np.log(ratio)) / 2 + gammaln(nu2 / 2) - gammaln(nu / 2)
    shared = shared + (nu - nu2) / 2 * digamma(nu / 2)
    spread = ((s2 * nu)[..., None] * np.square(m - m2) / Psi).sum(axis=-1)
    scale = (nu[..., None] * (Psi2 / Psi - 1) + nu2[..., None] * np.log(Psi / Psi2)).sum(axis=-1)
    return np.asarray(m.shape[-1] * shared + (spread + scale) / 2)


def mean(lambda_: Natural) -> tuple[Float64, Float64]:
    """Return E[mu] = m and E[v] = Psi / (nu - 2), which is infinite where nu <= 2.

    >>> [part.tolist() for part in mean(natural([1.0], 1.0, [2.0], 4.0))]
    [[1.0], [1.0]]
    """
    m, _, Psi, nu = traditional(lambda_)
    spare = (nu - 2)[..., None]
    return m, np.where(spare > 0, Psi / np.where(spare > 0, spare, 1.0), np.inf)


def predictive_log_density(lambda_: Natural, x: Float64) -> Float64:
    """Return log E[N(x_n | mu_k, diag v_k)] for x (B, D), shape (B, K): a product of Student t's,

        t(x_d | nu degrees of freedom, location m_d, squared scale Psi_d (s + 1) / (s nu))

    >>> one = Natural(*(part[None] for part in natural([0.0], 1.0, [0.5], 1.0)))
    >>> bool(np.isclose(predictive_log_density(one, np.zeros((1, 1))), -np.log(np.pi)))
    True
    """
    m, s, Psi, nu = traditional(lambda_)
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(np.pi * (s + 1) / s) / 2
    constant = m.shape[-1] * constant - np.log(Psi).sum(axis=-1) / 2
    distance = np.square(x[:, None] - m) / Psi * (s / (s + 1))[:, None]
    return np.asarray(constant - (nu + 1) / 2 * np.log1p(distance).sum(axis=-1))


def sample(lambda_: Natural, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """Draw mu and v = Psi / chi^2(nu), both (K, D), from K stacked distributions.

    >>> one = Natural(*(part[None] for part in natural([0.0, 1.0], 1.0, [1.0, 1.0], 5.0)))
    >>> [part.shape for part in sample(one, np.random.default_rng(0))]
    [(1, 2), (1, 2)]
    """
    m, s, Psi, nu = traditional(lambda_)
    v = Psi / rng.chisquare(np.broadcast_to(nu[..., None], m.shape))
    return m + np.sqrt(v / s[..., None]) * rng.standard_normal(m.shape), v
