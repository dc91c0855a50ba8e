"""LDA's local step in Numba, where the time goes. Conventions as in `compiled`."""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np
from numba import njit

from trustream.kernels import LANES, elementary, simd

_OPTIONS = {"nogil": True, "cache": True, **elementary.JIT}
# A document whose rows of the table fit in this many numbers is copied once, to be read in order.
_TILE = 1 << 20


@njit(**_OPTIONS)
def scaled_exp_digamma(x, n, out, place):
    """out = exp(psi(x) + offset) from `place` on for the first n entries, 0 for the others.

    x and out have whole vectors.
    """
    for k in range(n, x.size):
        x[k] = x[0]  # not larger than the largest, whatever it is
    least = elementary.deficit(simd.load(x, 0))
    simd.store(out, place, least)
    for k in range(LANES, x.size, LANES):
        deficit = elementary.deficit(simd.load(x, k))
        simd.store(out, place + k, deficit)
        least = simd.minimum(least, deficit)
    offset = simd.smallest(least)
    for k in range(0, x.size, LANES):
        deficit = simd.load(out, place + k)
        scaled = elementary.scaled_exp_digamma(simd.load(x, k), deficit, simd.splat(offset))
        simd.store(out, place + k, scaled)
    for k in range(n, x.size):
        out[place + k] = 0
    return offset


@njit(**_OPTIONS)
def _pack(ids, counts, table, first, last, packed, weights):
    """Copy the table's rows of words first..last, one after the other; pad to whole vectors."""
    width = table.shape[1]
    flat = table.reshape(-1)
    n_words = last - first
    for i in range(n_words):
        row = np.int64(ids[first + i]) * width
        for k in range(0, width, LANES):
            simd.store(packed, i * width + k, simd.load(flat, row + k))
        weights[i] = counts[first + i]
    n_padded = (n_words + LANES - 1) // LANES * LANES
    ones = simd.splat(table.dtype.type(1))
    for i in range(n_words, n_padded):
        for k in range(0, width, LANES):
            simd.store(packed, i * width + k, ones)
        weights[i] = 0
    return n_padded


# One function, although long: a call that passes arrays counts references, and inside this loop
# that would cost more than the work.
@njit(**_OPTIONS)
def _pass(packed, weights, n_words, width, theta, total, last):
    """ratio_w = weights_w / sum_k theta_k table_wk over the packed words, eight at a time.

    Then total_k += sum_w ratio_w table_wk, or, the last time, weights_w = ratio_w.
    """
    zero = simd.splat(packed.dtype.type(0))
    for i in range(0, n_words, LANES):
        r0 = i * width
        r1, r2, r3, r4 = r0 + width, r0 + 2 * width, r0 + 3 * width, r0 + 4 * width
        r5, r6, r7 = r0 + 5 * width, r0 + 6 * width, r0 + 7 * width
        s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
        for k in range(0, width, LANES):
            t = simd.load(theta, k)
            s0 = simd.multiply_add(t, simd.load(packed, r0 + k), s0)
            s1 = simd.multiply_add(t, simd.load(packed, r1 + k), s1)
            s2 = simd.multiply_add(t, simd.load(packed, r2 + k), s2)
            s3 = simd.multiply_add(t, simd.load(packed, r3 + k), s3)
            s4 = simd.multiply_add(t, simd.load(packed, r4 + k), s4)
            s5 = simd.multiply_add(t, simd.load(packed, r5 + k), s5)
            s6 = simd.multiply_add(t, simd.load(packed, r6 + k), s6)
            s7 = simd.multiply_add(t, simd.load(packed, r7 + k), s7)
        ratio = simd.divide(simd.load(weights, i), simd.sums(s0, s1, s2, s3, s4, s5, s6, s7))
        if last:
            simd.store(weights, i, ratio)
            continue
        s0, s1, s2, s3 = (
            simd.lane(ratio, 0),
            simd.lane(ratio, 1),
            simd.lane(ratio, 2),
            simd.lane(ratio, 3),
        )
        s4, s5, s6, s7 = (
            simd.lane(ratio, 4),
            simd.lane(ratio, 5),
            simd.lane(ratio, 6),
            simd.lane(ratio, 7),
        )
        for k in range(0, width, LANES):
            t = simd.load(total, k)
            t = simd.multiply_add(s0, simd.load(packed, r0 + k), t)
            t = simd.multiply_add(s1, simd.load(packed, r1 + k), t)
            t = simd.multiply_add(s2, simd.load(packed, r2 + k), t)
            t = simd.multiply_add(s3, simd.load(packed, r3 + k), t)
            t = simd.multiply_add(s4, simd.load(packed, r4 + k), t)
            t = simd.multiply_add(s5, simd.load(packed, r5 + k), t)
            t = simd.multiply_add(s6, simd.load(packed, r6 + k), t)
            t = simd.multiply_add(s7, simd.load(packed, r7 + k), t)
            simd.store(total, k, t)


