"""Whether parameters from outside, a file's, can be those of a regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from trustream.array_types import Float64
from trustream.families import normal_inverse_wishart as niw
from trustream.families import symmetric

# Rounding errors of a matrix, as a multiple of what is expected of them.
_NOISE = 100.0


def check_weights(lambda_: Any) -> None:
    """Refuse a lambda of one vector of weights whose matrices are not positive definite.

    Raises:
        ValueError: says which.
    """
    _check_matrix("precision", lambda_.precision)
    if hasattr(lambda_, "information"):
        _check_matrix("information", lambda_.information)
    elif not lambda_.square[0] >= 0:
        raise ValueError("the sum of squares is below zero")


def check_population(lambda_: Any) -> None:
    """Refuse a lambda of a population whose scale is not positive definite, or nu too low.

    Raises:
        ValueError: says which.
    """
    p = lambda_.sm.shape[1]
    if not lambda_.nu[0] > p - 1:
        raise ValueError(f"nu is not above {p - 1}")
    with np.errstate(all="ignore"):  # what is not finite is found below
        product = np.outer(lambda_.sm[0], lambda_.sm[0]) / lambda_.s[0]
        noise = _NOISE * symmetric.rounding_noise(lambda_.C[0]) * np.eye(p)
        _check_matrix("C", lambda_.C[0] - product + noise)
        terms = niw.expected(niw.Natural(lambda_.s, lambda_.sm, lambda_.C, lambda_.nu))
    if not all(np.isfinite(part).all() for part in terms):
        raise ValueError("the covariance of the population is beyond all bounds")


def _check_matrix(name: str, matrix: Float64) -> None:
    try:
        sound = bool(np.isfinite(np.linalg.cholesky(matrix)).all())
    except np.linalg.LinAlgError:
        sound = False
    symmetry = np.abs(matrix - matrix.T).max(initial=0.0)
    if not sound or symmetry > 1e-6 * np.abs(matrix).max(initial=0.0):
        raise ValueError(f"{name} is not positive definite")
