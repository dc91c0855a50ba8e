"""Kernels of regressions in NumPy, as the equations stand; twins in `compiled`.

Group g has the rows offsets[g]:offsets[g + 1] of X (n, P) and y (n,). Kernels work on the groups
[start, stop) and add what is summed over them to `sums`, a float64 vector that holds, one after
the other, what their docstrings say. Where `covariances` has no rows, none are wanted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[Any]
Float64 = NDArray[np.float64]
Index = NDArray[np.int64]

_EPS = float(np.finfo(np.float64).eps)


def group_moments(
    X: Array,
    y: Array,
    offsets: Index,
    start: int,
    stop: int,
    products: Float64,
    shifts: Float64,
    squares: Float64,
) -> None:
    """products[g] = X_g' X_g (P, P), shifts[g] = X_g' y_g (P,), squares[g] = y_g' y_g."""
    for g in range(start, stop):
        rows = slice(offsets[g], offsets[g + 1])
        x, target = X[rows].astype(np.float64), y[rows].astype(np.float64)
        products[g], shifts[g], squares[g] = x.T @ x, x.T @ target, target @ target


def linear_groups(
    products: Float64,
    shifts: Float64,
    squares: Float64,
    precision: Float64,
    linear: Float64,
    noise: float,
    start: int,
    stop: int,
    means: Float64,
    covariances: Float64,
    values: Float64,
    sums: Float64,
) -> None:
    """The best q(w_g) = N(m_g, V_g) of a linear regression, and what follows from it.

        V_g^-1 = K_g = precision + noise X_g' X_g,   m_g = V_g h_g,   h_g = linear + noise X_g' y_g
        values[g] = (h_g' m_g - log |K_g|) / 2

    with precision = E[Sigma^-1] (P, P), linear = E[Sigma^-1 mu] (P,) and noise = E[1/v]. `sums` is
    sum_g E|y_g - X_g w_g|^2, sum_g m_g (P), sum_g V_g + m_g m_g' (P P), sum_g V_g (P P), where

        E|y - X w|^2 = y'y - 2 m' X'y + tr(X'X (V + m m')).
    """
    p = linear.size
    for g in range(start, stop):
        K, h = precision + noise * products[g], linear + noise * shifts[g]
        V = np.linalg.inv(K)
        V = (V + V.T) / 2
        m = V @ h
        second = V + np.outer(m, m)
        residual = squares[g] - 2 * (m @ shifts[g]) + (products[g] * second).sum()
        means[g] = m
        if covariances.shape[0]:
            covariances[g] = V
        values[g] = (h @ m - np.linalg.slogdet(K)[1]) / 2
        sums[0] += max(residual, _EPS * squares[g])
        sums[1 : 1 + p] += m
        sums[1 + p : 1 + p + p * p] += second.ravel()
        sums[1 + p + p * p :] += V.ravel()


def truncated(
    location: Float64,
    y: Array,
    start: int,
    stop: int,
    mean: Float64,
    variance: Float64,
    log_mass: Float64,
) -> None:
    """Moments of z ~ N(location, 1) on the side of y, -1 or 1, for the rows [start, stop).

    With a = y location, r = N(a | 0, 1) / Phi(a):

        mean = location + y r,   variance = 1 - r (r + a),   log_mass = log Phi(a).
    """
    rows = slice(start, stop)
    side = y[rows].astype(np.float64)
    a = side * location[rows]
    log_mass[rows] = special.log_ndtr(a)
    # Of N(a | 0, 1) and Phi(a) alone both would vanish far below zero.
    r = np.sqrt(2 / np.pi) / special.erfcx(-a / np.sqrt(2))
    mean[rows] = location[rows] + side * r
    variance[rows] = np.clip(1 - r * (r + a), 0.0, 1.0)