@njit(**_OPTIONS)
def lda_local(
    indptr, ids, counts, table, factor, alpha, gamma, theta, ratio, n_local, tol, start, stop
):
    """Local step of LDA for documents start..stop (Blei et al. 2003; supplement 3).

    Up to n_local times, until gamma moves by less than `tol` on average over topics:

        phi_dwk  proportional to  theta_dk table_wk,   theta_dk = exp(psi(gamma_dk)) factor_k
        gamma_dk = alpha_k + sum_w n_dw phi_dwk

    with factor_k = exp(-psi(sum_v lambda_kv)) up to a constant, so that table_wk factor_k is
    exp E[log beta_kw]. At the end theta[d] and ratio, in the order of the words, hold the last
    beliefs: n_dw phi_dwk = ratio_dw theta_dk table_wk.

    Args: indptr (B+1,), ids, counts and ratio (nnz,), table (W, padded K), factor and alpha (K,),
    gamma (B, K) in and out, theta (B, padded K) out.
    """
    n_topics, width = gamma.shape[1], table.shape[1]
    tile = max(LANES, _TILE // width // LANES * LANES)
    packed = np.empty(tile * width, table.dtype)
    weights = np.empty(tile, table.dtype)
    total = np.empty(width, table.dtype)
    belief = np.empty(width, table.dtype)
    current = np.empty(width, table.dtype)
    zero = table.dtype.type(0)
    for d in range(start, stop):
        begin, end = indptr[d], indptr[d + 1]
        n_padded = 0
        one_tile = end - begin <= tile
        if one_tile:
            n_padded = _pack(ids, counts, table, begin, end, packed, weights)
        for k in range(n_topics):
            current[k] = gamma[d, k]
        for _ in range(n_local):
            scaled_exp_digamma(current, n_topics, belief, 0)
            for k in range(n_topics):
                belief[k] *= factor[k]
            total[:] = zero
            for first in range(begin, end, tile):
                if not one_tile:
                    last = min(first + tile, end)
                    n_padded = _pack(ids, counts, table, first, last, packed, weights)
                _pass(packed, weights, n_padded, width, belief, total, False)
            change = zero
            for k in range(n_topics):
                updated = alpha[k] + belief[k] * total[k]
                change += abs(updated - current[k])
                current[k] = updated
            if change < tol * n_topics:
                break
        scaled_exp_digamma(current, n_topics, belief, 0)
        for k in range(n_topics):
            gamma[d, k] = current[k]
            belief[k] *= factor[k]
        for k in range(width):
            theta[d, k] = belief[k]
        for first in range(begin, end, tile):
            last = min(first + tile, end)
            if not one_tile:
                n_padded = _pack(ids, counts, table, first, last, packed, weights)
            _pass(packed, weights, n_padded, width, belief, total, True)
            for i in range(last - first):
                ratio[first + i] = weights[i]
