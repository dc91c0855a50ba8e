"""Derivatives and integrals by numbers, for what the families state in closed form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def jacobian(function: Callable[[Array], Array], x: Array, step: float = 1e-5) -> Array:
    """d function_i / d x_j, shape (outputs, inputs), by central differences.

    Steps are relative to the size of each coordinate.
    """
    columns = []
    for i in range(x.size):
        h = step * max(1.0, abs(x[i]))
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        columns.append((function(up) - function(down)) / (2 * h))
    return np.stack(columns, axis=-1)


def gradient(function: Callable[[Array], float], x: Array, step: float = 1e-5) -> Array:
    """d function / d x_i."""
    return jacobian(lambda y: np.array(function(y)), x, step)


def check_exponential_family(
    log_normalizer: Callable[[Array], float],
    expected_statistics: Callable[[Array], Array],
    kl: Callable[[Array, Array], float],
    lambda_: Array,
    other: Array,
) -> None:
    """The identities of supplement 1, for natural parameters as flat vectors.

    grad a = E[t]; KL = (lambda - lambda')' E[t] - a(lambda) + a(lambda');
    grad KL = I(lambda) (lambda - lambda') with I the Jacobian of E[t].
    """
    t = expected_statistics(lambda_)
    np.testing.assert_allclose(gradient(log_normalizer, lambda_), t, rtol=1e-5, atol=1e-6)
    bregman = (lambda_ - other) @ t - log_normalizer(lambda_) + log_normalizer(other)
    assert kl(lambda_, other) > 0
    np.testing.assert_allclose(kl(lambda_, other), bregman, rtol=1e-9)
    np.testing.assert_allclose(kl(lambda_, lambda_), 0, atol=1e-12)
    information = jacobian(expected_statistics, lambda_)
    np.testing.assert_allclose(information, information.T, rtol=1e-4, atol=1e-5)
    assert np.linalg.eigvalsh(information).min() > 0
    np.testing.assert_allclose(
        gradient(lambda x: kl(x, other), lambda_),
        information @ (lambda_ - other),
        rtol=1e-4,
        atol=1e-5,
    )
