"""The prior of a Gaussian mixture, and the coordinates that it sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from trustream.array_types import Array, Float64
from trustream.models.mixture.model import positive


@dataclass(frozen=True, eq=False, init=False)
class GaussianPrior:
    """pi ~ Dir(alpha), Sigma ~ IW(Psi, nu), mu | Sigma ~ N(mean, Sigma / s), for all components.

    The prior also sets the coordinates in which a mixture is computed,

        y = L^-1 (x - mean),    Psi = L L',

    where it has mean 0 and Psi = I. There C - s m m' does not cancel for want of centring,
    features of unlike scale and nearly collinear ones (if Psi knows about them) do no harm, and
    every Psi_k of a posterior is at least I.

    Attributes:
        alpha: (K,).
        mean: (D,).
        s: number of data points that `mean` is worth.
        Psi: (D, D), or (D,) for diagonal covariances. E[Sigma] = Psi / (nu - D - 1), or
            Psi / (nu - 2) for diagonal ones.
        nu: degrees of freedom, above D - 1, or above 0 for diagonal covariances.
        factor: L (D, D) lower triangular, or its diagonal (D,).
    """

    alpha: Float64
    mean: Float64
    s: float
    Psi: Float64
    nu: float
    # Follows from Psi.
    factor: Float64 = field(compare=False, repr=False)

    def __init__(
        self, alpha: ArrayLike, mean: ArrayLike, s: float, Psi: ArrayLike, nu: float
    ) -> None:
        values = {
            "alpha": positive("alpha", alpha),
            "mean": np.array(mean, dtype=np.float64),
            "s": float(positive("s", s)),
            "Psi": np.array(Psi, dtype=np.float64),
            "nu": float(positive("nu", nu)),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        d = self.mean.size
        if self.alpha.ndim != 1:
            raise ValueError(f"alpha must have shape (K,), got {self.alpha.shape}")
        if self.mean.ndim != 1 or not np.isfinite(self.mean).all():
            raise ValueError(f"mean must be a finite vector, got {mean!r}")
        if self.Psi.shape not in ((d, d), (d,)):
            raise ValueError(f"Psi must have shape {(d, d)} or {(d,)}, got {self.Psi.shape}")
        if self.Psi.ndim == 2 and self.nu <= d - 1:
            raise ValueError(f"nu must be above D - 1 = {d - 1}, got {nu}")
        object.__setattr__(self, "factor", _factor(self.Psi))

    @cached_property
    def inverse_factor(self) -> Float64:
        """L^-1 (D, D), or its diagonal (D,)."""
        if self.Psi.ndim == 1:
            return np.asarray(1 / self.factor)
        return np.asarray(solve_triangular(self.factor, np.eye(self.mean.size), lower=True))

    @cached_property
    def log_det_factor(self) -> float:
        """log |L|: p(x) = p(y) / |L|."""
        diagonal = self.factor if self.Psi.ndim == 1 else np.diagonal(self.factor)
        return float(np.log(diagonal).sum())

    @cached_property
    def start_scale(self) -> float:
        """The variance of a start in these coordinates: E[Sigma] = I / (nu - D - 1).

        The denominator, nu - 2 for diagonal covariances, is held at 1 or more, since the
        expectation does not exist for few degrees of freedom.
        """
        d = 1 if self.Psi.ndim == 1 else self.mean.size
        return 1 / max(self.nu - d - 1, 1.0)

    def to_y(self, x: Array) -> Float64:
        """y = L^-1 (x - mean) for data (B, D).

        >>> GaussianPrior([1.0], [1.0], 1.0, [[4.0]], 3.0).to_y(np.array([[3.0]]))
        array([[1.]])
        """
        centred = np.asarray(x - self.mean, dtype=np.float64)
        if self.Psi.ndim == 1:
            return centred * self.inverse_factor
        return np.asarray(centred @ self.inverse_factor.T)

    def to_x(self, y: Float64) -> Float64:
        """mean + L y, for means (K, D).

        >>> GaussianPrior([1.0], [1.0], 1.0, [[4.0]], 3.0).to_x(np.array([[1.0]]))
        array([[3.]])
        """
        if self.Psi.ndim == 1:
            return np.asarray(self.mean + y * self.factor)
        return np.asarray(self.mean + y @ self.factor.T)

    def covariance_to_x(self, covariance: Float64) -> Float64:
        """L Sigma L' for covariances (..., D, D), or variances (..., D) of a diagonal prior.

        >>> GaussianPrior([1.0], [1.0], 1.0, [[4.0]], 3.0).covariance_to_x(np.ones((1, 1, 1)))
        array([[[4.]]])
        """
        if self.Psi.ndim == 1:
            return np.asarray(covariance * np.square(self.factor))
        # A covariance that has no expectation is infinite, and stays so.
        finite = np.isfinite(covariance)
        product = self.factor @ np.where(finite, covariance, 0.0) @ self.factor.T
        return np.where(finite, product, np.inf)


def _factor(Psi: Float64) -> Float64:
    """L with Psi = L L', or a ValueError if Psi is not positive definite."""
    if Psi.ndim == 1:
        return np.sqrt(positive("Psi", Psi))
    if not np.allclose(Psi, Psi.T, rtol=1e-8, atol=0):
        raise ValueError("Psi must be symmetric")
    try:
        return np.asarray(np.linalg.cholesky(Psi), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise ValueError("Psi must be positive definite, but has no Cholesky factor") from None
