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
# As in `reference`.
_N_HALVED, _NARROW = 12, 1e-4
# Sums in the order in which they are written: otherwise the compiler sums in vectors, unless arrays
# might overlap, which it judges by where they happen to lie in memory, and the last digits with it.
_KERNEL = {**elementary.KERNEL, "fastmath": False}
_INSIDE = {**elementary.INSIDE, "fastmath": False}


@njit(**_KERNEL)
def group_moments(X, y, offsets, start, stop, products, shifts, squares):
    """X_g' X_g, X_g' y_g and y_g' y_g of each group, in float64."""
    p = X.shape[1]
    row = np.empty(p)
    for g in range(start, stop):
        A, b = products[g], shifts[g]
        A[:], b[:] = 0.0, 0.0
        total = 0.0
        for n in range(offsets[g], offsets[g + 1]):
            target = np.float64(y[n])
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


@njit(**_INSIDE)
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


@njit(**_KERNEL)
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


@njit(**_INSIDE)
def _tail(a):
    """(r, r + a, log Phi(a)) with r = N(a | 0, 1) / Phi(a), for any a."""
    if a > _TAIL:
        mass = math.erfc(-a / _ROOT_2) / 2
        r = math.exp(-a * a / 2 - _LOG_ROOT_2_PI) / mass
        log_mass = math.log1p(-math.erfc(a / _ROOT_2) / 2) if a > 0 else math.log(mass)
        return r, r + a, log_mass
    # Phi(-x) / N(x) = 1 / (x + 1 / (x + 2 / (x + ...))): r = x + rest.
    x, rest = -a, 0.0
    for k in range(_N_FRACTIONS, 0, -1):
        rest = k / (x + rest)
    r = x + rest
    return r, rest, -x * x / 2 - _LOG_ROOT_2_PI - math.log(r)


@njit(**_KERNEL)
def truncated(location, y, start, stop, mean, variance, log_mass):
    """Moments of z ~ N(location, 1) on the side of y, -1 or 1."""
    for n in range(start, stop):
        side = np.float64(y[n])
        r, above, mass = _tail(side * location[n])
        mean[n] = location[n] + side * r
        variance[n] = min(max(1 - r * above, 0.0), 1.0)
        log_mass[n] = mass


@njit(**_INSIDE)
def _value(x, side, n_rows, K, h, m, C, log_det, nodes, weights, slope, curvature):
    """The value of q = N(m, C), whose log |C| is known, and the derivatives of l_i."""
    p = h.size
    value = (log_det + p) / 2
    for i in range(p):
        value += h[i] * m[i]
        for j in range(p):
            value -= K[i, j] * (C[i, j] + m[i] * m[j]) / 2
    for n in range(n_rows):
        mu, square = 0.0, 0.0
        for i in range(p):
            mu += x[n, i] * m[i]
            entry = 0.0
            for j in range(p):
                entry += C[i, j] * x[n, j]
            square += entry * x[n, i]
        s = math.sqrt(max(square, 0.0))
        total, first, second, narrow = 0.0, 0.0, 0.0, 0.0
        for k in range(nodes.size):
            r, above, mass = _tail(side[n] * (mu + s * nodes[k]))
            total += weights[k] * mass
            first += weights[k] * r
            second += weights[k] * nodes[k] * r
            narrow += weights[k] * r * above
        value += total
        slope[n] = side[n] * first
        curvature[n] = max(-side[n] * second / s if s > _NARROW else narrow, 0.0)
    return value


@njit(**_KERNEL)
def probit_groups(
    X, y, offsets, products, shifts, precision, linear, nodes, weights, n_local, tol, start, stop,
    beliefs, values, sums,
):  # fmt: skip
    """The best weights of the groups of a probit regression."""
    p = linear.size
    K, V, work, h = np.empty((p, p)), np.empty((p, p)), np.empty((p, p)), np.empty(p)
    Lambda, target, new_Lambda = np.empty((p, p)), np.empty((p, p)), np.empty((p, p))
    C, used = np.empty((p, p)), np.empty((p, p))
    m, gradient, step, new_m = np.empty(p), np.empty(p), np.empty(p), np.empty(p)
    first, second, spread = sums[:p], sums[p : p + p * p], sums[p + p * p :]
    longest = 1
    for g in range(start, stop):
        longest = max(longest, offsets[g + 1] - offsets[g])
    x, side = np.empty((longest, p)), np.empty(longest)
    slope, curvature = np.empty(longest), np.empty(longest)
    new_slope, new_curvature = np.empty(longest), np.empty(longest)
    for g in range(start, stop):
        low, n_rows = offsets[g], offsets[g + 1] - offsets[g]
        for i in range(p):
            h[i], m[i] = linear[i], beliefs[g, i]
            for j in range(p):
                K[i, j], C[i, j] = precision[i, j], beliefs[g, p + i * p + j]
        if products.shape[0]:
            for i in range(p):
                h[i] += shifts[g, i]
                for j in range(p):
                    K[i, j] += products[g, i, j]
        for n in range(n_rows):
            side[n] = y[low + n]
            for i in range(p):
                x[n, i] = X[low + n, i]
        used[:] = C
        log_det = _invert(used, Lambda, work)
        value = _value(x, side, n_rows, K, h, m, C, log_det, nodes, weights, slope, curvature)
        for _ in range(n_local):
            for i in range(p):
                total = h[i]
                for j in range(p):
                    total -= K[i, j] * m[j]
                    target[i, j] = K[i, j]
                gradient[i] = total
            for n in range(n_rows):
                for i in range(p):
                    gradient[i] += slope[n] * x[n, i]
                    for j in range(i + 1):
                        target[i, j] += curvature[n] * x[n, i] * x[n, j]
            rho, change = 1.0, 0.0
            for _ in range(_N_HALVED):
                for i in range(p):
                    for j in range(i + 1):
                        mixed = (1 - rho) * Lambda[i, j] + rho * target[i, j]
                        new_Lambda[i, j] = new_Lambda[j, i] = mixed
                used[:] = new_Lambda
                log_det = -_invert(used, V, work)
                largest = 0.0
                for i in range(p):
                    total = 0.0
                    for j in range(p):
                        total += V[i, j] * gradient[j]
                    step[i] = rho * total
                    new_m[i] = m[i] + step[i]
                    largest = max(largest, abs(step[i]))
                new_value = _value(
                    x, side, n_rows, K, h, new_m, V, log_det, nodes, weights, new_slope,
                    new_curvature,
                )  # fmt: skip
                if new_value >= value:
                    value, change = new_value, largest
                    m[:], C[:], Lambda[:] = new_m, V, new_Lambda
                    slope[:], curvature[:] = new_slope, new_curvature
                    break
                rho /= 2
            if change <= tol:
                break
        for i in range(p):
            beliefs[g, i] = m[i]
            first[i] += m[i]
            for j in range(p):
                beliefs[g, p + i * p + j] = C[i, j]
                second[i * p + j] += C[i, j] + m[i] * m[j]
                spread[i * p + j] += C[i, j]
        values[g] = value
