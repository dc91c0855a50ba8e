"""Name the topics whose share has changed by more than chance: new, rising and fading ones.

Documents are independent, their tokens are not: a document about a topic uses it for many tokens.
So the unit of everything here is the document. Let x_dk be the share of document d's tokens that is
topic k's, and D the number of documents.

For each edge between bins, a share pi of the documents came before it. If nothing has changed, the
part that came before the edge of all there is of the topic,

    f = sum_{d before} x_dk / sum_d x_dk,

is pi up to chance, with variance pi (1 - pi) / m, where

    m = (sum_d x_dk)^2 / sum_d (x_dk - x_k)^2

is the number of documents that the topic effectively has, and x_k its mean. f is compared with the
share of successes among m trials with probability pi, by the tails of the binomial distribution,
which the incomplete beta function continues to fractions. For topics with many documents this is
the usual test of two means. For topics with few it allows for chance as they should: that two of
three documents came late means nothing.

The smallest p-value over edges is multiplied by the number of edges (Bonferroni), and those of
topics are corrected for the number of topics (Holm). So in a corpus in which nothing changes, some
topic is called a trend with a probability of at most 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from trustream.array_types import Float64
from trustream.topics.share_intervals import ShareSums, bounds, concentration

STEADY, RISING, FADING, NEW = "steady", "rising", "fading", "new"
# In the order in which they are shown.
TREND_KINDS = (NEW, RISING, FADING, STEADY)
# A topic is new if the share that it had before is at most this part of what it has since, even
# at the upper end of the interval.
_NEW = 0.2
# Documents differ by at least this part of a mean share, or they are taken to be equal: the rest
# is rounding.
_LEAST_SPREAD = 1e-3


@dataclass(frozen=True, slots=True)
class Trend:
    """How the share of a topic has changed.

    Attributes:
        topic: id of the topic.
        kind: "new", "rising", "fading" or "steady". New topics rise from next to nothing: before
            `time` the share was at most a fifth of what it was since, with 95 % confidence.
        p_value: of "nothing has changed", corrected for the number of edges and of topics.
        time: the edge between bins, in seconds since 1970, at which the change shows most; None if
            it is steady.
        before, after: mean shares before and after that edge. For steady topics both are the mean
            over all documents.
    """

    topic: int
    kind: str
    p_value: float
    time: float | None
    before: float
    after: float


def find_trends(
    moments: ShareSums, edges: Float64, ids: tuple[int, ...], level: float = 0.05
) -> list[Trend]:
    """Name the trends of topics, in the order of `ids`.

    Parameters
    ----------
    moments : ShareSums
        Of the bins.
    edges : array of shape (n_bins + 1,)
        Where bins begin and end.
    ids : tuple of int
        Ids of the topics.
    level : float, default=0.05
        The probability of calling any topic a trend in a corpus without change.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> early, late = rng.dirichlet([1, 3], 100), rng.dirichlet([3, 1], 100)
    >>> moments = ShareSums.of([early, late])
    >>> [trend.kind for trend in find_trends(moments, np.arange(3.0), (0, 1))]
    ['rising', 'fading']
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a probability such as 0.05")
    n, mean = moments.n.sum(), _mean(moments)
    p_values, at = _changes(moments)
    corrected = holm(p_values)
    trends = []
    for k, topic in enumerate(ids):
        if corrected[k] >= level:
            share = float(mean[k])
            trends.append(Trend(topic, STEADY, float(corrected[k]), None, share, share))
            continue
        split = int(at[k])
        early, late = moments.part(slice(0, split)), moments.part(slice(split, None))
        before, after = float(_mean(early)[k]), float(_mean(late)[k])
        kind = FADING
        if after > before:
            # One-sided, so that 90 % on both sides are 95 % on one.
            rho = concentration(moments)
            degrees = n - np.count_nonzero(moments.n)
            _, upper = bounds(_mean(early), early.n.sum(), rho, degrees, 0.9)
            kind = NEW if upper[k] <= _NEW * after else RISING
        trends.append(Trend(topic, kind, float(corrected[k]), float(edges[split]), before, after))
    return trends


def _changes(moments: ShareSums) -> tuple[Float64, np.ndarray]:
    """(K,) smallest p-values over edges, times their number, and the bins that begin there."""
    k = moments.sums.shape[1]
    n, total = moments.n.sum(), moments.sums.sum(axis=0)
    before = np.cumsum(moments.n)[:-1]
    # Two edges with only empty bins between them are one.
    edges = np.flatnonzero((moments.n[1:] > 0) & (before > 0)) + 1
    if n < 3 or edges.size == 0:
        return np.ones(k), np.zeros(k, np.int64)
    mean = total / n
    spread = moments.squares.sum(axis=0) - n * mean**2
    spread = np.maximum(spread, n * (_LEAST_SPREAD * mean) ** 2)
    here = total > 0
    effective = np.where(here, total**2 / np.where(here, spread, 1.0), 0.0)
    pi = (before[edges - 1] / n)[:, np.newaxis]
    part = np.cumsum(moments.sums, axis=0)[edges - 1] / np.where(here, total, 1.0)
    x = effective * np.clip(part, 0.0, 1.0)
    tiny = 1e-12
    more = special.betainc(np.maximum(x, tiny), effective - x + 1, pi)
    fewer = special.betainc(np.maximum(effective - x, tiny), x + 1, 1 - pi)
    p = np.where(here, np.minimum(1.0, 2 * np.minimum(more, fewer)), 1.0)
    best = p.argmin(axis=0)
    return np.minimum(1.0, edges.size * p.min(axis=0)), edges[best]


def holm(p_values: Float64) -> Float64:
    """Return p-values corrected for their number by Holm's method.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(p_values.size, 0, -1)
    raised = np.minimum(1.0, np.maximum.accumulate(factors * p_values[order]))
    corrected = np.empty_like(raised)
    corrected[order] = raised
    return corrected


def _mean(moments: ShareSums) -> Float64:
    return np.asarray(moments.sums.sum(axis=0) / moments.n.sum())
