"""Kernels of hidden Markov models in NumPy: the equations as they stand.

A chain is a stretch of observations, a row (first, core_start, core_stop, last, begins) of `chains`.
Its recursions run over the observations first:last, and what they find out about core_start:core_stop
counts; what lies before and after is a buffer. Where `begins` is 1 the first observation is the first
of its sequence, and the state there has the weights `start`; elsewhere the weights `entry`.

Observation t has the likelihood ratios[at[t], k] exp(tops[at[t]]) in state k. States are filled up
to whole vectors of the compiled kernels, W columns of which the first K count; the others are 0.

With weights in the place of probabilities, which need not sum to one, the recursions are

    a_t(j) = sum_i alpha_{t-1}(i) transitions_ij ratios_t(j),    c_t = sum_j a_t(j),    alpha_t = a_t / c_t
    w_t(j) = ratios_t(j) beta_t(j) / c_t,                        beta_{t-1}(i) = sum_j transitions_ij w_t(j)

and give q(z_t = k) = alpha_t(k) beta_t(k), q(z_{t-1} = i, z_t = j) = alpha_{t-1}(i) transitions_ij
w_t(j), and log sum_z of the weight of all paths, sum_t log c_t + tops_t.

Ratios have 1 as their largest entry in each row. Where every transition has a weight of at least
exp(-640), whatever underflows on the way is less than exp(-60) of what counts: any state can be
reached from the likeliest one at that price. Where one has less, the functions that begin with `log_`
do the same with logarithms of start, entry and transitions; there ratios are logarithms as well. Here
the recursions stand once, in logarithms, and the other two functions take them.
"""  # noqa: E501

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def relative(scores: Array, ratios: Array, tops: Array, start: int, stop: int) -> None:
    """tops = max_k scores_k and ratios = exp(scores - tops), rows start:stop of scores (R, K)."""
    part, k = scores[start:stop], scores.shape[1]
    tops[start:stop] = part.max(axis=1)
    ratios[start:stop] = 0
    ratios[start:stop, :k] = np.exp(part - part.max(axis=1, keepdims=True))


def forward_backward(
    start: Array,
    entry: Array,
    transitions: Array,
    ratios: Array,
    tops: Array,
    at: Array,
    to: Array,
    chains: Array,
    sums: Array,
    pairs: Array,
    firsts: Array,
    log_evidence: Array,
    begin: int,
    end: int,
) -> None:
    """Beliefs of the chains begin:end about the states of their cores.

    Args:
        start, entry: (W,) weights of the first state.
        transitions: (K, W).
        ratios: (R, W).
        tops: (R,).
        at: (T,) the row of `ratios` of each observation.
        to: (T,) the row of `sums` that its beliefs are added to.
        chains: (n, 5).
        sums: (., W), to which sum_t q(z_t) of cores is added.
        pairs: (K, W), replaced by sum_t q(z_{t-1}, z_t) over t in cores, t not first.
        firsts: (W,), replaced by sum q(z_0) of the chains whose core begins a sequence.
        log_evidence: (n,), of which begin:end become sum_t log c_t + tops_t over the core.
    """
    a, b, c, d = _logs(start, entry, transitions, ratios)
    log_forward_backward(
        a, b, c, d, tops, at, to, chains, sums, pairs, firsts, log_evidence, begin, end
    )


def forward(
    start: Array,
    entry: Array,
    transitions: Array,
    ratios: Array,
    tops: Array,
    at: Array,
    chains: Array,
    log_likelihood: Array,
    begin: int,
    end: int,
) -> None:
    """log c_t + tops_t of the cores of the chains begin:end, stored in log_likelihood (T,)."""
    a, b, c, d = _logs(start, entry, transitions, ratios)
    log_forward(a, b, c, d, tops, at, chains, log_likelihood, begin, end)


def _logs(*weights: Array) -> list[Array]:
    with np.errstate(divide="ignore"):
        return [np.log(part) for part in weights]


