"""Kernels of mixtures in Numba; twins in `reference`.

All mixtures share `softmax`, Gaussian ones have `quadratic_features`, and the others are those of a
mixture of Bernoullis. There data points are rows of a CSR matrix (indptr, indices, values), and
parameters have a row for each feature, (D, K). `weights` and `sums` are (D, width): K is filled up
to whole vectors, with zeros in `weights` and anything in `sums`.
"""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import LANES, elementary, simd
from trustream.kernels.jit import njit

_L = LANES


@njit(**elementary.KERNEL)
def softmax(scores, constants, counts, start, stop):
    """Rows of scores become softmax(scores + constants); counts (K,) their sum, in float64."""
    n_components = constants.size
    counts[:] = 0
    for n in range(start, stop):
        row = scores[n]
        top = row[0] + constants[0]
        for k in range(n_components):
            row[k] += constants[k]
            top = max(top, row[k])
        total = row[0] - row[0]
        for k in range(n_components):
            row[k] = elementary.exp(row[k] - top)
            total += row[k]
        for k in range(n_components):
            row[k] /= total
            counts[k] += row[k]


@njit(**elementary.KERNEL)
def quadratic_features(y, out):
    """out (B, D + D (D + 1) / 2) = y (B, D), then the upper triangle of y y', row by row."""
    d = y.shape[1]
    for n in range(y.shape[0]):
        position = d
        for i in range(d):
            out[n, i] = y[n, i]
            for j in range(i, d):
                out[n, position + j - i] = y[n, i] * y[n, j]
            position += d - i


@njit(**elementary.KERNEL)
def scores(a, b, weights, constants, start, stop):
    """weights = psi(a) - psi(b), constants[k] = sum_i psi(b) - psi(a + b), features start:stop."""
    n_components, width = a.shape[1], weights.shape[1]
    x, y = np.ones(width, a.dtype), np.ones(width, a.dtype)
    # Summed in float64 now and then: thousands of features would wear float32 out.
    terms = np.zeros(width, a.dtype)
    flat = weights.reshape(-1)
    one = simd.splat(a.dtype.type(1))
    minus = simd.splat(a.dtype.type(-1))
    constants[:] = 0
    for i in range(start, stop):
        for k in range(n_components):
            x[k], y[k] = a[i, k], b[i, k]
        for k in range(0, width, _L):
            u, v = simd.load(x, k), simd.load(y, k)
            psi = elementary.digamma(v)
            both = elementary.digamma(simd.multiply_add(one, u, v))
            weight = simd.multiply_add(minus, psi, elementary.digamma(u))
            simd.store(flat, i * width + k, weight)
            term = simd.multiply_add(minus, both, psi)
            simd.store(terms, k, simd.multiply_add(one, term, simd.load(terms, k)))
        if (i - start) % 32 == 31 or i == stop - 1:
            for k in range(n_components):
                constants[k] += terms[k]
                terms[k] = 0


@njit(**elementary.KERNEL)
def _add_weights(indices, values, first, last, weights, width, row):
    """row += sum_p values[p] weights[indices[p]]: four vectors of the row at a time."""
    k = 0
    while k + 4 * _L <= width:
        s0, s1 = simd.load(row, k), simd.load(row, k + _L)
        s2, s3 = simd.load(row, k + 2 * _L), simd.load(row, k + 3 * _L)
        for p in range(first, last):
            value, at = simd.splat(values[p]), np.intp(indices[p]) * width + k
            s0 = simd.multiply_add(value, simd.load(weights, at), s0)
            s1 = simd.multiply_add(value, simd.load(weights, at + _L), s1)
            s2 = simd.multiply_add(value, simd.load(weights, at + 2 * _L), s2)
            s3 = simd.multiply_add(value, simd.load(weights, at + 3 * _L), s3)
        simd.store(row, k, s0)
        simd.store(row, k + _L, s1)
        simd.store(row, k + 2 * _L, s2)
        simd.store(row, k + 3 * _L, s3)
        k += 4 * _L
    # What is left, one vector at a time: four sums, or each addition would wait for the last.
    one, nothing = simd.splat(row.dtype.type(1)), simd.splat(row.dtype.type(0))
    while k < width:
        s0, s1, s2, s3 = simd.load(row, k), nothing, nothing, nothing
        n_fours = (last - first) // 4
        for p in range(first, first + 4 * n_fours, 4):
            i0, i1 = np.intp(indices[p]) * width + k, np.intp(indices[p + 1]) * width + k
            i2, i3 = np.intp(indices[p + 2]) * width + k, np.intp(indices[p + 3]) * width + k
            s0 = simd.multiply_add(simd.splat(values[p]), simd.load(weights, i0), s0)
            s1 = simd.multiply_add(simd.splat(values[p + 1]), simd.load(weights, i1), s1)
            s2 = simd.multiply_add(simd.splat(values[p + 2]), simd.load(weights, i2), s2)
            s3 = simd.multiply_add(simd.splat(values[p + 3]), simd.load(weights, i3), s3)
        for p in range(first + 4 * n_fours, last):
            at = np.intp(indices[p]) * width + k
            s0 = simd.multiply_add(simd.splat(values[p]), simd.load(weights, at), s0)
        s0, s2 = simd.multiply_add(one, s1, s0), simd.multiply_add(one, s3, s2)
        simd.store(row, k, simd.multiply_add(one, s2, s0))
        k += _L


