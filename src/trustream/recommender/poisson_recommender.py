"""Recommend items to users by Poisson factorisation."""

from __future__ import annotations

from typing import Any

from trustream import persist
from trustream.array_types import Array
from trustream.estimators import PoissonFactorization
from trustream.recommender.base import Recommender


@persist.register
class PoissonRecommender(Recommender):
    """Recommend items by Poisson factorisation: a user's counts of items are sums over factors.

    The score of item i for user u is the expected count,

        sum_k E[theta_uk] E[beta_ik].

    It has the interface of `TopicRecommender`, and takes in items that come later.

    Parameters
    ----------
    n_components : int, default=20
        Number of components, K.
    threshold : float, default=None
        A user likes an item whose rating is at least this. None uses the ratings themselves as
        counts: how often an item was played or bought, or ones.
    user_column, item_column : str, default="user", "item"
        Columns of a frame of ratings, with ids: all strings or all integers.
    rating_column : str or None, default="rating"
        Its column of ratings; None if every row is a like.
    timestamp_column : str or None, default="timestamp"
        Its column of times, numbers or dates; a column of the default name may be missing.
    item_shape, item_rate, user_shape, activity_shape, activity_rate, learn_priors, \
learning_method, learning_rate, learning_decay, learning_offset, cooldown, max_iter, batch_size, \
inner_iter, max_user_update_iter, mean_change_tol, population, tol, n_init, dtype, n_jobs, \
verbose, callback, random_state
        As for `PoissonFactorization`.

    Attributes
    ----------
    factorization_ : PoissonFactorization
        The factors.
    user_ids_, item_ids_ : arrays of shape (n_users,) and (n_items,)
        Ids in the order of the rows and columns.

    Examples
    --------
    >>> ratings = {
    ...     "user": ["ann", "ann", "bob", "bob", "cat", "cat", "dan", "dan"],
    ...     "item": ["ham", "egg", "ham", "egg", "tea", "cake", "tea", "cake"],
    ...     "rating": [5, 4, 4, 5, 5, 4, 5, 5],
    ... }
    >>> recommender = PoissonRecommender(n_components=2, threshold=4, random_state=0).fit(ratings)
    >>> recommender.recommend_for(["ham"], n=1).items
    ['egg']
    >>> new = {"user": ["eve", "eve"], "item": ["tea", "jam"], "rating": [5, 5]}
    >>> recommender.partial_fit(new).item_ids_.tolist()
    ['cake', 'egg', 'ham', 'tea', 'jam']
    """

    _part = "factorization_"
    _estimator_class = PoissonFactorization
    # Ratings with halves of stars are weights.
    _fixed = {"whole_counts": False}
    _grows = True

    factorization_: PoissonFactorization

    def __init__(
        self,
        n_components: int = 20,
        *,
        threshold: float | None = None,
        user_column: str = "user",
        item_column: str = "item",
        rating_column: str | None = "rating",
        timestamp_column: str | None = "timestamp",
        item_shape: float = 0.3,
        item_rate: float | None = None,
        user_shape: float = 0.3,
        activity_shape: float = 1.0,
        activity_rate: float | None = None,
        learn_priors: bool | str = True,
        learning_method: str = "trust-region",
        learning_rate: str = "decaying",
        learning_decay: float = 0.5,
        learning_offset: float = 1.0,
        cooldown: float = 0.5,
        max_iter: int = 10,
        batch_size: int | None = None,
        inner_iter: int | None = None,
        max_user_update_iter: int = 20,
        mean_change_tol: float = 1e-3,
        population: float | str | None = None,
        tol: float = 1e-3,
        n_init: int = 1,
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
        self.item_shape = item_shape
        self.item_rate = item_rate
        self.user_shape = user_shape
        self.activity_shape = activity_shape
        self.activity_rate = activity_rate
        self.learn_priors = learn_priors
        self.learning_method = learning_method
        self.learning_rate = learning_rate
        self.learning_decay = learning_decay
        self.learning_offset = learning_offset
        self.cooldown = cooldown
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.inner_iter = inner_iter
        self.max_user_update_iter = max_user_update_iter
        self.mean_change_tol = mean_change_tol
        self.population = population
        self.tol = tol
        self.n_init = n_init
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    @property
    def item_factors_(self) -> Array:
        """E[beta], (n_components, n_items)."""
        return self._items()

    def user_factors(self, users: Any = None) -> Array:
        """Return E[theta] of all known users, (n_users, n_components), or of `users`."""
        return self._user_factors(users)

    def _item_factors(self) -> Array:
        return self.factorization_.components_
