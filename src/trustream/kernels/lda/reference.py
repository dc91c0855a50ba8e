"""Kernels of LDA in NumPy: the equations as they stand, for reading and for testing `compiled`.

Same names and signatures as in `compiled`; see there for shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from trustream.kernels import BLOCK, LANES
from trustream.kernels.lda import (
    ALL_TOPICS,
    ALL_TOPICS_FIRST,
    COLUMNS_ROOM,
    FLOOR,
    LONGEST_STRIDE,
    NARROW,
    NEGLIGIBLE_ALPHA,
    STRIDES_FROM,
    UNUSED,
    WORTH_LEAVING,
)
from trustream.kernels.lda.reference_left_out import leave_out, weighted_sums
from trustream.kernels.lda.reference_rows import (
    average_rows,
    gather_rows,
    index_words,
    psi_sums,
    scatter_rows,
    stored_psi_sums,
    take_entries,
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

Array = NDArray[Any]


def digamma(x: Array, out: Array) -> None:
    """out = psi(x)."""
    out[:] = special.digamma(x.astype(np.float64))


def _scaled_exp_digamma(x: Array) -> tuple[Array, Array]:
    """exp(psi(x) + offset) with the largest entry of the last axis at 1, floored; and offset."""
    psi = special.digamma(x.astype(np.float64))
    offset = -psi.max(axis=-1, keepdims=True)
    return np.maximum(np.exp(psi + offset), FLOOR[x.dtype.name]), offset[..., 0]


def exp_digamma(rows: Array, table: Array, offset: Array, start: int, stop: int) -> None:
    """table = exp(psi(rows) + offset), row by row."""
    table[start:stop] = 0
    table[start:stop, : rows.shape[1]], offset[start:stop] = _scaled_exp_digamma(rows[start:stop])


def blend_rows(
    anchor: Array,
    prior: Array,
    statistics: Array,
    rho: float,
    scale: float,
    rows: Array,
    start: int,
    stop: int,
) -> None:
    """rows = (1 - rho) anchor + rho (prior + scale * statistics)."""
    part = slice(start, stop)
    eta = prior[part] if prior.shape[0] > 1 else prior
    rows[part] = (1 - rho) * anchor[part] + rho * (eta + scale * statistics[part])


def lda_local(
    indptr: Array,
    ids: Array,
    counts: Array,
    table: Array,
    factor: Array,
    alpha: Array,
    gamma: Array,
    theta: Array,
    ratio: Array,
    collapsed: bool,
    most: int,
    n_local: int,
    tol: float,
    strides: bool,
    start: int,
    stop: int,
) -> None:
    """Local step of LDA: phi and gamma in turn, document by document."""
    n_topics = gamma.shape[1]
    for d in range(start, stop):
        words = slice(indptr[d], indptr[d + 1])
        beta, n = table[ids[words], :n_topics], counts[words]
        active = np.arange(n_topics)
        # Beliefs in the topics that are left alone, and what these mean for the words.
        alone, rest = np.zeros(n_topics), np.zeros(n.size)
        # The last move of gamma, where it is to be extrapolated.
        moved = None
        for iteration in range(1, n_local + 1):
            if most != ALL_TOPICS:
                limit = most if iteration > ALL_TOPICS_FIRST else n_topics
                least = UNUSED * n.sum() / n_topics
                kept = _used((gamma[d] - alpha)[active], least, limit, n.size)
                left, active = active[~kept], active[kept]
                gamma[d, left] = alpha[left]
                alone[left] = _unscaled_belief(gamma[d, left], collapsed) * factor[left]
                rest += beta[:, left] @ alone[left]
            belief, scale = _belief(gamma[d, active], factor[active], collapsed)
            share = n / (beta[:, active] @ belief + scale * rest)
            updated = alpha[active] + belief * (share @ beta[:, active])
            move = np.zeros(n_topics)
            move[active] = updated - gamma[d, active]
            gamma[d, active] = updated
            if np.abs(move).sum() / n_topics < tol:
                break
            if moved is not None and iteration < n_local:
                goal = updated + _stride(moved[active], move[active])
                gamma[d, active] = np.maximum(goal, alpha[active])
                moved = None
            else:
                moved = move if strides and iteration > STRIDES_FROM else None
        belief, scale = _belief(gamma[d, active], factor[active], collapsed)
        theta[d] = 0
        theta[d, :n_topics] = scale * alone
        theta[d, active] = belief
        ratio[words] = n / (beta[:, active] @ belief + scale * rest)


def _belief(gamma: Array, factor: Array, collapsed: bool) -> tuple[Array, float]:
    """exp(psi(gamma)) factor times a scale, or gamma factor; and that scale."""
    if collapsed:
        return gamma * factor, 1.0
    scaled, offset = _scaled_exp_digamma(gamma)
    return scaled * factor, float(np.exp(min(float(offset), 80.0)))


def _unscaled_belief(gamma: Array, collapsed: bool) -> Array:
    """The same without factor and scale, of topics without tokens; what is negligible is 0."""
    if collapsed:
        return gamma
    return np.where(gamma > NEGLIGIBLE_ALPHA, np.exp(special.digamma(gamma.astype(np.float64))), 0)


def _stride(first: Array, second: Array) -> Array:
    """What is left to go after two moves, if all shrink by the same factor (Aitken 1926)."""
    again = max(float(second @ first / max(first @ first, 1e-30)), 0.0)
    factor = again / (1 - again) if again < 1 else LONGEST_STRIDE
    return min(factor, LONGEST_STRIDE) * second


def _used(tokens: Array, least: float, most: int, n_words: int) -> NDArray[np.bool_]:
    """Which topics to go on with: the `most` with the largest tokens, of those with `least`."""
    if tokens.size > most:
        least = max(least, np.partition(tokens, -most)[-most])
    kept = tokens >= least
    before, after = tokens.size, int(kept.sum())
    padded = max(-(-n_words // LANES), 1) * LANES
    widest = min(NARROW, COLUMNS_ROOM // padded // LANES * LANES)
    if before <= widest:
        worth = before > LANES and after <= WORTH_LEAVING * before
    else:
        worth = after <= min(before // 2, widest)
    return kept if kept.any() and worth else np.ones(tokens.size, bool)


def lda_statistics(
    word_ptr: Array,
    documents: Array,
    positions: Array,
    ratio: Array,
    theta: Array,
    table: Array,
    statistics: Array,
    totals: Array,
    start: int,
    stop: int,
) -> None:
    """s_wk = table_wk sum_d ratio_dw theta_dk, and its sums over blocks of words."""
    n_topics = statistics.shape[1]
    for w in range(start, stop):
        entries = slice(word_ptr[w], word_ptr[w + 1])
        weights = ratio[positions[entries]]
        statistics[w] = table[w, :n_topics] * (weights @ theta[documents[entries], :n_topics])
    for first in range(start, stop, BLOCK):
        block = statistics[first : min(first + BLOCK, stop)]
        totals[first // BLOCK] = block.sum(axis=0, dtype=np.float64)


def lda_update(
    word_ptr: Array,
    documents: Array,
    positions: Array,
    ratio: Array,
    theta: Array,
    old: Array,
    stored: Array,
    words: Array,
    keep: float,
    base: Array,
    gain: float,
    collapsed: bool,
    rows: Array,
    table: Array,
    offset: Array,
    totals: Array,
    start: int,
    stop: int,
) -> None:
    """`lda_statistics` s of the table `old`, keep stored + base + gain s, `exp_digamma` of it."""
    statistics = np.zeros((words.size, stored.shape[1]), stored.dtype)
    if word_ptr.size > 0:
        lda_statistics(
            word_ptr, documents, positions, ratio, theta, old, statistics, totals, start, stop
        )
    blended = (keep * stored[words] + base + gain * statistics).astype(stored.dtype)
    if rows.shape[0] > 0:
        rows[start:stop] = blended[start:stop]
    if table.shape[0] > 0 and collapsed:
        part, n_topics = slice(start, stop), stored.shape[1]
        table[part, :n_topics], table[part, n_topics:], offset[part] = blended[part], 0, 0
    elif table.shape[0] > 0:
        exp_digamma(blended, table, offset, start, stop)


def lda_bound(
    indptr: Array,
    ids: Array,
    counts: Array,
    table: Array,
    offset: Array,
    factor: Array,
    alpha: Array,
    gamma: Array,
    bound: Array,
    start: int,
    stop: int,
) -> None:
    """Lower bound of each document given beta's beliefs, phi optimal given gamma."""
    a = alpha.astype(np.float64)
    for d in range(start, stop):
        g = gamma[d].astype(np.float64)
        words = slice(indptr[d], indptr[d + 1])
        expected = special.digamma(g) - special.digamma(g.sum())
        log_beta = np.log(table[ids[words], : g.size].astype(np.float64) * factor)
        log_beta -= offset[ids[words], np.newaxis]
        likelihood = special.logsumexp(expected + log_beta, axis=1)
        bound[d] = (
            counts[words] @ likelihood
            + (a - g) @ expected
            + special.gammaln(g).sum()
            - special.gammaln(a).sum()
            + special.gammaln(a.sum())
            - special.gammaln(g.sum())
        )


def dirichlet_terms(rows: Array, other: Array, terms: Array, start: int, stop: int) -> None:
    """log G(rows), log G(other) and (rows - other) psi(rows), summed over blocks of words."""
    for first in range(start, stop, BLOCK):
        part = slice(first, min(first + BLOCK, stop))
        x = rows[part].astype(np.float64)
        y = (other[part] if other.shape[0] > 1 else other).astype(np.float64)
        block = terms[first // BLOCK]
        block[0] = special.gammaln(x).sum(axis=0)
        block[1] = special.gammaln(np.broadcast_to(y, x.shape)).sum(axis=0)
        block[2] = ((x - y) * special.digamma(x)).sum(axis=0)
