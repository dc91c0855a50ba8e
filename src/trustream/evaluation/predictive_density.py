"""Score how well a mixture predicts data points that it has not seen.

The measure is the log posterior-predictive density of a held-out point x, in nats:

    log p(x | data) = log sum_k E[pi_k] E_q[p(x | beta_k)]

For a Gaussian mixture E_q[p(x | beta_k)] is a Student t density, for a Bernoulli mixture, with its
beta posteriors, a product of Bernoullis with probabilities E[beta_k].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import logsumexp

from trustream import matrices
from trustream.array_types import Float64
from trustream.evaluation.standard_errors import standard_error
from trustream.families import normal_inverse_wishart as niw
from trustream.families import symmetric
from trustream.kernels import threads

# About how many numbers are processed at a time.
_BLOCK_NUMBERS = 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Predictive:
    """Log predictive densities of data points: per_point (N,), in nats.

    >>> Predictive(np.array([-1.0, -3.0]))
    Predictive(-2.0000 ± 1.0000 nats per data point, n_points=2)
    """

    per_point: Float64

    @property
    def n_points(self) -> int:
        """The number of data points, N."""
        return self.per_point.size

    @property
    def mean(self) -> float:
        """Mean over data points; -inf if one of them is impossible under the model."""
        return float(self.per_point.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; infinite for one data point or an infinite mean."""
        return float(standard_error(self.per_point)) if np.isfinite(self.mean) else float("inf")

    def __repr__(self) -> str:
        return (
            f"Predictive({self.mean:.4f} ± {self.standard_error:.4f} nats per data point, "
            f"n_points={self.n_points})"
        )


def predictive(model: Any, X: Any) -> Predictive:
    """Compute the log predictive densities of held-out data under a fitted mixture.

    Args:
        model: a fitted `GaussianMixture` or `BernoulliMixture`, or another object with a method
            `score_samples`; or a function from X to log densities (N,) in nats.
        X: (N, D), data that the model has not learned from.

    >>> density = lambda X: bernoulli_log_density(X, [1.0], [[0.5, 0.5]])
    >>> predictive(density, [[0, 1], [1, 1]])
    Predictive(-1.3863 ± 0.0000 nats per data point, n_points=2)
    """
    density: Callable[[Any], Any] | None = getattr(model, "score_samples", None)
    if density is None and callable(model):
        density = model
    if density is None:
        raise ValueError(
            f"model is a {type(model).__name__}, expected a fitted mixture with a method "
            f"score_samples, or a function from X to log densities"
        )
    n_points = X.shape[0] if hasattr(X, "shape") else len(X)
    if not n_points:
        raise ValueError("X has no data points, expected at least one")
    per_point = np.asarray(density(X), dtype=np.float64)
    if per_point.shape != (n_points,):
        raise ValueError(
            f"the model gave log densities of shape {per_point.shape}, expected ({n_points},), "
            f"one for each row of X"
        )
    if np.isnan(per_point).any():
        raise ValueError(
            f"the model's log density of data point {np.flatnonzero(np.isnan(per_point))[0]} is "
            f"NaN, expected a number: look at its parameters and at that row of X"
        )
    return Predictive(per_point)


