"""Kernels of mixtures in NumPy: the equations as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

Array = NDArray[Any]


def softmax(scores: Array, constants: Array, counts: Array, start: int, stop: int) -> None:
    """Rows of scores become softmax(scores + constants); counts (K,) their sum, in float64."""
    part = scores[start:stop]
    part[:] = special.softmax(part + constants, axis=1)
    counts[:] = part.sum(axis=0, dtype=np.float64)


def quadratic_features(y: Array, out: Array) -> None:
    """out (B, D + D (D + 1) / 2) = y (B, D), then the upper triangle of y y', row by row."""
    d = y.shape[1]
    rows, columns = np.triu_indices(d)
    out[:, :d] = y
    out[:, d:] = y[:, rows] * y[:, columns]


def scores(a: Array, b: Array, weights: Array, constants: Array, start: int, stop: int) -> None:
    """weights = psi(a) - psi(b), constants[k] = sum_i psi(b) - psi(a + b), features start:stop."""
    part = slice(start, stop)
    x, y = a[part].astype(np.float64), b[part].astype(np.float64)
    psi = special.digamma(y)
    weights[part] = 0
    weights[part, : a.shape[1]] = special.digamma(x) - psi
    constants[:] = (psi - special.digamma(x + y)).sum(axis=0)


def products(
    indptr: Array,
    indices: Array,
    values: Array,
    weights: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """out (B, K) = x weights, for data points start:stop."""
    x = _rows(indptr, indices, values, weights.shape[0], start, stop)
    out[start:stop] = x @ weights[:, : out.shape[1]]


def moments(
    indptr: Array, indices: Array, values: Array, phi: Array, sums: Array, start: int, stop: int
) -> None:
    """sums = sum_n x_n phi_n', for data points start:stop."""
    x = _rows(indptr, indices, values, sums.shape[0], start, stop)
    sums[:, : phi.shape[1]] = x.T @ phi[start:stop]


def totals(indices: Array, values: Array, sums: Array) -> None:
    """sums[i] = sum of the values of feature i."""
    sums[:] = np.bincount(indices, weights=values, minlength=sums.size)


def complement(sums: Array, counts: Array, ones: Array, zeros: Array) -> None:
    """ones = sums without the filling, zeros = counts - ones, not below 0; both (D, K).

    sums (D, 1) are the same for all components.
    """
    ones[:] = sums[:, : counts.size]
    zeros[:] = np.maximum(counts - ones, 0)


def blend(
    anchor: Array, prior: Array, statistics: Array, rho: float, scale: float, out: Array
) -> None:
    """out = (1 - rho) anchor + rho (prior + scale * statistics) for flat arrays of one length.

    `prior` may also be a single number in an array.
    """
    out[:] = (1 - rho) * anchor + rho * (prior + scale * statistics)


def compress(data: Array, rows: Array, indptr: Array, indices: Array, values: Array) -> None:
    """The CSR form of some rows of dense data."""
    x = sparse.csr_array(data[rows])
    indptr[:] = x.indptr
    indices[: x.nnz] = x.indices
    values[: x.nnz] = x.data


def _rows(
    indptr: Array, indices: Array, values: Array, n_features: int, start: int, stop: int
) -> sparse.csr_array:
    first, last = indptr[start], indptr[stop]
    return sparse.csr_array(
        (values[first:last], indices[first:last], indptr[start : stop + 1] - first),
        shape=(stop - start, n_features),
    )
