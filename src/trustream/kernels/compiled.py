"""Kernels in Numba. Each has a twin of the same name and signature in `reference`.

Conventions: a kernel works on the range [start, stop) of documents or words, writes only what
belongs to that range, takes outputs as arguments and releases the interpreter lock. Real arrays
are all float32 or all float64; sums over many rows are float64 arrays. `table` and `theta` have
their topics padded with zeros to a multiple of `kernels.LANES`.
"""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np
from numba import njit

from trustream.kernels import BLOCK, LANES, elementary, simd
from trustream.kernels.compiled_local import lda_local
from trustream.kernels.compiled_priors import (
    dirichlet_direction,
    dirichlet_evidence,
    dirichlet_step,
    psi_sums,
)
from trustream.kernels.compiled_words import (
    blend_rows,
    exp_digamma,
    lda_statistics,
    lda_update,
)

__all__ = [
    "blend_rows",
    "digamma",
    "dirichlet_direction",
    "dirichlet_evidence",
    "dirichlet_step",
    "dirichlet_terms",
    "exp_digamma",
    "gather_rows",
    "index_words",
    "lda_bound",
    "lda_local",
    "lda_statistics",
    "lda_update",
    "psi_sums",
    "scatter_rows",
    "take_entries",
]


@njit(**elementary.KERNEL)
def digamma(x, out):
    """out = psi(x) for positive x, one-dimensional."""
    n_whole = x.size // LANES * LANES
    for i in range(0, n_whole, LANES):
        simd.store(out, i, elementary.digamma(simd.load(x, i)))
    for i in range(n_whole, x.size):
        out[i] = elementary.digamma(x[i])


@njit(**elementary.KERNEL)
def lda_bound(indptr, ids, counts, table, offset, factor, alpha, gamma, bound, start, stop):
    """Lower bound of each document given beta's beliefs, phi optimal given gamma, in nats.

        sum_w n_w log sum_k exp(E[log theta_k] + E[log beta_kw])
        + sum_k { (alpha_k - gamma_k) E[log theta_k] + log G(gamma_k) - log G(alpha_k) }
        + log G(sum alpha) - log G(sum gamma)

    with exp E[log beta_kw] = table_wk factor_k exp(-offset_w). All sums in float64.
    """
    n_topics = gamma.shape[1]
    expected = np.empty(n_topics)
    prior = 0.0
    alpha_sum = 0.0
    for k in range(n_topics):
        prior -= math.lgamma(alpha[k])
        alpha_sum += alpha[k]
    prior += math.lgamma(alpha_sum)
    for d in range(start, stop):
        gamma_sum = 0.0
        for k in range(n_topics):
            gamma_sum += gamma[d, k]
        psi_sum = elementary.digamma(gamma_sum)
        value = prior - math.lgamma(gamma_sum)
        largest = -np.inf
        for k in range(n_topics):
            x = np.float64(gamma[d, k])
            expected[k] = elementary.digamma(x) - psi_sum
            value += (alpha[k] - x) * expected[k] + math.lgamma(x)
            largest = max(largest, expected[k])
        for k in range(n_topics):
            expected[k] = math.exp(expected[k] - largest) * factor[k]
        for i in range(indptr[d], indptr[d + 1]):
            w = ids[i]
            likelihood = 0.0
            for k in range(n_topics):
                likelihood += expected[k] * table[w, k]
            value += counts[i] * (math.log(likelihood) + largest - offset[w])
        bound[d] = value


@njit(**elementary.KERNEL)
def dirichlet_terms(rows, other, terms, start, stop):
    """Sums over words that the divergence of two Dirichlets needs, by topic, in float64.

    terms[b, 0] = sum_w log G(rows_wk), terms[b, 1] = sum_w log G(other_wk),
    terms[b, 2] = sum_w (rows_wk - other_wk) psi(rows_wk), over the words of block b.

    `other` has shape (1, 1), (W, 1) or (W, K); `start` is a multiple of BLOCK.
    """
    for first in range(start, stop, BLOCK):
        block = first // BLOCK
        terms[block, :, :] = 0.0
        for w in range(first, min(first + BLOCK, stop)):
            v = min(w, other.shape[0] - 1)
            for k in range(rows.shape[1]):
                x = np.float64(rows[w, k])
                y = np.float64(other[v, min(k, other.shape[1] - 1)])
                terms[block, 0, k] += math.lgamma(x)
                terms[block, 1, k] += math.lgamma(y)
                terms[block, 2, k] += (x - y) * elementary.digamma(x)


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


@njit(**elementary.KERNEL)
def scatter_rows(stored, words, scale, shift, pattern, rows, start, stop):
    """The inverse of gather_rows: stored[words[i]] = (rows[i] - shift * pattern) / scale."""
    n_topics = stored.shape[1]
    factor = stored.dtype.type(1 / scale)
    for i in range(start, stop):
        w = words[i]
        v = min(w, pattern.shape[0] - 1)
        if pattern.shape[1] > 1:
            for k in range(n_topics):
                stored[w, k] = factor * (rows[i, k] - stored.dtype.type(shift * pattern[v, k]))
        else:
            level = stored.dtype.type(shift * pattern[v, 0])
            for k in range(n_topics):
                stored[w, k] = factor * (rows[i, k] - level)


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
    """Number a batch's words in order of appearance, and list each word's documents in order.

    `lookup` (V,) is -1 everywhere, and again on return. `lengths` (B,) and `word_counts` (nnz,)
    are sums of counts over words and over documents, in float64. Returns W, the number of words;
    `words` (nnz,), `word_counts` and `word_ptr` (nnz+1,) are filled up to it.
    """
    n_words = 0
    for i in range(global_ids.size):
        v = global_ids[i]
        w = lookup[v]
        if w < 0:
            w = n_words
            lookup[v] = w
            words[w] = v
            word_ptr[w + 1] = 0
            word_counts[w] = 0.0
            n_words += 1
        ids[i] = w
        word_ptr[w + 1] += 1
        word_counts[w] += counts[i]
    word_ptr[0] = 0
    for w in range(n_words):
        word_ptr[w + 1] += word_ptr[w]
        lookup[words[w]] = -1
    # word_ptr[w] runs through the places of word w, then everything moves one back.
    for d in range(indptr.size - 1):
        lengths[d] = 0.0
        for i in range(indptr[d], indptr[d + 1]):
            place = word_ptr[ids[i]]
            documents[place] = d
            positions[place] = i
            word_ptr[ids[i]] += 1
            lengths[d] += counts[i]
    for w in range(n_words, 0, -1):
        word_ptr[w] = word_ptr[w - 1]
    word_ptr[0] = 0
    return n_words
