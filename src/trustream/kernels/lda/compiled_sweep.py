"""Parts of LDA's local step in Numba: one pass over the words of a document.

A pass needs the document's rows of the table, either where they are (`sweep_rows`) or copied topic
by topic (`pack_columns`, `sweep_columns`), which is faster for few topics.
"""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import LANES, elementary, simd
from trustream.kernels.jit import njit
from trustream.kernels.lda import FLOOR

_floored_exp_digamma = elementary.scaled_exp_digamma(FLOOR)


@njit(**elementary.INSIDE)
def whole(n):
    """n rounded up to whole vectors."""
    return (n + LANES - 1) // LANES * LANES


@njit(**elementary.INSIDE)
def scaled_exp_digamma(x, n, out, place):
    """out = exp(psi(x) + offset) from `place` on for the first n entries, then 0.

    Returns offset. x and out have whole vectors.
    """
    width = whole(n)
    for k in range(n, width):
        x[k] = x[0]  # not larger than the largest, whatever it is
    least = elementary.deficit(simd.load(x, 0))
    simd.store(out, place, least)
    for k in range(LANES, width, LANES):
        deficit = elementary.deficit(simd.load(x, k))
        simd.store(out, place + k, deficit)
        least = simd.minimum(least, deficit)
    offset = simd.smallest(least)
    for k in range(0, width, LANES):
        deficit = simd.load(out, place + k)
        scaled = _floored_exp_digamma(simd.load(x, k), deficit, simd.splat(offset))
        simd.store(out, place + k, scaled)
    for k in range(n, width):
        out[place + k] = 0
    return offset


# One function, although long: a call that passes arrays counts references, and inside this loop
# that would cost more than the work.
@njit(**elementary.INSIDE)
def sweep_rows(ids, table, weights, rest, rest_scale, theta, total, last):
    """ratio_w = weights_w / (rest_w + sum_k theta_k table_wk) over a document's words `ids`.

    Then total_k = sum_w ratio_w table_wk, or, the last time, weights_w = ratio_w. `rest` is
    multiplied by `rest_scale`; weights and rest are padded, weights with 0.

    Eight words at a time, in their rows of the table: with many topics a row is long enough to be
    read at full speed where it is, and a document's rows are more than a fast cache holds.
    """
    width, end = table.shape[1], ids.size - 1
    flat = table.reshape(-1)
    zero = simd.splat(table.dtype.type(0))
    level = simd.splat(rest_scale)
    for k in range(0, width, LANES):
        simd.store(total, k, zero)
    for i in range(0, ids.size, LANES):
        # Words that fill the last eight up are the last one again, with weight 0.
        r0, r1 = np.int64(ids[i]) * width, np.int64(ids[min(i + 1, end)]) * width
        r2, r3 = np.int64(ids[min(i + 2, end)]) * width, np.int64(ids[min(i + 3, end)]) * width
        r4, r5 = np.int64(ids[min(i + 4, end)]) * width, np.int64(ids[min(i + 5, end)]) * width
        r6, r7 = np.int64(ids[min(i + 6, end)]) * width, np.int64(ids[min(i + 7, end)]) * width
        s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
        for k in range(0, width, LANES):
            t = simd.load(theta, k)
            s0 = simd.multiply_add(t, simd.load(flat, r0 + k), s0)
            s1 = simd.multiply_add(t, simd.load(flat, r1 + k), s1)
            s2 = simd.multiply_add(t, simd.load(flat, r2 + k), s2)
            s3 = simd.multiply_add(t, simd.load(flat, r3 + k), s3)
            s4 = simd.multiply_add(t, simd.load(flat, r4 + k), s4)
            s5 = simd.multiply_add(t, simd.load(flat, r5 + k), s5)
            s6 = simd.multiply_add(t, simd.load(flat, r6 + k), s6)
            s7 = simd.multiply_add(t, simd.load(flat, r7 + k), s7)
        sums = simd.sums(s0, s1, s2, s3, s4, s5, s6, s7)
        sums = simd.multiply_add(level, simd.load(rest, i), sums)
        ratio = simd.divide(simd.load(weights, i), sums)
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
            t = simd.multiply_add(s0, simd.load(flat, r0 + k), t)
            t = simd.multiply_add(s1, simd.load(flat, r1 + k), t)
            t = simd.multiply_add(s2, simd.load(flat, r2 + k), t)
            t = simd.multiply_add(s3, simd.load(flat, r3 + k), t)
            t = simd.multiply_add(s4, simd.load(flat, r4 + k), t)
            t = simd.multiply_add(s5, simd.load(flat, r5 + k), t)
            t = simd.multiply_add(s6, simd.load(flat, r6 + k), t)
            t = simd.multiply_add(s7, simd.load(flat, r7 + k), t)
            simd.store(total, k, t)


