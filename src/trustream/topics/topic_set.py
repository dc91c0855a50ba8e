"""Topics as everything in this package looks at them: weights, prior, words, ids and labels."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trustream.array_types import Array, Float64
from trustream.evaluation import validation
from trustream.kernels import threads
from trustream.learning.defaults import READING_STEPS, READING_TOL
from trustream.models.lda import LazyRows, LdaModel, LdaPrior
from trustream.streaming.fitted_models import column_words
from trustream.topic_names import TopicNames


@dataclass(frozen=True, eq=False)
class TopicSet:
    """Topics with their words, ids and labels, for the functions of `trustream.topics`.

    Make one by `as_topics` from a fitted model, or by `TopicSet.of` from arrays. It shares no
    memory with the model, so that it stays as it is while the model learns on.

    Attributes:
        lambda_: Dirichlet parameters of the topics as they are shown, (V, K).
        prior: alpha and eta of what is shown.
        words: words by column; "" for a column without a word.
        names: ids and labels of topics.
        model: how documents are read.
        n_local, tol: of the local steps by which they are read.
    """

    lambda_: LazyRows
    prior: LdaPrior
    words: Sequence[str]
    names: TopicNames
    model: LdaModel
    n_local: int = READING_STEPS
    tol: float = READING_TOL

    @classmethod
    def of(
        cls,
        weights: ArrayLike,
        alpha: ArrayLike,
        words: Sequence[str] | None = None,
        *,
        eta: float = 0.0,
        names: TopicNames | None = None,
        n_jobs: int | None = None,
    ) -> TopicSet:
        """Return topics from arrays, for models of other libraries as well.

        Parameters
        ----------
        weights : array of shape (n_topics, n_words)
            lambda: pseudo-counts, as in `components_`; positive.
        alpha : float or array of shape (n_topics,)
            Prior of topic proportions.
        words : sequence of str, default=None
            Words by column; None names them x0, x1, ...
        eta : float, default=0.0
            The part of each weight that is the prior's, which merging counts once.
        names : TopicNames, default=None
            Ids and labels; None takes rows for ids.
        n_jobs : int, default=None
            Threads; None uses all cores. No result depends on it.

        Examples
        --------
        >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"])
        >>> topics.n_topics, topics.shares.tolist()
        (2, [0.375, 0.625])
        """
        given = checked_weights(weights)
        if not 0 <= eta <= given.min() * (1 + 1e-6):
            raise ValueError(
                f"eta is {eta:g}, expected 0 up to the smallest weight, {given.min():g}, of which "
                "it is a part"
            )
        k, v = given.shape
        dtype = "float64" if given.dtype == np.float64 else "float32"
        totals = given.sum(axis=1, dtype=np.float64)
        stored = np.ascontiguousarray(np.maximum(given.T - eta, 0.0), dtype)
        prior = LdaPrior.of(validation.as_alpha(alpha, k), max(eta, np.finfo(dtype).tiny), k, v)
        model = LdaModel(
            k,
            v,
            dtype=dtype,
            n_threads=threads.n_threads(n_jobs),
            max_doc_topics=k,
            strides=True,
        )
        named = checked_words(words, v)
        names = TopicNames.of(k) if names is None else names
        names = names.checked(k)
        return cls(LazyRows(stored, 1.0, eta, totals), prior, named, names, model)

    @property
    def n_topics(self) -> int:
        """K."""
        return self.model.n_components

    @property
    def n_words(self) -> int:
        """V."""
        return self.model.n_words

    @property
    def alpha(self) -> Float64:
        """(K,) prior of topic proportions."""
        return self.prior.alpha

    @cached_property
    def weights(self) -> Array:
        """lambda, (K, V), as `components_`."""
        return self.lambda_.dense(self.prior.pattern).T

    @cached_property
    def totals(self) -> Float64:
        """(K,) sums of lambda over words."""
        return self.weights.sum(axis=1, dtype=np.float64)

    @property
    def shares(self) -> Float64:
        """(K,) shares of all tokens that the topics were learned from, by their weights."""
        return np.asarray(self.totals / self.totals.sum())

    def row(self, topic: Any) -> int:
        """Return the row of the topic with this id; see `TopicNames.row`."""
        return self.names.row(topic)

    def probabilities(self, row: int) -> Float64:
        """Return E[beta] of the topic in this row, (V,)."""
        return np.asarray(self.weights[row].astype(np.float64) / self.totals[row])

    def with_names(self, names: TopicNames) -> TopicSet:
        """Return the same topics under other names."""
        return replace(self, names=names.checked(self.n_topics))


def as_topics(
    model: Any, words: Sequence[str] | None = None, names: TopicNames | None = None
) -> TopicSet:
    """Return the topics of a fitted model, as they are shown; a `TopicSet` is returned as it is.

    Documents are read just as the model's `transform` reads them.

    Parameters
    ----------
    model : LatentDirichletAllocation, TopicModel or TopicSet
        A fitted model, for example from `trustream.load` or
        `trustream.streaming.published.load_model`.
    words : sequence of str, default=None
        Words by column; None takes the names of the model's columns, or x0, x1, ...
    names : TopicNames, default=None
        Ids and labels; None takes those of the model.

    Examples
    --------
    >>> from trustream import LatentDirichletAllocation
    >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]] * 10)
    >>> lda = LatentDirichletAllocation(n_components=2, random_state=0).fit(counts)
    >>> topics = as_topics(lda, ["cat", "dog", "bank", "rate"])
    >>> np.array_equal(topics.weights, lda.components_)
    True
    """
    if isinstance(model, TopicSet):
        topics = model
        if words is not None:
            topics = replace(model, words=checked_words(words, model.n_words))
        return topics if names is None else topics.with_names(names)
    if isinstance(getattr(model, "topics_", None), TopicSet):
        return as_topics(model.topics_, words, names)
    if not hasattr(model, "_reading_model"):
        raise ValueError(
            f"model is of type {type(model).__name__}, expected a fitted LatentDirichletAllocation "
            "or TopicModel, or a TopicSet; TopicSet.of takes the arrays of other models"
        )
    state = model._shown
    n_local, tol = model._local_settings()
    columns = column_words(model) if words is None else words
    topics = TopicSet(
        state.lambda_.copy(),
        copy.deepcopy(state.prior),
        checked_words(columns, model.n_features_in_),
        model.topic_names_.checked(model.n_components),
        model._reading_model(),
        n_local,
        tol,
    )
    return topics if names is None else topics.with_names(names)


def checked_weights(weights: ArrayLike) -> Array:
    """Return weights of topics as an array, or a ValueError that says what is wrong with them."""
    given = np.asarray(weights)
    if given.ndim != 2 or 0 in given.shape or given.dtype.kind not in "iuf":
        raise ValueError(
            f"weights have shape {given.shape} and type {given.dtype}, expected numbers "
            "(n_topics, n_words)"
        )
    if not (np.isfinite(given).all() and given.min() > 0):
        raise ValueError(
            f"weights go from {given.min():g} to {given.max():g}, expected positive numbers: "
            "add a little to probabilities of zero"
        )
    return given


def checked_words(words: Sequence[str] | None, n_words: int) -> list[str]:
    """Return words by column as strings, so many; None are x0, x1, ..."""
    if words is None:
        return [f"x{column}" for column in range(n_words)]
    if isinstance(words, str):
        raise ValueError("words are one text, expected a list of words by column")
    found = [str(word) for word in words]
    if len(found) != n_words:
        raise ValueError(f"{len(found)} words, but the topics have {n_words} columns")
    return found
