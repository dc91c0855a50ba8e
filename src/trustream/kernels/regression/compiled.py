"""Kernels of regressions in Numba; twins in `reference`, which has the equations.

Matrices are small, P x P with P the number of weights, and there is one for each group: they are
factorised by plain loops, which need no call into a library.
"""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit

_EPS = float(np.finfo(np.float64).eps)
_ROOT_2 = math.sqrt(2.0)
_LOG_ROOT_2_PI = math.log(2 * math.pi) / 2
# Below this, Phi is computed from a continued fraction, which converges the faster the lower.
_TAIL, _N_FRACTIONS = -12.0, 40


@njit(**elementary.KERNEL)
def group_moments(X, y, offsets, start, stop, products, shifts, squares):
    """X_g' X_g, X_g' y_g and y_g' y_g of each group, in float64."""
    p = X.shape[1]
    row = np.empty(p)
    for g in range(start, stop):
        A, b = products[g], shifts[g]
        A[:], b[:] = 0.0, 0.0
        total = 0.0
        for n in range(offsets[g], offsets[g + 1]):
            target = float(y[n])
            for i in range(p):
                row[i] = X[n, i]
            for i in range(p):
                b[i] += target * row[i]
                for j in range(i + 1):
                    A[i, j] += row[i] * row[j]
            total += target * target
        for i in range(p):
            for j in range(i):
                A[j, i] = A[i, j]
        squares[g] = total


@njit(**elementary.INSIDE)
def _invert(K, V, work):
    """V = K^-1 for a positive definite K (P, P), by K = L L'; log |K|. K and work are used up."""
    p = K.shape[0]
    log_det = 0.0
    for i in range(p):
        for j in range(i + 1):
            total = K[i, j]
            for k in range(j):
                total -= K[i, k] * K[j, k]
            if i == j:
                root = math.sqrt(max(total, 1e-300))
                K[i, i] = root
                log_det += 2 * math.log(root)
            else:
                K[i, j] = total / K[j, j]
    # work = L^-1, row by row.
    for i in range(p):
        for j in range(i):
            total = 0.0
            for k in range(j, i):
                total -= K[i, k] * work[k, j]
            work[i, j] = total / K[i, i]
        work[i, i] = 1 / K[i, i]
    for i in range(p):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, p):
                total += work[k, i] * work[k, j]
            V[i, j] = V[j, i] = total
    return log_det


@njit(**elementary.KERNEL)
def linear_groups(
    products, shifts, squares, precision, linear, noise, start, stop, means, covariances, values,
    sums,
):  # fmt: skip
    """The best weights of the groups of a linear regression."""
    p = linear.size
    K, V, work, h = np.empty((p, p)), np.empty((p, p)), np.empty((p, p)), np.empty(p)
    first, second, spread = sums[1 : 1 + p], sums[1 + p : 1 + p + p * p], sums[1 + p + p * p :]
    for g in range(start, stop):
        A, b, m = products[g], shifts[g], means[g]
        for i in range(p):
            h[i] = linear[i] + noise * b[i]
            for j in range(p):
                K[i, j] = precision[i, j] + noise * A[i, j]
        log_det = _invert(K, V, work)
        fit, residual = 0.0, squares[g]
        for i in range(p):
            total = 0.0
            for j in range(p):
                total += V[i, j] * h[j]
            m[i] = total
            fit += h[i] * total
            residual -= 2 * total * b[i]
        for i in range(p):
            first[i] += m[i]
            for j in range(p):
                product = V[i, j] + m[i] * m[j]
                residual += A[i, j] * product
                second[i * p + j] += product
                spread[i * p + j] += V[i, j]
        if covariances.shape[0]:
            covariances[g] = V
        values[g] = (fit - log_det) / 2
        sums[0] += max(residual, _EPS * squares[g])


@njit(**elementary.INSIDE)
def _tail(a):
    """(r, r + a, log Phi(a)) with r = N(a | 0, 1) / Phi(a), for any a."""
    if a > _TAIL:
        mass = math.erfc(-a / _ROOT_2) / 2
        r = math.exp(-a * a / 2 - _LOG_ROOT_2_PI) / mass
        return r, r + a, math.log(mass)
    # Phi(-x) / N(x) = 1 / (x + 1 / (x + 2 / (x + ...))): r = x + rest.
    x, rest = -a, 0.0
    for k in range(_N_FRACTIONS, 0, -1):
        rest = k / (x + rest)
    r = x + rest
    return r, rest, -x * x / 2 - _LOG_ROOT_2_PI - math.log(r)


