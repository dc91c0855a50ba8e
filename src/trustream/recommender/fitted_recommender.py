"""Ask a fitted recommender for lists of items, evaluate them, and save it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from trustream import persist
from trustream.array_types import Array
from trustream.evaluation.item_lists import scored_items
from trustream.evaluation.item_ranking import ranking
from trustream.evaluation.ranking_result import Ranking
from trustream.evaluation.validation import whole_number
from trustream.feeds.options import RatingColumns
from trustream.kernels import threads
from trustream.recommender.ratings import (
    Ratings,
    from_matrix,
    is_frame,
    latest_matrix,
    like_weights,
    liked_items,
    rated_items,
    rating_rows,
)
from trustream.recommender.recommendations import RecommendationLists, Recommendations


class FittedRecommender:
    """The methods of a fitted recommender, whatever it has learned factors by.

    Users have factors (U, K) that follow from what they like, items have factors (K, I), and the
    score of an item for a user is the product of the two.
    """

    threshold: float | None
    n_jobs: int | None
    user_column: str
    item_column: str
    rating_column: str | None
    timestamp_column: str | None
    # The name of the attribute with the estimator that has learned.
    _part: ClassVar[str]
    _ratings: Ratings
    # Users' factors (U, K), items' factors (K, I) and seen items (U, I), each after its first use.
    _computed: dict[str, Any]
    # While a step is taken: the users that the estimator has seen before it, and the ratings after.
    _pending: tuple[int, Ratings] | None

    @property
    def _estimator(self) -> Any:
        """The estimator, with `transform` and `components_`."""
        return getattr(self, self._part)

    def _item_factors(self) -> Array:
        """Items' factors, (K, I), that go with users' factors from `transform`."""
        raise NotImplementedError

    def _to_arrays(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Arrays and header of a file."""
        raise NotImplementedError

    def recommend(self, user: Any, n: int = 20, *, exclude_seen: bool = True) -> Recommendations:
        """Return the n best items for a known user, or a shorter list if fewer are left.

        For a user who likes nothing, these are the items that the average user likes.

        Parameters
        ----------
        user : str or int
            The user's id.
        n : int, default=20
        exclude_seen : bool, default=True
            Whether to leave out the items that the user has rated, liked or not.
        """
        return self.recommend_all(n, users=[user], exclude_seen=exclude_seen)[0]

    def recommend_for(
        self, items: Iterable[Any] | Mapping[Any, float], n: int = 20, *, exclude_seen: bool = True
    ) -> Recommendations:
        """Return the n best items for somebody who likes `items`, without learning from them.

        Parameters
        ----------
        items : ids, or mapping from ids to ratings
            An id counts once, even if it is given several times. Without items the list has what
            the average user likes.
        n : int, default=20
        exclude_seen : bool, default=True
            Whether to leave `items` out.
        """
        row = self._row(items)
        theta = self._estimator.transform(liked_items(row))
        seen = rated_items(row) if exclude_seen else None
        return self._lists(theta, seen, np.arange(1), n)[0]

    def recommend_all(
        self, n: int = 20, *, users: Any = None, exclude_seen: bool = True
    ) -> RecommendationLists:
        """Return the n best items for each of many users.

        Scores are computed for some hundred users at a time, so that memory does not grow with
        the product of users and items.

        Parameters
        ----------
        n : int, default=20
        users : sequence of ids, default=None
            None is all known users.
        exclude_seen : bool, default=True
            Whether to leave out the items that a user has rated, liked or not.
        """
        self._check_fitted()
        data = self._data
        rows = np.arange(len(data.users)) if users is None else data.users.positions(users)
        theta = self._user_factors(users)
        seen = self._seen() if exclude_seen else None
        if seen is not None and users is not None:
            seen = seen[rows]
        return self._lists(theta, seen, data.users.values[rows], n)

    def similar_items(self, item: Any, n: int = 10) -> Recommendations:
        """Return the n items that are most similar to an item, without the item itself.

        The score is the cosine similarity of the items' columns of `components_`: of p(k | i), the
        topics to which an item belongs, or of its factors E[beta_i].
        """
        self._check_fitted()
        n = whole_number("n", n)
        column = self._data.items.positions([item])
        shares = self._estimator.components_
        shares = shares / np.linalg.norm(shares, axis=0)
        itself = sparse.csr_array(([1.0], ([0], column)), shape=(1, shares.shape[1]))
        pair = (np.ascontiguousarray(shares[:, column].T), shares)
        columns, scores = scored_items(pair, min(n, shares.shape[1]), seen=itself)
        scores = np.minimum(scores, 1)  # rounding may exceed it
        return RecommendationLists(np.arange(1), columns, scores, self.item_ids_)[0]

    def evaluate(
        self, held_out: Any, m: int | tuple[int, ...] = 20, *, unknown: str = "error"
    ) -> Ranking:
        """Measure how well the lists predict what users turned out to like.

        See `trustream.evaluation.ranking` for the measures. Items that a user has rated before
        are not on the lists and do not count.

        Parameters
        ----------
        held_out : frame, or matrix of shape (n_users, n_items)
            Held-out ratings, with the columns and the threshold of `fit`; the rows and columns of
            a matrix are those of this recommender.
        m : int or several, default=20
            Length of the lists.
        unknown : {"error", "ignore"}, default="error"
            How to treat ratings of users or items that were not in `fit`.
        """
        self._check_fitted()
        if unknown not in ("error", "ignore"):
            raise ValueError(f'unknown must be "error" or "ignore", got {unknown!r}')
        liked = self._known_ratings(held_out, unknown == "ignore")
        pair = (self._user_factors(), self._items())
        return ranking(pair, liked, seen=self._seen(), m=m, n_threads=self._threads())

    def save(self, path: Any) -> None:
        """Write the fitted recommender to a file; `trustream.load(path)` reads it again.

        The file contains the ids and ratings as well. A `callback` is not saved.
        """
        self._check_fitted()
        persist.write(path, *self._to_arrays())

    @property
    def columns(self) -> RatingColumns:
        """Names of the columns of a frame, as `trustream.feeds.read_ratings` takes them."""
        return RatingColumns(
            self.user_column, self.item_column, self.rating_column, self.timestamp_column
        )

    # --- fitted attributes

    @property
    def user_ids_(self) -> Array:
        """Ids of the users, (n_users,)."""
        self._check_fitted()
        return self._data.users.values.copy()

    @property
    def item_ids_(self) -> Array:
        """Ids of the items, (n_items,)."""
        self._check_fitted()
        return self._data.items.values.copy()

    def _items(self) -> Array:
        """`_item_factors`, computed once."""
        self._check_fitted()
        if "items" not in self._cache:
            self._cache["items"] = self._item_factors()
        return self._cache["items"]

    def _user_factors(self, users: Any = None) -> Array:
        """Factors of all known users, (U, K), or of `users`."""
        self._check_fitted()
        if users is None:
            if "users" not in self._cache:
                self._cache["users"] = self._estimator.transform(self._data.likes())
            return self._cache["users"]
        rows = self._data.users.positions(users)
        if "users" in self._cache:
            return self._cache["users"][rows]
        return self._estimator.transform(liked_items(self._data.weights[rows]))

    def fold_in(self, items: Iterable[Any] | Mapping[Any, float]) -> Array:
        """Return E[theta] of somebody who likes `items`, (n_components,); see `recommend_for`."""
        return self._estimator.transform(liked_items(self._row(items)))[0]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_ratings")

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            # It is an AttributeError as well, so that hasattr() is False before fit.
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using this estimator."
            )

    def _keep(self, estimator: Any, data: Ratings) -> None:
        # In one call, which an interrupt cannot divide: model and ratings belong together.
        kept = {self._part: estimator, "_ratings": data, "_computed": {}, "_pending": None}
        self.__dict__.update(kept)

    def _settle(self) -> None:
        """Take in the ratings of a step that was taken; drop those of one that was not.

        The estimator takes a step wholly or not at all, and an interrupt may come just after it.
        """
        if self._pending is not None:
            n_before, data = self._pending
            if self._estimator._n_samples_seen != n_before:
                self._keep(self._estimator, data)
            self._pending = None

    @property
    def _data(self) -> Ratings:
        self._settle()
        return self._ratings

    @property
    def _cache(self) -> dict[str, Any]:
        self._settle()
        return self._computed

    def parse_user(self, text: str) -> str | int:
        """Return the user id that a text stands for, an integer where user ids are integers."""
        self._check_fitted()
        return self._data.users.parse(text)

    def parse_item(self, text: str) -> str | int:
        """Return the item id that a text stands for, an integer where item ids are integers."""
        self._check_fitted()
        return self._data.items.parse(text)

    # --- parts

    def _lists(
        self, theta: Array, seen: sparse.csr_array | None, users: Array, n: int
    ) -> RecommendationLists:
        beta = self._items()
        n = min(whole_number("n", n), beta.shape[1])
        columns, scores = scored_items((theta, beta), n, seen=seen, n_threads=self._threads())
        return RecommendationLists(users, columns, scores, self._data.items.values)

    def _row(self, items: Iterable[Any] | Mapping[Any, float]) -> sparse.csr_array:
        """Weights (1, I) of an unknown user, with zeros stored."""
        self._check_fitted()
        if isinstance(items, str | bytes):
            raise ValueError(f"items must be a list of ids, got the single {items!r}")
        ids = list(items)
        columns = self._data.items.positions(ids)
        weights = np.ones(len(ids), np.float32)
        if isinstance(items, Mapping):
            rating = np.array([items[item] for item in ids], np.float64)
            if not np.isfinite(rating).all():
                raise ValueError(f"ratings must be finite numbers, got {rating.tolist()}")
            weights = like_weights(rating, self.threshold)
        shape = (1, len(self._data.items))
        return latest_matrix(np.zeros_like(columns), columns, weights, None, shape)

    def _seen(self) -> sparse.csr_array:
        if "seen" not in self._cache:
            self._cache["seen"] = self._data.seen()
        return self._cache["seen"]

    def _known_ratings(self, held_out: Any, ignore_unknown: bool) -> sparse.csr_array:
        data = self._data
        if not is_frame(held_out):
            return from_matrix(
                held_out, data.users.values, data.items.values, self.threshold
            ).weights
        entries = rating_rows(held_out, self.columns)
        rows, columns = data.users.find(entries.user), data.items.find(entries.item)
        known = (rows >= 0) & (columns >= 0)
        if not (known.all() or ignore_unknown):
            raise ValueError(
                f"{np.count_nonzero(~known)} of {known.size} held-out ratings are of users or "
                f'items that were not in fit: leave them out, or set unknown="ignore"'
            )
        weights = like_weights(entries.rating, self.threshold)
        time = None if entries.time is None else entries.time[known]
        return latest_matrix(rows[known], columns[known], weights[known], time, data.weights.shape)

    def _threads(self) -> int:
        return threads.n_threads(self.n_jobs)
