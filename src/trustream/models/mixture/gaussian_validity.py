"""Whether parameters from outside, a file's, can be those of a Gaussian mixture.

What learning makes has these properties by itself. Numbers that lack them would give results
without meaning, NaN or an error far away.
"""

from __future__ import annotations

import numpy as np

from trustream.array_types import Float64
from trustream.families import symmetric
from trustream.models.mixture.gaussian_covariance import DIAG, KINDS, TIED, GaussianNatural

# Rounding errors of a covariance, as a multiple of what is expected of them.
_NOISE = 100.0
_EPS = float(np.finfo(np.float64).eps)


def check_gaussians(covariance_type: str, lambda_: GaussianNatural) -> None:
    """Refuse parameters whose scale matrices are not positive definite, or nu too low.

    Raises:
        ValueError: says which.
    """
    kind = KINDS[covariance_type]
    n_features = lambda_.sm.shape[1]
    if kind is not DIAG and not (lambda_.nu > n_features - 1).all():
        raise ValueError(f"nu is not above {n_features - 1}")
    with np.errstate(all="ignore"):  # what is not finite is found below
        means = lambda_.sm / lambda_.s[:, None]
        if kind is DIAG:
            Psi = lambda_.C - lambda_.sm * means
            sound = bool((Psi >= -_NOISE * _EPS * lambda_.C).all())
        elif kind is TIED:
            sound = _is_scale(lambda_.C, lambda_.sm.T @ means)
        else:
            parts = zip(lambda_.C, lambda_.sm, means, strict=True)
            sound = all(_is_scale(C, np.outer(sm, mean)) for C, sm, mean in parts)
        if not sound:
            raise ValueError("a covariance is not positive definite")
        terms = kind.terms(lambda_, n_threads=1)
    if not all(np.isfinite(part).all() for part in terms):
        raise ValueError("a covariance is beyond all bounds")


def _is_scale(packed: Float64, product: Float64) -> bool:
    """Whether C - s m m' is positive definite, but for rounding errors."""
    C = symmetric.unpack(packed, product.shape[0])
    noise = _NOISE * symmetric.rounding_noise(C) * np.eye(product.shape[0])
    try:
        return bool(np.isfinite(np.linalg.cholesky(C - product + noise)).all())
    except np.linalg.LinAlgError:
        return False
