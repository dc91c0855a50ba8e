"""LDA's local step in Numba, where the time goes. Conventions as in `compiled`."""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np
from numba import njit

from trustream.kernels import (
    ALL_TOPICS,
    ALL_TOPICS_FIRST,
    LANES,
    NEGLIGIBLE_ALPHA,
    UNUSED,
    elementary,
    simd,
)
from trustream.kernels.compiled_sweep import pack, scaled_exp_digamma, sweep, whole

_OPTIONS = {"nogil": True, "cache": True, **elementary.JIT}
# A document whose rows of the table fit in this many numbers is copied once, to be read in order.
_TILE = 1 << 20
# exp of more overflows float32; what it would multiply is zero then.
_LARGEST_LOG = 80.0


@njit(**_OPTIONS)
def _beliefs(gamma, n, factor, collapsed, belief):
    """belief = factor exp(psi(gamma) + offset), or factor gamma, of n topics, then 0.

    Returns exp(offset).
    """
    if collapsed:
        for k in range(n):
            belief[k] = gamma[k] * factor[k]
        for k in range(n, whole(n)):
            belief[k] = 0
        return belief.dtype.type(1)
    # Not the literal 0, for which Numba would compile the function once more.
    offset = scaled_exp_digamma(gamma, n, belief, n - n)
    for k in range(n):
        belief[k] *= factor[k]
    return belief.dtype.type(math.exp(min(offset, _LARGEST_LOG)))