def student_t_log_density(
    X: ArrayLike,
    weights: ArrayLike,
    means: ArrayLike,
    scales: ArrayLike,
    degrees_of_freedom: ArrayLike,
    *,
    covariance_type: str = "full",
) -> Float64:
    """Return log densities (N,) of a mixture of Student t distributions, in nats.

        log sum_k w_k t(x | df_k, location m_k, scale S_k)

    With a normal-inverse-Wishart posterior (m, s, Psi, nu) the predictive density has
    df = nu - D + 1 and S = Psi (s + 1) / (s df). "diag" is a product of one-dimensional densities
    that share df, which is not the Student t of a diagonal matrix; there df = nu and
    S_d = Psi_d (s + 1) / (s nu).

    Args:
        X: (N, D).
        weights: (K,), not negative, with sum 1.
        means: (K, D).
        scales: S, the squared scales: (K, D, D), or (K, D) for "diag" and (D, D) for "tied".
        degrees_of_freedom: df, one number or (K,).
        covariance_type: "full", "diag" or "tied".

    >>> cauchy = student_t_log_density([[0.0], [1.0]], [1.0], [[0.0]], [[[1.0]]], 1.0)
    >>> np.allclose(np.exp(cauchy), [1 / np.pi, 1 / (2 * np.pi)])
    True
    """
    X = _array("X", X, (None, None))
    n, d = X.shape
    weights = _weights(weights)
    k = weights.size
    means = _array("means", means, (k, d))
    shapes: dict[str, tuple[int | None, ...]] = {"full": (k, d, d), "diag": (k, d), "tied": (d, d)}
    if covariance_type not in shapes:
        raise ValueError(f"covariance_type must be one of {(*shapes,)}, got {covariance_type!r}")
    scales = _array("scales", scales, shapes[covariance_type])
    df = np.asarray(degrees_of_freedom, dtype=np.float64)
    df = _array("degrees_of_freedom", np.full(k, df) if df.ndim == 0 else df, (k,))
    if (df <= 0).any():
        raise ValueError(f"degrees_of_freedom must be positive, got {df.min():g}")
    diagonal = covariance_type == "diag"
    # The posterior with s = 1 that has this predictive density.
    s = np.ones(1)
    Psi = scales * (df[:, None] if diagonal else df[:, None, None]) / 2
    log_weights = _log(weights)
    if diagonal:
        if (Psi <= 0).any():
            raise ValueError(f"scales must be positive, got {scales.min():g}")
    else:
        factor = _factor(Psi)

    def block(x: Float64) -> Float64:
        if diagonal:
            distance = np.square(x[:, None] - means) / Psi
            return niw.student(distance, s, df[:, None], np.log(Psi), 1).sum(axis=-1)
        distance = niw.mahalanobis(means, factor, x)
        return niw.student(distance, s, df + d - 1, symmetric.log_det(factor), d)

    parts = threads.split(n, max(1, _BLOCK_NUMBERS // (k * d)))
    values = [logsumexp(block(X[a:b]) + log_weights, axis=1) for a, b in parts]
    return np.concatenate([*values, np.empty(0)])


def bernoulli_log_density(X: Any, weights: ArrayLike, probabilities: ArrayLike) -> Float64:
    """Return log probabilities (N,) under a mixture of products of Bernoullis, in nats.

        log sum_k w_k prod_d p_kd^x_d (1 - p_kd)^(1 - x_d)

    With beta posteriors the predictive probability is this with p = E[beta] = a / (a + b).

    Args:
        X: (N, D), zeros and ones, dense or sparse.
        weights: (K,), not negative, with sum 1.
        probabilities: p (K, D), from 0 to 1. The result is -inf for a point that is
            impossible in every component.

    >>> values = bernoulli_log_density([[1, 0], [1, 1]], [0.5, 0.5], [[0.5, 0.5], [1.0, 0.0]])
    >>> np.exp(values).round(3)
    array([0.625, 0.125])
    """
    weights = _weights(weights)
    p = _array("probabilities", probabilities, (weights.size, None))
    if p.min() < 0 or p.max() > 1:
        raise ValueError(f"probabilities go from {p.min():g} to {p.max():g}, expected 0 to 1")
    matrices.check_frame(X)
    X = matrices.csr(X, summed=True) if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.shape[1] != p.shape[1]:
        raise ValueError(f"X has shape {X.shape}, expected (any, {p.shape[1]})")
    # Features with p = 0 or 1 would give 0 times infinity: mismatches in them are counted instead.
    open_ = (p > 0) & (p < 1)
    log_p, log_not_p = (np.log(q, out=np.zeros_like(p), where=open_) for q in (p, 1 - p))
    constants = log_not_p.sum(axis=1) + _log(weights)
    n_ones = (p == 1).sum(axis=1)

    def block(x: Any) -> Float64:
        x = x.astype(np.float64)
        entries = x.data if sparse.issparse(x) else x
        if not ((entries == 0) | (entries == 1)).all():
            raise ValueError("X has other values than 0 and 1: binarise it, for instance X > 0.5")
        values: Float64 = x @ (log_p - log_not_p).T + constants
        mismatches = n_ones + x @ ((p == 0).astype(float) - (p == 1)).T
        values[mismatches > 0.5] = -np.inf
        return values

    parts = threads.split(X.shape[0], max(1, _BLOCK_NUMBERS // max(p.shape)))
    values = [logsumexp(block(X[a:b]), axis=1) for a, b in parts]
    return np.concatenate([*values, np.empty(0)])


def _array(name: str, value: Any, shape: tuple[int | None, ...]) -> Float64:
    """`value` in float64, refused unless finite and of that shape; None stands for any size."""
    array = np.asarray(value, dtype=np.float64)
    fits = array.ndim == len(shape) and all(
        want in (None, got) for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = tuple("any" if size is None else size for size in shape)
        raise ValueError(f"{name} has shape {array.shape}, expected {wanted}")
    if 0 in array.shape[1:]:
        raise ValueError(f"{name} has shape {array.shape}, expected at least one column")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has entries that are NaN or infinite, expected finite numbers")
    return array


def _weights(weights: ArrayLike) -> Float64:
    array = _array("weights", weights, (None,))
    if not array.size or array.min() < 0 or abs(array.sum() - 1) > 1e-6:
        raise ValueError(f"weights must not be negative and have sum 1, got {array}")
    return array


def _log(weights: Float64) -> Float64:
    """log w, -inf at 0."""
    return np.log(weights, out=np.full_like(weights, -np.inf), where=weights > 0)


def _factor(Psi: Float64) -> Float64:
    # A Cholesky factorisation reads one triangle only.
    same = np.abs(Psi - Psi.swapaxes(-1, -2)).max() <= 1e-6 * np.abs(Psi).max()
    try:
        factor = np.asarray(np.linalg.cholesky(Psi))
    except np.linalg.LinAlgError:
        same = False
    if not same:
        raise ValueError("scales must be symmetric positive definite matrices, but one is not")
    return factor
