"""Kernels of hidden Markov models in Numba; twins in `reference`, which has the equations.

Rows have W columns, K states filled up to whole vectors with zeros, so that a product of a row and
a matrix is a few multiplications of vectors.
"""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np

from trustream.kernels import LANES, elementary, simd
from trustream.kernels.jit import njit

_L = LANES
# Observations whose pairs are summed at once: their alpha and w stay in the fastest cache.
_PAIR_ROWS = 64
# A product of this many c_t is still far from an underflow, and a logarithm takes as long as many
# products.
_SMALL = 1e-20


@njit(**elementary.KERNEL)
def relative(scores, ratios, tops, start, stop):
    """tops = max_k scores_k and ratios = exp(scores - tops), rows start:stop of scores (R, K)."""
    n_states, width = scores.shape[1], ratios.shape[1]
    for n in range(start, stop):
        top = scores[n, 0]
        for k in range(1, n_states):
            top = max(top, scores[n, k])
        tops[n] = top
        for k in range(n_states):
            ratios[n, k] = elementary.exp(scores[n, k] - top)
        for k in range(n_states, width):
            ratios[n, k] = 0.0


@njit(**elementary.INSIDE)
def _times(row, at, matrix, n_states, width, out):
    """out = row[at : at + K] matrix, for a flat matrix (K, W): a vector of `out` at a time."""
    nothing, one = simd.splat(0.0), simd.splat(1.0)
    n_fours = n_states // 4
    for v in range(0, width, _L):
        # Four sums, or each addition would wait for the last.
        s0, s1, s2, s3 = nothing, nothing, nothing, nothing
        for i in range(0, 4 * n_fours, 4):
            place = i * width + v
            s0 = simd.multiply_add(simd.splat(row[at + i]), simd.load(matrix, place), s0)
            place += width
            s1 = simd.multiply_add(simd.splat(row[at + i + 1]), simd.load(matrix, place), s1)
            place += width
            s2 = simd.multiply_add(simd.splat(row[at + i + 2]), simd.load(matrix, place), s2)
            place += width
            s3 = simd.multiply_add(simd.splat(row[at + i + 3]), simd.load(matrix, place), s3)
        for i in range(4 * n_fours, n_states):
            s0 = simd.multiply_add(simd.splat(row[at + i]), simd.load(matrix, i * width + v), s0)
        s0, s2 = simd.multiply_add(one, s1, s0), simd.multiply_add(one, s3, s2)
        simd.store(out, v, simd.multiply_add(one, s2, s0))


@njit(**elementary.INSIDE)
def _product(a, a_at, b, b_at, width, out, out_at, by, lanes):
    """out = by a b for rows of `width` numbers; returns the sum of a b, by which 0 divides.

    Written with vectors because a plain loop that both stores and sums is compiled twice, for
    arrays that are far apart in memory and for neighbours, with sums in different orders.
    """
    one, nothing = simd.splat(1.0), simd.splat(0.0)
    total = nothing
    for k in range(0, width, _L):
        value = simd.multiply_add(simd.load(a, a_at + k), simd.load(b, b_at + k), nothing)
        simd.store(out, out_at + k, value)
        total = simd.multiply_add(one, value, total)
    simd.store(lanes, 0, total)
    whole = 0.0
    for k in range(_L):
        whole += lanes[k]
    factor = simd.splat(1.0 / whole if by == 0.0 else by)
    for k in range(0, width, _L):
        value = simd.multiply_add(simd.load(out, out_at + k), factor, nothing)
        simd.store(out, out_at + k, value)
    return whole


@njit(**elementary.INSIDE)
def _filter(weights, matrix, table, at, first, last, n_states, width, alpha, c, before, lanes):
    """alpha (T, W), flat, and c (T,) of the observations first:last."""
    for t in range(last - first):
        if t == 0:
            for k in range(width):
                before[k] = weights[k]
        else:
            _times(alpha, (t - 1) * width, matrix, n_states, width, before)
        place = np.intp(at[first + t]) * width
        c[t] = _product(before, 0, table, place, width, alpha, t * width, 0.0, lanes)


@njit(**elementary.INSIDE)
def _add_pairs(alpha, after, start, stop, width, total):
    """total[i, j] += sum_t alpha[t - 1, i] after[t, j] over start <= t < stop, a flat (W, W)."""
    for first in range(start, stop, _PAIR_ROWS):
        last = min(first + _PAIR_ROWS, stop)
        for i in range(0, width, 4):
            for v in range(0, width, _L):
                place = i * width + v
                s0, s1 = simd.load(total, place), simd.load(total, place + width)
                s2 = simd.load(total, place + 2 * width)
                s3 = simd.load(total, place + 3 * width)
                for t in range(first, last):
                    w = simd.load(after, t * width + v)
                    row = (t - 1) * width + i
                    s0 = simd.multiply_add(simd.splat(alpha[row]), w, s0)
                    s1 = simd.multiply_add(simd.splat(alpha[row + 1]), w, s1)
                    s2 = simd.multiply_add(simd.splat(alpha[row + 2]), w, s2)
                    s3 = simd.multiply_add(simd.splat(alpha[row + 3]), w, s3)
                simd.store(total, place, s0)
                simd.store(total, place + width, s1)
                simd.store(total, place + 2 * width, s2)
                simd.store(total, place + 3 * width, s3)


