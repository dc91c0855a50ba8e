"""Recommend what suits a user and is liked at the moment."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from trustream import persist
from trustream._schema import check_arrays
from trustream.array_types import Array
from trustream.evaluation.item_ranking import ranking
from trustream.recommender import trending_files
from trustream.recommender.fading_counts import FadingCounts
from trustream.recommender.fitted_recommender import FittedRecommender
from trustream.recommender.ratings import RatingRows, from_frame
from trustream.recommender.recommendations import Recommendations
from trustream.recommender.timed_ratings import as_frame, counted, split, timed_rows
from trustream.recommender.topic_recommender import TopicRecommender

# What "auto" chooses from: days, and the share of what is liked at the moment.
HALF_LIVES = (1.0, 3.0, 7.0, 14.0, 30.0, np.inf)
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
_LIST_LENGTH = 20


class Trend(NamedTuple):
    """How much of a score is what is liked at the moment, and how fast that changes."""

    half_life: float
    share: float


class _Blend(NamedTuple):
    """Users' factors of a recommender that has learned, and one more for the trend."""

    recommender: Any
    share: float
    n_items: int

    def transform(self, likes: sparse.csr_array) -> Array:
        """(U, K + 1): those of the recommender, scaled so that scores sum to 1, and the share."""
        theta = self.recommender._estimator.transform(likes[:, : self.n_items])
        totals = theta @ self.recommender._items().sum(axis=1)
        own = (1 - self.share) * theta / totals[:, None]
        return np.column_stack([own, np.full(len(own), self.share)]).astype(theta.dtype)


def _of_recommender(name: str) -> Any:
    """An attribute that is the recommender's."""
    return property(
        lambda self: getattr(self.recommender_, name),
        lambda self, value: setattr(self.recommender_, name, value),
    )


