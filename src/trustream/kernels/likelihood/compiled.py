"""Held-out likelihood in Numba. Each kernel has a twin in `reference`."""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np

from trustream.kernels.jit import njit
from trustream.kernels.likelihood import compiled_gibbs as gibbs
from trustream.kernels.likelihood.compiled_random import log_gamma, seed, uniform

__all__ = ["chib", "importance", "left_to_right", "mixture_score", "split_tokens"]


@njit(**gibbs.OPTIONS)
def chib(indptr, ids, counts, table, alpha, keys, n_burn, n_iter, out, start, stop):
    """out[d, r] = log p(w, z*) - log mean_s T(z* <- z^s) (Murray and Salakhutdinov, 2008).

    z* is the end of n_burn sweeps. It is not moved uphill from there: a peak is far from where the
    chain stays, in a long document by tens of nats, which the estimate would lack. T is a sweep in
    order and T' one in reverse order, its reversal under p(z | w). s is uniform on 0..n_iter-1,
    z^s is drawn from T'(. <- z*), what comes after it from T and what comes before from T'. out is
    (B, R), R independent repetitions.
    """
    n_topics = alpha.size
    stream = np.empty(2, np.uint64)
    used, place = np.empty((2, n_topics), np.int64), np.empty((2, n_topics), np.int64)
    n, size = np.empty((2, n_topics)), np.zeros(2, np.int64)
    partial, terms = np.empty(n_topics), np.empty(n_iter)
    for d in range(start, stop):
        beta, smooth, tokens = gibbs.pack(indptr, ids, counts, table, alpha, d)
        order, z = np.empty_like(tokens), np.empty_like(tokens)
        theta = gibbs.proportions(counts, indptr[d], alpha, beta, n_burn)
        for r in range(out.shape[1]):
            seed(stream, keys[d], r)
            gibbs.shuffle(tokens, order, stream)
            gibbs.begin(z, order, theta, beta, used, n, place, size, partial, stream)
            for _ in range(n_burn):
                gibbs.sweep(z, order, beta, smooth, used, n, place, size, partial, stream, False)
            goal = z.copy()
            first = int(uniform(stream) * n_iter)
            gibbs.sweep(z, order, beta, smooth, used, n, place, size, partial, stream, True)
            middle = z.copy()
            for s in range(n_iter):
                # first..n_iter-1 forwards, then from the middle backwards.
                backward = s >= n_iter - first
                if s == n_iter - first:
                    gibbs.clear(place, size)
                    for i in range(z.size):
                        z[i] = middle[i]
                        gibbs.add(used, n, place, size, 0, z[i])
                if s > 0:
                    gibbs.sweep(
                        z, order, beta, smooth, used, n, place, size, partial, stream, backward
                    )
                terms[s] = gibbs.log_transition(
                    goal, z, order, alpha, beta, smooth, used, n, place, size, partial
                )
            largest, mean = -np.inf, 0.0
            for s in range(n_iter):
                largest = max(largest, terms[s])
            for s in range(n_iter):
                mean += math.exp(terms[s] - largest) / n_iter
            out[d, r] = gibbs.log_joint(goal, order, alpha, beta) - largest - math.log(mean)


@njit(**gibbs.OPTIONS)
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
    last, alpha_sum = n_topics - 1, 0.0
    for k in range(n_topics):
        alpha_sum += alpha[k]
    stream = np.empty(2, np.uint64)
    used = np.empty((n_particles, n_topics), np.int64)
    place = np.empty((n_particles, n_topics), np.int64)
    n, size = np.empty((n_particles, n_topics)), np.empty(n_particles, np.int64)
    partial, p = np.empty(n_topics), np.empty(n_particles)
    for d in range(start, stop):
        beta, smooth, tokens = gibbs.pack(indptr, ids, counts, table, alpha, d)
        order = np.empty_like(tokens)
        z = np.empty((tokens.size, n_particles), np.int64)
        seed(stream, keys[d], 0)
        gibbs.shuffle(tokens, order, stream)
        gibbs.clear(place, size)
        out[d] = 0.0
        for r in range(n_particles):
            influence[d, r] = weights[d, r] = 0.0
        for i in range(order.size):
            few = 0 <= n_resampled < i
            for j in range(n_resampled if few else i):
                chosen = int(uniform(stream) * i) if few else j
                w = order[chosen]
                for r in range(n_particles):
                    gibbs.remove(used, n, place, size, r, z[chosen, r])
                    total = gibbs.in_use(beta, w, used, n, size, r, partial)
                    k = gibbs.choose(uniform(stream), total, partial, used, r, smooth, w)
                    z[chosen, r] = k
                    gibbs.add(used, n, place, size, r, k)
            w, mean = order[i], 0.0
            for r in range(n_particles):
                total = gibbs.in_use(beta, w, used, n, size, r, partial)
                p[r] = (total + smooth[w, last]) / (alpha_sum + i)
                mean += p[r] / n_particles
                k = gibbs.choose(uniform(stream), total, partial, used, r, smooth, w)
                z[i, r] = k
                gibbs.add(used, n, place, size, r, k)
            out[d] += math.log(mean)
            for r in range(n_particles):
                influence[d, r] += p[r] / mean - 1.0
                weights[d, r] += math.log(p[r])


@njit(**gibbs.OPTIONS)
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
            largest, total = -np.inf, 0.0
            for k in range(alpha.size):
                largest = max(largest, theta[k])
            for k in range(alpha.size):
                theta[k] = math.exp(theta[k] - largest)
                total += theta[k]
            for k in range(alpha.size):
                theta[k] /= total
            out[d, s] = _score(indptr, ids, counts, table, theta, d)


@njit(**gibbs.OPTIONS)
def _score(indptr, ids, counts, table, theta, d):
    value = 0.0
    for i in range(indptr[d], indptr[d + 1]):
        if counts[i] > 0:
            probability = 0.0
            for k in range(theta.size):
                probability += theta[k] * table[ids[i], k]
            value += counts[i] * math.log(probability)
    return value


@njit(**gibbs.OPTIONS)
def mixture_score(indptr, ids, counts, table, theta, out, start, stop):
    """out[d] = sum_w n_dw log sum_k theta_dk table_wk; theta is (B, K), out (B,)."""
    for d in range(start, stop):
        out[d] = _score(indptr, ids, counts, table, theta[d], d)


@njit(**gibbs.OPTIONS)
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
