"""Kernels of regressions in NumPy, as the equations stand; twins in `compiled`.

Group g has the rows offsets[g]:offsets[g + 1] of X (n, P) and y (n,). Kernels work on the groups
[start, stop) and add what is summed over them to `sums`, a float64 vector that holds, one after
the other, what their docstrings say. Where `covariances` has no rows, none are wanted.
"""

from __future__ import annotations

import numpy as np
from scipy.special import erfcx, log_ndtr

from trustream.array_types import Array, Float64, Index

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
    log_mass[rows] = log_ndtr(a)
    # Of N(a | 0, 1) and Phi(a) alone both would vanish far below zero.
    r = np.sqrt(2 / np.pi) / erfcx(-a / np.sqrt(2))
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
    n_local: int,
    tol: float,
    start: int,
    stop: int,
    latent: Float64,
    means: Float64,
    covariances: Float64,
    values: Float64,
    sums: Float64,
) -> None:
    """The best q(w_g, z_g) = p(w_g | z_g) prod_i q(z_gi) of a probit regression.

    z_i ~ N(x_i' w, 1) has the sign of y_i, -1 or 1 (Albert and Chib 1993). Given z the weights are
    normal with

        V^-1 = precision + products[g] + X' X,   m(z) = V (linear + shifts[g] + X' z),

    precision = E[Sigma^-1], linear = E[Sigma^-1 mu], and products and shifts a Gaussian factor of
    rows that are not here (no rows: none). With w integrated out, the best q(z_i) given the others
    is N(mu_i, sigma_i^2) on the side of y_i,

        k_i = x_i' V x_i,   sigma_i^2 = 1 / (1 - k_i),   mu_i = sigma_i^2 (x_i' m - k_i E[z_i]),

    with m = m(E[z]). A sweep does this for one row after the other; there are at most `n_local`,
    fewer if no E[z_i] changes by more than `tol`. latent[i] = (E[z_i], Var[z_i], mu_i) is where
    they start, and where they end. Then E[w] = m, Cov[w] = C = V + V X' diag(Var[z]) X V, and

        values[g] = (log |V| + m' u - sum_i E[z_i]^2) / 2
                    + sum_i { log Phi(y_i mu_i / sigma_i) + log sigma_i + (E[z_i] - mu_i)^2
                    / (2 sigma_i^2) },    u = V^-1 m.

    `sums` is sum_g m_g (P), sum_g C_g + m_g m_g' (P P), sum_g C_g (P P).
    """
    p = linear.size
    one = np.empty((3, 1))
    for g in range(start, stop):
        rows = np.arange(offsets[g], offsets[g + 1])
        x = X[rows].astype(np.float64)
        K, u = precision + x.T @ x, linear.copy()
        if products.shape[0]:
            K, u = K + products[g], u + shifts[g]
        V = np.linalg.inv(K)
        V = (V + V.T) / 2
        u += x.T @ latent[rows, 0]
        m = V @ u
        Vx = x @ V
        k = (Vx * x).sum(axis=1)
        scale = 1 / np.sqrt(np.maximum(1 - k, _EPS))
        for _ in range(n_local):
            change = 0.0
            for i, row in enumerate(rows):
                mu = scale[i] ** 2 * (x[i] @ m - k[i] * latent[row, 0])
                truncated(np.array([mu / scale[i]]), y[row : row + 1], 0, 1, *one)
                mean = scale[i] * one[0, 0]
                step = mean - latent[row, 0]
                latent[row] = mean, scale[i] ** 2 * one[1, 0], mu
                m = m + step * Vx[i]
                change = max(change, abs(step))
            if change < tol:
                break
        z, variance, mu = latent[rows].T
        u = K @ m
        C = V + Vx.T @ (variance[:, None] * Vx)
        side = y[rows].astype(np.float64)
        terms = log_ndtr(side * mu / scale) + np.log(scale) + ((z - mu) / scale) ** 2 / 2
        means[g] = m
        if covariances.shape[0]:
            covariances[g] = C
        values[g] = (m @ u - np.linalg.slogdet(K)[1] - z @ z) / 2 + terms.sum()
        sums[:p] += m
        sums[p : p + p * p] += (C + np.outer(m, m)).ravel()
        sums[p + p * p :] += C.ravel()
