"""LDA's local step in Numba, in which a fit spends most of its time."""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np

from trustream.kernels import LANES, elementary
from trustream.kernels.jit import njit
from trustream.kernels.lda import (
    ALL_TOPICS,
    ALL_TOPICS_FIRST,
    COLUMNS_ROOM,
    LONGEST_STRIDE,
    NARROW,
    STRIDES_FROM,
    UNUSED,
)
from trustream.kernels.lda.compiled_active_topics import (
    add_rest_of_columns,
    add_rest_of_rows,
    leave,
    used,
)
from trustream.kernels.lda.compiled_sweep import (
    keep_columns,
    pack_columns,
    scaled_exp_digamma,
    sweep_columns,
    sweep_rows,
    whole,
)

# exp of more overflows float32; what it would multiply is zero then.
_LARGEST_LOG = 80.0
# Squares of moves add up to this at least: where gamma stays, there is nothing to divide by.
_SMALLEST = 1e-30


@njit(**elementary.INSIDE)
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


@njit(**elementary.INSIDE)
def _advance(prior, belief, total, n_active, current, moved):
    """current = prior + belief total; moved = how far that moved it.

    Returns sum_k |moved_k|, and the ratio of this move to the last one along the direction of the
    last: the inner product of the two over the square of the last.
    """
    size = along = norm = current.dtype.type(0)
    for j in range(n_active):
        updated = prior[j] + belief[j] * total[j]
        move = updated - current[j]
        size += abs(move)
        along += move * moved[j]
        norm += moved[j] * moved[j]
        current[j], moved[j] = updated, move
    return size, along / max(norm, _SMALLEST)


@njit(**elementary.INSIDE)
def _stride(prior, moved, again, n_active, current):
    """Go on to where moves that shrink by the factor `again` each would end (Aitken 1926)."""
    again = max(again, 0.0)
    factor = again / (1 - again) if again < 1 else LONGEST_STRIDE
    factor = current.dtype.type(min(factor, LONGEST_STRIDE))
    for j in range(n_active):
        current[j] = max(current[j] + factor * moved[j], prior[j])


@njit(**elementary.KERNEL)
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
    strides,
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

    With `strides` every second move of gamma after STRIDES_FROM iterations is extrapolated, which
    takes half of the iterations or less to the same fixed point.

    With `most` > 0 (ALL_TOPICS is 0) the step goes on with the topics that a document uses: those
    with gamma_dk - alpha_k of UNUSED times an even share of the document or more, and after
    ALL_TOPICS_FIRST iterations at most `most` of them. The others are set to alpha_k and left
    out, where that saves work.

    Args: indptr (B+1,), ids, counts and ratio (nnz,), table (W, padded K), factor and alpha (K,),
    gamma (B, K) in and out, theta (B, padded K) out.
    """
    n_topics, width = gamma.shape[1], table.shape[1]
    longest = 0
    for d in range(start, stop):
        longest = max(longest, indptr[d + 1] - indptr[d])
    n_packed = min(COLUMNS_ROOM, whole(longest) * min(width, NARROW))
    packed = np.empty(n_packed, table.dtype)
    weights = np.empty(max(whole(longest), LANES), table.dtype)
    rest = np.empty(whole(longest), table.dtype)
    sums = np.empty(whole(NARROW) * LANES, table.dtype)
    total = np.empty(width, table.dtype)
    belief = np.empty(width, table.dtype)
    # Of the active topics, in their order.
    current = np.empty(width, table.dtype)
    prior = np.empty(width, table.dtype)
    scale = np.empty(width, table.dtype)
    moved = np.empty(width, table.dtype)
    left = np.empty(width, table.dtype)
    active = np.empty(n_topics, np.int64)
    kept = np.empty(n_topics, np.int64)
    zero = table.dtype.type(0)
    # Loops instead of slices: an assignment to a slice carries an error message, which takes longer
    # to compile than the rest.
    for k in range(width):
        left[k] = zero
    for d in range(start, stop):
        begin, end = indptr[d], indptr[d + 1]
        n_active = n_topics
        for k in range(n_topics):
            active[k], current[k], prior[k], scale[k] = k, gamma[d, k], alpha[k], factor[k]
        for k in range(width):
            theta[d, k] = 0
        n_words, length = end - begin, zero
        for i in range(n_words):
            weights[i] = counts[begin + i]
            length += weights[i]
        for i in range(n_words, whole(n_words)):
            weights[i] = 0
        least = table.dtype.type(UNUSED * length / n_topics)
        for i in range(whole(n_words)):
            rest[i] = 0
        widest = min(NARROW, COLUMNS_ROOM // max(whole(n_words), 1) // LANES * LANES)
        has_rest, has_moved, in_columns = False, False, False
        iteration, done = 0, n_local == 0
        while True:
            if most != ALL_TOPICS and not done:
                limit = most if iteration >= ALL_TOPICS_FIRST else n_topics
                n_kept = used(current, prior, n_active, least, limit, widest, kept, total)
                if n_kept < n_active:
                    leaves_rest = leave(
                        collapsed, gamma[d], theta[d], active, current, prior, scale, moved,
                        n_active, kept, n_kept, left,
                    )  # fmt: skip
                    if leaves_rest and in_columns:
                        add_rest_of_columns(packed, n_words, n_active, left, rest)
                    elif leaves_rest:
                        add_rest_of_rows(ids[begin:end], table, left, rest)
                    has_rest |= leaves_rest
                    if in_columns:
                        keep_columns(packed, n_words, n_active, kept, n_kept)
                    n_active = n_kept
            level = _beliefs(current, n_active, scale, collapsed, belief)
            rest_scale = level if has_rest else zero
            if n_active <= widest:
                if not in_columns:
                    in_columns = True
                    pack_columns(ids[begin:end], table, active, n_active, packed)
                sweep_columns(
                    packed, weights, rest, rest_scale, n_words, n_active, belief, sums, total, done
                )
            else:
                sweep_rows(ids[begin:end], table, weights, rest, rest_scale, belief, total, done)
            if done:
                break
            size, again = _advance(prior, belief, total, n_active, current, moved)
            iteration += 1
            done = size < tol * n_topics or iteration == n_local
            if has_moved and not done:
                _stride(prior, moved, again, n_active, current)
                has_moved = False
            else:
                has_moved = strides and iteration > STRIDES_FROM
        for i in range(n_words):
            ratio[begin + i] = weights[i]
        if has_rest:
            for k in range(n_topics):
                theta[d, k] *= level
        for j in range(n_active):
            gamma[d, active[j]] = current[j]
            theta[d, active[j]] = belief[j]
