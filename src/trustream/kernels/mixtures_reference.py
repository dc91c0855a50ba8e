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


def quadratic_features(y: Array, out: Array) -> None:
    """out (B, D + D (D + 1) / 2) = y (B, D), then the upper triangle of y y', row by row."""
    d = y.shape[1]
    rows, columns = np.triu_indices(d)
    out[:, :d] = y
    out[:, d:] = y[:, rows] * y[:, columns]
