"""Whether parameters from outside, a file's, can be those of Poisson factorisation."""

from __future__ import annotations

import numpy as np

from trustream.models.factorization.factor_rows import PATTERN, FactorRows
from trustream.models.factorization.prior import FactorPrior
from trustream.models.lda.validity import check_rows

# The share of the largest number of a type that a prior may take.
_ROOM = 1e-6


def check_factors(lambda_: FactorRows, prior: FactorPrior) -> None:
    """Refuse shapes that are negative or whose totals are not their sums, and impossible priors.

    Raises:
        ValueError: says what does not agree.
    """
    check_rows(lambda_.shapes, PATTERN)
    if prior.n_items != lambda_.stored.shape[0]:
        raise ValueError(f"a prior of {prior.n_items} items for {lambda_.stored.shape[0]}")
    if not (lambda_.rate_shift <= lambda_.rates.min()):
        raise ValueError("the prior's part of the rates is more than all of them")
    most = float(np.finfo(lambda_.stored.dtype).max) * _ROOM
    largest = max(
        prior.n_items * prior.item_shape,
        prior.item_rate,
        prior.user_shape * lambda_.stored.shape[1],
        prior.activity_shape,
        prior.activity_rate,
        float(lambda_.rates.max()),
    )
    if not largest < most:
        raise ValueError("a prior or a rate is beyond all bounds")
