"""Find the top words of topics, given as weights or as lists of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from trustream import matrices


def top_words(topics: Any, n_words: int) -> list[list[Any]]:
    """Return the top words of each topic, as numbers or as strings.

    Parameters
    ----------
    topics : array of shape (n_topics, n_features), or sequence of sequences of int or str
        Weights, of which the `n_words` largest are taken (of equal ones the first); or the words
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
    weights = topic_weights(topics)
    if weights is None:
        return _listed(topics, n_words)
    if n_words > weights.shape[1]:
        raise ValueError(
            f"n_words is {n_words}, but topics have {weights.shape[1]} words: take fewer"
        )
    return [_largest(row, n_words).tolist() for row in weights]


def _largest(row: np.ndarray, n: int) -> np.ndarray:
    """Positions of the n largest numbers, largest first; of equal ones the first comes first."""
    # Sorting a whole vocabulary is slow; argpartition would choose freely among equal numbers.
    least = np.partition(row, row.size - n)[row.size - n]
    candidates = np.flatnonzero(row >= least)
    values = row[candidates]
    # Inverting the bits reverses the order of integers, without a sign and without overflow.
    falling = ~values if values.dtype.kind in "iu" else -values
    return candidates[np.argsort(falling, kind="stable")[:n]]


def topic_weights(topics: Any) -> np.ndarray | None:
    """Return topics as an array of weights, or None if they are lists of words.

    >>> topic_weights([["cat", "dog"]]) is None
    True
    """
    if sp.issparse(topics):
        topics = matrices.csr(topics, "topics").toarray()
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
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    for k, row in enumerate(array):
        if np.isnan(row).any():
            raise ValueError(f"topic {k} has NaN among its weights: expected numbers")
    return array


def _listed(topics: Any, n_words: int) -> list[list[Any]]:
    """The first `n_words` words of each list."""
    if isinstance(topics, str) or not isinstance(topics, Sequence | np.ndarray) or not len(topics):
        raise ValueError(
            f"topics are {short(topics)}, expected an array (n_topics, n_features) or at least "
            "one list of words"
        )
    lists = []
    for k, topic in enumerate(topics):
        if isinstance(topic, str) or not hasattr(topic, "__len__"):
            raise ValueError(f"topic {k} is {short(topic)}, expected a sequence of words")
        words = topic.tolist() if isinstance(topic, np.ndarray) else list(topic)
        words = [w.item() if isinstance(w, np.generic) else w for w in words[:n_words]]
        strings = sum(isinstance(word, str) for word in words)
        integers = sum(isinstance(word, int) and not isinstance(word, bool) for word in words)
        if not words or len(words) not in (strings, integers):
            raise ValueError(
                f"topic {k} is {short(words)}, expected word numbers or strings; "
                "weights must come as an array (n_topics, n_features)"
            )
        if len(set(words)) < len(words):
            raise ValueError(f"topic {k} has a word twice: {short(words)}; list each word once")
        lists.append(words)
    if len({type(words[0]) for words in lists}) > 1:
        raise ValueError("some topics are numbers and some strings, expected one kind")
    return lists


def short(value: Any) -> str:
    """Return a value as a short text for a message.

    >>> short(list(range(100)))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16...'
    """
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
