"""Priors of regressions, which know the coordinates that they are meant in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trustream.array_types import Float64
from trustream.models.regression.coordinates import Coordinates


@dataclass(frozen=True, eq=False)
class _Located:
    """A prior in coordinates (`coordinates.Coordinates`), whose parts it keeps as arrays.

    Attributes:
        x_mean, x_scale: (D,).
        y_mean, y_scale: of the response.
    """

    x_mean: Float64
    x_scale: Float64
    y_mean: float
    y_scale: float

    @property
    def n_weights(self) -> int:
        """P."""
        raise NotImplementedError

    @property
    def coordinates(self) -> Coordinates:
        """Those that the prior is meant in."""
        intercept = self.n_weights > self.x_mean.size
        return Coordinates(self.x_mean, self.x_scale, self.y_mean, self.y_scale, intercept)

    def _check_location(self) -> None:
        if self.n_weights - self.x_mean.size not in (0, 1) or self.x_scale.size != self.x_mean.size:
            raise ValueError(
                f"the prior has {self.n_weights} weights for {self.x_mean.size} features"
            )
        scales = np.append(self.x_scale, self.y_scale)
        if not (np.isfinite(scales).all() and (scales > 0).all()):
            raise ValueError("scales must be positive and finite")


@dataclass(frozen=True, eq=False)
class WeightsPrior(_Located):
    """One vector of weights for all rows: w | v ~ N(0, v diag(precision)^-1), v ~ IG(nu/2, Psi/2).

    A probit has no v, its noise being that of z ~ N(x' w, 1): there v = 1.

    Attributes:
        precision: (P,), above zero.
        noise_Psi, noise_nu: Psi and nu.
    """

    precision: Float64
    noise_Psi: float = 1.0
    noise_nu: float = 1.0

    @property
    def n_weights(self) -> int:
        """P."""
        return self.precision.size

    def __post_init__(self) -> None:
        self._check_location()
        numbers = np.concatenate([self.precision, [self.noise_Psi, self.noise_nu]])
        if not (np.isfinite(numbers).all() and (numbers > 0).all()):
            raise ValueError("precision, noise_Psi and noise_nu must be positive and finite")


@dataclass(frozen=True, eq=False)
class PopulationPrior(_Located):
    """Weights of groups: w_g ~ N(mu, Sigma), mu | Sigma ~ N(0, Sigma / s), Sigma ~ IW(Psi, nu),

    and, for a linear regression, a noise variance v ~ IG(noise_nu/2, noise_Psi/2).

    Attributes:
        s: above zero.
        Psi: (P, P), positive definite.
        nu: above P - 1.
        noise_Psi, noise_nu: above zero.
    """

    s: float
    Psi: Float64
    nu: float
    noise_Psi: float = 1.0
    noise_nu: float = 1.0

    @property
    def n_weights(self) -> int:
        """P."""
        return int(self.Psi.shape[0])

    def __post_init__(self) -> None:
        self._check_location()
        numbers = np.array([self.s, self.noise_Psi, self.noise_nu])
        if not (np.isfinite(numbers).all() and (numbers > 0).all()):
            raise ValueError("s, noise_Psi and noise_nu must be positive and finite")
        if not self.nu > self.n_weights - 1:
            raise ValueError(f"nu must be above {self.n_weights - 1}, got {self.nu}")
        try:
            sound = bool(np.isfinite(np.linalg.cholesky(self.Psi)).all())
        except np.linalg.LinAlgError:
            sound = False
        if not sound:
            raise ValueError("Psi must be positive definite")
