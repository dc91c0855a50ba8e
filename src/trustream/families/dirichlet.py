"""Dirichlet distributions with natural parameters a (..., K) and statistics t(x) = log x.

The density is p(x | a) = exp(sum_k (a_k - 1) log x_k - A(a)). Functions work along the last axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[Any]


def expected_log(a: Array) -> Array:
    """Return E[log x_k] = psi(a_k) - psi(sum_j a_j), shape (..., K).

    >>> expected_log(np.array([1.0, 1.0]))
    array([-1., -1.])
    """
    return np.asarray(special.digamma(a) - special.digamma(a.sum(axis=-1, keepdims=True)))


def log_normalizer(a: Array) -> Array:
    """Return A(a) = sum_k log Gamma(a_k) - log Gamma(sum_k a_k), shape (...).

    >>> float(log_normalizer(np.array([1.0, 1.0])))
    0.0
    """
    return np.asarray(special.gammaln(a).sum(axis=-1) - special.gammaln(a.sum(axis=-1)))


def kl(a: Array, b: Array) -> Array:
    """Return KL(Dir(a) || Dir(b)) = A(b) - A(a) + sum_k (a_k - b_k) E_a[log x_k], shape (...).

    >>> float(kl(np.array([2.0, 3.0]), np.array([2.0, 3.0])))
    0.0
    """
    inner = ((a - b) * expected_log(a)).sum(axis=-1)
    return np.asarray(log_normalizer(b) - log_normalizer(a) + inner)


def mean(a: Array) -> Array:
    """Return E[x_k] = a_k / sum_j a_j.

    >>> mean(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return np.asarray(a / a.sum(axis=-1, keepdims=True))
