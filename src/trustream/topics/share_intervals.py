"""Mean shares of topics over documents, and intervals for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from trustream.array_types import Array, Float64

# Least of the concentration, so that rounding does not make an interval of no width.
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class ShareSums:
    """Sums over the documents of bins, from which means and intervals follow.

    Attributes:
        n: (B,) documents with words.
        sums: (B, K) sums of x_dk, the share of document d's tokens that is topic k's.
        squares: (B, K) sums of x_dk^2.
    """

    n: Float64
    sums: Float64
    squares: Float64

    @classmethod
    def of(cls, bins: Sequence[ArrayLike]) -> ShareSums:
        """Return the moments of documents in bins, (documents, K) each."""
        given = [np.asarray(shares, np.float64) for shares in bins]
        return cls(
            np.array([float(len(shares)) for shares in given]),
            np.array([shares.sum(axis=0) for shares in given]),
            np.array([(shares**2).sum(axis=0) for shares in given]),
        )

    def part(self, bins: slice) -> ShareSums:
        """Return those of some bins."""
        return ShareSums(self.n[bins], self.sums[bins], self.squares[bins])


def concentration(moments: ShareSums) -> Float64:
    """Return how much documents concentrate on each topic, (K,), between 0 and 1.

    With x_b the mean share of a bin and D_b its documents, the variance of x_dk within bins over
    the largest that a share of this mean can have:

        rho = sum_b D_b / (D_b - 1) sum_{d in b} (x_d - x_b)^2 / sum_b D_b x_b (1 - x_b).

    1 if documents are all or nothing about the topic, 0 if all have the same share of it. Bins of
    one document say nothing. If none says anything, it is 1, the most careful.

    >>> concentration(ShareSums.of([[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]])).tolist()
    [1.0, 1.0]
    """
    several = moments.n > 1
    n = moments.n[several, np.newaxis]
    if n.size == 0:
        return np.ones(moments.sums.shape[1])
    mean = moments.sums[several] / n
    spread = np.maximum(moments.squares[several] - n * mean**2, 0.0) * n / (n - 1)
    largest = (n * mean * (1 - mean)).sum(axis=0)
    rho = np.divide(spread.sum(axis=0), largest, out=np.ones_like(largest), where=largest > 0)
    return np.clip(rho, _LEAST, 1.0)


def bounds(
    mean: Array, n: ArrayLike, rho: Float64, degrees: float, level: float
) -> tuple[Float64, Float64]:
    """Return the lower and upper ends of intervals for mean shares, shaped like `mean`.

    Wilson's interval for a proportion, with D / rho in the place of the number of trials, and
    Student's t in the place of the normal distribution: with z its quantile and m = D / rho,

        (x + z^2 / 2m -+ z sqrt(x (1 - x) / m + z^2 / 4m^2)) / (1 + z^2 / m).

    >>> lower, upper = bounds(np.array([0.0, 0.5]), 10, np.array([1.0, 1.0]), 90, 0.9)
    >>> lower.round(2).tolist(), upper.round(2).tolist()
    ([0.0, 0.27], [0.22, 0.73])
    """
    z = float(stats.t.ppf(0.5 + level / 2, max(degrees, 1.0)))
    m = np.asarray(n, np.float64) / rho
    middle = mean + z**2 / (2 * m)
    half = z * np.sqrt(np.maximum(mean * (1 - mean), 0.0) / m + z**2 / (4 * m**2))
    scale = 1 + z**2 / m
    return np.maximum((middle - half) / scale, 0.0), np.minimum((middle + half) / scale, 1.0)


def intervals(moments: ShareSums, level: float = 0.9) -> tuple[Float64, Float64, Float64]:
    """Return mean shares of bins and the ends of their intervals, (B, K) each; NaN in empty bins.

    An interval is for the mean share of the documents that might have been in the bin, of which
    those that are there are a sample. It covers it with probability `level`, up to 0.05. All bins
    together tell how much documents concentrate on a topic, so that a bin of few documents has an
    interval too.

    >>> shares, lower, upper = intervals(ShareSums.of([[[0.2, 0.8], [0.4, 0.6]], np.empty((0, 2))]))
    >>> bool(lower[0, 0] < shares[0, 0] < upper[0, 0]), bool(np.isnan(shares[1, 0]))
    (True, True)
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a probability such as 0.9")
    shape = moments.sums.shape
    shares, lower, upper = np.full((3, *shape), np.nan)
    filled = moments.n > 0
    n = moments.n[filled, np.newaxis]
    if n.size:
        shares[filled] = np.clip(moments.sums[filled] / n, 0.0, 1.0)
        degrees = float((n - 1).sum())
        ends = bounds(shares[filled], n, concentration(moments), degrees, level)
        lower[filled], upper[filled] = ends
    return shares, lower, upper
