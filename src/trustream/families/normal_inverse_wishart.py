"""Normal-inverse-Wishart distributions of a Gaussian's mean and covariance (supplement 4.2).

    p(mu, Sigma) = N(mu | m, Sigma / s) IW(Sigma | Psi, nu),    s > 0, nu > D - 1

This is the standard density, with the |Sigma|^(-1/2) of the normal that the supplement leaves
out; the expectations are the ones printed there. As an exponential family with base measure
|Sigma|^(-(D + 2)/2),

    lambda = (s, s m, C, nu),                       C = Psi + s m m'
    t      = (-mu' Sigma^-1 mu / 2, Sigma^-1 mu, -Sigma^-1 / 2, -log|Sigma| / 2)
    f(x)   = (1, x, x x', 1).

The second parameter is +s m rather than the supplement's -2 s m, with t changed to match, so that
data enter as plain sums. All arrays are float64 and may be stacked: a K-component mixture has
s, nu (K,), sm (K, D), C (K, D, D).

C - s m m' cancels when the mean is far from the origin compared with the spread: Psi is off by
about 1e-16 |C|. Put the origin near the data.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from trustream.families import inverse_wishart, symmetric

Float64 = NDArray[np.float64]


class Natural(NamedTuple):
    """lambda: s (...,), sm (..., D), C (..., D, D), nu (...,).

    The families of diagonal and of tied covariances use this type and `Expectations` as well, with
    C and precision of shape (..., D) and (D, D).
    """

    s: Float64
    sm: Float64
    C: Float64
    nu: Float64


class Traditional(NamedTuple):
    """m (..., D), s (...,), Psi (..., D, D), nu (...,), and factor L with Psi = L L'."""

    m: Float64
    s: Float64
    Psi: Float64
    nu: Float64
    factor: Float64


class Expectations(NamedTuple):
    """Expectations under the distribution.

    quadratic E[mu' Sigma^-1 mu] (...,), linear E[Sigma^-1 mu] (..., D), precision E[Sigma^-1]
    (..., D, D) and log_det_precision E[log |Sigma^-1|] (...,).
    """

    quadratic: Float64
    linear: Float64
    precision: Float64
    log_det_precision: Float64


def natural(m: ArrayLike, s: ArrayLike, Psi: ArrayLike, nu: ArrayLike) -> Natural:
    """Return the natural parameters (s, s m, Psi + s m m', nu).

    >>> natural([1.0, 0.0], 2.0, np.eye(2), 3.0).C
    array([[3., 0.],
           [0., 1.]])
    """
    m, s, Psi, nu = (np.asarray(value, dtype=np.float64) for value in (m, s, Psi, nu))
    sm = s[..., None] * m
    return Natural(s, sm, Psi + sm[..., :, None] * m[..., None, :], nu)


def traditional(lambda_: Natural) -> Traditional:
    """Return m = sm / s and Psi = C - s m m', kept positive definite by `symmetric.cholesky`.

    >>> traditional(natural([1.0, 0.0], 2.0, np.eye(2), 3.0)).Psi
    array([[1., 0.],
           [0., 1.]])
    """
    s, sm, C, nu = lambda_
    m = sm / s[..., None]
    Psi = C - sm[..., :, None] * m[..., None, :]
    Psi, factor = symmetric.cholesky(Psi, symmetric.rounding_noise(C))
    return Traditional(m, s, Psi, nu, factor)


def expected(lambda_: Natural) -> Expectations:
    """Return the expectations that the likelihood needs (supplement 4.2).

        E[Sigma^-1]          = nu Psi^-1
        E[Sigma^-1 mu]       = nu Psi^-1 m
        E[mu' Sigma^-1 mu]   = D / s + nu m' Psi^-1 m
        E[log |Sigma^-1|]    = sum_{i=1}^D psi((nu + 1 - i)/2) + D log 2 - log |Psi|

    >>> expected(natural([1.0], 1.0, [[2.0]], 4.0)).linear
    array([2.])
    """
    m, s, _, nu, factor = traditional(lambda_)
    precision = nu[..., None, None] * symmetric.inverse(factor)
    linear = np.matmul(precision, m[..., None])[..., 0]
    quadratic = m.shape[-1] / s + (m * linear).sum(axis=-1)
    log_det = inverse_wishart.expected_log_det_precision(factor, nu)
    return Expectations(quadratic, linear, precision, log_det)


def expected_log_likelihood(lambda_: Natural, x: Float64) -> Float64:
    """Return E[log N(x_n | mu_k, Sigma_k)] for x (B, D) and K components, shape (B, K).

        -nu/2 (x - m)' Psi^-1 (x - m) - D/(2 s) + E[log |Sigma^-1|]/2 - (D/2) log 2 pi

    >>> one = Natural(*(part[None] for part in natural([0.0], 1.0, [[1.0]], 3.0)))
    >>> expected_log_likelihood(one, np.zeros((2, 1))).shape
    (2, 1)
    """
    m, s, _, nu, factor = traditional(lambda_)
    d = m.shape[-1]
    log_det = inverse_wishart.expected_log_det_precision(factor, nu)
    constant = (log_det - d / s - d * np.log(2 * np.pi)) / 2
    return np.asarray(constant - nu / 2 * mahalanobis(m, factor, x))