def probit_groups(
    X: Array,
    y: Array,
    offsets: Index,
    products: Float64,
    shifts: Float64,
    precision: Float64,
    linear: Float64,
    nodes: Float64,
    weights: Float64,
    n_local: int,
    tol: float,
    start: int,
    stop: int,
    beliefs: Float64,
    values: Float64,
    sums: Float64,
) -> None:
    """The best q(w_g, z_g) = N(w_g | m_g, C_g) p(z_g | w_g, y_g) of a probit regression.

    z_i ~ N(x_i' w, 1) has the sign of y_i, -1 or 1 (Albert and Chib 1993). With z as it is given w,
    only E[log Phi(y_i x_i' w)] is left of it, a function of mu_i = x_i' m and s_i^2 = x_i' C x_i:

        l_i = sum_k weights_k log Phi(y_i (mu_i + s_i nodes_k)),

    with Gauss-Hermite nodes and weights of the standard normal. The part of the bound that depends
    on q is

        values[g] = sum_i l_i - (tr(K C) + m' K m) / 2 + h' m + (log |C| + P) / 2,

    K = precision + products[g], h = linear + shifts[g], with precision = E[Sigma^-1], linear =
    E[Sigma^-1 mu], and products and shifts a Gaussian factor of rows that are not here (no rows:
    none). A step follows the natural gradient,

        C^-1 <- (1 - rho) C^-1 + rho (K + sum_i d_i x_i x_i'),   d_i = -(dl_i / ds_i) / s_i
        m <- m + rho C (h - K m + sum_i (dl_i / dmu_i) x_i),

    with rho = 1, halved while the value would fall. There are at most `n_local` steps, fewer if one
    changes no weight by more than `tol`. beliefs[g] = m (P), C (P P) is where they start and end.

    `sums` is sum_g m_g (P), sum_g C_g + m_g m_g' (P P), sum_g C_g (P P).
    """
    p = linear.size
    for g in range(start, stop):
        rows = slice(offsets[g], offsets[g + 1])
        x, side = X[rows].astype(np.float64), y[rows].astype(np.float64)
        K, h = precision.copy(), linear.copy()
        if products.shape[0]:
            K, h = K + products[g], h + shifts[g]
        m, C = beliefs[g, :p].copy(), beliefs[g, p:].reshape(p, p).copy()
        value, slope, curvature = _expected_log_phi(x, side, m, C, nodes, weights)
        value += _gaussian_part(K, h, m, C)
        Lambda = np.linalg.inv(C) if n_local else C
        for _ in range(n_local):
            target, gradient = K + x.T @ (curvature[:, None] * x), h - K @ m + x.T @ slope
            rho, change = 1.0, 0.0
            for _ in range(N_HALVED):
                new_Lambda = (1 - rho) * Lambda + rho * target
                new_C = np.linalg.inv(new_Lambda)
                new_C = (new_C + new_C.T) / 2
                step = rho * new_C @ gradient
                found = _expected_log_phi(x, side, m + step, new_C, nodes, weights)
                new_value = found[0] + _gaussian_part(K, h, m + step, new_C)
                if new_value >= value:
                    m, C, Lambda, value = m + step, new_C, new_Lambda, new_value
                    slope, curvature = found[1:]
                    change = np.abs(step).max()
                    break
                rho /= 2
            if change <= tol:
                break
        beliefs[g, :p], beliefs[g, p:] = m, C.ravel()
        values[g] = value
        sums[:p] += m
        sums[p : p + p * p] += (C + np.outer(m, m)).ravel()
        sums[p + p * p :] += C.ravel()


# Most halvings of a step.
N_HALVED = 12
# Below this spread of x' w, derivatives are those at its mean.
NARROW = 1e-4


def _gaussian_part(K: Float64, h: Float64, m: Float64, C: Float64) -> float:
    """-(tr(K C) + m' K m) / 2 + h' m + (log |C| + P) / 2."""
    log_det = np.linalg.slogdet(C)[1]
    return float(-((K * C).sum() + m @ K @ m) / 2 + h @ m + (log_det + m.size) / 2)


def _expected_log_phi(
    x: Float64, side: Float64, m: Float64, C: Float64, nodes: Float64, weights: Float64
) -> tuple[float, Float64, Float64]:
    """sum_i l_i, dl_i / dmu_i (n,) and d_i (n,)."""
    mu, s = x @ m, np.sqrt(((x @ C) * x).sum(axis=1))
    a = side[:, None] * (mu[:, None] + s[:, None] * nodes)
    r = np.sqrt(2 / np.pi) / special.erfcx(-a / np.sqrt(2))
    slope = side * (r @ weights)
    wide = np.maximum(s, NARROW)
    curvature = np.where(
        s > NARROW, -side * (r @ (weights * nodes)) / wide, (r * (r + a)) @ weights
    )
    return float((special.log_ndtr(a) @ weights).sum()), slope, np.maximum(curvature, 0.0)
