"""The coordinates in which a regression is computed, and the way back.

    x~ = (x - x_mean) / x_scale, followed by a one for the intercept,    y~ = (y - y_mean) / y_scale

There weights are of the order of one, whatever the units of features and response, so that one
prior is reasonable for all of them, and the intercept is hardly correlated with the other weights.
Weights w~ (P,), P = D + 1 or D without an intercept, stand for

    coef_d = y_scale w~_d / x_scale_d,
    intercept = y_mean + y_scale (w~_D - sum_d w~_d x_mean_d / x_scale_d),

an affine map w = T w~ + (0, ..., 0, y_mean).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trustream.array_types import Array, Float64

_ROWS = 2**10
# A column that varies by less is taken for a constant.
_LEAST = 1e-100


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Where and how large data are; see the module.

    Attributes:
        x_mean, x_scale: (D,), scales above zero.
        y_mean, y_scale: of the response; 0 and 1 where it is a class.
        intercept: whether there is one; without it means are zero.

    >>> here = Coordinates(np.array([1.0]), np.array([2.0]), 10.0, 5.0, True)
    >>> here.rows(np.array([[5.0]]))
    array([[2., 1.]])
    >>> here.weights(np.array([0.4, 0.0]))  # of x, and the intercept
    array([1., 9.])
    """

    x_mean: Float64
    x_scale: Float64
    y_mean: float
    y_scale: float
    intercept: bool

    @property
    def n_weights(self) -> int:
        """P."""
        return self.x_mean.size + int(self.intercept)

    def rows(self, X: Array, dtype: str = "float64") -> Array:
        """x~ for rows X (n, D), shape (n, P)."""
        rows = np.ones((X.shape[0], self.n_weights), dtype)
        for part in _parts(X.shape[0]):
            rows[part, : self.x_mean.size] = (X[part] - self.x_mean) / self.x_scale
        return rows

    def responses(self, y: Array, dtype: str = "float64") -> Array:
        """y~ for y (n,)."""
        return np.asarray((y - self.y_mean) / self.y_scale, dtype)

    def matrix(self) -> Float64:
        """T (P, P)."""
        d, p = self.x_mean.size, self.n_weights
        T = np.zeros((p, p))
        T[np.arange(d), np.arange(d)] = self.y_scale / self.x_scale
        if self.intercept:
            T[d, :d] = -self.y_scale * self.x_mean / self.x_scale
            T[d, d] = self.y_scale
        return T

    def weights(self, w: Float64) -> Float64:
        """Weights (..., P) of the data's own units, the intercept last."""
        result = w @ self.matrix().T
        if self.intercept:
            result[..., -1] += self.y_mean
        return np.asarray(result)

    def covariance(self, covariance: Float64) -> Float64:
        """Covariance (..., P, P) of weights in the data's own units, T C T'; infinite if C is."""
        if not np.isfinite(covariance).all():
            return np.full(covariance.shape, np.inf)
        T = self.matrix()
        return np.asarray(T @ covariance @ T.T)


def standard(X: Array, y: Array | None, intercept: bool) -> Coordinates:
    """The coordinates in which columns have mean 0 and standard deviation 1.

    Without an intercept the origin stays, and scales are root mean squares. A column that does not
    vary keeps its scale: it says nothing, or the same as the intercept.

    Args:
        X: (n, D).
        y: (n,), or None where it is a class.

    >>> standard(np.array([[1.0, 7.0], [3.0, 7.0]]), None, True).x_scale
    array([1., 1.])
    """
    mean, scale = _place_of(X, intercept)
    y_mean, y_scale = 0.0, 1.0
    if y is not None:
        y_mean, y_scale = (float(value[0]) for value in _place_of(y[:, np.newaxis], intercept))
    return Coordinates(mean, scale, y_mean, y_scale, intercept)


def _place_of(X: Array, intercept: bool) -> tuple[Float64, Float64]:
    """Means (D,) and scales (D,) of columns."""
    mean, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    if intercept:
        mean = X.mean(axis=0, dtype=np.float64)
    for part in _parts(X.shape[0]):
        squares += np.square(X[part] - mean).sum(axis=0)
    scale = np.sqrt(squares / X.shape[0])
    # What rounding leaves of a constant is no variation, and squares of less would vanish.
    varies = scale > np.maximum(1e-12 * np.maximum(X.max(axis=0), -X.min(axis=0)), _LEAST)
    return mean, np.where(varies, scale, 1.0)


def _parts(n_rows: int) -> list[slice]:
    """Rows that are worked on at a time: what is computed on the way stays in the cache."""
    return [slice(start, start + _ROWS) for start in range(0, n_rows, _ROWS)]


def identity(n_features: int, intercept: bool) -> Coordinates:
    """The data's own coordinates.

    >>> identity(1, False).rows(np.array([[5.0]]))
    array([[5.]])
    """
    return Coordinates(np.zeros(n_features), np.ones(n_features), 0.0, 1.0, intercept)
