"""Compute standard errors of means, also of means of numbers given by their logarithms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trustream.array_types import Array, Float64


def standard_error(values: Float64) -> Any:
    """Return the standard error of the mean over the first axis; infinite for a single value.

    >>> float(standard_error(np.array([0.0, 1.0])))
    0.5
    """
    n = values.shape[0]
    if n == 1:
        return np.full(values.shape[1:], np.inf)
    return values.std(axis=0, ddof=1) / math.sqrt(n)


def log_mean_exp(values: Array) -> tuple[Float64, Float64 | None]:
    """Return log mean_r exp(values_dr) over the last axis, and its variance by the jackknife.

    With l_r the result without repetition r, the variance is (R-1)/R sum_r (l_r - mean l)^2. It
    remains valid where one repetition outweighs all others. It is None for R = 1.

    >>> value, variance = log_mean_exp(np.log([[1.0, 3.0]]))
    >>> np.exp(value), np.allclose(variance, np.log(3) ** 2 / 4)
    (array([2.]), True)
    """
    n = values.shape[1]
    total = _log_sum_exp(values)
    if n == 1:
        return total, None
    # The sum without the largest is computed afresh: it may be smaller by any factor.
    top = values.argmax(axis=1)[:, np.newaxis]
    others = values.copy()
    np.put_along_axis(others, top, -np.inf, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = total[:, np.newaxis] + np.log1p(-np.exp(others - total[:, np.newaxis]))
        np.put_along_axis(left_out, top, _log_sum_exp(others)[:, np.newaxis], axis=1)
        spread = left_out - left_out.mean(axis=1, keepdims=True)
        variance = (n - 1) / n * (spread**2).sum(axis=1)
    return total - math.log(n), np.where(np.isnan(variance), np.inf, variance)


def _log_sum_exp(values: Array) -> Float64:
    """log sum_r exp(values_dr); minus infinity where all terms are."""
    largest = values.max(axis=1, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(values - largest).sum(axis=1)) + largest[:, 0]
    return np.asarray(total, dtype=np.float64)