def log_forward_backward(
    start: Array,
    entry: Array,
    transitions: Array,
    ratios: Array,
    tops: Array,
    at: Array,
    to: Array,
    chains: Array,
    sums: Array,
    pairs: Array,
    firsts: Array,
    log_evidence: Array,
    begin: int,
    end: int,
) -> None:
    """As `forward_backward`; start, entry, transitions and ratios are logarithms."""
    k = transitions.shape[0]
    weights = transitions[:, :k]
    pairs[:], firsts[:] = 0, 0
    for n in range(begin, end):
        first, core_start, core_stop, last, begins = chains[n]
        x = ratios[at[first:last], :k]
        alpha, c = _filtered((start if begins else entry)[:k], weights, x)
        beta = np.zeros_like(alpha)
        for t in range(len(x) - 1, 0, -1):
            beta[t - 1] = _log_sum(weights + x[t] + beta[t] - c[t], 1)
        phi = np.exp(alpha + beta - _log_sum(alpha + beta, 1)[:, np.newaxis])
        core = slice(core_start - first, core_stop - first)
        np.add.at(sums[:, :k], to[core_start:core_stop], phi[core])
        if begins and core_start == first:
            firsts[:k] += phi[0]
        for t in range(max(core.start, 1), core.stop):
            after = x[t] + beta[t] - c[t]
            pairs[:, :k] += np.exp(alpha[t - 1][:, np.newaxis] + weights + after)
        log_evidence[n] = c[core].sum() + tops[at[core_start:core_stop]].sum()


def log_forward(
    start: Array,
    entry: Array,
    transitions: Array,
    ratios: Array,
    tops: Array,
    at: Array,
    chains: Array,
    log_likelihood: Array,
    begin: int,
    end: int,
) -> None:
    """As `forward`; start, entry, transitions and ratios are logarithms."""
    k = transitions.shape[0]
    for n in range(begin, end):
        first, core_start, core_stop, last, begins = chains[n]
        weights = (start if begins else entry)[:k]
        _, c = _filtered(weights, transitions[:, :k], ratios[at[first:last], :k])
        found = c + tops[at[first:last]]
        log_likelihood[core_start:core_stop] = found[core_start - first : core_stop - first]


def _filtered(weights: Array, transitions: Array, x: Array) -> tuple[Array, Array]:
    """log alpha (T, K) and log c (T,), by the first line of the recursions above."""
    alpha, c = np.empty_like(x), np.empty(len(x))
    for t in range(len(x)):
        before = weights if t == 0 else _log_sum(alpha[t - 1][:, np.newaxis] + transitions, 0)
        c[t] = _log_sum(x[t] + before, 0)
        alpha[t] = x[t] + before - c[t]
    return alpha, c


def _log_sum(values: Array, axis: int) -> Array:
    """log sum exp(values) along an axis, on which not all are minus infinity."""
    top = values.max(axis=axis)
    return np.asarray(top + np.log(np.exp(values - np.expand_dims(top, axis)).sum(axis=axis)))


def viterbi(
    start: Array,
    transitions: Array,
    scores: Array,
    at: Array,
    chains: Array,
    states: Array,
    begin: int,
    end: int,
) -> None:
    """The path of largest weight of the chains begin:end, which are whole sequences.

        delta_t(j) = max_i { delta_{t-1}(i) + transitions_ij } + scores_t(j)

    Args:
        start: (K,), transitions: (K, K), scores: (R, K), all logarithms.
        at: (T,) the row of `scores` of each observation.
        states: (T,), replaced. Of paths of the same weight the one whose states, from the last
            back to the first, have the smaller numbers.
    """
    for n in range(begin, end):
        first, last = chains[n, 0], chains[n, 3]
        x = scores[at[first:last]]
        back = np.zeros(x.shape, np.int64)
        delta = start + x[0]
        for t in range(1, len(x)):
            ways = delta[:, np.newaxis] + transitions
            back[t] = ways.argmax(axis=0)
            delta = ways.max(axis=0) + x[t]
        state = int(delta.argmax())
        for t in range(len(x) - 1, -1, -1):
            states[first + t] = state
            state = back[t, state]
