"""Whether parameters from outside, a file's, can be those of LDA.

What learning makes has these properties by itself. Numbers that lack them would give results
without meaning, NaN or an error far away.
"""

from __future__ import annotations

import numpy as np

from trustream.array_types import Float64
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.prior import LdaPrior

# Words that are looked at in one go.
_AT_ONCE = 4096
# Rounding can take a lambda near zero below it, by little compared with what it is the sum of.
_ROUNDING = 1e-4
# Sums that are kept from step to step may be off by rounding, not by this factor.
_FAR = 2.0
# The share of the largest number of a type that a prior may take.
_ROOM = 1e-6


def check_lda(lambda_: LazyRows, prior: LdaPrior) -> None:
    """Refuse a lambda that is negative, or whose totals are not its sums; the same for the priors.

    Raises:
        ValueError: says what does not agree.
    """
    n_words, n_topics = lambda_.stored.shape
    pattern = prior.pattern
    check_rows(lambda_, pattern)
    if pattern.shape[0] == 1:
        eta_sums = np.full(n_topics, n_words * pattern[0, 0])
    else:
        eta_sums = np.broadcast_to(pattern.sum(axis=0), (n_topics,))
    _check_sums("eta", eta_sums, prior.pattern_sums)
    # Documents add to alpha, batches to eta, in lambda's own type.
    most = float(np.finfo(lambda_.stored.dtype).max) * _ROOM
    if not (prior.alpha.sum() < most and prior.eta * prior.pattern_sums.max() < most):
        raise ValueError("alpha or eta is beyond all bounds")


def check_rows(lambda_: LazyRows, pattern: Float64) -> None:
    """Refuse a table with negative numbers, or whose totals are not its sums.

    Raises:
        ValueError: says what does not agree.
    """
    n_words, n_topics = lambda_.stored.shape
    sums = np.zeros(n_topics)
    for start in range(0, n_words, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        level = lambda_.shift * (pattern if pattern.shape[0] == 1 else pattern[rows])
        with np.errstate(over="ignore"):  # found below
            values = lambda_.stored[rows] * lambda_.stored.dtype.type(lambda_.scale) + level
        if not (values >= -_ROUNDING * level).all():
            raise ValueError("lambda holds negative numbers")
        sums += values.sum(axis=0, dtype=np.float64)
    _check_sums("lambda", sums, lambda_.totals)


def _check_sums(what: str, sums: Float64, kept: Float64) -> None:
    # Infinity and NaN compare as false.
    if not ((sums <= _FAR * kept) & (kept <= _FAR * sums) & (sums < np.inf)).all():
        raise ValueError(f"the totals of {what} are not its sums")
