"""Compare topics: how diverse those of one model are, and how those of two models match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from trustream.evaluation.word_lists import short, top_words, topic_weights
from trustream.kernels.threads import one_blas_thread

DISTANCES = ("hellinger", "cosine", "jensen-shannon", "total-variation")
# Numbers of an array (topics, words) that are processed at a time.
_BLOCK = 2**20


def diversity(topics: Any, n_words: int = 25) -> float:
    """Compute the share of distinct words among the top words of all topics.

    It is ``|union_k top_k| / sum_k |top_k|``: 1 if no two topics share a word, 1 / K if all are the
    same.

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
    """Pairs of topics of two models, and their distances.

    Attributes:
        pairs: (n_pairs, 2), topics of the first and of the second model, in order of the first.
        distances: (n_pairs,), from 0 (the same) to 1.
        distance: name of the distance.
        n_topics: numbers of topics of the first and the second model; some may be in no pair.
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
    - cosine: ``1 - sum_v p_v q_v / (|p| |q|)``
    - jensen-shannon: sqrt((KL(p, m) + KL(q, m)) / (2 log 2)), m = (p + q) / 2
    - total-variation: ``sum_v |p_v - q_v| / 2``

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


def topic_distances(topics: Any, distance: str = "hellinger") -> np.ndarray:
    """Compute the distances between all topics of a model.

    Parameters
    ----------
    topics : array of shape (n_topics, n_features)
        Weights, not negative; a row need not sum to one.
    distance : {"hellinger", "cosine", "jensen-shannon", "total-variation"}, default="hellinger"
        As in `match_topics`.

    Returns
    -------
    array of shape (n_topics, n_topics)
        Symmetric, from 0 to 1, with zeros on the diagonal.

    Examples
    --------
    >>> topic_distances(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    if distance not in DISTANCES:
        raise ValueError(f"distance must be one of {DISTANCES}, got {distance!r}")
    weights = _checked("topics", topics)
    found = _all_distances(weights, weights, distance)
    found = (found + found.T) / 2
    # Equal up to rounding, of which a root makes 1e-8.
    found[found < 1e-7] = 0.0
    found[np.diag_indices_from(found)] = 0.0
    return found


def _checked(name: str, topics: Any) -> np.ndarray:
    """Weights as given, refused where they cannot be normalised to proportions."""
    try:
        weights = topic_weights(topics)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if weights is None:
        raise ValueError(f"{name} is {short(topics)}, expected an array (n_topics, n_features)")
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
        if distance == "total-variation":
            total += cdist(p, q, "cityblock") / 2
        elif distance == "jensen-shannon":
            # With h(p) = sum_v p_v log p_v it is (h(p) + h(q)) / 2 - h(m), over log 2.
            h_q = _plogp(q).sum(axis=1)
            for k, row in enumerate(p):
                h_m = _plogp((row + q) / 2).sum(axis=1)
                total[k] += ((_plogp(row).sum() + h_q) / 2 - h_m) / np.log(2)
        else:
            # For unit vectors |p - q|^2 / 2 = 1 - p q, which is a product of matrices.
            with one_blas_thread():
                total -= p @ q.T
    if distance in ("hellinger", "cosine"):
        total += 1
    return _finished(total, distance)


def _pair_distances(a: np.ndarray, b: np.ndarray, pairs: np.ndarray, distance: str) -> np.ndarray:
    """Distances of the topics in pairs, (n_pairs,).

    Computed term by term, because products of matrices have rounding errors where topics agree.
    """
    total = np.zeros(len(pairs))
    for p, q in _blocks(a, b, distance):
        total += _terms(p[pairs[:, 0]], q[pairs[:, 1]], distance)
    return _finished(total, distance)


def _blocks(a: np.ndarray, b: np.ndarray, distance: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of words of both models, as proportions, or as unit vectors where `distance` needs."""
    scales = [_scale(weights, distance) for weights in (a, b)]
    step = max(1, _BLOCK // max(len(a), len(b)))
    for start in range(0, a.shape[1], step):
        words = slice(start, start + step)
        p, q = (w[:, words] / scale for w, scale in zip((a, b), scales, strict=True))
        yield (np.sqrt(p), np.sqrt(q)) if distance == "hellinger" else (p, q)


def _scale(weights: np.ndarray, distance: str) -> np.ndarray:
    """Sums or norms (K, 1) by which rows are divided."""
    if distance != "cosine":
        return weights.sum(axis=1, dtype=np.float64, keepdims=True)
    norms = [np.sqrt(np.square(row, dtype=np.float64).sum()) for row in weights]
    return np.array(norms)[:, None]


def _terms(p: np.ndarray, q: np.ndarray, distance: str) -> np.ndarray:
    """A block's part of the sums in `match_topics`, for row k of p and row k of q."""
    if distance == "total-variation":
        return np.abs(p - q).sum(axis=-1) / 2
    if distance == "jensen-shannon":
        terms = (_plogp(p) + _plogp(q)) / 2 - _plogp((p + q) / 2)
        return terms.sum(axis=-1) / np.log(2)
    return np.square(p - q).sum(axis=-1) / 2


def _plogp(p: np.ndarray) -> np.ndarray:
    """p log p, 0 where p is 0; several times faster than SciPy's xlogy."""
    return p * np.log(np.maximum(p, np.finfo(np.float64).tiny))


def _finished(total: np.ndarray, distance: str) -> np.ndarray:
    """Distances from the sums, clipped to 0 and 1 because of rounding."""
    total = np.clip(total, 0, 1)
    return np.sqrt(total) if distance in ("hellinger", "jensen-shannon") else total
