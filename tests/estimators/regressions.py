"""Planted regressions that the tests of both estimators share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MEAN = np.array([1.0, -0.5, 0.3])  # two features and the intercept
COVARIANCE = np.array([[0.3, 0.1, 0.0], [0.1, 0.2, 0.0], [0.0, 0.0, 0.4]])


class Planted(NamedTuple):
    """Rows with their groups, the weights of groups (G, 3), and x' w of each row."""

    X: np.ndarray
    groups: np.ndarray
    weights: np.ndarray
    signal: np.ndarray
    noise: np.ndarray

    @property
    def y(self) -> np.ndarray:
        return self.signal + 0.5 * self.noise

    @property
    def classes(self) -> np.ndarray:
        return (self.signal + self.noise > 0).astype(int)


def planted(seed: int, n_groups: int = 60, n_rows: int = 8) -> Planted:
    """Groups of about so many rows, at least one, in mixed order."""
    rng = np.random.default_rng(seed)
    weights = rng.multivariate_normal(MEAN, COVARIANCE, size=n_groups)
    lengths = np.maximum(1, rng.poisson(n_rows, n_groups))
    groups = rng.permutation(np.repeat(np.arange(n_groups), lengths))
    X = rng.standard_normal((groups.size, 2))
    signal = (X * weights[groups, :2]).sum(axis=1) + weights[groups, 2]
    return Planted(X, groups, weights, signal, rng.standard_normal(groups.size))