@njit(**elementary.INSIDE)
def _longest(chains, begin, end):
    longest = 0
    for n in range(begin, end):
        longest = max(longest, chains[n, 3] - chains[n, 0])
    return longest


@njit(**elementary.KERNEL)
def forward_backward(
    start, entry, transitions, ratios, tops, at, to, chains, sums, pairs, firsts, log_evidence,
    begin, end,
):  # fmt: skip
    """Beliefs of the chains begin:end about the states of their cores."""
    n_states, width = transitions.shape
    longest = _longest(chains, begin, end)
    matrix, table = transitions.reshape(-1), ratios.reshape(-1)
    transposed = np.zeros(n_states * width)
    for i in range(n_states):
        for j in range(n_states):
            transposed[j * width + i] = transitions[i, j]
    alpha, after, c = np.empty(longest * width), np.empty(longest * width), np.empty(longest)
    beta, phi, before = np.empty(width), np.empty(width), np.empty(width)
    lanes = np.empty(_L)
    total = np.zeros(width * width)
    firsts[:] = 0
    for n in range(begin, end):
        first, core_start, core_stop = chains[n, 0], chains[n, 1], chains[n, 2]
        last, begins = chains[n, 3], chains[n, 4]
        weights = start if begins else entry
        _filter(weights, matrix, table, at, first, last, n_states, width, alpha, c, before, lanes)
        evidence, product = 0.0, 1.0
        for t in range(core_start, core_stop):
            evidence += tops[at[t]]
            product *= c[t - first]
            if product < _SMALL:
                evidence += math.log(product)
                product = 1.0
        log_evidence[n] = evidence + math.log(product)
        beta[:] = 1.0
        for t in range(last - 1, first - 1, -1):
            i = t - first
            whole = _product(alpha, i * width, beta, 0, width, phi, 0, 0.0, lanes)
            if core_start <= t < core_stop:
                row = sums[to[t]]
                for k in range(width):
                    row[k] += phi[k]
            if i > 0:
                # The sum of phi is 1 but for rounding, of which nothing is handed on.
                by = 1.0 / (c[i] * whole)
                place = np.intp(at[t]) * width
                _product(table, place, beta, 0, width, after, i * width, by, lanes)
                _times(after, i * width, transposed, n_states, width, beta)
            elif begins and core_start == first:
                for k in range(width):
                    firsts[k] += phi[k]
        _add_pairs(alpha, after, max(core_start - first, 1), core_stop - first, width, total)
    for i in range(n_states):
        for j in range(width):
            pairs[i, j] = transitions[i, j] * total[i * width + j]


@njit(**elementary.KERNEL)
def forward(
    start, entry, transitions, ratios, tops, at, chains, log_likelihood, begin, end
):  # fmt: skip
    """log c_t + tops_t of the cores of the chains begin:end, stored in log_likelihood (T,)."""
    n_states, width = transitions.shape
    matrix, table = transitions.reshape(-1), ratios.reshape(-1)
    alpha, before, lanes = np.empty(width), np.empty(width), np.empty(_L)
    for n in range(begin, end):
        first, core_start, core_stop = chains[n, 0], chains[n, 1], chains[n, 2]
        weights = start if chains[n, 4] else entry
        for t in range(first, core_stop):
            if t == first:
                for k in range(width):
                    before[k] = weights[k]
            else:
                _times(alpha, 0, matrix, n_states, width, before)
            place = np.intp(at[t]) * width
            c = _product(before, 0, table, place, width, alpha, 0, 0.0, lanes)
            if t >= core_start:
                log_likelihood[t] = math.log(c) + tops[at[t]]


@njit(**elementary.INSIDE)
def _log_sum(values, n_values):
    """log sum_k exp(values_k)."""
    top = values[0]
    for k in range(1, n_values):
        top = max(top, values[k])
    total = 0.0
    for k in range(n_values):
        total += math.exp(values[k] - top)
    return top + math.log(total)


@njit(**elementary.INSIDE)
def _log_next(alpha, t, transitions, n_states, weights, terms, before):
    """log sum_i alpha_{t-1}(i) transitions_ij, or the weights where t is 0."""
    for j in range(n_states):
        if t == 0:
            before[j] = weights[j]
        else:
            for i in range(n_states):
                terms[i] = alpha[t - 1, i] + transitions[i, j]
            before[j] = _log_sum(terms, n_states)


