"""Normal distributions of the weights of a regression.

    p(w) = N(w | m, Lambda^-1),   w (P,)

As an exponential family with base measure (2 pi)^(-P/2),

    lambda = (Lambda, Lambda m),   t = (-w w' / 2, w),

so that a row x with an expected response z adds f = (x x', z x). All arrays are float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustream.families import symmetric

Float64 = NDArray[np.float64]


class Natural(NamedTuple):
    """lambda: precision Lambda (P, P) and shift Lambda m (P,)."""

    precision: Float64
    shift: Float64


class Traditional(NamedTuple):
    """m (P,), covariance Lambda^-1 (P, P) and factor L (P, P) with Lambda = L L'."""

    m: Float64
    covariance: Float64
    factor: Float64


def natural(m: ArrayLike, precision: ArrayLike) -> Natural:
    """Return the natural parameters (Lambda, Lambda m).

    >>> natural([1.0, 2.0], np.diag([1.0, 3.0])).shift
    array([1., 6.])
    """
    Lambda = np.asarray(precision, dtype=np.float64)
    return Natural(Lambda, Lambda @ np.asarray(m, dtype=np.float64))


def traditional(lambda_: Natural) -> Traditional:
    """Return m, Lambda^-1 and the Cholesky factor of Lambda.

    >>> traditional(natural([1.0, 2.0], np.diag([1.0, 4.0]))).m
    array([1., 2.])
    """
    precision, shift = lambda_
    _, factor = symmetric.cholesky(precision, symmetric.rounding_noise(precision))
    covariance = symmetric.inverse(factor)
    return Traditional(covariance @ shift, covariance, factor)


def log_normalizer(lambda_: Natural) -> float:
    """Return a(lambda) = (m' Lambda m - log |Lambda|) / 2.

    Its gradient is E[t].

    >>> log_normalizer(natural([2.0], [[1.0]]))
    2.0
    """
    m, _, factor = traditional(lambda_)
    return float(m @ lambda_.shift - symmetric.log_det(factor)) / 2


def kl(lambda_: Natural, other: Natural) -> float:
    """Return KL(q_lambda || q_other) in nats.

        (tr(Lambda2 Lambda^-1) - P + log |Lambda| - log |Lambda2|
         + (m - m2)' Lambda2 (m - m2)) / 2

    >>> one = natural([0.0], [[1.0]])
    >>> kl(natural([3.0], [[1.0]]), one)
    4.5
    """
    m, _, factor = traditional(lambda_)
    m2, _, factor2 = traditional(other)
    distance = factor2.T @ (m - m2)
    return (spread(factor, factor2) + float(distance @ distance)) / 2


def spread(factor: Float64, factor2: Float64) -> float:
    """Return tr(Lambda2 Lambda^-1) - P + log |Lambda| - log |Lambda2| from Cholesky factors.

    >>> spread(np.eye(2), np.eye(2))
    0.0
    """
    # tr(Lambda2 Lambda^-1) = |L^-1 L2|^2, a sum of squares.
    ratio = symmetric.inverse_triangle(factor) @ factor2
    log_dets = symmetric.log_det(factor) - symmetric.log_det(factor2)
    return float(np.square(ratio).sum() - factor.shape[-1] + log_dets)
