"""Kernels for rows of lambda and rows of a matrix of counts, in NumPy: twins of `compiled`'s."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def gather_rows(
    stored: Array,
    words: Array,
    scale: float,
    shift: float,
    pattern: Array,
    rows: Array,
    start: int,
    stop: int,
) -> None:
    """rows = scale * stored + shift * pattern, for the given words."""
    w = words[start:stop]
    rows[start:stop] = scale * stored[w] + shift * (pattern[w] if len(pattern) > 1 else pattern)


def scatter_rows(
    stored: Array,
    words: Array,
    scale: float,
    shift: float,
    pattern: Array,
    rows: Array,
    start: int,
    stop: int,
) -> None:
    """stored = (rows - shift * pattern) / scale, for the given words."""
    w = words[start:stop]
    stored[w] = (rows[start:stop] - shift * (pattern[w] if len(pattern) > 1 else pattern)) / scale


def take_entries(
    indptr: Array, indices: Array, data: Array, rows: Array, words: Array, counts: Array
) -> None:
    """Word numbers and counts of some rows of a CSR matrix, one row after the other."""
    entries = [np.arange(indptr[row], indptr[row + 1]) for row in rows]
    place = np.concatenate([np.empty(0, np.int64), *entries])
    words[:], counts[:] = indices[place], data[place]


def index_words(
    indptr: Array,
    global_ids: Array,
    counts: Array,
    lookup: Array,
    words: Array,
    ids: Array,
    word_ptr: Array,
    documents: Array,
    positions: Array,
    lengths: Array,
    word_counts: Array,
) -> int:
    """Number a batch's words in the vocabulary's order, and list each word's documents in order."""
    unique, ids[:] = np.unique(global_ids, return_inverse=True)
    words[: unique.size] = unique
    positions[:] = np.argsort(ids, kind="stable")
    document = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    documents[:] = document[positions]
    lengths[:] = np.bincount(document, counts, indptr.size - 1)
    word_counts[: unique.size] = np.bincount(ids, counts, unique.size)
    word_ptr[0] = 0
    word_ptr[1 : unique.size + 1] = np.cumsum(np.bincount(ids, minlength=unique.size))
    return int(unique.size)
