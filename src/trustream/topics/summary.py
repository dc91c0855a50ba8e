"""Look at topics as lists of words, the largest topic first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """One topic as its most probable words.

    Attributes:
        topic: number of the topic, from 0: its row of `components_`.
        share: the topic's share of all tokens, between 0 and 1.
        words: the most probable words, the most probable first.
        label: the name of its seed; None without.
    """

    topic: int
    share: float
    words: list[str]
    label: str | None = None


def summarise(
    model: Any, n_words: int = 10, vocabulary: Sequence[str] | None = None
) -> list[TopicSummary]:
    """Return the topics of a fitted model with their shares and words, the largest topic first.

    Parameters
    ----------
    model : LatentDirichletAllocation
        A fitted model, for example from `trustream.load` or
        `trustream.streaming.published.load_model`.
    n_words : int, default=10
        Words of each topic.
    vocabulary : sequence of str, default=None
        Words by column; None takes those of the model, or x0, x1, ...

    Returns
    -------
    list of TopicSummary
        One for each of the model's topics; their shares sum to one.

    Examples
    --------
    >>> from trustream import LatentDirichletAllocation
    >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]] * 10)
    >>> lda = LatentDirichletAllocation(n_components=2, random_state=0).fit(counts)
    >>> [sorted(topic.words) for topic in summarise(lda, 2)] in (
    ...     [["x0", "x1"], ["x2", "x3"]], [["x2", "x3"], ["x0", "x1"]])
    True
    """
    totals = model.components_.sum(axis=1, dtype=np.float64)
    share, words = totals / totals.sum(), model.top_words(n_words, vocabulary)
    order = np.argsort(-share, kind="stable").tolist()
    labels = model.seed_labels_
    return [TopicSummary(k, float(share[k]), words[k], labels.get(k)) for k in order]
