"""Kernels of LDA for rows, in Numba: of lambda, of gamma, and of a matrix of counts.

lambda is stored lazily: row v stands for scale * stored[v] + shift * pattern[v].
"""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import LANES, elementary, simd
from trustream.kernels.jit import njit
from trustream.kernels.lda.compiled_sweep import whole

# Numbers are sorted by so many bits at a time.
_BITS = 11
_DIGITS = 1 << _BITS
_LAST_DIGIT = _DIGITS - 1
# Rows of lambda and of its mean that are written in turn, so that they stay in the cache.
_AT_ONCE = 32


@njit(**elementary.KERNEL)
def gather_rows(stored, words, scale, shift, pattern, rows, start, stop):
    """rows[i] = scale * stored[words[i]] + shift * pattern[words[i]], lambda kept lazily.

    pattern has shape (1, 1), (V, 1) or (V, K).
    """
    n_topics = stored.shape[1]
    factor = stored.dtype.type(scale)
    for i in range(start, stop):
        w = words[i]
        v = min(w, pattern.shape[0] - 1)
        if pattern.shape[1] > 1:
            for k in range(n_topics):
                rows[i, k] = factor * stored[w, k] + stored.dtype.type(shift * pattern[v, k])
        else:
            level = stored.dtype.type(shift * pattern[v, 0])
            for k in range(n_topics):
                rows[i, k] = factor * stored[w, k] + level


@njit(**elementary.INSIDE)
def _store(stored, words, scale, shift, pattern, rows, noted, start, stop):
    """See `scatter_rows`. With a call for each row this would take three times as long."""
    dtype, n_topics = stored.dtype.type, stored.shape[1]
    factor, exchanged = dtype(1 / scale), noted.size > 0
    before = np.empty(n_topics, stored.dtype)
    for i in range(start, stop):
        w = words[i]
        v = min(w, pattern.shape[0] - 1)
        # In loops of their own: inside of the next one they would take twice the time.
        if exchanged:
            for k in range(n_topics):
                before[k] = stored[w, k]
        if pattern.shape[1] > 1:
            for k in range(n_topics):
                stored[w, k] = factor * (rows[i, k] - dtype(shift * pattern[v, k]))
        else:
            level = dtype(shift * pattern[v, 0])
            for k in range(n_topics):
                stored[w, k] = factor * (rows[i, k] - level)
        if exchanged:
            for k in range(n_topics):
                rows[i, k] = before[k]
            noted[i] = True


@njit(**elementary.KERNEL)
def scatter_rows(stored, words, scale, shift, pattern, rows, noted, start, stop):
    """The inverse of gather_rows: stored[words[i]] = (rows[i] - shift * pattern) / scale.

    If `noted` has room, rows[i] becomes what stored[words[i]] was, and noted[i] says so: rows that
    are in the cache take a fifth of the time of writing to other memory.
    """
    _store(stored, words, scale, shift, pattern, rows, noted, start, stop)


@njit(**elementary.KERNEL)
def average_rows(
    mean, other, a, b, c, stored, words, scale, shift, pattern, rows, noted, old, old_noted,
    start, stop,
):  # fmt: skip
    """mean[w] += a rows[i] - b other[w] - c pattern[w] for w = words[i], then `scatter_rows`.

    `other` may be `stored`. If `old_noted` has room, old[i] becomes what mean[w] was, and
    old_noted[i] says so.
    """
    dtype, n_topics = mean.dtype.type, mean.shape[1]
    by_rows, by_other = dtype(a), dtype(b)
    for first in range(start, stop, _AT_ONCE):
        last = min(first + _AT_ONCE, stop)
        for i in range(first, last):
            w = words[i]
            v = min(w, pattern.shape[0] - 1)
            if old_noted.size > 0:
                for k in range(n_topics):
                    old[i, k] = mean[w, k]
                old_noted[i] = True
            if pattern.shape[1] > 1:
                for k in range(n_topics):
                    level = dtype(c * pattern[v, k])
                    mean[w, k] += by_rows * rows[i, k] - by_other * other[w, k] - level
            else:
                level = dtype(c * pattern[v, 0])
                for k in range(n_topics):
                    mean[w, k] += by_rows * rows[i, k] - by_other * other[w, k] - level
        _store(stored, words, scale, shift, pattern, rows, noted, first, last)


@njit(**elementary.INSIDE)
def _psi(row, n):
    """row = psi(row) for the first n entries; row has whole vectors. Returns their sum."""
    for k in range(n, row.size):
        row[k] = 1
    for k in range(0, row.size, LANES):
        simd.store(row, k, elementary.digamma(simd.load(row, k)))
    total = 0.0
    for k in range(n):
        total += row[k]
    return total


