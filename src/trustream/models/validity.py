"""Whether parameters from outside, a file's, can be those of a model.

What learning makes has these properties by itself. Numbers that lack them would give results
without meaning, NaN or an error far away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trustream.families import symmetric
from trustream.models.gaussian_kinds import DIAG, KINDS, TIED, GaussianNatural
from trustream.models.lazy_rows import LazyRows
from trustream.models.lda_prior import LdaPrior

Float64 = NDArray[np.float64]

# Words that are looked at in one go.
_AT_ONCE = 4096
# Rounding can take a lambda near zero below it, by little compared with what it is the sum of.
_ROUNDING = 1e-4
# Sums that are kept from step to step may be off by rounding, not by this factor.
_FAR = 2.0
# The share of the largest number of a type that a prior may take.
_ROOM = 1e-6
# Rounding errors of a covariance, as a multiple of what is expected of them.
_NOISE = 100.0
_EPS = float(np.finfo(np.float64).eps)


def check_lda(lambda_: LazyRows, prior: LdaPrior) -> None:
    """Refuse a lambda that is negative, or whose totals are not its sums; the same for the priors.

    Raises:
        ValueError: says what does not agree.
    """
    n_words, n_topics = lambda_.stored.shape
    pattern, sums = prior.pattern, np.zeros(n_topics)
    for start in range(0, n_words, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        level = lambda_.shift * (pattern if pattern.shape[0] == 1 else pattern[rows])
        with np.errstate(over="ignore"):  # found below
            values = lambda_.stored[rows] * lambda_.stored.dtype.type(lambda_.scale) + level
        if not (values >= -_ROUNDING * level).all():
            raise ValueError("lambda holds negative numbers")
        sums += values.sum(axis=0, dtype=np.float64)
    _check_sums("lambda", sums, lambda_.totals)
    if pattern.shape[0] == 1:
        eta_sums = np.full(n_topics, n_words * pattern[0, 0])
    else:
        eta_sums = np.broadcast_to(pattern.sum(axis=0), (n_topics,))
    _check_sums("eta", eta_sums, prior.pattern_sums)
    # Documents add to alpha, batches to eta, in lambda's own type.
    most = float(np.finfo(lambda_.stored.dtype).max) * _ROOM
    if not (prior.alpha.sum() < most and prior.eta * prior.pattern_sums.max() < most):
        raise ValueError("alpha or eta is beyond all bounds")


def _check_sums(what: str, sums: Float64, kept: Float64) -> None:
    # Infinity and NaN compare as false.
    if not ((sums <= _FAR * kept) & (kept <= _FAR * sums) & (sums < np.inf)).all():
        raise ValueError(f"the totals of {what} are not its sums")


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
