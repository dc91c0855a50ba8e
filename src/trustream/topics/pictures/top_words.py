"""Draw the words of topics as bars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trustream.evaluation.validation import whole_number
from trustream.topics import characteristic_words
from trustream.topics.pictures import drawing
from trustream.topics.topic_set import as_topics

# Topics that are drawn if nobody chooses, and panels in a row.
_MOST_TOPICS, _COLUMNS = 12, 4


def plot_top_words(
    model: Any,
    topics: Any = None,
    n_words: int = 8,
    *,
    relevance: float = 1.0,
    ax: Any = None,
) -> Any:
    """Draw the words of topics as bars of their probabilities, a panel for each topic.

    Parameters
    ----------
    model : LatentDirichletAllocation, TopicModel or TopicSet
    topics : list of int, default=None
        Ids of topics; None draws the 12 largest.
    n_words : int, default=8
        Words of each topic.
    relevance : float, default=1.0
        Which words: 1 are the most probable ones, less are those that set the topic apart, as in
        `trustream.topics.topic_info`. The bars are probabilities in any case.
    ax : Axes or array of Axes, default=None
        One for each topic; None makes a new figure.

    Returns
    -------
    array of Axes
        One for each topic.

    Examples
    --------
    >>> from trustream.topics import TopicSet
    >>> topics = TopicSet.of([[6.0, 2.0, 1.0], [1.0, 2.0, 7.0]], 0.1, ["cat", "the", "bank"])
    >>> axes = plot_top_words(topics, n_words=2)
    >>> [[label.get_text() for label in ax.get_yticklabels()] for ax in axes]
    [['bank', 'the'], ['cat', 'the']]
    """
    found, n_words = as_topics(model), whole_number("n_words", n_words)
    ids = found.names.ids
    largest = np.argsort(-found.shares, kind="stable")[:_MOST_TOPICS]
    chosen = drawing.chosen_topics(topics, ids, [ids[row] for row in largest])
    labels = drawing.labels_of(found, chosen)
    axes = _panels(len(chosen), n_words) if ax is None else drawing.several_axes(ax, len(chosen))
    for topic, panel in zip(chosen, axes, strict=True):
        row = found.row(topic)
        columns = characteristic_words.relevant_columns(found, row, n_words, relevance)
        places = range(len(columns))
        panel.barh(places, found.probabilities(row)[columns], color=drawing.COLOURS[0], height=0.7)
        names = [drawing.short(found.words[column], 24) for column in columns]
        drawing.plain_ticks(panel, places, names)
        panel.invert_yaxis()
        title = drawing.short(f"{topic}: {labels[topic]}", 30)
        panel.set_title(title, loc="left", fontsize="medium", **drawing.PLAIN)
        panel.set_xlabel(f"probability, {found.shares[row]:.1%} of all tokens", fontsize="small")
        panel.locator_params(axis="x", nbins=3)
        panel.tick_params(axis="y", length=0)
        panel.margins(y=0.02)
        drawing.tidy(panel)
    return np.array(axes)


def _panels(n: int, n_words: int) -> list[Any]:
    columns = min(n, _COLUMNS if n != 5 else 3)
    rows = math.ceil(n / columns)
    figure = drawing.pyplot().figure(
        figsize=(2.9 * columns, rows * (0.9 + 0.2 * n_words)), layout="constrained"
    )
    return [figure.add_subplot(rows, columns, 1 + i) for i in range(n)]