@njit(**elementary.KERNEL)
def psi_sums(rows, by_column):
    """by_column_k = sum_i psi(rows_ik), in float64.

    Returns sum_i psi(sum_k rows_ik), and the sum over rows of the largest part of each,
    max_k rows_ik / sum_k rows_ik.
    """
    n_rows, n = rows.shape
    row = np.empty(whole(n), rows.dtype)
    for k in range(n):
        by_column[k] = 0
    value = largest = 0.0
    for i in range(n_rows):
        total = 0.0
        for k in range(n):
            row[k] = rows[i, k]
            total += row[k]
        most = row[0]
        for k in range(1, n):
            most = max(most, row[k])
        largest += most / total
        _psi(row, n)
        for k in range(n):
            by_column[k] += row[k]
        value += elementary.digamma(total)
    return value, largest


@njit(**elementary.KERNEL)
def stored_psi_sums(stored, words, scale, level, sums, start, stop):
    """sums_i = sum_k psi(scale stored[words_i, k] + level_i), level of shape (1, 1) or (n, 1)."""
    n = stored.shape[1]
    factor = stored.dtype.type(scale)
    row = np.empty(whole(n), stored.dtype)
    for i in range(start, stop):
        w, shift = words[i], stored.dtype.type(level[min(i, level.shape[0] - 1), 0])
        for k in range(n):
            row[k] = factor * stored[w, k] + shift
        sums[i] = _psi(row, n)


@njit(**elementary.KERNEL)
def take_entries(indptr, indices, data, rows, words, counts):
    """Word numbers and counts of some rows of a CSR matrix, one row after the other.

    indptr, indices and data are the matrix's own, of any kind; words and counts have room for all.
    """
    place = 0
    for r in range(rows.size):
        for i in range(indptr[rows[r]], indptr[rows[r] + 1]):
            words[place] = indices[i]
            counts[place] = data[i]
            place += 1


@njit(**elementary.INSIDE)
def _sort(x, n, work):
    """Sort the first n entries, not negative, digit by digit from the lowest; `work` has room."""
    largest = 0
    for i in range(n):
        largest = max(largest, x[i])
    begins = np.empty(_DIGITS + 1, np.int64)
    shift = 0
    while largest >> shift > 0:
        for digit in range(_DIGITS + 1):
            begins[digit] = 0
        for i in range(n):
            begins[((x[i] >> shift) & _LAST_DIGIT) + 1] += 1
        for digit in range(_DIGITS):
            begins[digit + 1] += begins[digit]
        for i in range(n):
            digit = (x[i] >> shift) & _LAST_DIGIT
            work[begins[digit]] = x[i]
            begins[digit] += 1
        for i in range(n):
            x[i] = work[i]
        shift += _BITS


@njit(**elementary.KERNEL)
def index_words(
    indptr,
    global_ids,
    counts,
    lookup,
    words,
    ids,
    word_ptr,
    documents,
    positions,
    lengths,
    word_counts,
):
    """Number a batch's words in the vocabulary's order, and list each word's documents in order.

    In that order the rows of lambda are read and written one after the other.

    `lookup` (V,) is -1 everywhere, and again on return. `lengths` (B,) and `word_counts` (nnz,)
    are sums of counts over words and over documents, in float64. Returns W, the number of words;
    `words` (nnz,), `word_counts` and `word_ptr` (nnz+1,) are filled up to it.
    """
    n_words = indptr[0] - indptr[0]  # not the literal 0, for which Numba would compile twice
    for i in range(global_ids.size):
        # Without a branch, which would be guessed wrong for every other word.
        v = global_ids[i]
        words[n_words] = v
        n_words += lookup[v] < 0
        lookup[v] = 0
    _sort(words, n_words, documents)
    word_ptr[0] = 0
    for w in range(n_words):
        lookup[words[w]] = w
        word_ptr[w + 1] = 0
        word_counts[w] = 0.0
    for i in range(global_ids.size):
        w = lookup[global_ids[i]]
        ids[i] = w
        word_ptr[w + 1] += 1
        word_counts[w] += counts[i]
    for w in range(n_words):
        word_ptr[w + 1] += word_ptr[w]
        lookup[words[w]] = -1
    # word_ptr[w] runs through the places of word w, then everything moves one back.
    for d in range(indptr.size - 1):
        length = 0.0
        for i in range(indptr[d], indptr[d + 1]):
            place = word_ptr[ids[i]]
            documents[place] = d
            positions[place] = i
            word_ptr[ids[i]] = place + 1
            length += counts[i]
        lengths[d] = length
    for w in range(n_words, 0, -1):
        word_ptr[w] = word_ptr[w - 1]
    word_ptr[0] = 0
    return n_words