@njit(**elementary.INSIDE)
def _log_filter(weights, transitions, ratios, at, first, last, alpha, c, terms, before):
    """log alpha (T, K) and log c (T,) of the observations first:last."""
    n_states = transitions.shape[0]
    for t in range(last - first):
        _log_next(alpha, t, transitions, n_states, weights, terms, before)
        for j in range(n_states):
            before[j] += ratios[at[first + t], j]
        c[t] = _log_sum(before, n_states)
        for j in range(n_states):
            alpha[t, j] = before[j] - c[t]


@njit(**elementary.KERNEL)
def log_forward_backward(
    start, entry, transitions, ratios, tops, at, to, chains, sums, pairs, firsts, log_evidence,
    begin, end,
):  # fmt: skip
    """As `forward_backward`; start, entry, transitions and ratios are logarithms."""
    n_states = transitions.shape[0]
    longest = _longest(chains, begin, end)
    alpha, c = np.empty((longest, n_states)), np.empty(longest)
    beta, after = np.empty(n_states), np.empty(n_states)
    terms, before = np.empty(n_states), np.empty(n_states)
    pairs[:], firsts[:] = 0.0, 0.0
    for n in range(begin, end):
        first, core_start, core_stop = chains[n, 0], chains[n, 1], chains[n, 2]
        last, begins = chains[n, 3], chains[n, 4]
        weights = start if begins else entry
        _log_filter(weights, transitions, ratios, at, first, last, alpha, c, terms, before)
        evidence = 0.0
        for t in range(core_start, core_stop):
            evidence += c[t - first] + tops[at[t]]
        log_evidence[n] = evidence
        beta[:] = 0.0
        for t in range(last - 1, first - 1, -1):
            i_t = t - first
            for k in range(n_states):
                terms[k] = alpha[i_t, k] + beta[k]
            whole = _log_sum(terms, n_states)
            in_core = core_start <= t < core_stop
            for k in range(n_states):
                phi = math.exp(terms[k] - whole)
                if in_core:
                    sums[to[t], k] += phi
                    if begins and t == first:
                        firsts[k] += phi
            if i_t > 0:
                for j in range(n_states):
                    after[j] = ratios[at[t], j] + beta[j] - c[i_t] - whole
                for i in range(n_states):
                    for j in range(n_states):
                        terms[j] = transitions[i, j] + after[j]
                        if in_core:
                            pairs[i, j] += math.exp(alpha[i_t - 1, i] + terms[j])
                    beta[i] = _log_sum(terms, n_states)


@njit(**elementary.KERNEL)
def log_forward(
    start, entry, transitions, ratios, tops, at, chains, log_likelihood, begin, end
):  # fmt: skip
    """As `forward`; start, entry, transitions and ratios are logarithms."""
    n_states = transitions.shape[0]
    alpha, terms, before = np.empty((1, n_states)), np.empty(n_states), np.empty(n_states)
    for n in range(begin, end):
        first, core_start, core_stop = chains[n, 0], chains[n, 1], chains[n, 2]
        weights = start if chains[n, 4] else entry
        for t in range(first, core_stop):
            _log_next(alpha, min(t - first, 1), transitions, n_states, weights, terms, before)
            for j in range(n_states):
                before[j] += ratios[at[t], j]
            whole = _log_sum(before, n_states)
            for j in range(n_states):
                alpha[0, j] = before[j] - whole
            if t >= core_start:
                log_likelihood[t] = whole + tops[at[t]]


@njit(**elementary.KERNEL)
def viterbi(start, transitions, scores, at, chains, states, begin, end):
    """The path of largest weight of the chains begin:end, which are whole sequences."""
    n_states = start.size
    longest = _longest(chains, begin, end)
    back = np.zeros((longest, n_states), np.int32)
    delta, new = np.empty(n_states), np.empty(n_states)
    for n in range(begin, end):
        first, last = chains[n, 0], chains[n, 3]
        for k in range(n_states):
            delta[k] = start[k] + scores[at[first], k]
        for t in range(1, last - first):
            for j in range(n_states):
                best, state = delta[0] + transitions[0, j], 0
                for i in range(1, n_states):
                    way = delta[i] + transitions[i, j]
                    if way > best:
                        best, state = way, i
                new[j] = best + scores[at[first + t], j]
                back[t, j] = state
            delta[:] = new
        state = 0
        for k in range(1, n_states):
            if delta[k] > delta[state]:
                state = k
        for t in range(last - first - 1, -1, -1):
            states[first + t] = state
            state = back[t, state]