@njit(**elementary.KERNEL)
def truncated(location, y, start, stop, mean, variance, log_mass):
    """Moments of z ~ N(location, 1) on the side of y, -1 or 1."""
    for n in range(start, stop):
        side = float(y[n])
        r, above, mass = _tail(side * location[n])
        mean[n] = location[n] + side * r
        variance[n] = min(max(1 - r * above, 0.0), 1.0)
        log_mass[n] = mass


@njit(**elementary.KERNEL)
def probit_groups(
    X, y, offsets, products, shifts, precision, linear, n_local, tol, start, stop, latent, means,
    covariances, values, sums,
):  # fmt: skip
    """The best weights and latent responses of the groups of a probit regression."""
    p = linear.size
    K, V, work, u = np.empty((p, p)), np.empty((p, p)), np.empty((p, p)), np.empty(p)
    C = np.empty((p, p))
    first, second, spread = sums[:p], sums[p : p + p * p], sums[p + p * p :]
    longest = 1
    for g in range(start, stop):
        longest = max(longest, offsets[g + 1] - offsets[g])
    x, Vx = np.empty((longest, p)), np.empty((longest, p))
    k, scale = np.empty(longest), np.empty(longest)
    for g in range(start, stop):
        low, n_rows, m = offsets[g], offsets[g + 1] - offsets[g], means[g]
        for i in range(p):
            u[i] = linear[i]
            for j in range(p):
                K[i, j] = precision[i, j]
        if products.shape[0]:
            for i in range(p):
                u[i] += shifts[g, i]
                for j in range(p):
                    K[i, j] += products[g, i, j]
        for n in range(n_rows):
            z = latent[low + n, 0]
            for i in range(p):
                x[n, i] = X[low + n, i]
            for i in range(p):
                u[i] += z * x[n, i]
                for j in range(i + 1):
                    K[i, j] += x[n, i] * x[n, j]
        log_det = _invert(K, V, work)
        for i in range(p):
            total = 0.0
            for j in range(p):
                total += V[i, j] * u[j]
            m[i] = total
        for n in range(n_rows):
            total = 0.0
            for i in range(p):
                entry = 0.0
                for j in range(p):
                    entry += V[i, j] * x[n, j]
                Vx[n, i] = entry
                total += entry * x[n, i]
            k[n] = total
            scale[n] = 1 / math.sqrt(max(1 - total, _EPS))
        for _ in range(n_local):
            change = 0.0
            for n in range(n_rows):
                row = low + n
                dot = 0.0
                for i in range(p):
                    dot += x[n, i] * m[i]
                s, side = scale[n], float(y[row])
                mu = s * s * (dot - k[n] * latent[row, 0])
                r, above, _ = _tail(side * mu / s)
                mean = mu + side * s * r
                step = mean - latent[row, 0]
                latent[row, 0] = mean
                latent[row, 1] = s * s * min(max(1 - r * above, 0.0), 1.0)
                latent[row, 2] = mu
                for i in range(p):
                    m[i] += step * Vx[n, i]
                change = max(change, abs(step))
            if change < tol:
                break
        # m' V^-1 m and C; V^-1 = L L' is what is left in K.
        value = -log_det
        for i in range(p):
            total = 0.0
            for j in range(i, p):
                total += K[j, i] * m[j]
            value += total * total
            for j in range(p):
                C[i, j] = V[i, j]
        rest = 0.0
        for n in range(n_rows):
            z, variance, mu = latent[low + n, 0], latent[low + n, 1], latent[low + n, 2]
            s = scale[n]
            _, _, mass = _tail(float(y[low + n]) * mu / s)
            value -= z * z
            rest += mass + math.log(s) + (z - mu) * (z - mu) / (2 * s * s)
            for i in range(p):
                for j in range(i + 1):
                    C[i, j] += variance * Vx[n, i] * Vx[n, j]
        for i in range(p):
            for j in range(i):
                C[j, i] = C[i, j]
        for i in range(p):
            first[i] += m[i]
            for j in range(p):
                second[i * p + j] += C[i, j] + m[i] * m[j]
                spread[i * p + j] += C[i, j]
        if covariances.shape[0]:
            covariances[g] = C
        values[g] = value / 2 + rest
