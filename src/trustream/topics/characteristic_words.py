"""Find the words by which people recognise a topic.

With beta_kw = E[beta_kw] the probability of word w in topic k, and p_w its probability in all
topics together, sum_k lambda_kw / sum_kv lambda_kv:

- `top_words`: the largest beta_kw. Frequent words are at the top of many topics.
- `relevant_words`: the relevance of LDAvis (Sievert and Shirley 2014),

      r_kw = lambda log beta_kw + (1 - lambda) log(beta_kw / p_w),

  where this lambda is a number from 0, words of this topic only, to 1, the most probable words.
- `frex_words`: FREX (Bischof and Airoldi 2012), the harmonic mean of two ranks within the topic,

      1 / (w / F_k(beta_kw / sum_j beta_jw) + (1 - w) / F_k(beta_kw)),

  with F_k the share of words that are not above this one: words that are both exclusive and
  frequent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from trustream.array_types import Array, Float64, Index
from trustream.topics.topic_set import TopicSet

# Words of a label that is made by rule.
_WORDS_OF_A_LABEL = 3
# Words whose probabilities are summed at a time.
_AT_ONCE = 8192
# lambda of relevance: Sievert and Shirley found that people recognise topics best at 0.6.
RELEVANCE = 0.6


@dataclass(frozen=True, slots=True)
class WordWeight:
    """A word of a topic, and how strongly it belongs there.

    Attributes:
        word: the word.
        weight: what the words are sorted by: probability, relevance or FREX.
    """

    word: str
    weight: float


def top_words(topics: TopicSet, row: int, n_words: int) -> list[WordWeight]:
    """Return the most probable words of the topic in this row, most probable first.

    >>> topics = TopicSet.of([[6.0, 2.0, 2.0], [1.0, 2.0, 7.0]], 0.1, ["cat", "the", "bank"])
    >>> top_words(topics, 0, 2)
    [WordWeight(word='cat', weight=0.6), WordWeight(word='the', weight=0.2)]
    """
    return _largest(topics, topics.probabilities(row), n_words)


def relevant_words(
    topics: TopicSet, row: int, n_words: int, relevance: float = RELEVANCE
) -> list[WordWeight]:
    """Return the most relevant words of the topic in this row, as in LDAvis.

    >>> topics = TopicSet.of([[4.0, 5.0, 1.0], [1.0, 5.0, 4.0]], 0.1, ["cat", "the", "bank"])
    >>> [top_words(topics, 0, 1)[0].word, relevant_words(topics, 0, 1)[0].word]
    ['the', 'cat']
    """
    scores = _relevance(topics, topics.probabilities(row), relevance)
    return _largest(topics, scores, n_words)


def relevant_columns(
    topics: TopicSet, row: int, n_words: int, relevance: float | Sequence[float] = RELEVANCE
) -> list[int]:
    """Return the columns of the words of `relevant_words`, in the same order.

    With several values of lambda, the columns of all words that are among the most relevant for
    any of them, in their order.

    >>> topics = TopicSet.of([[4.0, 5.0, 1.0], [1.0, 5.0, 4.0]], 0.1, ["cat", "the", "bank"])
    >>> relevant_columns(topics, 0, 2), relevant_columns(topics, 0, 1, [0.0, 0.5, 1.0])
    ([0, 1], [0, 1])
    """
    logs = _logs(topics, topics.probabilities(row))
    if isinstance(relevance, int | float):
        return _largest_columns(topics, _blended(*logs, relevance), n_words).tolist()
    found = [_largest_columns(topics, _blended(*logs, value), n_words) for value in relevance]
    return np.unique(np.concatenate(found)).tolist()


def word_frequencies(topics: TopicSet) -> Float64:
    """Return p_w, the probability of each word in all topics together, (V,).

    >>> word_frequencies(TopicSet.of([[4.0, 4.0], [1.0, 7.0]], 0.1)).tolist()
    [0.3125, 0.6875]
    """
    return _kept(
        topics,
        "_frequencies",
        lambda: topics.weights.sum(axis=0, dtype=np.float64) / topics.totals.sum(),
    )


def frex_words(
    topics: TopicSet, row: int, n_words: int, exclusivity: float = 0.5
) -> list[WordWeight]:
    """Return the words of the topic in this row that are frequent and exclusive (FREX).

    >>> topics = TopicSet.of([[4.0, 5.0, 1.0], [1.0, 5.0, 4.0]], 0.1, ["cat", "the", "bank"])
    >>> frex_words(topics, 0, 1)
    [WordWeight(word='cat', weight=0.8)]
    """
    if not 0 <= exclusivity <= 1:
        raise ValueError(f"exclusivity is {exclusivity}, expected a number from 0 to 1")
    shown = _shown(topics)
    beta = topics.probabilities(row)[shown]
    # Rounded, so that words of equal topics have equal ranks.
    exclusive = (beta / _sums_of_probabilities(topics)[shown]).round(9)
    ranks = [stats.rankdata(x, "max") / beta.size for x in (exclusive, beta)]
    scores = np.full(topics.n_words, -np.inf)
    scores[shown] = 1.0 / (exclusivity / ranks[0] + (1 - exclusivity) / ranks[1])
    return _largest(topics, scores, n_words)


def label_by_rule(topics: TopicSet, row: int) -> str:
    """Return the label of a topic that nobody labelled: its most relevant words.

    >>> label_by_rule(TopicSet.of([[6.0, 2.0, 1.0]], 0.1, ["cat", "dog", "bird"]), 0)
    'cat, dog, bird'
    """
    return ", ".join(found.word for found in relevant_words(topics, row, _WORDS_OF_A_LABEL))


def joint_label(topics: TopicSet, rows: list[int]) -> str:
    """Return a label for several topics together: the most relevant words of all their tokens.

    >>> topics = TopicSet.of([[6.0, 2.0, 1.0], [1.0, 2.0, 9.0]], 0.1, ["cat", "dog", "bird"])
    >>> joint_label(topics, [0, 1])
    'bird, cat, dog'
    """
    beta = topics.weights[rows].sum(axis=0, dtype=np.float64) / topics.totals[rows].sum()
    scores = _relevance(topics, beta, RELEVANCE)
    return ", ".join(found.word for found in _largest(topics, scores, _WORDS_OF_A_LABEL))


def label(topics: TopicSet, row: int) -> str:
    """Return the label that a topic was given, or else the one by rule.

    >>> topics = TopicSet.of([[6.0, 2.0, 1.0]], 0.1)
    >>> label(topics.with_names(topics.names.with_labels({0: "pets"})), 0)
    'pets'
    """
    given = topics.names.labels.get(topics.names.ids[row])
    return label_by_rule(topics, row) if given is None else given


def _relevance(topics: TopicSet, beta: Float64, relevance: float) -> Float64:
    return _blended(*_logs(topics, beta), relevance)


def _logs(topics: TopicSet, beta: Float64) -> tuple[Float64, Float64]:
    """log beta_kw and log(beta_kw / p_w), (V,)."""
    log_beta = np.log(beta)
    return log_beta, log_beta - _kept(topics, "_log_p", lambda: np.log(word_frequencies(topics)))


def _blended(log_beta: Float64, log_lift: Float64, relevance: float) -> Float64:
    if not 0 <= relevance <= 1:
        raise ValueError(f"relevance is {relevance}, expected a number from 0 to 1")
    return np.asarray(relevance * log_beta + (1 - relevance) * log_lift)


def _shown(topics: TopicSet) -> Array:
    """Columns that have a word."""
    return _kept(topics, "_shown", lambda: np.flatnonzero([bool(word) for word in topics.words]))


def _sums_of_probabilities(topics: TopicSet) -> Float64:
    """sum_j beta_jw, (V,)."""

    def compute() -> Float64:
        # Some words at a time: the product is of float64, and weights may be many.
        blocks = [
            (1.0 / topics.totals) @ topics.weights[:, first : first + _AT_ONCE]
            for first in range(0, topics.n_words, _AT_ONCE)
        ]
        return np.concatenate(blocks)

    return _kept(topics, "_sums", compute)


def _kept(topics: TopicSet, name: str, compute: Callable[[], Array]) -> Array:
    """Computed at the first call, and kept with the topics, which do not change."""
    if name not in vars(topics):
        vars(topics)[name] = compute()
    found: Array = vars(topics)[name]
    return found


def _largest(topics: TopicSet, scores: Float64, n_words: int) -> list[WordWeight]:
    """The words with the largest scores; of equal ones the first."""
    columns = _largest_columns(topics, scores, n_words)
    return [WordWeight(topics.words[column], float(scores[column])) for column in columns]


def _largest_columns(topics: TopicSet, scores: Float64, n_words: int) -> Index:
    if n_words < 0:
        raise ValueError(f"n_words is {n_words}, expected 0 or more")
    columns = _shown(topics)
    values = scores[columns]
    n = min(n_words, columns.size)
    if n == 0:
        return np.empty(0, np.int64)
    least = np.partition(values, values.size - n)[values.size - n]
    best = np.flatnonzero(values >= least)
    best = best[np.argsort(-values[best], kind="stable")[:n]]
    return np.asarray(columns[best])
