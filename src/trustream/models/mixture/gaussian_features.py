"""f(y_n) of a batch of a Gaussian mixture, for each kind of covariance (`gaussian_covariance`).

y = L^-1 (x - mean) are the coordinates of the prior (`GaussianPrior`). The constant feature 1 of
the supplement is left to the counts.

With (1, y, y y') as features the quadratic form of a component is one product,

    (y - m)' A (y - m) = m' A m - 2 (A m)' y + <A, y y'>,

at half the cost of one product per component. It cancels: with A = E[Sigma^-1], the absolute error
is about D 1e-16 y' A y, that is 1e-16 times the squared distance from the prior's mean, in
standard deviations of the component along the direction in which it is narrowest. Clusters 1e4
standard deviations apart, or features correlated to 1 - 1e-8, come out right to 1e-5; at 1e8
standard deviations nothing is left. Psi = C - s m m' has the same limit, so a form that does not
cancel would gain nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from trustream.array_types import Array, Float64
from trustream.families import symmetric
from trustream.kernels import threads
from trustream.models.mixture import feature_blocks
from trustream.models.mixture.gaussian_covariance import KINDS
from trustream.models.mixture.gaussian_prior import GaussianPrior

# Features of a batch are kept if they are at most so many numbers, else computed when needed.
_KEPT_NUMBERS = 2**22
# Squares of larger values, times the number of data points, might overflow.
LARGEST = 1e100


def n_columns(kind: str, d: int) -> int:
    """F for D features.

    >>> [n_columns(kind, 2) for kind in ("full", "diag", "tied")]
    [5, 4, 2]
    """
    return KINDS[kind].n_columns(d)


class GaussianFeatures:
    """Features of the rows of x (B, D), in float64."""

    def __init__(
        self, x: Array, prior: GaussianPrior, kind: str, backend: str, n_threads: int
    ) -> None:
        self.x, self.prior, self.kind = x, prior, kind
        self.size = int(x.shape[0])
        self.n_columns = n_columns(kind, x.shape[1])
        self._quadratic = feature_blocks.mixture_kernels(backend).quadratic_features
        self._kept: Float64 | None = None
        self._scatter: Float64 | None = None
        n_rows = feature_blocks.block_rows(self.n_columns)
        parts = threads.split(self.size, n_rows)
        if len(parts) * n_rows * self.n_columns <= _KEPT_NUMBERS:
            kept = np.empty((len(parts) * n_rows, self.n_columns))

            def work(start: int, stop: int) -> None:
                self._fill(start, stop, kept[start : start + n_rows])

            with threads.one_blas_thread():
                threads.run(work, parts, n_threads)
            self._kept = kept

    def block(self, start: int, stop: int) -> Float64:
        """Features of the rows start:stop, then zeros."""
        n_rows = feature_blocks.block_rows(self.n_columns)
        if self._kept is not None:
            return self._kept[start : start + n_rows]
        out = np.empty((n_rows, self.n_columns))
        self._fill(start, stop, out)
        return out

    def _fill(self, start: int, stop: int, out: Float64) -> None:
        d = self.x.shape[1]
        # Whole blocks go through the product, so that y does not depend on the other rows.
        x = np.empty((out.shape[0], d))
        x[: stop - start] = self.x[start:stop]
        x[stop - start :] = self.prior.mean
        _check(x)
        y = self.prior.to_y(x)
        _check(y)
        if self.kind == "full":
            self._quadratic(y, out)
        else:
            out[:, :d] = y
        if self.kind == "diag":
            np.square(y, out=out[:, d:])

    def scatter(self) -> Float64:
        """sum_n y_n y_n' packed, for tied covariances; computed once and kept."""
        if self._scatter is None:
            total = np.zeros(symmetric.packed_size(self.x.shape[1]))
            n_rows = feature_blocks.block_rows(self.n_columns)
            with threads.one_blas_thread():
                for start, stop in threads.split(self.size, n_rows):
                    y = self.block(start, stop)
                    total += symmetric.pack(np.matmul(y.T, y))
            self._scatter = total
        return self._scatter


def _check(values: Float64) -> None:
    if not np.abs(values).max() < LARGEST:
        raise FloatingPointError(
            "data are too far from the prior's mean: their squares would overflow; "
            "look for extreme values in the batch, or rescale the data"
        )


class GaussianBatch:
    """Rows of data; their features are computed at first use, when the prior is known."""

    def __init__(self, x: Array) -> None:
        self.x = x
        self._features: GaussianFeatures | None = None

    def __reduce__(self) -> Any:
        return GaussianBatch, (self.x,)

    @property
    def size(self) -> int:
        """B."""
        return int(self.x.shape[0])

    def features(
        self, prior: GaussianPrior, kind: str, backend: str, n_threads: int
    ) -> GaussianFeatures:
        """The features under that prior, kept for the next call."""
        features = self._features
        if features is None or features.prior is not prior or features.kind != kind:
            features = GaussianFeatures(self.x, prior, kind, backend, n_threads)
            self._features = features
        return features
