"""Reduce the number of topics, by merging those that tell least apart."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from trustream.array_types import Float64
from trustream.topics.editing import TopicEdit, merging, topics_of
from trustream.topics.topic_set import as_topics


def reducing(model: Any, n_topics: int) -> TopicEdit:
    """Return the edit that merges topics until so many are left, two at a time.

    The two are those by whose merging the tokens, each in its topic, lose the least of their
    log-likelihood: with weights x of words and n their sum,

        f(x_i) + f(x_j) - f(x_i + x_j),   f(x) = sum_w x_w log x_w - n log n.

    So topics go first that are alike, and those that have next to no tokens. The larger of two
    keeps its id, label and place.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    n_topics : int
        From 1 to the number of topics.

    Examples
    --------
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[80.0, 9.0], [1.0, 90.0], [70.0, 8.0], [2.0, 1.0]], 0.1)
    >>> reducing(topics, 2).groups
    ((0, 2, 3), (1,))
    """
    topics = as_topics(model)
    if not 1 <= n_topics <= topics.n_topics:
        raise ValueError(f"n_topics is {n_topics}, expected 1 to {topics.n_topics}")
    groups = {row: [row] for row in range(topics.n_topics)}
    weights = np.array(topics.weights, np.float64)
    values = _values(weights)
    losses = np.full((topics.n_topics,) * 2, np.inf)
    for i in range(1, topics.n_topics):
        losses[i, :i] = _losses(weights, values, i, range(i))
    while len(groups) > n_topics:
        i, j = (int(row) for row in np.unravel_index(losses.argmin(), losses.shape))
        if weights[j].sum() >= weights[i].sum():
            i, j = j, i
        groups[i] += groups.pop(j)
        weights[i] += weights[j]
        values[i] = _values(weights[[i]])[0]
        losses[j, :] = losses[:, j] = np.inf
        others = [row for row in groups if row != i]
        for row, loss in zip(others, _losses(weights, values, i, others), strict=True):
            losses[max(i, row), min(i, row)] = loss
    names = topics.names
    for rows in groups.values():
        if len(rows) > 1:
            names = merging(names, topics_of(topics.names, rows)).names
    return TopicEdit(tuple(tuple(groups[row]) for row in sorted(groups)), names)


def _values(weights: Float64) -> Float64:
    """f(x) of each row."""
    sums = weights.sum(axis=1)
    logs = np.log(np.maximum(weights, np.finfo(np.float64).tiny))
    return np.asarray((weights * logs).sum(axis=1) - sums * np.log(sums))


def _losses(weights: Float64, values: Float64, row: int, others: Iterable[int]) -> list[float]:
    """Losses by merging a topic with others."""
    return [
        float(values[row] + values[j] - _values((weights[row] + weights[j])[np.newaxis])[0])
        for j in others
    ]
