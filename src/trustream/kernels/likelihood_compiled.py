"""Held-out likelihood in Numba. Each kernel has a twin in `likelihood_reference`.

Conventions: a kernel works on documents start..stop and writes only their rows of its outputs.
indptr (B+1,), ids and counts (nnz,) are the documents, counts whole numbers; table (W, padded K)
holds beta_kw, row by row times any positive number; alpha is (K,). All real arrays are float64.
keys (B,) seed a stream of random numbers for each document, so that threads change nothing.

Gibbs sampling integrates theta out. The conditional of a token of word w given the others is

    p(z_i = k | others) proportional to n_k beta_kw + alpha_k beta_kw.

With topics and alpha fixed, the second part never changes: its cumulative sums are kept for each
word of the document. The first has as many terms as topics are in use, a few of a hundred.
"""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np
from numba import njit

from trustream.kernels.likelihood_streams import log_gamma, seed, uniform

__all__ = ["chib", "importance", "left_to_right", "mixture_score", "split_tokens"]

# No assumption that numbers are finite: the logarithm of a zero probability is minus infinity.
_OPTIONS = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}


@njit(**_OPTIONS)
def _pack(indptr, ids, counts, table, alpha, d):
    """A document's rows of beta (W, K), cumulative sums of alpha_k beta_kw, and tokens (N,)."""
    begin, n_topics = indptr[d], alpha.size
    n_words = indptr[d + 1] - begin
    beta = np.empty((n_words, n_topics))
    smooth = np.empty((n_words, n_topics))
    n_tokens = 0
    for w in range(n_words):
        total = 0.0
        for k in range(n_topics):
            value = table[ids[begin + w], k]
            total += alpha[k] * value
            beta[w, k] = value
            smooth[w, k] = total
        n_tokens += counts[begin + w]
    tokens = np.empty(n_tokens, np.int64)
    n_tokens = 0
    for w in range(n_words):
        for _ in range(counts[begin + w]):
            tokens[n_tokens] = w
            n_tokens += 1
    return beta, smooth, tokens


@njit(**_OPTIONS)
def _shuffle(tokens, order, stream):
    """order = the tokens in random order."""
    order[:] = tokens
    for i in range(order.size - 1, 0, -1):
        j = int(uniform(stream) * (i + 1))
        order[i], order[j] = order[j], order[i]


# The topics in use of state r: used[r, :size[r]] lists them, n[r, j] is the number of tokens of
# topic used[r, j], and place[r, k] is j, or -1.
@njit(**_OPTIONS)
def _add(used, n, place, size, r, k):
    j = place[r, k]
    if j < 0:
        j = size[r]
        size[r] += 1
        used[r, j] = k
        place[r, k] = j
        n[r, j] = 0.0
    n[r, j] += 1.0


@njit(**_OPTIONS)
def _remove(used, n, place, size, r, k):
    j = place[r, k]
    n[r, j] -= 1.0
    if n[r, j] == 0.0:
        size[r] -= 1
        last = size[r]
        used[r, j] = used[r, last]
        n[r, j] = n[r, last]
        place[r, used[r, j]] = j
        place[r, k] = -1


@njit(**_OPTIONS)
def _in_use(beta, w, used, n, size, r, partial):
    """sum_k n_k beta_kw, with the sums on the way in `partial`."""
    total = 0.0
    for j in range(size[r]):
        total += n[r, j] * beta[w, used[r, j]]
        partial[j] = total
    return total


@njit(**_OPTIONS)
def _choose(u, total, partial, used, r, smooth, w):
    """The topic at the fraction u of the mass: topics in use first, then the prior's part."""
    last = smooth.shape[1] - 1
    target = u * (total + smooth[w, last])
    if target < total:
        j = 0
        while partial[j] <= target:
            j += 1
        return used[r, j]
    target = min(target - total, smooth[w, last])
    low, high = 0, last
    while low < high:
        middle = (low + high) // 2
        if smooth[w, middle] > target:
            high = middle
        else:
            low = middle + 1
    # Rounding may lead to the very end: never to a topic without mass.
    while low > 0 and smooth[w, low] == smooth[w, low - 1]:
        low -= 1
    return low


@njit(**_OPTIONS)
def _sweep(z, order, beta, smooth, used, n, place, size, partial, stream, backward):
    """Draw each z_i given all others, in order or in reverse order."""
    for step in range(z.size):
        i = z.size - 1 - step if backward else step
        w = order[i]
        _remove(used, n, place, size, 0, z[i])
        total = _in_use(beta, w, used, n, size, 0, partial)
        k = _choose(uniform(stream), total, partial, used, 0, smooth, w)
        z[i] = k
        _add(used, n, place, size, 0, k)