@njit(**elementary.KERNEL)
def _add_row(indices, values, first, last, row, width, sums):
    """sums[indices[p]] += values[p] row."""
    for p in range(first, last):
        value, at = simd.splat(values[p]), np.intp(indices[p]) * width
        for k in range(0, width, _L):
            old = simd.load(sums, at + k)
            simd.store(sums, at + k, simd.multiply_add(value, simd.load(row, k), old))


@njit(**elementary.KERNEL)
def products(indptr, indices, values, weights, out, start, stop):
    """out (B, K) = x weights, for data points start:stop."""
    n_components, width = out.shape[1], weights.shape[1]
    table = weights.reshape(-1)
    row = np.zeros(width, weights.dtype)
    for n in range(start, stop):
        row[:] = 0
        _add_weights(indices, values, indptr[n], indptr[n + 1], table, width, row)
        for k in range(n_components):
            out[n, k] = row[k]


@njit(**elementary.KERNEL)
def moments(indptr, indices, values, phi, sums, start, stop):
    """sums = sum_n x_n phi_n', for data points start:stop."""
    n_components, width = phi.shape[1], sums.shape[1]
    flat = sums.reshape(-1)
    row = np.zeros(width, sums.dtype)
    sums[:] = 0
    for n in range(start, stop):
        for k in range(n_components):
            row[k] = phi[n, k]
        _add_row(indices, values, indptr[n], indptr[n + 1], row, width, flat)


@njit(**elementary.KERNEL)
def totals(indices, values, sums):
    """sums[i] = sum of the values of feature i."""
    sums[:] = 0
    for p in range(indices.size):
        sums[indices[p]] += values[p]


@njit(**elementary.KERNEL)
def complement(sums, counts, ones, zeros):
    """ones = sums without the filling, zeros = counts - ones, not below 0; both (D, K).

    sums (D, 1) are the same for all components.
    """
    n_components = counts.size
    nothing = counts[0] - counts[0]
    if sums.shape[1] == 1:
        for i in range(sums.shape[0]):
            same = sums[i, 0]
            for k in range(n_components):
                ones[i, k] = same
                zeros[i, k] = max(counts[k] - same, nothing)
    else:
        for i in range(sums.shape[0]):
            for k in range(n_components):
                ones[i, k] = sums[i, k]
                zeros[i, k] = max(counts[k] - sums[i, k], nothing)


@njit(**elementary.KERNEL)
def blend(anchor, prior, statistics, rho, scale, out):
    """out = (1 - rho) anchor + rho (prior + scale * statistics) for flat arrays of one length.

    `prior` may also be a single number in an array.
    """
    keep = anchor.dtype.type(1 - rho)
    rate = anchor.dtype.type(rho)
    gain = anchor.dtype.type(rho * scale)
    if prior.size == 1:
        same = rate * prior[0]
        for i in range(out.size):
            out[i] = keep * anchor[i] + (same + gain * statistics[i])
    else:
        for i in range(out.size):
            out[i] = keep * anchor[i] + (rate * prior[i] + gain * statistics[i])


@njit(**elementary.KERNEL)
def compress(data, rows, indptr, indices, values):
    """The CSR form of some rows of dense data; rows are whole 8-byte words, zeros passed over."""
    per_word = 8 // data.itemsize
    position = 0
    indptr[0] = 0
    for n in range(rows.size):
        row = data[rows[n]]
        words = row.view(np.uint64)
        for w in range(words.size):
            if words[w] != 0:
                for i in range(per_word * w, per_word * (w + 1)):
                    # Written in any case, kept if it is not zero: no branch to guess.
                    indices[position] = i
                    position += row[i] != 0
        for p in range(indptr[n], position):
            values[p] = row[indices[p]]
        indptr[n + 1] = position