@njit(**elementary.INSIDE)
def pack_columns(ids, table, active, n_active, packed):
    """Copy the active topics of words, with eight words' entries for a topic next to each other.

    Topic j of word i is at (i // 8 * n_active + j) * 8 + i % 8. Behind the last topic of the last
    word up to seven vectors more are written.
    """
    width, end = table.shape[1], ids.size - 1
    flat = table.reshape(-1)
    for i in range(0, ids.size, LANES):
        # As in `sweep_rows`.
        r0, r1 = np.int64(ids[i]) * width, np.int64(ids[min(i + 1, end)]) * width
        r2, r3 = np.int64(ids[min(i + 2, end)]) * width, np.int64(ids[min(i + 3, end)]) * width
        r4, r5 = np.int64(ids[min(i + 4, end)]) * width, np.int64(ids[min(i + 5, end)]) * width
        r6, r7 = np.int64(ids[min(i + 6, end)]) * width, np.int64(ids[min(i + 7, end)]) * width
        place = i * n_active
        if n_active == active.size:
            for k in range(0, n_active, LANES):
                eight = simd.transposed(
                    simd.load(flat, r0 + k), simd.load(flat, r1 + k), simd.load(flat, r2 + k),
                    simd.load(flat, r3 + k), simd.load(flat, r4 + k), simd.load(flat, r5 + k),
                    simd.load(flat, r6 + k), simd.load(flat, r7 + k),
                )  # fmt: skip
                # The last of these may write into the place of the next words, which come later.
                simd.store(packed, place, eight[0])
                simd.store(packed, place + LANES, eight[1])
                simd.store(packed, place + 2 * LANES, eight[2])
                simd.store(packed, place + 3 * LANES, eight[3])
                simd.store(packed, place + 4 * LANES, eight[4])
                simd.store(packed, place + 5 * LANES, eight[5])
                simd.store(packed, place + 6 * LANES, eight[6])
                simd.store(packed, place + 7 * LANES, eight[7])
                place += LANES * LANES
        else:
            for j in range(n_active):
                k = active[j]
                packed[place], packed[place + 1] = flat[r0 + k], flat[r1 + k]
                packed[place + 2], packed[place + 3] = flat[r2 + k], flat[r3 + k]
                packed[place + 4], packed[place + 5] = flat[r4 + k], flat[r5 + k]
                packed[place + 6], packed[place + 7] = flat[r6 + k], flat[r7 + k]
                place += LANES


@njit(**elementary.INSIDE)
def keep_columns(packed, n_words, n_active, kept, n_kept):
    """Keep of what `pack_columns` wrote only the topics at positions `kept`, in order."""
    place = 0
    for i in range(0, n_words, LANES):
        for j in range(n_kept):
            simd.store(packed, place, simd.load(packed, i * n_active + kept[j] * LANES))
            place += LANES


@njit(**elementary.INSIDE)
def sweep_columns(packed, weights, rest, rest_scale, n_words, n_active, theta, sums, total, last):
    """What `sweep_rows` does, with what `pack_columns` wrote.

    `sums` (whole(n_active) * 8,) is overwritten.
    """
    zero = simd.splat(packed.dtype.type(0))
    level = simd.splat(rest_scale)
    step = n_active * LANES
    for j in range(0, whole(n_active) * LANES, LANES):
        simd.store(sums, j, zero)
    i, b0 = 0, 0
    # Four times eight words at once, so that no addition waits for the one before.
    while i + 4 * LANES <= n_words:
        i1, i2, i3 = i + LANES, i + 2 * LANES, i + 3 * LANES
        b1, b2, b3 = b0 + step, b0 + 2 * step, b0 + 3 * step
        s0 = simd.multiply_add(level, simd.load(rest, i), zero)
        s1 = simd.multiply_add(level, simd.load(rest, i1), zero)
        s2 = simd.multiply_add(level, simd.load(rest, i2), zero)
        s3 = simd.multiply_add(level, simd.load(rest, i3), zero)
        for j in range(n_active):
            t, place = simd.splat(theta[j]), j * LANES
            s0 = simd.multiply_add(t, simd.load(packed, b0 + place), s0)
            s1 = simd.multiply_add(t, simd.load(packed, b1 + place), s1)
            s2 = simd.multiply_add(t, simd.load(packed, b2 + place), s2)
            s3 = simd.multiply_add(t, simd.load(packed, b3 + place), s3)
        s0 = simd.divide(simd.load(weights, i), s0)
        s1 = simd.divide(simd.load(weights, i1), s1)
        s2 = simd.divide(simd.load(weights, i2), s2)
        s3 = simd.divide(simd.load(weights, i3), s3)
        if last:
            simd.store(weights, i, s0)
            simd.store(weights, i1, s1)
            simd.store(weights, i2, s2)
            simd.store(weights, i3, s3)
        else:
            for place in range(0, step, LANES):
                t = simd.multiply_add(s0, simd.load(packed, b0 + place), simd.load(sums, place))
                t = simd.multiply_add(s1, simd.load(packed, b1 + place), t)
                t = simd.multiply_add(s2, simd.load(packed, b2 + place), t)
                t = simd.multiply_add(s3, simd.load(packed, b3 + place), t)
                simd.store(sums, place, t)
        i, b0 = i + 4 * LANES, b0 + 4 * step
    while i < n_words:
        s0 = simd.multiply_add(level, simd.load(rest, i), zero)
        for j in range(n_active):
            s0 = simd.multiply_add(simd.splat(theta[j]), simd.load(packed, b0 + j * LANES), s0)
        s0 = simd.divide(simd.load(weights, i), s0)
        if last:
            simd.store(weights, i, s0)
        else:
            for place in range(0, step, LANES):
                t = simd.multiply_add(s0, simd.load(packed, b0 + place), simd.load(sums, place))
                simd.store(sums, place, t)
        i, b0 = i + LANES, b0 + step
    for j in range(0, n_active, LANES):
        p = j * LANES
        eight = simd.sums(
            simd.load(sums, p), simd.load(sums, p + LANES), simd.load(sums, p + 2 * LANES),
            simd.load(sums, p + 3 * LANES), simd.load(sums, p + 4 * LANES),
            simd.load(sums, p + 5 * LANES), simd.load(sums, p + 6 * LANES),
            simd.load(sums, p + 7 * LANES),
        )  # fmt: skip
        simd.store(total, j, eight)