@njit(**_OPTIONS)
def _climb(z, order, alpha, beta, used, n, place, size):
    """Set each z_i to its most probable value given all others; False if none moves."""
    moved = False
    for i in range(z.size):
        w, old = order[i], z[i]
        _remove(used, n, place, size, 0, old)
        best, mass = 0, -1.0
        for k in range(alpha.size):
            number = n[0, place[0, k]] if place[0, k] >= 0 else 0.0
            value = (number + alpha[k]) * beta[w, k]
            if value > mass:
                best, mass = k, value
        number = n[0, place[0, old]] if place[0, old] >= 0 else 0.0
        if mass > (number + alpha[old]) * beta[w, old]:
            z[i] = best
            moved = True
        _add(used, n, place, size, 0, z[i])
    return moved


@njit(**_OPTIONS)
def _log_joint(z, order, alpha, beta):
    """log p(w, z), one token after the other."""
    n = np.zeros(alpha.size)
    alpha_sum = alpha.sum()
    value = 0.0
    for i in range(z.size):
        k = z[i]
        value += math.log((alpha[k] + n[k]) / (alpha_sum + i) * beta[order[i], k])
        n[k] += 1.0
    return value


@njit(**_OPTIONS)
def _log_transition(goal, z, order, alpha, beta, smooth, used, n, place, size, partial):
    """log T(goal <- z), the probability that `_sweep` in order takes z to the goal.

    State 0 is that of z and stays; state 1 goes from z to the goal.
    """
    last = alpha.size - 1
    used[1], n[1], place[1], size[1] = used[0], n[0], place[0], size[0]
    value, product = 0.0, 1.0
    for i in range(z.size):
        w, k = order[i], goal[i]
        _remove(used, n, place, size, 1, z[i])
        total = _in_use(beta, w, used, n, size, 1, partial) + smooth[w, last]
        number = n[1, place[1, k]] if place[1, k] >= 0 else 0.0
        factor = (number + alpha[k]) * beta[w, k] / total
        _add(used, n, place, size, 1, k)
        # A logarithm costs as much as the rest: one for as many factors as a number can hold.
        if factor < 1e-100:
            value += math.log(factor)
        else:
            product *= factor
            if product < 1e-200:
                value += math.log(product)
                product = 1.0
    return value + math.log(product)


@njit(**_OPTIONS)
def chib(indptr, ids, counts, table, alpha, keys, n_burn, n_iter, out, start, stop):
    """out[d, r] = log p(w, z*) - log mean_s T(z* <- z^s) (Murray and Salakhutdinov, 2008).

    z* is the end of n_burn sweeps and as many steps uphill at most. T is a sweep in order and T'
    one in reverse order, its reversal under p(z | w). s is uniform on 0..n_iter-1, z^s is drawn
    from T'(. <- z*), what comes after it from T and what comes before from T'. out is (B, R), R
    independent repetitions.
    """
    n_topics = alpha.size
    stream = np.empty(2, np.uint64)
    used, place = np.empty((2, n_topics), np.int64), np.empty((2, n_topics), np.int64)
    n, size = np.empty((2, n_topics)), np.zeros(2, np.int64)
    partial, terms = np.empty(n_topics), np.empty(n_iter)
    for d in range(start, stop):
        beta, smooth, tokens = _pack(indptr, ids, counts, table, alpha, d)
        order, z = np.empty_like(tokens), np.empty_like(tokens)
        for r in range(out.shape[1]):
            seed(stream, keys[d], r)
            _shuffle(tokens, order, stream)
            place[:] = -1
            size[:] = 0
            for i in range(z.size):
                total = _in_use(beta, order[i], used, n, size, 0, partial)
                z[i] = _choose(uniform(stream), total, partial, used, 0, smooth, order[i])
                _add(used, n, place, size, 0, z[i])
            for _ in range(n_burn):
                _sweep(z, order, beta, smooth, used, n, place, size, partial, stream, False)
            for _ in range(n_burn):
                if not _climb(z, order, alpha, beta, used, n, place, size):
                    break
            goal = z.copy()
            first = int(uniform(stream) * n_iter)
            _sweep(z, order, beta, smooth, used, n, place, size, partial, stream, True)
            middle = z.copy()
            for s in range(n_iter):
                # first..n_iter-1 forwards, then from the middle backwards.
                backward = s >= n_iter - first
                if s == n_iter - first:
                    z[:] = middle
                    place[0] = -1
                    size[0] = 0
                    for i in range(z.size):
                        _add(used, n, place, size, 0, z[i])
                if s > 0:
                    _sweep(z, order, beta, smooth, used, n, place, size, partial, stream, backward)
                terms[s] = _log_transition(
                    goal, z, order, alpha, beta, smooth, used, n, place, size, partial
                )
            largest = terms.max()
            mean = np.exp(terms - largest).mean()
            out[d, r] = _log_joint(goal, order, alpha, beta) - largest - math.log(mean)