def log_normalizer(lambda_: Natural) -> Float64:
    """Return a(lambda), the log of the integral of exp(lambda' t) |Sigma|^(-(D + 2)/2), (...,).

        (D/2) log(2 pi / s) + (nu D / 2) log 2 + log Gamma_D(nu/2) - (nu/2) log |Psi|

    Its gradient is E[t].

    >>> value = log_normalizer(natural([0.0], 2 * np.pi, [[1.0]], 2.0))
    >>> bool(np.isclose(value, np.log(2)))
    True
    """
    m, s, _, nu, factor = traditional(lambda_)
    means = m.shape[-1] / 2 * np.log(2 * np.pi / s)
    return np.asarray(means + inverse_wishart.log_normalizer(factor, nu))


def kl(lambda_: Natural, other: Natural) -> Float64:
    """Return KL(q_lambda || q_other) in nats, shape (...,), as a sum of nonnegative terms.

        (D/2) (s2/s - 1 - log(s2/s)) + (s2 nu / 2) (m - m2)' Psi^-1 (m - m2)
        + KL(IW(Psi, nu) || IW(Psi2, nu2))

    >>> one = natural([0.0], 1.0, [[1.0]], 3.0)
    >>> float(kl(one, one))
    0.0
    """
    m, s, _, nu, factor = traditional(lambda_)
    m2, s2, _, nu2, factor2 = traditional(other)
    spread = np.matmul(symmetric.inverse_triangle(factor), (m - m2)[..., None])
    ratio = s2 / s
    means = m.shape[-1] * (ratio - 1 - np.log(ratio)) + s2 * nu * np.square(spread).sum((-2, -1))
    return np.asarray(means / 2 + inverse_wishart.kl(factor, nu, factor2, nu2))


def mean(lambda_: Natural) -> tuple[Float64, Float64]:
    """Return E[mu] = m and E[Sigma] = Psi / (nu - D - 1), which is infinite where nu <= D + 1.

    >>> [part.tolist() for part in mean(natural([1.0], 1.0, [[2.0]], 4.0))]
    [[1.0], [[1.0]]]
    """
    m, _, Psi, nu, _ = traditional(lambda_)
    return m, inverse_wishart.mean(Psi, nu)


def predictive_log_density(lambda_: Natural, x: Float64) -> Float64:
    """Return log E[N(x_n | mu_k, Sigma_k)] for x (B, D), shape (B, K): a multivariate Student t.

        t(x | nu - D + 1 degrees of freedom, location m, scale Psi (s + 1) / (s (nu - D + 1)))

    >>> one = Natural(*(part[None] for part in natural([0.0], 1.0, [[0.5]], 1.0)))
    >>> bool(np.isclose(predictive_log_density(one, np.zeros((1, 1))), -np.log(np.pi)))
    True
    """
    m, s, _, nu, factor = traditional(lambda_)
    log_det = symmetric.log_det(factor)
    return student(mahalanobis(m, factor, x), s, nu, log_det, m.shape[-1])


def student(distance: Float64, s: Float64, nu: Float64, log_det: Float64, d: int) -> Float64:
    """Return log predictive densities from distances (x - m)' Psi^-1 (x - m) (B, K) and log |Psi|.

        log Gamma((nu + 1)/2) - log Gamma((nu + 1 - D)/2) - (D/2) log(pi (s + 1)/s)
        - log |Psi| / 2 - ((nu + 1)/2) log(1 + s/(s + 1) distance)

    >>> value = student(np.zeros((1, 1)), np.ones(1), np.ones(1), np.log(0.5) * np.ones(1), 1)
    >>> bool(np.isclose(value, -np.log(np.pi)))
    True
    """
    constant = gammaln((nu + 1) / 2) - gammaln((nu + 1 - d) / 2) - log_det / 2
    constant = constant - d / 2 * np.log(np.pi * (s + 1) / s)
    return np.asarray(constant - (nu + 1) / 2 * np.log1p(s / (s + 1) * distance))


def mahalanobis(m: Float64, factor: Float64, x: Float64) -> Float64:
    """Return (x_n - m_k)' Psi_k^-1 (x_n - m_k), (B, K), for L of shape (K, D, D) or (D, D).

    >>> mahalanobis(np.zeros((1, 2)), np.eye(2)[None], np.array([[3.0, 4.0]]))
    array([[25.]])
    """
    difference = (x[None] - m[:, None]).swapaxes(-1, -2)
    spread = np.matmul(symmetric.inverse_triangle(factor), difference)
    return np.asarray(np.square(spread).sum(axis=-2).T)


def sample(lambda_: Natural, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """Draw mu (K, D) and Sigma (K, D, D) from K stacked distributions.

    >>> one = Natural(*(part[None] for part in natural([0.0, 1.0], 1.0, np.eye(2), 5.0)))
    >>> [part.shape for part in sample(one, np.random.default_rng(0))]
    [(1, 2), (1, 2, 2)]
    """
    m, s, _, nu, factor = traditional(lambda_)
    Sigma = np.stack(
        [inverse_wishart.sample(L, float(n), rng) for L, n in zip(factor, nu, strict=True)]
    )
    noise = np.matmul(np.linalg.cholesky(Sigma), rng.standard_normal(m.shape)[..., None])
    return m + noise[..., 0] / np.sqrt(s)[..., None], Sigma
