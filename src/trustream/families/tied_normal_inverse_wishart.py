"""Distributions of K Gaussian means and one covariance that they share.

    p(mu_1, ..., mu_K, Sigma) = IW(Sigma | Psi, nu) prod_k N(mu_k | m_k, Sigma / s_k)

This is the conjugate prior of a mixture with tied covariance. With base measure
|Sigma|^(-(D + 1 + K)/2)

    lambda = (s_k, s_k m_k, C, nu),     C = Psi + sum_k s_k m_k m_k'
    t      = (-mu_k' Sigma^-1 mu_k / 2, Sigma^-1 mu_k, -Sigma^-1 / 2, -log|Sigma| / 2)

and a data point of component k adds 1 to s_k and nu, x to s_k m_k, x x' to C. Shapes: s (K,),
sm (K, D), C (D, D), nu (1,). The functions are those of `normal_inverse_wishart`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustream.families import inverse_wishart, symmetric
from trustream.families.normal_inverse_wishart import Expectations as Expectations
from trustream.families.normal_inverse_wishart import Natural as Natural
from trustream.families.normal_inverse_wishart import Traditional, mahalanobis, student

Float64 = NDArray[np.float64]


def natural(m: ArrayLike, s: ArrayLike, Psi: ArrayLike, nu: ArrayLike) -> Natural:
    """Return the natural parameters (s_k, s_k m_k, Psi + sum_k s_k m_k m_k', nu).

    >>> natural([[1.0], [2.0]], [1.0, 1.0], [[1.0]], 3.0).C
    array([[6.]])
    """
    m, s, Psi = (np.asarray(value, dtype=np.float64) for value in (m, s, Psi))
    sm = s[:, None] * m
    return Natural(s, sm, Psi + sm.T @ m, np.asarray(nu, dtype=np.float64).reshape(1))


def traditional(lambda_: Natural) -> Traditional:
    """Return m_k = sm_k / s_k and Psi = C - sum_k s_k m_k m_k', kept positive definite.

    >>> traditional(natural([[1.0], [2.0]], [1.0, 1.0], [[1.0]], 3.0)).Psi
    array([[1.]])
    """
    s, sm, C, nu = lambda_
    m = sm / s[:, None]
    product = sm.T @ m
    Psi, factor = symmetric.cholesky(C - (product + product.T) / 2, symmetric.rounding_noise(C))
    return Traditional(m, s, Psi, nu, factor)


def expected(lambda_: Natural) -> Expectations:
    """Return the expectations that the likelihood needs.

        E[Sigma^-1] = nu Psi^-1,  E[Sigma^-1 mu_k] = nu Psi^-1 m_k,
        E[mu_k' Sigma^-1 mu_k] = D / s_k + nu m_k' Psi^-1 m_k

    >>> expected(natural([[1.0], [2.0]], [1.0, 1.0], [[1.0]], 3.0)).linear
    array([[3.],
           [6.]])
    """
    m, s, _, nu, factor = traditional(lambda_)
    precision = nu * symmetric.inverse(factor)
    linear = m @ precision
    quadratic = m.shape[-1] / s + (m * linear).sum(axis=-1)
    log_det = inverse_wishart.expected_log_det_precision(factor, nu)
    return Expectations(quadratic, linear, precision, log_det)


def expected_log_likelihood(lambda_: Natural, x: Float64) -> Float64:
    """Return E[log N(x_n | mu_k, Sigma)] for x (B, D), shape (B, K).

        -nu/2 (x - m_k)' Psi^-1 (x - m_k) - D/(2 s_k) + E[log |Sigma^-1|]/2 - (D/2) log 2 pi

    >>> expected_log_likelihood(natural([[0.0]], [1.0], [[1.0]], 3.0), np.zeros((2, 1))).shape
    (2, 1)
    """
    m, s, _, nu, factor = traditional(lambda_)
    d = m.shape[-1]
    log_det = inverse_wishart.expected_log_det_precision(factor, nu)
    constant = (log_det - d / s - d * np.log(2 * np.pi)) / 2
    return np.asarray(constant - nu / 2 * mahalanobis(m, factor, x))


def log_normalizer(lambda_: Natural) -> float:
    """Return a(lambda) = sum_k (D/2) log(2 pi / s_k) + the inverse Wishart's log-normaliser.

    >>> value = log_normalizer(natural([[0.0]], [2 * np.pi], [[1.0]], 2.0))
    >>> bool(np.isclose(value, np.log(2)))
    True
    """
    m, s, _, nu, factor = traditional(lambda_)
    means = m.shape[-1] / 2 * np.log(2 * np.pi / s).sum()
    return float(means + inverse_wishart.log_normalizer(factor, nu)[0])


def kl(lambda_: Natural, other: Natural) -> float:
    """Return KL(q_lambda || q_other) in nats.

        sum_k { (D/2) (s2_k/s_k - 1 - log(s2_k/s_k)) + (s2_k nu/2) |L^-1 (m_k - m2_k)|^2 }
        + KL(IW(Psi, nu) || IW(Psi2, nu2))

    >>> one = natural([[0.0]], [1.0], [[1.0]], 3.0)
    >>> kl(one, one)
    0.0
    """
    m, s, _, nu, factor = traditional(lambda_)
    m2, s2, _, nu2, factor2 = traditional(other)
    spread = np.square((m - m2) @ symmetric.inverse_triangle(factor).T).sum(axis=-1)
    ratio = s2 / s
    means = m.shape[-1] * (ratio - 1 - np.log(ratio)) + s2 * nu * spread
    return float(means.sum() / 2 + inverse_wishart.kl(factor, nu, factor2, nu2)[0])


def mean(lambda_: Natural) -> tuple[Float64, Float64]:
    """Return E[mu] (K, D) and E[Sigma] (D, D), which is infinite where nu <= D + 1.

    >>> [part.tolist() for part in mean(natural([[1.0]], [1.0], [[2.0]], 4.0))]
    [[[1.0]], [[1.0]]]
    """
    m, _, Psi, nu, _ = traditional(lambda_)
    return m, inverse_wishart.mean(Psi, nu[0])


def predictive_log_density(lambda_: Natural, x: Float64) -> Float64:
    """Return log E[N(x_n | mu_k, Sigma)] for x (B, D), shape (B, K): a multivariate Student t,

        t(x | nu - D + 1 degrees of freedom, location m_k, scale Psi (s_k + 1)/(s_k (nu - D + 1)))

    >>> one = natural([[0.0]], [1.0], [[0.5]], 1.0)
    >>> bool(np.isclose(predictive_log_density(one, np.zeros((1, 1))), -np.log(np.pi)))
    True
    """
    m, s, _, nu, factor = traditional(lambda_)
    log_det = symmetric.log_det(factor)
    return student(mahalanobis(m, factor, x), s, nu, log_det, m.shape[-1])


def sample(lambda_: Natural, rng: np.random.Generator) -> tuple[Float64, Float64]:
    """Draw mu (K, D) and Sigma (D, D).

    >>> one = natural([[0.0, 1.0]], [1.0], np.eye(2), 5.0)
    >>> [part.shape for part in sample(one, np.random.default_rng(0))]
    [(1, 2), (2, 2)]
    """
    m, s, _, nu, factor = traditional(lambda_)
    Sigma = inverse_wishart.sample(factor, float(nu[0]), rng)
    noise = rng.standard_normal(m.shape) @ np.linalg.cholesky(Sigma).T
    return m + noise / np.sqrt(s)[:, None], Sigma
