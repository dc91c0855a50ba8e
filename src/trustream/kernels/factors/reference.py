"""Kernels of Poisson factorisation in NumPy: the equations as they stand.

Same names and signatures as in `compiled`; see there for shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from trustream.kernels.lda import FLOOR

Array = NDArray[Any]


def factor_local(
    indptr: Array,
    ids: Array,
    counts: Array,
    table: Array,
    factor: Array,
    item_sums: Array,
    user_shape: float,
    activity_shape: float,
    activity_rate: float,
    shape: Array,
    activity: Array,
    theta: Array,
    ratio: Array,
    n_local: int,
    tol: float,
    start: int,
    stop: int,
) -> None:
    """Local step: phi, theta and the activity in turn, user by user."""
    k, dtype = shape.shape[1], table.dtype
    for u in range(start, stop):
        items = slice(indptr[u], indptr[u + 1])
        beta, n = table[ids[items], :k].astype(np.float64), counts[items].astype(np.float64)
        current, tau = shape[u].astype(np.float64), float(activity[u])
        for _ in range(n_local):
            rate = activity_shape / tau + item_sums
            belief = _belief(current, factor, rate, dtype)
            updated = user_shape + belief * ((n / (beta @ belief)) @ beta)
            size, current = np.abs(updated - current).sum(), updated
            tau = activity_rate + (current / rate).sum()
            if size < tol * k:
                break
        rate = activity_shape / tau + item_sums
        belief = _belief(current, factor, rate, dtype)
        shape[u], activity[u] = current, tau
        theta[u], theta[u, :k] = 0, belief
        ratio[items] = n / (beta @ belief)


def _belief(shape: Array, factor: Array, rate: Array, dtype: Any) -> Array:
    """exp(psi(shape)) factor / rate, up to a constant; the exponential is floored."""
    psi = special.digamma(shape)
    scaled = np.maximum(np.exp(psi - psi.max()), FLOOR[dtype.name])
    return np.asarray(scaled * factor * (rate.min() / rate))


def factor_bound(
    indptr: Array,
    ids: Array,
    counts: Array,
    table: Array,
    offset: Array,
    log_rates: Array,
    item_sums: Array,
    user_shape: float,
    activity_shape: float,
    activity_rate: float,
    prior_shape: float,
    shape: Array,
    activity: Array,
    bound: Array,
    start: int,
    stop: int,
) -> None:
    """Lower bound of each user given beta's beliefs, phi optimal given theta's."""
    k, c = shape.shape[1], user_shape
    for u in range(start, stop):
        items = slice(indptr[u], indptr[u + 1])
        a, tau, n = shape[u].astype(np.float64), float(activity[u]), counts[items]
        n = n.astype(np.float64)
        xi, log_xi = activity_shape / tau, special.digamma(activity_shape) - np.log(tau)
        rate = xi + item_sums
        log_theta = special.digamma(a) - np.log(rate)
        log_beta = np.log(table[ids[items], :k].astype(np.float64)) - log_rates
        log_beta -= offset[ids[items], np.newaxis]
        bound[u] = (
            n @ special.logsumexp(log_theta + log_beta, axis=1)
            - special.gammaln(n + 1).sum()
            # E[theta_k] (E[xi] + sum_i E[beta_ik]) is a_k, as in theta's entropy: both are gone.
            + ((c - 1) * log_theta + (1 - a) * special.digamma(a) - np.log(rate)).sum()
            + special.gammaln(a).sum()
            + k * (c * log_xi - special.gammaln(c))
            + prior_shape * np.log(activity_rate)
            - special.gammaln(prior_shape)
            + (prior_shape - 1) * log_xi
            - activity_rate * xi
            + activity_shape
            - np.log(tau)
            + special.gammaln(activity_shape)
            + (1 - activity_shape) * special.digamma(activity_shape)
        )
