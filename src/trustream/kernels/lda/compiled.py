"""Kernels of LDA in Numba. Each has a twin of the same name and signature in `reference`.

Here stand psi and the terms of the bound; the other kernels are in files of their own.
"""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np

from trustream.kernels import BLOCK, LANES, elementary, simd
from trustream.kernels.jit import njit
from trustream.kernels.lda.compiled_left_out import leave_out, weighted_sums
from trustream.kernels.lda.compiled_local import lda_local
from trustream.kernels.lda.compiled_rows import (
    average_rows,
    gather_rows,
    index_words,
    psi_sums,
    scatter_rows,
    stored_psi_sums,
    take_entries,
)
from trustream.kernels.lda.compiled_words import (
    blend_rows,
    exp_digamma,
    lda_statistics,
    lda_update,
)

__all__ = [
    "average_rows",
    "blend_rows",
    "digamma",
    "dirichlet_terms",
    "exp_digamma",
    "gather_rows",
    "index_words",
    "lda_bound",
    "lda_local",
    "lda_statistics",
    "lda_update",
    "leave_out",
    "psi_sums",
    "scatter_rows",
    "stored_psi_sums",
    "take_entries",
    "weighted_sums",
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
        for k in range(rows.shape[1]):
            terms[block, 0, k] = terms[block, 1, k] = terms[block, 2, k] = 0.0
        for w in range(first, min(first + BLOCK, stop)):
            v = min(w, other.shape[0] - 1)
            for k in range(rows.shape[1]):
                x = np.float64(rows[w, k])
                y = np.float64(other[v, min(k, other.shape[1] - 1)])
                terms[block, 0, k] += math.lgamma(x)
                terms[block, 1, k] += math.lgamma(y)
                terms[block, 2, k] += (x - y) * elementary.digamma(x)
