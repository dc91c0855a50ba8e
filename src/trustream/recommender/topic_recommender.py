"""Recommend items to users by the topics of what they like."""

from __future__ import annotations

from typing import Any

import numpy as np

from trustream import persist
from trustream.array_types import Array
from trustream.estimators import LatentDirichletAllocation
from trustream.recommender.base import Recommender


@persist.register
class TopicRecommender(Recommender):
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

    _part = "lda_"
    _estimator_class = LatentDirichletAllocation
    # A user has few items, so skipping topics would not save time.
    _fixed = {"max_doc_topics": None}

    lda_: LatentDirichletAllocation

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

    @property
    def item_topics_(self) -> Array:
        """E[beta], (n_components, n_items): the probability of each item in each topic."""
        return self._items()

    def user_topics(self, users: Any = None) -> Array:
        """Return E[theta] of all known users, (n_users, n_components), or of `users`."""
        return self._user_factors(users)

    def _item_factors(self) -> Array:
        lambda_ = self.lda_.components_
        totals = lambda_.sum(axis=1, keepdims=True, dtype=np.float64)
        return (lambda_ / totals).astype(lambda_.dtype)
