"""Stacks of symmetric matrices: packed storage, Cholesky factors and inverses.

A symmetric (D, D) matrix is packed as its upper triangle, row by row: D (D + 1) / 2 numbers.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Index = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)
# Triangular matrices up to this size are inverted directly, larger ones by halves.
_SMALL = 16


def packed_size(n: int) -> int:
    """Return the length of a packed matrix, D (D + 1) / 2.

    >>> packed_size(3)
    6
    """
    return n * (n + 1) // 2


def pack(matrix: Float64) -> Float64:
    """Return the upper triangles of (..., D, D), shape (..., D (D + 1) / 2).

    >>> pack(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([1., 2., 3.])
    """
    n = matrix.shape[-1]
    return matrix.reshape(*matrix.shape[:-2], n * n)[..., _upper(n)]


def unpack(packed: Float64, n: int) -> Float64:
    """Return the symmetric (..., D, D) matrices of `packed`, with D = n.

    >>> unpack(np.array([1.0, 2.0, 3.0]), 2)
    array([[1., 2.],
           [2., 3.]])
    """
    # take() with flat indices is several times faster than indexing with a (D, D) array.
    flat = packed.take(_positions(n), axis=-1)
    return flat.reshape(*packed.shape[:-1], n, n)


def cholesky(matrix: Float64, noise: Float64) -> tuple[Float64, Float64]:
    """Return (A, L) with A = L L' for matrices A (..., D, D), repaired where necessary.

    Rounding can make a matrix indefinite that is positive definite in exact arithmetic, when it
    is the small difference of large ones. Its eigenvalues are then raised to at least `noise`
    (...,), the size of the rounding errors, which changes the matrix as little as possible. A
    matrix with infinities or NaN gives NaN.

    >>> A, L = cholesky(np.array([[1.0, 2.0], [2.0, 4.0 - 1e-15]]), np.array(1e-14))
    >>> bool(np.allclose(A, [[1, 2], [2, 4]])), bool(np.allclose(L @ L.T, A))
    (True, True)
    """
    try:
        return matrix, np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        pass
    matrix = matrix.copy()
    factor = np.full_like(matrix, np.nan)
    for index in np.ndindex(matrix.shape[:-2]):
        if not np.isfinite(matrix[index]).all():
            continue
        try:
            factor[index] = np.linalg.cholesky(matrix[index])
        except np.linalg.LinAlgError:
            values, vectors = np.linalg.eigh(matrix[index])
            values = np.maximum(values, max(float(noise[index]), _tolerance(values)))
            matrix[index] = (vectors * values) @ vectors.T
            factor[index] = np.linalg.cholesky(matrix[index])
    return matrix, factor


def rounding_noise(matrix: Float64) -> Float64:
    """Return the size of the rounding errors in sums of positive definite matrices, shape (...,).

    >>> float(rounding_noise(np.eye(2))) < 1e-13
    True
    """
    return np.asarray(16 * _EPS * matrix.shape[-1] * np.trace(matrix, axis1=-2, axis2=-1))


def log_det(factor: Float64) -> Float64:
    """Return log |A| from its Cholesky factor (..., D, D).

    >>> float(log_det(np.diag([np.e, 1.0])))
    2.0
    """
    return np.asarray(2 * np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1))


def inverse(factor: Float64) -> Float64:
    """Return A^-1 = L^-T L^-1 from the Cholesky factor L (..., D, D).

    >>> inverse(np.diag([2.0, 1.0]))
    array([[0.25, 0.  ],
           [0.  , 1.  ]])
    """
    half = inverse_triangle(factor)
    return np.asarray(np.matmul(half.swapaxes(-1, -2), half))


def inverse_triangle(factor: Float64) -> Float64:
    """Return L^-1 of lower triangular matrices (..., D, D), by halves and matrix products.

        [A 0; B C]^-1 = [A^-1 0; -C^-1 B A^-1 C^-1]

    >>> inverse_triangle(np.array([[2.0, 0.0], [1.0, 1.0]]))
    array([[ 0.5,  0. ],
           [-0.5,  1. ]])
    """
    n = factor.shape[-1]
    if n <= _SMALL:
        return np.asarray(np.tril(np.linalg.inv(factor)))
    half = n // 2
    top = inverse_triangle(factor[..., :half, :half])
    bottom = inverse_triangle(factor[..., half:, half:])
    result = np.zeros_like(factor)
    result[..., :half, :half] = top
    result[..., half:, half:] = bottom
    result[..., half:, :half] = -np.matmul(bottom, np.matmul(factor[..., half:, :half], top))
    return result


def _tolerance(values: Float64) -> float:
    """The smallest eigenvalue for which a Cholesky factorisation is reliable."""
    return 16 * _EPS * values.size * float(np.abs(values).max())


@cache
def _upper(n: int) -> Index:
    """Flat positions of the upper triangle in an (n, n) matrix."""
    rows, columns = np.triu_indices(n)
    return rows * n + columns


@cache
def _positions(n: int) -> Index:
    """Position in the packed triangle of each entry of an (n, n) matrix, flat."""
    positions = np.empty((n, n), dtype=np.intp)
    rows, columns = np.triu_indices(n)
    positions[rows, columns] = positions[columns, rows] = np.arange(rows.size)
    return positions.ravel()
