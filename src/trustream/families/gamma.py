"""Gamma distributions with shape a > 0 and rate b > 0, arrays of the same shape.

    p(x) = b^a / Gamma(a) x^(a - 1) exp(-b x)

(a, -b) are natural parameters: the sufficient statistics are (log x, x), with h(x) = 1 / x. All
functions take the rate itself, which adds up like a natural parameter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, gammaln

Float64 = NDArray[np.float64]


def expected_log(a: ArrayLike, b: ArrayLike) -> Float64:
    """Return E[log x] = psi(a) - log b.

    >>> float(expected_log(1.0, 2.0) - expected_log(1.0, 1.0)) == float(-np.log(2.0))
    True
    """
    a, b = _float64(a, b)
    return np.asarray(digamma(a) - np.log(b))


def mean(a: ArrayLike, b: ArrayLike) -> Float64:
    """Return E[x] = a / b.

    >>> float(mean(1.0, 4.0))
    0.25
    """
    a, b = _float64(a, b)
    return np.asarray(a / b)


def log_normalizer(a: ArrayLike, b: ArrayLike) -> Float64:
    """Return log Gamma(a) - a log b.

    >>> float(log_normalizer(1.0, 1.0))
    0.0
    """
    a, b = _float64(a, b)
    return np.asarray(gammaln(a) - a * np.log(b))


def entropy(a: ArrayLike, b: ArrayLike) -> Float64:
    """Return -E[log p(x)] = a - log b + log Gamma(a) + (1 - a) psi(a), in nats.

    >>> float(entropy(1.0, 1.0))
    1.0
    """
    a, b = _float64(a, b)
    return np.asarray(a - np.log(b) + gammaln(a) + (1 - a) * digamma(a))


def kl(a: ArrayLike, b: ArrayLike, a2: ArrayLike, b2: ArrayLike) -> Float64:
    """Return KL(Gamma(a, b) || Gamma(a2, b2)) for each entry, in nats.

        (a - a2) psi(a) - log Gamma(a) + log Gamma(a2) + a2 (log b - log b2) + a (b2 - b) / b

    >>> float(kl(2.0, 3.0, 2.0, 3.0))
    0.0
    """
    a, b = _float64(a, b)
    a2, b2 = _float64(a2, b2)
    of_shapes = (a - a2) * digamma(a) + (gammaln(a2) - gammaln(a))
    return np.asarray(of_shapes + a2 * np.log(b / b2) + a * ((b2 - b) / b))


def _float64(a: ArrayLike, b: ArrayLike) -> tuple[Float64, Float64]:
    return np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
