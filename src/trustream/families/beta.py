"""Beta distributions with parameters a, b > 0, arrays of the same shape.

    p(x) = x^(a - 1) (1 - x)^(b - 1) / B(a, b)

(a, b) are natural parameters: the sufficient statistics are (log x, log(1 - x))
(supplement 4.1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, digamma

Float64 = NDArray[np.float64]


def expected_log(a: ArrayLike, b: ArrayLike) -> tuple[Float64, Float64]:
    """Return E[log x], E[log(1 - x)] = (psi(a) - psi(a + b), psi(b) - psi(a + b)).

    >>> [value.item() for value in expected_log(1.0, 1.0)]
    [-1.0, -1.0]
    """
    a, b = _float64(a, b)
    both = digamma(a + b)
    return digamma(a) - both, digamma(b) - both


def log_normalizer(a: ArrayLike, b: ArrayLike) -> Float64:
    """Return log B(a, b) = log Gamma(a) + log Gamma(b) - log Gamma(a + b).

    >>> round(float(log_normalizer(2.0, 3.0)), 6) == round(float(-np.log(12)), 6)
    True
    """
    a, b = _float64(a, b)
    return np.asarray(betaln(a, b))


def kl(a: ArrayLike, b: ArrayLike, a2: ArrayLike, b2: ArrayLike) -> Float64:
    """Return KL(Beta(a, b) || Beta(a2, b2)) for each entry, in nats.

        (a - a2) E[log x] + (b - b2) E[log(1 - x)] - log B(a, b) + log B(a2, b2)

    >>> float(kl(2.0, 3.0, 2.0, 3.0))
    0.0
    """
    a, b = _float64(a, b)
    a2, b2 = _float64(a2, b2)
    log_x, log_not_x = expected_log(a, b)
    linear = (a - a2) * log_x + (b - b2) * log_not_x
    return np.asarray((betaln(a2, b2) - betaln(a, b)) + linear)


def mean(a: ArrayLike, b: ArrayLike) -> Float64:
    """Return E[x] = a / (a + b).

    >>> float(mean(1.0, 3.0))
    0.25
    """
    a, b = _float64(a, b)
    return np.asarray(a / (a + b))


def _float64(a: ArrayLike, b: ArrayLike) -> tuple[Float64, Float64]:
    return np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