@njit(**_OPTIONS)
def left_to_right(
    indptr,
    ids,
    counts,
    table,
    alpha,
    keys,
    n_resampled,
    out,
    influence,
    weights,
    start,
    stop,
):
    """Left to right (Wallach et al., 2009): one token after the other, R particles side by side.

    Before token i the particles draw all earlier tokens afresh, or n_resampled of them, picked at
    random, if that is not negative and less. Then, with n of the earlier tokens,

        p_ir = p(w_i | z_<i of particle r) = sum_k (n_k + alpha_k) beta_kw / (sum_k alpha_k + i)

    and z_i is drawn. out[d] = sum_i log mean_r p_ir; weights[d, r] = sum_i log p_ir;
    influence[d, r] = sum_i (p_ir / mean_r p_ir - 1), what particle r adds to out[d], times R, to
    first order. weights and influence are (B, R).
    """
    n_topics, n_particles = alpha.size, weights.shape[1]
    last, alpha_sum = n_topics - 1, alpha.sum()
    stream = np.empty(2, np.uint64)
    used = np.empty((n_particles, n_topics), np.int64)
    place = np.empty((n_particles, n_topics), np.int64)
    n, size = np.empty((n_particles, n_topics)), np.empty(n_particles, np.int64)
    partial, p = np.empty(n_topics), np.empty(n_particles)
    for d in range(start, stop):
        beta, smooth, tokens = _pack(indptr, ids, counts, table, alpha, d)
        order = np.empty_like(tokens)
        z = np.empty((tokens.size, n_particles), np.int64)
        seed(stream, keys[d], 0)
        _shuffle(tokens, order, stream)
        place[:] = -1
        size[:] = 0
        out[d] = 0.0
        influence[d] = 0.0
        weights[d] = 0.0
        for i in range(order.size):
            few = 0 <= n_resampled < i
            for j in range(n_resampled if few else i):
                chosen = int(uniform(stream) * i) if few else j
                w = order[chosen]
                for r in range(n_particles):
                    _remove(used, n, place, size, r, z[chosen, r])
                    total = _in_use(beta, w, used, n, size, r, partial)
                    k = _choose(uniform(stream), total, partial, used, r, smooth, w)
                    z[chosen, r] = k
                    _add(used, n, place, size, r, k)
            w, mean = order[i], 0.0
            for r in range(n_particles):
                total = _in_use(beta, w, used, n, size, r, partial)
                p[r] = (total + smooth[w, last]) / (alpha_sum + i)
                mean += p[r] / n_particles
                k = _choose(uniform(stream), total, partial, used, r, smooth, w)
                z[i, r] = k
                _add(used, n, place, size, r, k)
            out[d] += math.log(mean)
            for r in range(n_particles):
                influence[d, r] += p[r] / mean - 1.0
                weights[d, r] += math.log(p[r])


@njit(**_OPTIONS)
def importance(indptr, ids, counts, table, alpha, keys, out, start, stop):
    """out[d, s] = log p(w | theta_s) = sum_w n_dw log sum_k theta_sk beta_kw, theta_s ~ Dir(alpha).

    out is (B, S).
    """
    theta = np.empty(alpha.size)
    stream = np.empty(2, np.uint64)
    for d in range(start, stop):
        seed(stream, keys[d], 0)
        for s in range(out.shape[1]):
            for k in range(alpha.size):
                theta[k] = log_gamma(stream, alpha[k])
            theta[:] = np.exp(theta - theta.max())
            theta /= theta.sum()
            out[d, s] = _score(indptr, ids, counts, table, theta, d)


@njit(**_OPTIONS)
def _score(indptr, ids, counts, table, theta, d):
    value = 0.0
    for i in range(indptr[d], indptr[d + 1]):
        if counts[i] > 0:
            probability = 0.0
            for k in range(theta.size):
                probability += theta[k] * table[ids[i], k]
            value += counts[i] * math.log(probability)
    return value


@njit(**_OPTIONS)
def mixture_score(indptr, ids, counts, table, theta, out, start, stop):
    """out[d] = sum_w n_dw log sum_k theta_dk table_wk; theta is (B, K), out (B,)."""
    for d in range(start, stop):
        out[d] = _score(indptr, ids, counts, table, theta[d], d)


@njit(**_OPTIONS)
def split_tokens(indptr, counts, keys, repeat, observed, start, stop):
    """observed = counts of a random half of each document's tokens, which takes the odd one.

    A token is taken with probability (still wanted) / (still to come): every half is as likely.
    """
    stream = np.empty(2, np.uint64)
    for d in range(start, stop):
        seed(stream, keys[d], repeat)
        left = 0
        for i in range(indptr[d], indptr[d + 1]):
            left += counts[i]
        wanted = (left + 1) // 2
        for i in range(indptr[d], indptr[d + 1]):
            observed[i] = 0
            for _ in range(counts[i]):
                if uniform(stream) * left < wanted:
                    observed[i] += 1
                    wanted -= 1
                left -= 1
