"""Inverse Wishart distributions of a covariance Sigma (D, D).

    p(Sigma) = |Psi|^(nu/2) / (2^(nu D/2) Gamma_D(nu/2))
               |Sigma|^(-(nu + D + 1)/2) exp(-tr(Psi Sigma^-1) / 2),    nu > D - 1

Functions take the Cholesky factor L of Psi = L L', shape (..., D, D), and nu (...,).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import digamma, gammaln

from trustream.families import symmetric

Float64 = NDArray[np.float64]


def expected_log_det_precision(factor: Float64, nu: Float64) -> Float64:
    """Return E[log |Sigma^-1|] (supplement 4.2).

        sum_{i=1}^D psi((nu + 1 - i)/2) + D log 2 - log |Psi|

    >>> value = expected_log_det_precision(np.eye(1), np.array(2.0))
    >>> bool(np.isclose(value, -np.euler_gamma + np.log(2)))
    True
    """
    d = factor.shape[-1]
    return np.asarray(multivariate_digamma(nu / 2, d) + d * np.log(2) - symmetric.log_det(factor))


def log_normalizer(factor: Float64, nu: Float64) -> Float64:
    """Return the log of the integral of |Sigma|^(-(nu + D + 1)/2) exp(-tr(Psi Sigma^-1)/2).

        (nu D / 2) log 2 + log Gamma_D(nu/2) - (nu/2) log |Psi|

    >>> float(log_normalizer(np.eye(1), np.array(2.0))) == float(np.log(2))
    True
    """
    d = factor.shape[-1]
    return np.asarray(
        nu * d / 2 * np.log(2)
        + multivariate_gammaln(nu / 2, d)
        - nu / 2 * symmetric.log_det(factor)
    )


def kl(factor: Float64, nu: Float64, factor2: Float64, nu2: Float64) -> Float64:
    """Return KL(IW(Psi, nu) || IW(Psi2, nu2)) in nats, shape (...,).

        (nu/2) (tr(Psi2 Psi^-1) - D) + (nu2/2) (log |Psi| - log |Psi2|)
        + log Gamma_D(nu2/2) - log Gamma_D(nu/2) + ((nu - nu2)/2) psi_D(nu/2)

    >>> float(kl(np.eye(2), np.array(3.0), np.eye(2), np.array(3.0)))
    0.0
    """
    d = factor.shape[-1]
    # tr(Psi2 Psi^-1) = |L^-1 L2|^2, a sum of squares: never negative.
    ratio = np.matmul(symmetric.inverse_triangle(factor), factor2)
    trace = np.square(ratio).sum(axis=(-2, -1))
    return np.asarray(
        nu / 2 * (trace - d)
        + nu2 / 2 * (symmetric.log_det(factor) - symmetric.log_det(factor2))
        + multivariate_gammaln(nu2 / 2, d)
        - multivariate_gammaln(nu / 2, d)
        + (nu - nu2) / 2 * multivariate_digamma(nu / 2, d)
    )


def mean(Psi: Float64, nu: Float64) -> Float64:
    """Return E[Sigma] = Psi / (nu - D - 1), infinite where nu <= D + 1.

    >>> mean(np.eye(1), np.array(4.0))
    array([[0.5]])
    """
    spare = np.asarray(nu - Psi.shape[-1] - 1, dtype=np.float64)[..., None, None]
    with np.errstate(divide="ignore"):
        return np.where(spare > 0, Psi / np.where(spare > 0, spare, 1.0), np.inf)


def sample(factor: Float64, nu: float, rng: np.random.Generator) -> Float64:
    """Draw Sigma (D, D) by Bartlett's decomposition.

    Sigma = L (A A')^-1 L' with A lower triangular, A_ii^2 ~ chi^2(nu + 1 - i), A_ij ~ N(0, 1).

    >>> sample(np.eye(2), 5.0, np.random.default_rng(0)).shape
    (2, 2)
    """
    d = factor.shape[-1]
    bartlett = np.tril(rng.standard_normal((d, d)), -1)
    bartlett[np.diag_indices(d)] = np.sqrt(rng.chisquare(nu - np.arange(d)))
    half = solve_triangular(bartlett, factor.T, lower=True)
    return np.asarray(half.T @ half)


def multivariate_digamma(x: Float64, d: int) -> Float64:
    """Return psi_D(x) = sum_{i=1}^D psi(x + (1 - i)/2), shape of x.

    >>> bool(np.isclose(multivariate_digamma(np.array(1.0), 1), -np.euler_gamma))
    True
    """
    return np.asarray(digamma(x[..., None] - np.arange(d) / 2).sum(axis=-1))


def multivariate_gammaln(x: Float64, d: int) -> Float64:
    """Return log Gamma_D(x), in the shape of x.

        (D (D - 1) / 4) log pi + sum_{i=1}^D log Gamma(x + (1 - i)/2)

    >>> float(multivariate_gammaln(np.array(3.0), 1)) == float(np.log(2))
    True
    """
    return np.asarray(
        d * (d - 1) / 4 * np.log(np.pi) + gammaln(x[..., None] - np.arange(d) / 2).sum(axis=-1)
    )
