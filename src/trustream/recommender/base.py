"""Learn from ratings, and keep what was learned: what all recommenders share."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from trustream import matrices, persist
from trustream._schema import check_arrays
from trustream.recommender import model_files
from trustream.recommender.fitted_recommender import FittedRecommender
from trustream.recommender.ids import as_array
from trustream.recommender.ratings import Ratings, from_frame, from_matrix, is_frame

# Parameters of recommenders alone; the others are those of the estimator.
_OWN = ("threshold", "user_column", "item_column", "rating_column", "timestamp_column")


class Recommender(FittedRecommender, BaseEstimator):
    """Base of the recommenders: `fit`, `partial_fit` and files.

    A subclass names the estimator that learns from likes, and the attribute that has it.
    """

    _estimator_class: ClassVar[type]
    # Parameters of the estimator that are not the recommender's.
    _fixed: ClassVar[dict[str, Any]] = {}
    # Whether `partial_fit` takes in items that it has not seen.
    _grows: ClassVar[bool] = False

    # --- learning

    def fit(
        self, ratings: Any, y: Any = None, *, user_ids: Any = None, item_ids: Any = None
    ) -> Any:
        """Learn from all ratings.

        Of several ratings of an item by a user the one with the latest timestamp counts; where
        timestamps are equal or missing, the last one in the frame. Duplicate entries of a sparse
        matrix are added, as everywhere in SciPy. Users who like nothing do not affect the model,
        but are known to it.

        Parameters
        ----------
        ratings : sparse matrix or array of shape (n_users, n_items), or frame
            A frame is one of pandas or polars, or a dictionary of columns, with one row per rating.
        y : ignored
        user_ids, item_ids : sequences, default=None
            Ids of a matrix's rows and columns; None numbers them from 0.

        Returns
        -------
        self
        """
        data = self._checked(ratings, user_ids, item_ids)
        likes = data.likes()
        if not likes.nnz:
            raise ValueError(self._nothing_liked(ratings))
        self._keep(self._new_estimator().fit(_with_entries(likes)), data)
        return self

    def partial_fit(
        self, ratings: Any, y: Any = None, *, user_ids: Any = None, item_ids: Any = None
    ) -> Any:
        """Add new ratings, by known or new users, and take one step on these users.

        A `TopicRecommender` must know the items; a `PoissonRecommender` takes in new ones. A newer
        rating replaces an older one of the same user and item. The step uses everything that these
        users like by now, and treats them as a sample of all users. If none of them likes anything,
        no step is taken. On an estimator that is not fitted, the ratings determine the set of
        items.

        Parameters
        ----------
        ratings, y, user_ids, item_ids
            As for `fit`.

        Returns
        -------
        self
        """
        data = self._checked(ratings, user_ids, item_ids)
        if not self.__sklearn_is_fitted__():
            likes = _with_entries(data.likes())
            if not likes.nnz:
                raise ValueError(self._nothing_liked(ratings))
            estimator = self._new_estimator().set_params(total_samples=likes.shape[0])
            self._keep(estimator.partial_fit(likes), data)
            return self
        estimator, changed = self._estimator, data.users.values
        n_items = len(self._data.items)
        data = self._data.updated(data, new_items=self._grows)
        likes = data.likes()
        rows = _with_entries(likes[data.users.positions(changed)])
        draft, n_new = estimator._draft(), len(data.items) - n_items
        if n_new:
            draft.add_items(n_new)
        if not rows.shape[0]:
            self._keep(draft if n_new else estimator, data)
            return self
        n_users = int(np.count_nonzero(np.diff(likes.indptr)))
        self._pending = estimator._n_samples_seen, data
        estimator._step_as(draft.set_params(total_samples=n_users), rows)
        self._settle()
        return self

    def _new_estimator(self) -> Any:
        names = {*self._get_param_names()} - {*_OWN}
        parameters = {name: getattr(self, name) for name in names}
        return self._estimator_class(**self._fixed, **parameters)

    def _checked(self, ratings: Any, user_ids: Any, item_ids: Any) -> Ratings:
        threshold = self.threshold
        number = isinstance(threshold, Real) and not isinstance(threshold, bool)
        if threshold is not None and not (number and np.isfinite(threshold)):
            raise ValueError(f"threshold must be a number or None, got {threshold!r}")
        if not is_frame(ratings):
            data = from_matrix(ratings, user_ids, item_ids, threshold)
        elif user_ids is not None or item_ids is not None:
            raise ValueError("user_ids and item_ids are for a matrix; a frame has its own ids")
        else:
            data = from_frame(ratings, self.columns, threshold)
        matrices.check_tokens(data.weights, "the ratings", "user")
        return data

    def _nothing_liked(self, ratings: Any) -> str:
        if self.threshold is None:
            return "all ratings are 0, so nobody likes anything: there is nothing to learn from"
        return (
            f"no rating reaches the threshold {self.threshold:g}{self._highest(ratings)}: there is "
            f"nothing to learn from; lower the threshold"
        )

    def _highest(self, ratings: Any) -> str:
        if is_frame(ratings):
            if self.rating_column is None:
                return ", since without a rating column all are 1"
            ratings = as_array(ratings[self.rating_column])
        elif not sparse.issparse(ratings):
            ratings = np.asarray(ratings)
        return f" (the highest is {ratings.max():g})"

    def __getstate__(self) -> Any:
        if not self.__sklearn_is_fitted__():
            return super().__getstate__()
        self._settle()
        return {**super().__getstate__(), "_computed": {}}

    # --- files

    def _to_arrays(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        params = {name: getattr(self, name) for name in _OWN}
        return model_files.to_arrays(self, params, self._estimator, self._data)

    @classmethod
    def _from_contents(cls, contents: persist.Contents) -> Any:
        table = model_files.check(cls, contents.header, contents.entries)
        arrays = contents.arrays()
        check_arrays(arrays, table)
        return cls._from_arrays(contents.header, arrays)

    @classmethod
    def _from_arrays(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
        """The recommender of a header and arrays that were checked."""
        params, estimator, data = model_files.from_arrays(cls, header, arrays)
        known = set(cls._get_param_names())
        shared = {name: value for name, value in estimator.get_params().items() if name in known}
        recommender = cls(**shared, **params)
        recommender._keep(estimator, data)
        return recommender


def _with_entries(rows: sparse.csr_array) -> sparse.csr_array:
    """Rows that are not empty: users without likes carry no information about alpha."""
    return rows[np.diff(rows.indptr) > 0]
