"""Find the topics that a word belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trustream.topics.characteristic_words import RELEVANCE, word_frequencies
from trustream.topics.topic_set import TopicSet


@dataclass(frozen=True, slots=True)
class WordInTopic:
    """A word in a topic.

    Attributes:
        word: the word.
        topic: id of the topic.
        probability: beta_kw, of the word in the topic.
        relevance: as in `trustream.topics.characteristic_words`.
        rank: of the word among all words of the topic by relevance, from 1 on.
        topic_given_word: lambda_kw / sum_j lambda_jw, the share of the word's tokens that are the
            topic's.
    """

    word: str
    topic: int
    probability: float
    relevance: float
    rank: int
    topic_given_word: float


def matching_words(topics: TopicSet, query: str, n: int = 10) -> list[str]:
    """Return words of the model that are the query or begin with it; those equal to it first.

    Capitals do not matter. Then the most frequent words come first.

    >>> topics = TopicSet.of([[4.0, 5.0, 1.0]], 0.1, ["cat", "cats", "bank"])
    >>> matching_words(topics, "Cat"), matching_words(topics, "x")
    (['cat', 'cats'], [])
    """
    wanted = query.strip().casefold()
    if not wanted:
        return []
    frequencies = word_frequencies(topics)
    found = [
        (word.casefold() != wanted, -frequencies[column], word)
        for column, word in enumerate(topics.words)
        if word and word.casefold().startswith(wanted)
    ]
    return [word for _, _, word in sorted(found)[:n]]


def topics_of_words(topics: TopicSet, words: Sequence[str], n: int = 10) -> list[WordInTopic]:
    """Return the topics that some words belong to, by how much of each word is the topic's.

    A topic is named once, for the word that ranks highest in it. Topics of the first word come
    first, then those of the next.

    Parameters
    ----------
    topics : TopicSet
    words : sequence of str
        Words that the model knows, as `matching_words` finds them.
    n : int, default=10
        How many topics, at most.

    Examples
    --------
    >>> topics = TopicSet.of([[6.0, 2.0, 1.0], [1.0, 2.0, 7.0]], 0.1, ["cat", "the", "bank"])
    >>> found = topics_of_words(topics, ["bank"])
    >>> [(entry.topic, entry.rank, entry.topic_given_word) for entry in found]
    [(1, 1, 0.875), (0, 3, 0.125)]
    """
    if n < 1:
        raise ValueError(f"n is {n}, expected 1 or more")
    column_of = {word: column for column, word in enumerate(topics.words) if word}
    log_frequencies = np.log(word_frequencies(topics))
    found: dict[int, WordInTopic] = {}
    for word in words:
        column = column_of[word]
        weights = np.asarray(topics.weights[:, column], np.float64)
        given = weights / weights.sum()
        for row in np.argsort(-given, kind="stable").tolist():
            topic = topics.names.ids[row]
            if topic not in found:
                beta = np.maximum(topics.probabilities(row), 1e-300)
                relevance = np.log(beta) - (1 - RELEVANCE) * log_frequencies
                rank = 1 + int(np.count_nonzero(relevance > relevance[column]))
                values = float(beta[column]), float(relevance[column])
                found[topic] = WordInTopic(word, topic, *values, rank, float(given[row]))
            if len(found) == n:
                return list(found.values())
    return list(found.values())
