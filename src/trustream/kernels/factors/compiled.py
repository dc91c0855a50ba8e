"""Kernels of Poisson factorisation in Numba. Each has a twin of the same name in `reference`."""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np

from trustream.kernels import LANES, elementary
from trustream.kernels.jit import njit
from trustream.kernels.lda import COLUMNS_ROOM, NARROW
from trustream.kernels.lda.compiled_sweep import (
    pack_columns,
    scaled_exp_digamma,
    sweep_columns,
    sweep_rows,
    whole,
)

__all__ = ["factor_bound", "factor_local"]


@njit(**elementary.INSIDE)
def _beliefs(current, n, factor, item_sums, least, xi, belief):
    """belief = exp(psi(current)) factor / (xi + item_sums), up to a constant, then 0."""
    # Not the literal 0, for which Numba would compile the function once more.
    scaled_exp_digamma(current, n, belief, n - n)
    lowest = xi + least
    for k in range(n):
        belief[k] *= factor[k] * (lowest / (xi + item_sums[k]))


@njit(**elementary.KERNEL)
def factor_local(
    indptr,
    ids,
    counts,
    table,
    factor,
    item_sums,
    user_shape,
    activity_shape,
    activity_rate,
    shape,
    activity,
    theta,
    ratio,
    n_local,
    tol,
    start,
    stop,
):
    """Local step of Poisson factorisation for users start..stop.

    Up to n_local times, until the shapes move by less than `tol` on average over components:

        phi_uik  proportional to  theta_uk table_ik,
            theta_uk = exp(psi(shape_uk)) factor_k / (E[xi_u] + S_k),   E[xi_u] = A / activity_u
        shape_uk = c + sum_i x_ui phi_uik
        activity_u = d + sum_k shape_uk / (E[xi_u] + S_k)

    with factor_k = 1 / rate_k of the items' factors up to a constant, so that table_ik factor_k is
    exp E[log beta_ik], S_k = sum_i E[beta_ik] over all items, c = `user_shape`,
    A = `activity_shape` and d = `activity_rate`. At the end theta[u] and ratio, in the order of the
    items, hold the last beliefs: x_ui phi_uik = ratio_ui theta_uk table_ik.

    Args: indptr (B+1,), ids, counts and ratio (nnz,), table (W, padded K), factor and item_sums
    (K,), shape (B, K) and activity (B,) float64 in and out, theta (B, padded K) out.
    """
    n, width = shape.shape[1], table.shape[1]
    zero = table.dtype.type(0)
    c = table.dtype.type(user_shape)
    longest = 0
    for u in range(start, stop):
        longest = max(longest, indptr[u + 1] - indptr[u])
    packed = np.empty(min(COLUMNS_ROOM, whole(longest) * min(width, NARROW)), table.dtype)
    weights = np.empty(max(whole(longest), LANES), table.dtype)
    rest = np.zeros(max(whole(longest), LANES), table.dtype)
    sums = np.empty(whole(NARROW) * LANES, table.dtype)
    total = np.empty(width, table.dtype)
    belief = np.empty(width, table.dtype)
    current = np.empty(width, table.dtype)
    active = np.empty(n, np.int64)
    least = item_sums[0]
    for k in range(n):
        active[k] = k
        least = min(least, item_sums[k])
    for u in range(start, stop):
        begin, end = indptr[u], indptr[u + 1]
        n_items = end - begin
        for k in range(n):
            current[k] = shape[u, k]
        for i in range(n_items):
            weights[i] = counts[begin + i]
        for i in range(n_items, whole(n_items)):
            weights[i] = 0
        widest = min(NARROW, COLUMNS_ROOM // max(whole(n_items), 1) // LANES * LANES)
        in_columns = n <= widest
        if in_columns:
            pack_columns(ids[begin:end], table, active, n, packed)
        tau = activity[u]
        iteration, done = 0, n_local == 0
        while True:
            xi = table.dtype.type(activity_shape / tau)
            _beliefs(current, n, factor, item_sums, least, xi, belief)
            if in_columns:
                sweep_columns(packed, weights, rest, zero, n_items, n, belief, sums, total, done)
            else:
                sweep_rows(ids[begin:end], table, weights, rest, zero, belief, total, done)
            if done:
                break
            size = mass = zero
            for k in range(n):
                updated = c + belief[k] * total[k]
                size += abs(updated - current[k])
                current[k] = updated
                mass += updated / (xi + item_sums[k])
            tau = activity_rate + np.float64(mass)
            iteration += 1
            done = size < tol * n or iteration == n_local
        for i in range(n_items):
            ratio[begin + i] = weights[i]
        for k in range(n):
            shape[u, k] = current[k]
        for k in range(width):
            theta[u, k] = belief[k]
        activity[u] = tau


@njit(**elementary.KERNEL)
def factor_bound(
    indptr,
    ids,
    counts,
    table,
    offset,
    log_rates,
    item_sums,
    user_shape,
    activity_shape,
    activity_rate,
    prior_shape,
    shape,
    activity,
    bound,
    start,
    stop,
):
    """Lower bound of each user given beta's beliefs, phi optimal given theta's, in nats.

        sum_i { x_i log sum_k exp(E[log theta_k] + E[log beta_ik]) - log x_i! }
        + sum_k { (c - 1) E[log theta_k] + c E[log xi] - log G(c)
                  - E[theta_k] (E[xi] + S_k) + H[theta_k] }
        + d0 terms of the activity: c' log d - log G(c') + (c' - 1) E[log xi] - d E[xi] + H[xi]

    with q(theta_k) = Gamma(a_k, E[xi] + S_k) for a = `shape`, so that E[theta_k] (E[xi] + S_k) is
    a_k, q(xi) = Gamma(A, `activity`), H the entropy of a gamma distribution, c' = `prior_shape` and
    d = `activity_rate`. E[log beta_ik] = log table_ik - offset_i - log_rates_k. Sums in float64.
    """
    n = shape.shape[1]
    expected = np.empty(n)
    psi_activity = elementary.digamma(activity_shape)
    constant = (
        prior_shape * math.log(activity_rate)
        - math.lgamma(prior_shape)
        - n * math.lgamma(user_shape)
        + activity_shape
        + math.lgamma(activity_shape)
        + (1.0 - activity_shape) * psi_activity
    )
    for u in range(start, stop):
        tau = activity[u]
        xi, log_xi = activity_shape / tau, psi_activity - math.log(tau)
        value = constant + (n * user_shape + prior_shape - 1.0) * log_xi
        value -= activity_rate * xi + math.log(tau)
        largest = -np.inf
        for k in range(n):
            x, log_rate = np.float64(shape[u, k]), math.log(xi + item_sums[k])
            psi = elementary.digamma(x)
            value += (user_shape - 1.0) * (psi - log_rate) - log_rate
            value += math.lgamma(x) + (1.0 - x) * psi
            expected[k] = psi - log_rate - log_rates[k]
            largest = max(largest, expected[k])
        for k in range(n):
            expected[k] = math.exp(expected[k] - largest)
        for i in range(indptr[u], indptr[u + 1]):
            w, x = ids[i], np.float64(counts[i])
            likelihood = 0.0
            for k in range(n):
                likelihood += expected[k] * table[w, k]
            value += x * (math.log(likelihood) + largest - offset[w]) - math.lgamma(x + 1.0)
        bound[u] = value
