"""The prior that the parameters of estimators with Gaussians stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from trustream.models.mixture import GaussianPrior

# Rows that a prior from data looks at, and what is added to its variances, relative to themselves,
# so that data in a plane have an invertible covariance.
_MOST_ROWS = 20_000
_RIDGE = 1e-6


def prior(mixture: Any, X: Any, alpha: np.ndarray) -> GaussianPrior:
    """The prior of means, covariances and weights; from data where the parameters leave it open.

    Args:
        mixture: has `covariance_type` and the parameters of the prior as attributes.
        X: rows of numbers.
        alpha: (K,) of the weights.

    Raises:
        ValueError: a parameter has another shape, or is out of its range.
    """
    n_features = X.shape[1]
    rows = np.asarray(X[:: -(-X.shape[0] // _MOST_ROWS)], np.float64)
    mean, scale = mixture.mean_prior, mixture.covariance_prior
    if scale is None:
        scale = _covariance(rows, diagonal=mixture.covariance_type == "diag")
    mean = rows.mean(axis=0) if mean is None else np.asarray(mean, np.float64)
    scale = np.asarray(scale, np.float64)
    square = mixture.covariance_type != "diag"
    shapes: list[tuple[str, np.ndarray, tuple[int, ...]]] = [
        ("mean_prior", mean, (n_features,)),
        ("covariance_prior", scale, (n_features, n_features) if square else (n_features,)),
    ]
    for name, value, shape in shapes:
        if value.shape != shape:
            raise ValueError(f"{name} has shape {value.shape}, expected {shape}")
        if not np.isfinite(value).all():
            raise ValueError(f"{name} must be finite")
    s, nu = mixture.mean_precision_prior, mixture.degrees_of_freedom_prior
    lowest = n_features - 1 if square else 0
    # The least whole number for which the prior's expected covariance is Psi itself.
    nu = lowest + 3 if nu is None else nu
    if nu <= lowest:
        raise ValueError(f"degrees_of_freedom_prior must be above {lowest}, got {nu}")
    try:
        return GaussianPrior(alpha, mean, 1.0 if s is None else s, scale, nu)
    except ValueError as error:
        raise ValueError(f"covariance_prior: {error}") from error


def _covariance(rows: np.ndarray, diagonal: bool) -> np.ndarray:
    """Covariance of the rows, or its diagonal, with a ridge that makes it invertible."""
    variances = rows.var(axis=0)
    # Each feature in its own units. One that does not vary tells nothing of its scale: 1, then.
    ridge = np.where(variances > 0, _RIDGE * variances, 1.0)
    if diagonal:
        return variances + ridge
    centred = rows - rows.mean(axis=0)
    return centred.T @ centred / rows.shape[0] + np.diag(ridge)
