"""Parts of LDA's local step in Numba: leaving out the topics that a document does not use.

The topics that the step goes on with are active. The others keep gamma = alpha, and what they
still explain of each word is kept in `rest`.
"""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

from trustream.kernels import LANES, elementary, simd
from trustream.kernels.jit import njit
from trustream.kernels.lda import NEGLIGIBLE_ALPHA, WORTH_LEAVING


@njit(**elementary.INSIDE)
def smallest(x, n, rank):
    """Entry number `rank`, from 0, of the first n entries if they were sorted; reorders them.

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


@njit(**elementary.INSIDE)
def used(current, prior, n_active, least, most, widest, kept, work):
    """Choose the `most` topics with the most tokens, of those with at least `least` tokens.

    The tokens of a topic are current - prior. The positions of the chosen topics go to `kept`, in
    order. Returns their number, or n_active if leaving out the others would not save enough.
    `widest` is the largest number of topics that can be copied to columns; `work` is overwritten.
    """
    if n_active > most:
        for j in range(n_active):
            work[j] = prior[j] - current[j]
        least = max(least, -smallest(work, n_active, most - 1))
    n_kept = 0
    for j in range(n_active):
        n_kept += current[j] - prior[j] >= least
    if n_active <= widest:
        # As few as one vector holds take no time worth saving.
        worth = n_active > LANES and n_kept <= WORTH_LEAVING * n_active
    else:
        worth = n_kept <= min(n_active // 2, widest)
    if not worth or n_kept == 0:
        return n_active
    n_kept = 0
    for j in range(n_active):
        if current[j] - prior[j] >= least:
            kept[n_kept] = j
            n_kept += 1
    return n_kept


@njit(**elementary.INSIDE)
def leave(
    collapsed, gamma, theta, active, current, prior, scale, moved, n_active, kept, n_kept, left
):
    """Go on with the topics at positions `kept` and leave out the others.

    left_j is the belief in the topic at position j if it is left out, else 0. gamma and theta are
    those of the document; theta is 0 for active topics, and not scaled. Returns whether any topic
    that is left out still explains words.
    """
    n, has_rest = 0, False
    for j in range(n_active):
        k = active[j]
        left[j] = 0
        if n < n_kept and kept[n] == j:
            active[n], current[n], prior[n] = k, current[j], prior[j]
            scale[n], moved[n] = scale[j], moved[j]
            n += 1
            continue
        # Where it was going: without help a topic loses the few tokens that it has.
        gamma[k] = prior[j]
        if collapsed:
            left[j] = prior[j] * scale[j]
        elif prior[j] > NEGLIGIBLE_ALPHA:
            left[j] = math.exp(elementary.digamma(prior[j])) * scale[j]
        theta[k] = left[j]
        has_rest |= left[j] > 0
    return has_rest


@njit(**elementary.INSIDE)
def add_rest_of_rows(ids, table, left, rest):
    """rest_w += sum_k left_k table_wk over a document's words, for all topics."""
    n_topics = table.shape[1]
    for i in range(ids.size):
        w = ids[i]
        total = table.dtype.type(0)
        for k in range(n_topics):
            total += left[k] * table[w, k]
        rest[i] += total


@njit(**elementary.INSIDE)
def add_rest_of_columns(packed, n_words, n_active, left, rest):
    """The same with what `pack_columns` wrote, for the topics that were active."""
    for i in range(0, n_words, LANES):
        total = simd.load(rest, i)
        for j in range(n_active):
            if left[j] > 0:
                column = simd.load(packed, i * n_active + j * LANES)
                total = simd.multiply_add(simd.splat(left[j]), column, total)
        simd.store(rest, i, total)