@njit(**_OPTIONS)
def _smallest(x, n, rank):
    """Number `rank`, from 0, of the first n entries in order of size; moves them about.

    Quickselect (Hoare 1961). np.partition does the same and takes nine seconds to compile.
    """
    low, high = 0, n - 1
    while low < high:
        pivot, i, j = x[(low + high) // 2], low, high
        while i <= j:
            while x[i] < pivot:
                i += 1
            while x[j] > pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i, j = i + 1, j - 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return x[rank]


@njit(**_OPTIONS)
def _used(current, prior, n_active, least, most, kept, work):
    """Places of the `most` topics with the largest current - prior, of those with `least` of it.

    Returns their number, or n_active if leaving the others alone would not save half of the work.
    """
    if n_active > most:
        for j in range(n_active):
            work[j] = prior[j] - current[j]
        least = max(least, -_smallest(work, n_active, most - 1))
    n_kept = 0
    for j in range(n_active):
        if current[j] - prior[j] >= least:
            kept[n_kept] = j
            n_kept += 1
    return n_active if n_kept == 0 or 2 * whole(n_kept) > whole(n_active) else n_kept


@njit(**_OPTIONS)
def _leave(
    ids, table, collapsed, gamma, theta, active, current, prior, scale, n_active, kept, n_kept, rest
):
    """Go on with the topics at places `kept`; rest is what the others mean for the words.

    gamma and theta are those of the document; theta is 0 for topics that take part, and not scaled.
    Returns whether there is a rest.
    """
    n, has_rest = 0, False
    for j in range(n_active):
        k = active[j]
        if n < n_kept and kept[n] == j:
            active[n], current[n], prior[n], scale[n] = k, current[j], prior[j], scale[j]
            n += 1
            continue
        # Where it was going: without help a topic loses the few tokens that it has.
        gamma[k] = prior[j]
        if collapsed:
            theta[k] = prior[j] * scale[j]
        elif prior[j] > NEGLIGIBLE_ALPHA:
            theta[k] = math.exp(elementary.digamma(prior[j])) * scale[j]
        has_rest |= theta[k] > 0
    if has_rest:
        width, flat = table.shape[1], table.reshape(-1)
        parts = np.empty(LANES, table.dtype)
        for i in range(ids.size):
            row = np.int64(ids[i]) * width
            total = simd.splat(table.dtype.type(0))
            for k in range(0, width, LANES):
                total = simd.multiply_add(simd.load(theta, k), simd.load(flat, row + k), total)
            simd.store(parts, 0, total)
            rest[i] = 0
            for lane in range(LANES):
                rest[i] += parts[lane]
    return has_rest


@njit(**_OPTIONS)
def lda_local(
    indptr,
    ids,
    counts,
    table,
    factor,
    alpha,
    gamma,
    theta,
    ratio,
    collapsed,
    most,
    n_local,
    tol,
    start,
    stop,
):
    """Local step of LDA for documents start..stop (Blei et al. 2003; supplement 3).

    Up to n_local times, until gamma moves by less than `tol` on average over topics:

        phi_dwk  proportional to  theta_dk table_wk,   theta_dk = exp(psi(gamma_dk)) factor_k
        gamma_dk = alpha_k + sum_w n_dw phi_dwk

    with factor_k = exp(-psi(sum_v lambda_kv)) up to a constant, so that table_wk factor_k is
    exp E[log beta_kw]. At the end theta[d] and ratio, in the order of the words, hold the last
    beliefs: n_dw phi_dwk = ratio_dw theta_dk table_wk.

    `collapsed` takes theta_dk = gamma_dk factor_k, for a table of lambda and factors of one over
    its sums.

    With `most` > 0 (ALL_TOPICS is 0) the step goes on with the topics that a document uses: those
    with gamma_dk - alpha_k of UNUSED times an even share of the document or more, and after
    ALL_TOPICS_FIRST iterations at most `most` of them. The others are set to alpha_k and left
    alone, where that saves half of the work.

    Args: indptr (B+1,), ids, counts and ratio (nnz,), table (W, padded K), factor and alpha (K,),
    gamma (B, K) in and out, theta (B, padded K) out.
    """
    n_topics, width = gamma.shape[1], table.shape[1]
    longest = 0
    for d in range(start, stop):
        longest = max(longest, indptr[d + 1] - indptr[d])
    tile = min(max(LANES, _TILE // width // LANES * LANES), max(whole(longest), LANES))
    packed = np.empty(tile * width, table.dtype)
    weights = np.empty(tile, table.dtype)
    rest = np.empty(whole(longest), table.dtype)
    total = np.empty(width, table.dtype)
    belief = np.empty(width, table.dtype)
    # Of the active topics, in their order.
    current = np.empty(width, table.dtype)
    prior = np.empty(width, table.dtype)
    scale = np.empty(width, table.dtype)
    active = np.empty(n_topics, np.int64)
    kept = np.empty(n_topics, np.int64)
    zero = table.dtype.type(0)
    # Loops instead of slices: an assignment to a slice carries an error message, which takes longer
    # to compile than the rest.
    for d in range(start, stop):
        begin, end = indptr[d], indptr[d + 1]
        n_active = n_topics
        for k in range(n_topics):
            active[k], current[k], prior[k], scale[k] = k, gamma[d, k], alpha[k], factor[k]
        for k in range(width):
            theta[d, k] = 0
        length = zero
        for i in range(begin, end):
            length += counts[i]
        least = table.dtype.type(UNUSED * length / n_topics)
        for i in range(whole(end - begin)):
            rest[i] = 0
        has_rest, one_tile, is_packed, n_padded = False, end - begin <= tile, False, 0
        iteration, done = 0, n_local == 0
        while True:
            if most != ALL_TOPICS and not done:
                limit = most if iteration >= ALL_TOPICS_FIRST else n_topics
                n_kept = _used(current, prior, n_active, least, limit, kept, total)
                if n_kept < n_active:
                    has_rest |= _leave(
                        ids[begin:end], table, collapsed, gamma[d], theta[d], active, current,
                        prior, scale, n_active, kept, n_kept, rest,
                    )  # fmt: skip
                    n_active, is_packed = n_kept, False
            level = _beliefs(current, n_active, scale, collapsed, belief)
            rest_scale = level if has_rest else zero
            packed_width = whole(n_active)
            for j in range(packed_width):
                total[j] = 0
            for first in range(begin, end, tile):
                last = min(first + tile, end)
                if not is_packed:
                    n_padded = pack(
                        ids, counts, table, active, n_active, first, last, packed, weights
                    )
                sweep(
                    packed, weights, rest, rest_scale, first - begin, n_padded, packed_width,
                    belief, total, done,
                )  # fmt: skip
                if done:
                    for i in range(last - first):
                        ratio[first + i] = weights[i]
            if done:
                break
            is_packed = one_tile
            change = zero
            for j in range(n_active):
                updated = prior[j] + belief[j] * total[j]
                change += abs(updated - current[j])
                current[j] = updated
            iteration += 1
            done = change < tol * n_topics or iteration == n_local
        if has_rest:
            for k in range(n_topics):
                theta[d, k] *= level
        for j in range(n_active):
            gamma[d, active[j]] = current[j]
            theta[d, active[j]] = belief[j]
