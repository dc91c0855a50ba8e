"""Kernels of the mixtures in Numba; twins in `mixtures_reference`. Conventions as in `compiled`."""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

from trustream.kernels import elementary
from trustream.kernels.jit import njit

_exp = elementary.exp


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
            row[k] = _exp(row[k] - top)
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
