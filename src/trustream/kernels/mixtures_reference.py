"""Kernels of the mixtures in NumPy: the equations as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[Any]


def softmax(scores: Array, constants: Array, counts: Array, start: int, stop: int) -> None:
    """Rows of scores become softmax(scores + constants); counts (K,) their sum, in float64."""
    part = scores[start:stop]
    part[:] = special.softmax(part + constants, axis=1)
    counts[:] = part.sum(axis=0, dtype=np.float64)


def bernoulli_scores(
    a: Array, b: Array, weights: Array, constants: Array, start: int, stop: int
) -> None:
    """weights = psi(a) - psi(b), constants[k] += sum_i psi(b) - psi(a + b), for rows of a and b."""
    rows = slice(start, stop)
    x, y = a[rows].astype(np.float64), b[rows].astype(np.float64)
    psi = special.digamma(y)
    weights[rows] = special.digamma(x) - psi
    constants[rows] += (psi - special.digamma(x + y)).sum(axis=1)


def quadratic_features(y: Array, out: Array) -> None:
    """out (B, D + D (D + 1) / 2) = y (B, D), then the upper triangle of y y', row by row."""
    d = y.shape[1]
    rows, columns = np.triu_indices(d)
    out[:, :d] = y
    out[:, d:] = y[:, rows] * y[:, columns]
