"""Checks of what the estimators of held-out likelihood are given, and seeds."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from trustream import matrices

Array = NDArray[Any]

# Row sums of float32 topics are off by this much at worst; anything beyond is no rounding.
_TOLERANCE = 1e-3


def as_counts(counts: Any, name: str = "counts", may_be_empty: bool = False) -> sparse.csr_array:
    """Documents x words as CSR with whole numbers (int64); what came is left as it is.

    No document has more than `matrices.MOST_TOKENS`, so that sums are exact in float64.

    >>> as_counts([[2.0, 0.0]]).data
    array([2])
    """
    if not sparse.issparse(counts):
        matrices.check_frame(counts, name)
        counts = np.atleast_2d(np.asarray(counts))
        if counts.ndim != 2 or counts.dtype.kind not in "biuf":
            raise ValueError(
                f"{name} must be a documents x words matrix of numbers, got an array of shape "
                f"{counts.shape} and type {counts.dtype}"
            )
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
    if not whole.all():
        result = result.copy()  # the next works in place, and the arrays may be the caller's
        result.eliminate_zeros()
    if not may_be_empty and result.nnz == 0:
        raise ValueError(
            f"{name} has {result.shape[0]} documents and no tokens: there is nothing to score"
        )
    return result


def as_topics(topics: ArrayLike, name: str = "topics") -> tuple[Array, Array]:
    """topics (K, V) as they came, and their row sums (K,) to divide by.

    >>> as_topics([[0.25, 0.75]])[1]
    array([1.])
    """
    given = np.asarray(topics)
    if given.ndim != 2 or 0 in given.shape or given.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must have two dimensions and numbers in it, got shape {given.shape}"
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


def as_alpha(alpha: ArrayLike, n_topics: int) -> NDArray[np.float64]:
    """alpha as (K,) float64.

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
    """Same vocabulary, and no word occurs to which every topic gives probability zero."""
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


def positive(value: Any, name: str, least: int = 1) -> int:
    """A whole number that is large enough."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def seed_of(random_state: Any) -> int:
    """64 bits from None, a whole number, or a NumPy generator of either kind, which moves on."""
    if isinstance(random_state, np.random.RandomState):
        high, low = random_state.randint(0, 2**32, size=2, dtype=np.uint64).tolist()
        return int(high << 32 | low)
    generator = np.random.default_rng(random_state)
    return int(generator.integers(0, 2**64, dtype=np.uint64, endpoint=False))


def stream_keys(seed: int, first: int, last: int) -> NDArray[np.uint64]:
    """A key for each of the documents first..last, by the document's number alone."""
    with np.errstate(over="ignore"):
        x = np.arange(first, last, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x ^= np.uint64(seed)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _first(mask: Array) -> int:
    return int(np.flatnonzero(mask)[0])
