"""Where the components of a Gaussian mixture start: round clusters, found in a few rounds of EM.

Components may lie apart, or in the same place and differ in width, as those of image patches do.
Points far from each other are good places to start from in the first case and the worst in the
second, where they are the few widest points. So both kinds of places are tried, and each round
cluster learns its own variance.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from trustream.array_types import Float64
from trustream.models.mixture import feature_blocks

_ROUNDS = 10
# Beliefs are a matrix of points and components: about so many numbers.
_MOST_NUMBERS = 2**22
# Nats per point.
_EQUAL = 1e-3


class Clusters(NamedTuple):
    """Means m (K, D), variances v (K,) in each direction, and the mean log-likelihood in nats."""

    m: Float64
    v: Float64
    log_likelihood: float


def n_points(n_components: int) -> int:
    """Points to look at: a hundred per component, ten if there are many components.

    >>> n_points(50), n_points(1000)
    (5000, 10000)
    """
    return max(10 * n_components, min(100 * n_components, _MOST_NUMBERS // n_components))


def best(y: Float64, places: Iterable[Float64]) -> Clusters:
    """The likeliest fit to y (n, D) of those from the given means, (K, D) each.

    Of fits that are as good as equal the first, lest rounding decide.
    """
    fits = [spherical(y, m, _ROUNDS) for m in places]
    least = max(fit.log_likelihood for fit in fits) - _EQUAL
    return next(fit for fit in fits if fit.log_likelihood >= least)


def spherical(y: Float64, m: Float64, n_rounds: int) -> Clusters:
    """A mixture of N(m_k, v_k I) with weights w, by EM from the means m (K, D).

        phi_nk  proportional to  w_k N(y_n | m_k, v_k I)
        m_k = (m_k + sum_n phi_nk y_n) / (1 + n_k),    w_k = (1 + n_k) / (K + n)
        v_k = (v + sum_n phi_nk |y_n - m_k|^2) / (1 + D n_k),    n_k = sum_n phi_nk

    with v the variance of all data: one number's worth, so that a lone point has a width. At
    first, the nearest points that make up a share of 1/K of the data lie within v_k.

    >>> y = np.concatenate([np.zeros((9, 2)), np.full((9, 2), 5.0)])
    >>> spherical(y, y[[0, 9]] + 1, 10).m.round(1) + 0
    array([[0., 0.],
           [5., 5.]])
    """
    n, d = y.shape
    k = len(m)
    overall = max(float(y.var(axis=0).mean()), np.finfo(np.float64).tiny)
    squares = np.square(y).sum(axis=1)[:, None]
    distance = _distance(y, squares, m)
    share = min(n - 1, n // k)
    v = (overall + np.partition(distance, share, axis=0)[share]) / (1 + d)
    weights = np.full(k, 1 / k)
    for _ in range(n_rounds):
        phi = np.exp(_scores(distance, v, weights, d)[1])
        counts = phi.sum(axis=0)
        m = (m + phi.T @ y) / (1 + counts)[:, None]
        distance = _distance(y, squares, m)
        v = (overall + (phi * distance).sum(axis=0)) / (1 + d * counts)
        weights = (1 + counts) / (k + n)
    return Clusters(m, v, float(_scores(distance, v, weights, d)[0].mean()))


def _distance(y: Float64, squares: Float64, m: Float64) -> Float64:
    """|y_n - m_k|^2, (n, K)."""
    return np.asarray(np.maximum(squares - 2 * (y @ m.T) + np.square(m).sum(axis=1), 0))


def _scores(distance: Float64, v: Float64, weights: Float64, d: int) -> tuple[Float64, Float64]:
    """log p(y_n), (n,), and log phi, (n, K)."""
    joint = np.log(weights) - d / 2 * np.log(2 * np.pi * v) - distance / (2 * v)
    total = feature_blocks.log_sum(joint)
    return total, joint - total[:, None]
