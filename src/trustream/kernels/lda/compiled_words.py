"""Kernels of LDA that go word by word, in Numba: expected statistics, blend, exp(psi)."""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import BLOCK, LANES, elementary, simd
from trustream.kernels.jit import njit
from trustream.kernels.lda.compiled_sweep import scaled_exp_digamma


@njit(**elementary.KERNEL)
def exp_digamma(rows, table, offset, start, stop):
    """table[w, k] = exp(psi(rows[w, k]) + offset[w]), entries of exp(psi) scaled row by row.

    offset[w] is chosen so that the largest entry of a row neither overflows nor underflows; what
    is smaller than the floor is raised to it, so that no sum over topics is zero.
    """
    n_topics, width = rows.shape[1], table.shape[1]
    row = np.empty(width, rows.dtype)
    flat = table.reshape(-1)
    for w in range(start, stop):
        for k in range(n_topics):
            row[k] = rows[w, k]
        offset[w] = scaled_exp_digamma(row, n_topics, flat, w * width)


@njit(**elementary.KERNEL)
def blend_rows(anchor, prior, statistics, rho, scale, rows, start, stop):
    """rows = (1 - rho) anchor + rho (prior + scale * statistics), word by word (equation 14).

    prior has shape (1, 1), (W, 1) or (W, K); statistics (W, 1) or (W, K).
    """
    n_topics = anchor.shape[1]
    keep = anchor.dtype.type(1 - rho)
    rate = anchor.dtype.type(rho)
    gain = anchor.dtype.type(rho * scale)
    for w in range(start, stop):
        v = min(w, prior.shape[0] - 1)
        if prior.shape[1] > 1:
            for k in range(n_topics):
                rows[w, k] = keep * anchor[w, k] + rate * prior[v, k]
        else:
            eta = rate * prior[v, 0]
            for k in range(n_topics):
                rows[w, k] = keep * anchor[w, k] + eta
        if statistics.shape[1] > 1:
            for k in range(n_topics):
                rows[w, k] += gain * statistics[w, k]
        else:
            same = gain * statistics[w, 0]
            for k in range(n_topics):
                rows[w, k] += same


@njit(**elementary.KERNEL)
def lda_statistics(
    word_ptr, documents, positions, ratio, theta, table, statistics, totals, start, stop
):
    """Expected statistics s_wk = sum_d n_dw phi_dwk of words start..stop, documents in order.

    `start` is a multiple of BLOCK; totals[b] is the sum over the words of block b, in float64.
    """
    n_topics = statistics.shape[1]
    row = np.empty(n_topics, table.dtype)
    for first in range(start, stop, BLOCK):
        block = first // BLOCK
        for k in range(n_topics):
            totals[block, k] = 0.0
        for w in range(first, min(first + BLOCK, stop)):
            for k in range(n_topics):
                row[k] = 0
            for i in range(word_ptr[w], word_ptr[w + 1]):
                weight, d = ratio[positions[i]], documents[i]
                for k in range(n_topics):
                    row[k] += weight * theta[d, k]
            for k in range(n_topics):
                value = row[k] * table[w, k]
                statistics[w, k] = value
                totals[block, k] += value


@njit(**elementary.KERNEL)
def lda_update(
    word_ptr,
    documents,
    positions,
    ratio,
    theta,
    old,
    stored,
    words,
    keep,
    base,
    gain,
    collapsed,
    rows,
    table,
    offset,
    totals,
    start,
    stop,
):
    """`lda_statistics` s of the table `old`, a blend, then `exp_digamma` of it, in one pass.

    The blend is keep * stored[words[w]] + base_w + gain * s_w, with base of shape (1, 1), (W, 1) or
    (W, K). That is equation 14 with lambda as `gather_rows` would find it and the prior in base.

    With `collapsed` the new table is the blended rows themselves, and offset is 0.
    What is not wanted is given without rows: `rows` of shape (0, K), `table` of shape (0, padded
    K). totals are those of the statistics. Without documents (`word_ptr` of shape (0,)) there are
    no statistics and no totals, and of `old` only the width counts.
    """
    n_topics, width = stored.shape[1], old.shape[1]
    share, factor = stored.dtype.type(keep), stored.dtype.type(gain)
    row = np.empty(width, old.dtype)
    beliefs, flat = theta.reshape(-1), table.reshape(-1)
    zero = simd.splat(old.dtype.type(0))
    has_documents = word_ptr.size > 0
    for first in range(start, stop, BLOCK):
        block = first // BLOCK
        if has_documents:
            for k in range(n_topics):
                totals[block, k] = 0.0
        for w in range(first, min(first + BLOCK, stop)):
            for k in range(0, width, LANES):
                simd.store(row, k, zero)
            begin, end = (word_ptr[w], word_ptr[w + 1]) if has_documents else (0, 0)
            for i in range(begin, end):
                weight = simd.splat(ratio[positions[i]])
                place = np.int64(documents[i]) * width
                for k in range(0, width, LANES):
                    total = simd.load(row, k)
                    simd.store(
                        row, k, simd.multiply_add(weight, simd.load(beliefs, place + k), total)
                    )
            if has_documents:
                for k in range(n_topics):
                    row[k] *= old[w, k]
                    totals[block, k] += row[k]
            v, b = words[w], min(w, base.shape[0] - 1)
            if base.shape[1] > 1:
                for k in range(n_topics):
                    row[k] = share * stored[v, k] + base[b, k] + factor * row[k]
            else:
                level = base[b, 0]
                for k in range(n_topics):
                    row[k] = share * stored[v, k] + level + factor * row[k]
            if rows.shape[0] > 0:
                for k in range(n_topics):
                    rows[w, k] = row[k]
            if table.shape[0] > 0:
                if collapsed:
                    offset[w] = 0
                    for k in range(n_topics):
                        flat[w * width + k] = row[k]
                    for k in range(n_topics, width):
                        flat[w * width + k] = 0
                else:
                    offset[w] = scaled_exp_digamma(row, n_topics, flat, w * width)
