"""Kernels of LDA for rows, in NumPy: of lambda, of gamma, and of a matrix of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

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
    noted: Array,
    start: int,
    stop: int,
) -> None:
    """stored = (rows - shift * pattern) / scale, for the given words.

    If `noted` has room, rows become what was stored.
    """
    w = words[start:stop]
    before = stored[w]
    stored[w] = (rows[start:stop] - shift * (pattern[w] if len(pattern) > 1 else pattern)) / scale
    if noted.size:
        rows[start:stop], noted[start:stop] = before, True


def average_rows(
    mean: Array,
    other: Array,
    a: float,
    b: float,
    c: float,
    stored: Array,
    words: Array,
    scale: float,
    shift: float,
    pattern: Array,
    rows: Array,
    noted: Array,
    old: Array,
    old_noted: Array,
    start: int,
    stop: int,
) -> None:
    """mean += a rows - b other - c pattern, for the given words, then `scatter_rows`.

    If `old_noted` has room, old rows become what the mean was.
    """
    w = words[start:stop]
    if old_noted.size:
        old[start:stop], old_noted[start:stop] = mean[w], True
    level = c * (pattern[w] if len(pattern) > 1 else pattern)
    mean[w] = mean[w] + (a * rows[start:stop] - b * other[w] - level)
    scatter_rows(stored, words, scale, shift, pattern, rows, noted, start, stop)


def psi_sums(rows: Array, by_column: Array) -> tuple[float, float]:
    """Sums of psi(rows) over rows; returns the sums of psi(sum of a row) and of largest parts."""
    values = rows.astype(np.float64)
    by_column[:] = special.digamma(values).sum(axis=0)
    totals = values.sum(axis=1)
    largest = values.max(axis=1, initial=0.0) / totals
    return float(special.digamma(totals).sum()), float(largest.sum())


def stored_psi_sums(
    stored: Array, words: Array, scale: float, level: Array, sums: Array, start: int, stop: int
) -> None:
    """Sums over columns of psi(scale stored[words] + level)."""
    values = scale * stored[words].astype(np.float64) + level
    sums[start:stop] = special.digamma(values[start:stop]).sum(axis=1)


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
