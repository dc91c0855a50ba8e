"""Normal-inverse-gamma distributions of the weights and the noise variance of a linear regression.

    p(w, v) = N(w | m, v Lambda^-1) IG(v | nu/2, Psi/2),    w (P,), Psi, nu > 0

As an exponential family with base measure (2 pi)^(-P/2) v^(-P/2 - 1),

    lambda = (Lambda, Lambda m, c, nu),      c = Psi + m' Lambda m
    t      = (-w w' / (2 v), w / v, -1 / (2 v), -log(v) / 2)
    f(x, y) = (x x', y x, y^2, 1),

so that rows of data enter as plain sums and the posterior is exact. All arrays are float64; c and
nu have shape (1,). Psi = c - m' Lambda m cancels where the weights explain nearly all of y: it is
kept above the rounding errors of that difference, about 1e-16 c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from trustream.families import inverse_wishart, normal_weights, symmetric

Float64 = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)


class Natural(NamedTuple):
    """lambda: precision Lambda (P, P), shift Lambda m (P,), square c (1,) and nu (1,)."""

    precision: Float64
    shift: Float64
    square: Float64
    nu: Float64


class Traditional(NamedTuple):
    """m (P,), covariance Lambda^-1 (P, P), Psi (1,), nu (1,), and factor with Lambda = L L'."""

    m: Float64
    covariance: Float64
    Psi: Float64
    nu: Float64
    factor: Float64


def natural(m: ArrayLike, precision: ArrayLike, Psi: float, nu: float) -> Natural:
    """Return the natural parameters (Lambda, Lambda m, Psi + m' Lambda m, nu).

    >>> natural([1.0, 2.0], np.diag([1.0, 3.0]), 2.0, 4.0).square
    array([15.])
    """
    m = np.asarray(m, dtype=np.float64)
    Lambda, shift = normal_weights.natural(m, precision)
    return Natural(Lambda, shift, np.array([Psi + float(m @ shift)]), np.array([float(nu)]))


def traditional(lambda_: Natural) -> Traditional:
    """Return m, Lambda^-1, Psi and nu.

    >>> traditional(natural([1.0, 2.0], np.diag([1.0, 3.0]), 2.0, 4.0)).Psi
    array([2.])
    """
    precision, shift, square, nu = lambda_
    m, covariance, factor = normal_weights.traditional(normal_weights.Natural(precision, shift))
    Psi = np.maximum(square - m @ shift, _EPS * square)
    return Traditional(m, covariance, Psi, nu, factor)


def expected(lambda_: Natural) -> Natural:
    """Return E[t], shaped like lambda.

        E[w w' / v] = Lambda^-1 + (nu / Psi) m m',   E[w / v] = (nu / Psi) m,
        E[1 / v] = nu / Psi,   E[-log v] = psi(nu/2) + log 2 - log Psi

    >>> float(expected(natural([1.0], [[1.0]], 2.0, 4.0)).square[0])
    -1.0
    """
    m, covariance, Psi, nu, _ = traditional(lambda_)
    precision = nu / Psi
    log_precision = inverse_wishart.expected_log_det_precision(np.sqrt(Psi)[:, None, None], nu)
    products = covariance + precision * np.outer(m, m)
    return Natural(-products / 2, precision * m, -precision / 2, log_precision / 2)


def log_normalizer(lambda_: Natural) -> float:
    """Return a(lambda) = -log |Lambda| / 2 + log Gamma(nu/2) - (nu/2) log(Psi/2).

    Its gradient is E[t], and the evidence of n rows with statistics s is
    a(eta + s) - a(eta) - (n/2) log 2 pi.

    >>> log_normalizer(natural([1.0], [[1.0]], 2.0, 4.0))
    0.0
    """
    _, _, Psi, nu, factor = traditional(lambda_)
    noise = float((gammaln(nu / 2) - nu / 2 * np.log(Psi / 2))[0])
    return noise - float(symmetric.log_det(factor)) / 2


def kl(lambda_: Natural, other: Natural) -> float:
    """Return KL(q_lambda || q_other) in nats.

        (tr(Lambda2 Lambda^-1) - P + log |Lambda| - log |Lambda2|
         + (nu / Psi) (m - m2)' Lambda2 (m - m2)) / 2 + KL(IG(nu/2, Psi/2) || IG(nu2/2, Psi2/2))

    >>> one = natural([0.0], [[1.0]], 2.0, 2.0)
    >>> kl(natural([3.0], [[1.0]], 2.0, 2.0), one)
    4.5
    """
    m, _, Psi, nu, factor = traditional(lambda_)
    m2, _, Psi2, nu2, factor2 = traditional(other)
    distance = factor2.T @ (m - m2)
    weights = normal_weights.spread(factor, factor2)
    weights += float((nu / Psi)[0] * (distance @ distance))
    scales = (np.sqrt(part)[:, None, None] for part in (Psi, Psi2))
    noise = inverse_wishart.kl(next(scales), nu, next(scales), nu2)
    return weights / 2 + float(noise[0])


def evidence(prior: Natural, lambda_: Natural, n_rows: float) -> float:
    """Return log p(y | X) in nats for the posterior lambda_ of so many rows: a difference of a.

    >>> prior = natural([0.0], [[1.0]], 1.0, 1.0)
    >>> evidence(prior, prior, 0)
    0.0
    """
    constant = n_rows / 2 * np.log(2 * np.pi)
    return log_normalizer(lambda_) - log_normalizer(prior) - float(constant)