@persist.register
class TrendingRecommender(FittedRecommender, BaseEstimator):
    """Recommend items by another recommender and by what everybody likes at the moment.

    Where new items keep coming, as movies do, most of what users choose next is what all choose at
    that time, and topics know only what went together in the past. The score of an item for a user
    is a mixture of both,

        (1 - share) p(i | user) + share c_i / sum_j c_j,

    where p(i | user) is the score of the recommender, scaled to sum to 1 over items, and c_i are
    the likes of item i, each of which counts half as much after every `half_life`.

    Parameters
    ----------
    recommender : TopicRecommender or PoissonRecommender, default=None
        What knows the users; it is copied before it learns. None is a `TopicRecommender` with its
        defaults.
    half_life : float or "auto", default="auto"
        Days; infinity is the popularity of all times. "auto" chooses among a few by NDCG: from the
        first nine tenths of the ratings in time it predicts the last tenth.
    share : float in [0, 1] or "auto", default="auto"
        Weight of what is liked at the moment. "auto" chooses it with `half_life`.

    Attributes
    ----------
    recommender_ : the recommender that has learned.
    trend_ : Trend
        The `half_life` and the `share` that are used.
    user_ids_, item_ids_ : arrays of shape (n_users,) and (n_items,)

    Notes
    -----
    Ratings are a frame with a column of times: dates, or numbers in seconds. `partial_fit` takes in
    new items: they can be recommended at once because they are liked now, and by topics after the
    next `fit`.

    Examples
    --------
    >>> ratings = {
    ...     "user": ["ann", "ann", "bob", "bob", "cat", "dan"],
    ...     "item": ["ham", "egg", "ham", "egg", "tea", "tea"],
    ...     "rating": [5, 4, 4, 5, 5, 4],
    ...     "timestamp": ["2024-01-01"] * 4 + ["2024-03-01"] * 2,
    ... }
    >>> recommender = TrendingRecommender(
    ...     TopicRecommender(2, threshold=4, random_state=0), half_life=7, share=0.5
    ... ).fit(ratings)
    >>> recommender.recommend("ann", n=1).items
    ['tea']
    """

    _part = "recommender_"
    _grows = True

    recommender_: Any
    trend_: Trend
    _counts: FadingCounts
    threshold: Any = _of_recommender("threshold")
    n_jobs: Any = _of_recommender("n_jobs")
    user_column: Any = _of_recommender("user_column")
    item_column: Any = _of_recommender("item_column")
    rating_column: Any = _of_recommender("rating_column")
    timestamp_column: Any = _of_recommender("timestamp_column")

    def __init__(
        self, recommender: Any = None, *, half_life: Any = "auto", share: Any = "auto"
    ) -> None:
        self.recommender = recommender
        self.half_life = half_life
        self.share = share

    def fit(self, ratings: Any, y: Any = None) -> TrendingRecommender:
        """Learn from all ratings, a frame with times.

        Parameters
        ----------
        ratings : frame
            As for `TopicRecommender.fit`, with a column of times.
        y : ignored

        Returns
        -------
        self
        """
        inner = TopicRecommender() if self.recommender is None else clone(self.recommender)
        rows = timed_rows(ratings, inner)
        trend = self._chosen(inner, rows)
        inner.fit(ratings)
        data = inner._data
        counts = counted(FadingCounts(trend.half_life), rows, data.items, inner.threshold)
        self._take(inner, data, trend, counts)
        return self

    def partial_fit(self, ratings: Any, y: Any = None) -> TrendingRecommender:
        """Add newer ratings, by known or new users and of known or new items.

        The recommender takes a step on ratings of the items that it knows.

        Parameters
        ----------
        ratings, y
            As for `fit`.

        Returns
        -------
        self
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(ratings)
        # A copy learns, so that an interrupt leaves everything as it was.
        inner = copy.deepcopy(self.recommender_)
        rows = timed_rows(ratings, inner)
        new = from_frame(ratings, inner.columns, inner.threshold)
        data = self._data.updated(new, new_items=True)
        counts = counted(self._counts, rows, data.items, inner.threshold)
        known = np.ones(rows.item.size, bool)
        if not inner._grows:
            known = inner._data.items.find(rows.item) >= 0
        if known.any():
            inner.partial_fit(as_frame(rows, inner, known))
        if known.all() and self._data is self.recommender_._data:
            data = inner._data  # the same ratings, kept once
        self._take(inner, data, self.trend_, counts)
        return self

    def similar_items(self, item: Any, n: int = 10) -> Recommendations:
        """Return the n items that are most similar to an item, as `recommender_` knows them."""
        self._check_fitted()
        self._data.items.positions([item])
        if self.recommender_._data.items.find([item])[0] < 0:
            raise ValueError(
                f"{item!r} came after the fit, so that what is similar is not known: fit again"
            )
        return self.recommender_.similar_items(item, n)

    # --- files

    def _to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        parts = trending_files.TrendingParts(
            {"half_life": self.half_life, "share": self.share},
            self.recommender is not None,
            self.recommender_,
            self.trend_._asdict(),
            self._counts,
            self._data,
        )
        return trending_files.to_arrays(type(self).__name__, parts)

    @classmethod
    def _from_contents(cls, contents: persist.Contents) -> TrendingRecommender:
        table = trending_files.check(contents.header, contents.entries)
        arrays = contents.arrays()
        check_arrays(arrays, table)
        parts = trending_files.from_arrays(contents.header, arrays)
        given = clone(parts.recommender) if parts.recommender_given else None
        loaded = cls(given, **parts.params)
        loaded._take(parts.recommender, parts.data, Trend(**parts.trend), parts.counts)
        return loaded

    # --- what `FittedRecommender` asks for

    @property
    def _estimator(self) -> Any:
        return _Blend(self.recommender_, self.trend_.share, self.recommender_._items().shape[1])

    def _item_factors(self) -> Array:
        beta = self.recommender_._items()
        shares = self._counts.shares
        factors = np.zeros((len(beta) + 1, shares.size), beta.dtype)
        factors[:-1, : beta.shape[1]] = beta
        factors[-1] = shares
        return factors

    # --- parts

    def _take(self, inner: Any, data: Any, trend: Trend, counts: FadingCounts) -> None:
        # In one call, which an interrupt cannot divide.
        learned = {"recommender_": inner, "trend_": trend, "_counts": counts}
        self.__dict__.update(**learned, _ratings=data, _computed={}, _pending=None)

    def _chosen(self, inner: Any, rows: RatingRows) -> Trend:
        """The given trend, or the best for the last part of the ratings."""
        half_lives = HALF_LIVES if _auto("half_life", self.half_life) else (float(self.half_life),)
        shares = SHARES if _auto("share", self.share) else (float(self.share),)
        if not min(half_lives) > 0 or not all(0 <= share <= 1 for share in shares):
            raise ValueError(
                "half_life must be positive and share in [0, 1], got "
                f"{self.half_life!r} and {self.share!r}"
            )
        if len(half_lives) == len(shares) == 1:
            return Trend(half_lives[0], shares[0])
        parts = split(rows, inner)
        if parts is None:
            raise ValueError(
                "the last tenth of the ratings in time has no like of a known user and item to "
                "choose by: give half_life= and share="
            )
        past, first, held_out = parts
        recommender = clone(inner).fit(past)
        found = {}
        for half_life in half_lives:
            counts = counted(
                FadingCounts(half_life), first, recommender._data.items, inner.threshold
            )
            for share in shares:
                trial = TrendingRecommender()
                trial._take(recommender, recommender._data, Trend(half_life, share), counts)
                found[half_life, share] = trial._ndcg(held_out)
        return Trend(*max(found, key=lambda trend: found[trend]))

    def _ndcg(self, held_out: sparse.csr_array) -> float:
        pair = (self._user_factors(), self._items())
        m = min(_LIST_LENGTH, held_out.shape[1])
        found = ranking(pair, held_out, seen=self._seen(), m=m, n_threads=self._threads())
        return float(found.ndcg.mean)


def _auto(name: str, value: Any) -> bool:
    if isinstance(value, str) and value != "auto":
        raise ValueError(f'{name} must be a number or "auto", got {value!r}')
    return isinstance(value, str)
