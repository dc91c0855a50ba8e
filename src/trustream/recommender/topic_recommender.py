"""Recommend items to users by the topics of what they like."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from trustream import matrices, persist
from trustream.estimators import LatentDirichletAllocation
from trustream.recommender import model_files
from trustream.recommender.fitted_recommender import FittedRecommender
from trustream.recommender.ids import as_array
from trustream.recommender.ratings import Ratings, from_frame, from_matrix, is_frame

# Parameters of this estimator alone; the others are those of LatentDirichletAllocation.
_OWN = ("threshold", "user_column", "item_column", "rating_column", "timestamp_column")


@persist.register
class TopicRecommender(FittedRecommender, BaseEstimator):
    """Recommend items by latent Dirichlet allocation: users are documents, liked items words.

    The score of item i for user n is the probability that the next item the user likes is i
    (section 4.4 of the paper),

        sum_k E[theta_nk] E[beta_ki].

    Parameters
    ----------
    n_components : int, default=20
        Number of topics, K.
    threshold : float, default=None
        A user likes an item whose rating is at least this. None uses the ratings themselves as
        weights: how often an item was played or bought, or ones.
    user_column, item_column : str, default="user", "item"
        Columns of a frame of ratings, with ids: all strings or all integers.
    rating_column : str or None, default="rating"
        Its column of ratings; None if every row is a like.
    timestamp_column : str or None, default="timestamp"
        Its column of times, numbers or dates; a column of the default name may be missing.
    learn_priors : bool or {"alpha", "eta", "per-word"}, default="per-word"
        As for `LatentDirichletAllocation`, with another default: a separate eta for each item
        learns how popular the item is.
    max_doc_update_iter : int or None, default=50
        As for `LatentDirichletAllocation`; None shortens later steps, which has been tested on
        articles, not on ratings.
    doc_topic_prior, topic_word_prior, learning_method, learning_rate, learning_decay, \
learning_offset, cooldown, max_iter, batch_size, inner_iter, mean_change_tol, \
tol, n_init, dtype, n_jobs, verbose, callback, random_state
        As for `LatentDirichletAllocation`.

    Attributes
    ----------
    lda_ : LatentDirichletAllocation
        The topic model.
    user_ids_, item_ids_ : arrays of shape (n_users,) and (n_items,)
        Ids in the order of the rows and columns.

    Examples
    --------
    >>> ratings = {
    ...     "user": ["ann", "ann", "bob", "bob", "cat", "cat", "dan", "dan"],
    ...     "item": ["ham", "egg", "ham", "egg", "tea", "cake", "tea", "cake"],
    ...     "rating": [5, 4, 4, 5, 5, 4, 5, 5],
    ... }
    >>> recommender = TopicRecommender(n_components=2, threshold=4, random_state=0).fit(ratings)
    >>> recommender.recommend_for(["ham"], n=1).items
    ['egg']
    >>> recommender.similar_items("tea", n=1).items
    ['cake']
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        threshold: float | None = None,
        user_column: str = "user",
        item_column: str = "item",
        rating_column: str | None = "rating",
        timestamp_column: str | None = "timestamp",
        doc_topic_prior: Any = None,
        topic_word_prior: Any = None,
        learning_method: str = "trust-region",
        learning_rate: str = "decaying",
        learning_decay: float = 0.5,
        learning_offset: float = 1.0,
        cooldown: float = 0.5,
        max_iter: int = 5,
        batch_size: int | None = None,
        inner_iter: int | None = None,
        max_doc_update_iter: int | None = 50,
        mean_change_tol: float = 1e-4,
        learn_priors: bool | str = "per-word",
        tol: float = 1e-3,
        n_init: int | str = "auto",
        dtype: Any = "float32",
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.threshold = threshold
        self.user_column = user_column
        self.item_column = item_column
        self.rating_column = rating_column
        self.timestamp_column = timestamp_column
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.learning_method = learning_method
        self.learning_rate = learning_rate
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.cooldown = cooldown
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.inner_iter = inner_iter
        self.max_doc_update_iter = max_doc_update_iter
        self.mean_change_tol = mean_change_tol
        self.learn_priors = learn_priors
        self.tol = tol
        self.n_init = n_init
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

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
        self._keep(self._new_lda().fit(_with_entries(likes)), data)
        return self

    def partial_fit(
        self, ratings: Any, y: Any = None, *, user_ids: Any = None, item_ids: Any = None
    ) -> Any:
        """Add new ratings of known items, by known or new users, and take one step on these users.

        A newer rating replaces an older one of the same user and item. The step uses everything
        that these users like by now, and treats them as a sample of all users. If none of them
        likes anything, no step is taken. On an estimator that is not fitted, the ratings determine
        the set of items.

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
            lda = self._new_lda().set_params(total_samples=likes.shape[0])
            self._keep(lda.partial_fit(likes), data)
            return self
        changed, lda = data.users.values, self.lda_
        data = self._data.updated(data)
        likes = data.likes()
        rows = _with_entries(likes[data.users.positions(changed)])
        if not rows.shape[0]:
            self._keep(lda, data)
            return self
        n_users = int(np.count_nonzero(np.diff(likes.indptr)))
        self._pending = lda._n_samples_seen, data
        lda._step_as(lda._draft().set_params(total_samples=n_users), rows)
        self._settle()
        return self

    def _new_lda(self) -> LatentDirichletAllocation:
        names = {*self._get_param_names()} - {*_OWN}
        parameters = {name: getattr(self, name) for name in names}
        # A user has few items, so skipping topics would not save time.
        return LatentDirichletAllocation(max_doc_topics=None, **parameters)

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

    def save(self, path: Any) -> None:
        """Write the fitted recommender to a file; `trustream.load(path)` reads it again.

        The file contains the ids and ratings as well. A `callback` is not saved.
        """
        self._check_fitted()
        params = {name: getattr(self, name) for name in _OWN}
        persist.write(
            path, *model_files.to_arrays(type(self).__name__, params, self.lda_, self._data)
        )

    @classmethod
    def _from_contents(cls, contents: persist.Contents) -> Any:
        params, lda, data = model_files.from_contents(contents)
        known = set(cls._get_param_names())
        shared = {name: value for name, value in lda.get_params().items() if name in known}
        recommender = cls(**shared, **params)
        recommender._keep(lda, data)
        return recommender


def _with_entries(rows: sparse.csr_array) -> sparse.csr_array:
    """Rows that are not empty: users without likes carry no information about alpha."""
    return rows[np.diff(rows.indptr) > 0]
