"""Topics by themselves: their top words, how much they differ, and how two models' topics match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.special import xlogy

DISTANCES = ("hellinger", "cosine", "jensen-shannon", "total-variation")
# Numbers of an array (topics, words) that are worked on at once.
_BLOCK = 2**20


def top_words(topics: Any, n_words: int) -> list[list[Any]]:
    """The first words of each topic, as numbers or as strings.

    Parameters
    ----------
    topics : array of shape (n_topics, n_features), or sequence of sequences of int or str
        Weights, of which the `n_words` largest are taken, the first of equal ones; or the words
        themselves, best first, of which the first `n_words` are taken.
    n_words : int
        At least 1.

    Examples
    --------
    >>> top_words(np.array([[0.1, 0.5, 0.2, 0.2]]), 3)
    [[1, 2, 3]]
    >>> top_words([["cat", "dog", "bird"]], 2)
    [['cat', 'dog']]
    """
    if n_words < 1:
        raise ValueError(f"n_words must be at least 1, got {n_words}")
    weights = _weights(topics)
    if weights is None:
        return _listed(topics, n_words)
    if n_words > weights.shape[1]:
        raise ValueError(
            f"n_words is {n_words}, but topics have {weights.shape[1]} words: take fewer"
        )
    return [_largest(row, n_words).tolist() for row in weights]


def width(topics: Any) -> int | None:
    """Number of words of an array of weights; None for lists of words.

    >>> width(np.ones((2, 5))), width([[0, 1]])
    (5, None)
    """
    weights = _weights(topics)
    return None if weights is None else weights.shape[1]


def _largest(row: np.ndarray, n: int) -> np.ndarray:
    """Places of the n largest numbers, largest first, the first of equal ones first."""
    # Sorting a whole vocabulary takes long; argpartition would choose freely among equal ones.
    least = np.partition(row, row.size - n)[row.size - n]
    candidates = np.flatnonzero(row >= least)
    return candidates[np.argsort(-row[candidates], kind="stable")[:n]]


def _weights(topics: Any) -> np.ndarray | None:
    """Topics as an array of weights, or None if they are lists of words."""
    if sp.issparse(topics):
        topics = topics.toarray()
    if isinstance(topics, str) or not hasattr(topics, "ndim"):
        return None
    array = np.asarray(topics)
    if array.dtype.kind in "UOST" and array.ndim == 2:
        return None
    if array.ndim != 2 or array.dtype.kind not in "biuf" or array.size == 0:
        raise ValueError(
            f"topics have shape {array.shape} and dtype {array.dtype}, expected numbers "
            "(n_topics, n_features), or a list of lists of words"
        )
    if array.dtype.kind in "bu":
        array = array.astype(np.int64)
    for k, row in enumerate(array):
        if np.isnan(row).any():
            raise ValueError(f"topic {k} has NaN among its weights: expected numbers")
    return array


def _listed(topics: Any, n_words: int) -> list[list[Any]]:
    """The first words of lists of words."""
    if isinstance(topics, str) or not isinstance(topics, Sequence | np.ndarray) or not len(topics):
        raise ValueError(
            f"topics are {_short(topics)}, expected an array (n_topics, n_features) or at least "
            "one list of words"
        )
    lists = []
    for k, topic in enumerate(topics):
        if isinstance(topic, str) or not hasattr(topic, "__len__"):
            raise ValueError(f"topic {k} is {_short(topic)}, expected a sequence of words")
        words = topic.tolist() if isinstance(topic, np.ndarray) else list(topic)
        words = [w.item() if isinstance(w, np.generic) else w for w in words[:n_words]]
        strings = sum(isinstance(word, str) for word in words)
        integers = sum(isinstance(word, int) and not isinstance(word, bool) for word in words)
        if not words or len(words) not in (strings, integers):
            raise ValueError(
                f"topic {k} is {_short(words)}, expected word numbers or strings; "
                "weights must come as an array (n_topics, n_features)"
            )
        if len(set(words)) < len(words):
            raise ValueError(f"topic {k} has a word twice: {_short(words)}; list each word once")
        lists.append(words)
    if len({type(words[0]) for words in lists}) > 1:
        raise ValueError("some topics are numbers and some strings, expected one kind")
    return lists


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def diversity(topics: Any, n_words: int = 25) -> float:
    """Share of different words among the top words of all topics.

    |union_k top_k| / sum_k |top_k|: 1 if no two topics share a word, 1 / K if all are the same.

    Parameters
    ----------
    topics : array of shape (n_topics, n_features), or sequence of sequences of int or str
        Weights, or top words, best first.
    n_words : int, default=25

    Examples
    --------
    >>> diversity([["cat", "dog"], ["cat", "fish"]], n_words=2)
    0.75
    """
    lists = top_words(topics, n_words)
    distinct = {word for words in lists for word in words}
    return len(distinct) / sum(len(words) for words in lists)


@dataclass(frozen=True, eq=False, repr=False)
class TopicMatch:
    """Which topic of one model is which of another, and how far they are apart.

    Attributes:
        pairs: (n_pairs, 2), topics of the first and of the second model, in order of the first.
        distances: (n_pairs,), from 0 (the same) to 1.
        distance: name of the distance.
        n_topics: of the first and of the second model; those in no pair have no partner.
    """

    pairs: np.ndarray
    distances: np.ndarray
    distance: str
    n_topics: tuple[int, int]

    @property
    def mean_distance(self) -> float:
        """Mean over pairs."""
        return float(self.distances.mean())

    @property
    def similarity(self) -> np.ndarray:
        """1 - distance of each pair, (n_pairs,): how stable each topic is."""
        return 1.0 - self.distances

    def __repr__(self) -> str:
        first, second = self.n_topics
        return (
            f"TopicMatch({len(self.pairs)} pairs of {first} and {second} topics, "
            f"mean {self.distance} distance {self.mean_distance:.4f})"
        )


def match_topics(first: Any, second: Any, distance: str = "hellinger") -> TopicMatch:
    """Pair the topics of two models so that the sum of distances is smallest.

    With p and q the topics as proportions, rows of weights over their sums:

    - hellinger: sqrt(sum_v (sqrt p_v - sqrt q_v)^2 / 2)
    - cosine: 1 - sum_v p_v q_v / (|p| |q|)
    - jensen-shannon: sqrt((KL(p, m) + KL(q, m)) / (2 log 2)), m = (p + q) / 2
    - total-variation: sum_v |p_v - q_v| / 2

    All lie between 0 and 1. The models may differ in the number of topics; the smaller number is
    paired. Memory beyond the arguments does not grow with the vocabulary.

    Parameters
    ----------
    first, second : array of shape (n_topics, n_features)
        Weights, not negative; a row need not sum to one.
    distance : {"hellinger", "cosine", "jensen-shannon", "total-variation"}, default="hellinger"

    Examples
    --------
    >>> topics = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    >>> match = match_topics(topics, topics[::-1])
    >>> match.pairs.tolist(), match.distances.tolist()
    ([[0, 1], [1, 0]], [0.0, 0.0])
    >>> match
    TopicMatch(2 pairs of 2 and 2 topics, mean hellinger distance 0.0000)
    """
    if distance not in DISTANCES:
        raise ValueError(f"distance must be one of {DISTANCES}, got {distance!r}")
    a, b = _checked("first", first), _checked("second", second)
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"first has {a.shape[1]} words and second {b.shape[1]}: "
            "both models must have the same vocabulary"
        )
    rows, columns = linear_sum_assignment(_all_distances(a, b, distance))
    pairs = np.stack([rows, columns], axis=1)
    return TopicMatch(pairs, _pair_distances(a, b, pairs, distance), distance, (len(a), len(b)))


def _checked(name: str, topics: Any) -> np.ndarray:
    """Weights of which proportions can be made, as they came."""
    try:
        weights = _weights(topics)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if weights is None:
        raise ValueError(f"{name} is {_short(topics)}, expected an array (n_topics, n_features)")
    for k, row in enumerate(weights):
        if row.min() < 0 or not 0 < row.max() < np.inf:
            raise ValueError(
                f"{name}: topic {k} has weights from {row.min()} to {row.max()}, expected "
                "proportions or counts: finite, not negative and not all zero"
            )
    return weights


def _all_distances(a: np.ndarray, b: np.ndarray, distance: str) -> np.ndarray:
    """Distances of all topics to all topics, (K1, K2)."""
    total = np.zeros((len(a), len(b)))
    for p, q in _blocks(a, b, distance):
        if distance in ("hellinger", "cosine"):
            # Of unit vectors: |p - q|^2 / 2 = 1 - p q, and that is a product of matrices.
            total -= p @ q.T
        else:
            for k, row in enumerate(p):
                total[k] += _terms(row, q, distance)
    if distance in ("hellinger", "cosine"):
        total += 1
    return _finished(total, distance)


def _pair_distances(a: np.ndarray, b: np.ndarray, pairs: np.ndarray, distance: str) -> np.ndarray:
    """Distances of the topics in pairs, (n_pairs,).

    Term by term, because products of matrices are off by rounding where topics agree.
    """
    total = np.zeros(len(pairs))
    for p, q in _blocks(a, b, distance):
        total += _terms(p[pairs[:, 0]], q[pairs[:, 1]], distance)
    return _finished(total, distance)


def _blocks(a: np.ndarray, b: np.ndarray, distance: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Some words at a time: proportions, or unit vectors where the distance is one of those."""
    scales = [_scale(weights, distance) for weights in (a, b)]
    step = max(1, _BLOCK // max(len(a), len(b)))
    for start in range(0, a.shape[1], step):
        words = slice(start, start + step)
        p, q = (w[:, words] / scale for w, scale in zip((a, b), scales, strict=True))
        yield (np.sqrt(p), np.sqrt(q)) if distance == "hellinger" else (p, q)


def _scale(weights: np.ndarray, distance: str) -> np.ndarray:
    """What rows are divided by, (K, 1)."""
    if distance != "cosine":
        return weights.sum(axis=1, dtype=np.float64, keepdims=True)
    norms = [np.sqrt(np.square(row, dtype=np.float64).sum()) for row in weights]
    return np.array(norms)[:, None]


def _terms(p: np.ndarray, q: np.ndarray, distance: str) -> np.ndarray:
    """A block's part of the sums in `match_topics`."""
    if distance == "total-variation":
        return np.abs(p - q).sum(axis=-1) / 2
    if distance == "jensen-shannon":
        # p log(p/m) + q log(q/m) with m = (p + q) / 2
        m = (p + q) / 2
        terms = (xlogy(p, p) + xlogy(q, q)) / 2 - xlogy(m, m)
        return terms.sum(axis=-1) / np.log(2)
    return np.square(p - q).sum(axis=-1) / 2


def _finished(total: np.ndarray, distance: str) -> np.ndarray:
    """Distances from the sums, between 0 and 1 whatever the rounding."""
    total = np.clip(total, 0, 1)
    return np.sqrt(total) if distance in ("hellinger", "jensen-shannon") else total
