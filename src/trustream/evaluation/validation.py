"""Validate the arguments of evaluation functions, and derive random streams from a seed."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from trustream import _texts, matrices
from trustream.array_types import Array, Float64

# Rounding in float32 changes row sums of topics by less than this; a larger error is a mistake.
_TOLERANCE = 1e-3


def as_counts(counts: Any, name: str = "counts", may_be_empty: bool = False) -> sparse.csr_array:
    """Return counts of words, (documents, words), in CSR form and int64.

    The argument is not modified. Documents of more than `matrices.MOST_TOKENS` tokens are refused,
    so that sums are exact in float64.

    >>> as_counts([[2.0, 0.0]]).data
    array([2])
    """
    if not sparse.issparse(counts):
        matrices.check_frame(counts, name)
        try:
            array = np.atleast_2d(np.asarray(counts))
        except ValueError:
            _texts.refuse(counts, name)
            raise
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            _texts.refuse(counts, name)
            raise ValueError(
                f"{name} must be a documents x words matrix of numbers, got an array of shape "
                f"{array.shape} and type {array.dtype}"
            )
        counts = array
    given = matrices.csr(counts, name, summed=True)
    data = given.data
    if data.dtype.kind == "f" and not np.isfinite(data).all():
        raise ValueError(f"{name} has entries that are NaN or infinite; give whole numbers")
    if data.size and data.min() < 0:
        raise ValueError(f"{name} has negative entries; give the number of times a word occurs")
    matrices.check_tokens(given, name)
    whole = data.astype(np.int64)
    if data.dtype.kind == "f" and (whole != data).any():
        bad = data[whole != data][0]
        raise ValueError(
            f"{name} must be whole numbers, got {bad:g}: the likelihood is of single tokens; "
            "do not weight or normalise the counts"
        )
    result = sparse.csr_array((whole, given.indices, given.indptr), shape=given.shape)
    result = matrices.without_zeros(result)
    if not may_be_empty and result.nnz == 0:
        raise ValueError(
            f"{name} has {result.shape[0]} documents and no tokens: there is nothing to score"
        )
    return result


def as_topics(topics: ArrayLike, name: str = "topics") -> tuple[Array, Array]:
    """Return topics (K, V) as given, and their row sums (K,) by which to divide them.

    >>> as_topics([[0.25, 0.75]])[1]
    array([1.])
    """
    given = np.asarray(topics)
    if given.ndim != 2 or 0 in given.shape or given.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be an array of numbers with two dimensions, got shape {given.shape}"
        )
    sums = given.sum(axis=1, dtype=np.float64)
    if not np.isfinite(sums).all():
        raise ValueError(f"{name} has NaN or infinite entries, in row {_first(~np.isfinite(sums))}")
    if given.min() < 0:
        raise ValueError(f"{name} has negative entries, in row {_first(given.min(axis=1) < 0)}")
    wrong = np.abs(sums - 1) > _TOLERANCE
    if wrong.any():
        k = _first(wrong)
        raise ValueError(
            f"rows of {name} must sum to 1, but row {k} sums to {sums[k]:g}; divide pseudo-counts "
            "by their row sums: x / x.sum(axis=1, keepdims=True)"
        )
    return given, sums


def as_alpha(alpha: ArrayLike, n_topics: int) -> Float64:
    """Return alpha as an array (K,) of float64.

    >>> as_alpha(0.5, 2)
    array([0.5, 0.5])
    """
    given = np.asarray(alpha, dtype=np.float64)
    if given.ndim > 1 or (given.ndim == 1 and given.size != n_topics):
        raise ValueError(
            f"alpha must be a number or one for each of the {n_topics} topics, "
            f"got shape {given.shape}"
        )
    if not (np.isfinite(given) & (given > 0)).all():
        raise ValueError(f"alpha must be positive and finite, got {given.min():g}")
    return np.broadcast_to(given, (n_topics,)).copy()


def check_fit(counts: sparse.csr_array, topics: Array, name: str = "counts") -> None:
    """Refuse counts with another vocabulary, or with a word that is impossible in every topic."""
    if counts.shape[1] != topics.shape[1]:
        raise ValueError(
            f"{name} has {counts.shape[1]} words and topics has {topics.shape[1]}; count with the "
            "vocabulary of the model"
        )
    words = np.unique(counts.indices)
    impossible = words[topics.max(axis=0)[words] == 0]
    if impossible.size:
        raise ValueError(
            f"word {impossible[0]} occurs, but every topic gives it probability zero, so that the "
            f"log-likelihood is minus infinity ({impossible.size} such words); smooth the topics "
            "or leave the words out"
        )


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """Return `value` as an int; other types and numbers below `least` are refused.

    >>> whole_number("n", 3)
    3
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def as_interactions(matrix: Any, name: str) -> sparse.csr_array:
    """Return a copy of a (users, items) matrix in CSR form and float64, without stored zeros.

    >>> as_interactions([[0, 2], [0, 0]], "seen").nnz
    1
    """
    given = matrices.csr(matrix, name, summed=True)
    result = sparse.csr_array(given, dtype=np.float64, copy=True)
    if not np.isfinite(result.data).all():
        raise ValueError(f"{name} has entries that are NaN or infinite, expected finite numbers")
    result.eliminate_zeros()
    return result


def seed_of(random_state: Any) -> int:
    """Return 64 bits drawn from None, an integer, or a NumPy generator of either kind."""
    if isinstance(random_state, np.random.RandomState):
        high, low = random_state.randint(0, 2**32, size=2, dtype=np.uint64).tolist()
        return int(high << 32 | low)
    generator = np.random.default_rng(random_state)
    return int(generator.integers(0, 2**64, dtype=np.uint64, endpoint=False))


def stream_keys(seed: int, first: int, last: int) -> NDArray[np.uint64]:
    """Return a key for the random stream of each document first, ..., last - 1.

    A key depends only on the seed and the document's index.
    """
    with np.errstate(over="ignore"):
        x = np.arange(first, last, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x ^= np.uint64(seed)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _first(mask: Array) -> int:
    return int(np.flatnonzero(mask)[0])
