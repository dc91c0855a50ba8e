"""Gibbs sampling of one document's topics in Numba, theta integrated out.

The conditional of a token of word w given the others is

    p(z_i = k | others) proportional to n_k beta_kw + alpha_k beta_kw.

With topics and alpha fixed, the second part never changes: its cumulative sums are kept for each
word of the document. The first has as many terms as topics are in use, a few of a hundred.

Small functions are inlined by Numba: a call passes each array as seven arguments. Loops stand
where whole arrays could be assigned, because each such assignment takes Numba a second.
"""

# Bodies are typed by Numba.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

import numpy as np

from trustream.kernels.jit import njit
from trustream.kernels.likelihood.compiled_random import uniform

# No assumption that numbers are finite: the logarithm of a zero probability is minus infinity.
OPTIONS = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}


@njit(**OPTIONS)
def pack(indptr, ids, counts, table, alpha, d):
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


@njit(**OPTIONS)
def shuffle(tokens, order, stream):
    """order = the tokens in random order."""
    for i in range(order.size):
        order[i] = tokens[i]
    for i in range(order.size - 1, 0, -1):
        j = int(uniform(stream) * (i + 1))
        order[i], order[j] = order[j], order[i]


# The topics in use of state r: used[r, :size[r]] lists them, n[r, j] is the number of tokens of
# topic used[r, j], and place[r, k] is j, or -1.
@njit(**OPTIONS)
def clear(place, size):
    """No topic in use, in any state."""
    for r in range(size.size):
        size[r] = 0
        for k in range(place.shape[1]):
            place[r, k] = -1


@njit(inline="always", **OPTIONS)
def add(used, n, place, size, r, k):
    j = place[r, k]
    if j < 0:
        j = size[r]
        size[r] += 1
        used[r, j] = k
        place[r, k] = j
        n[r, j] = 0.0
    n[r, j] += 1.0


@njit(inline="always", **OPTIONS)
def remove(used, n, place, size, r, k):
    j = place[r, k]
    n[r, j] -= 1.0
    if n[r, j] == 0.0:
        size[r] -= 1
        last = size[r]
        used[r, j] = used[r, last]
        n[r, j] = n[r, last]
        place[r, used[r, j]] = j
        place[r, k] = -1


@njit(inline="always", **OPTIONS)
def in_use(beta, w, used, n, size, r, partial):
    """sum_k n_k beta_kw, with the sums on the way in `partial`."""
    total = 0.0
    for j in range(size[r]):
        total += n[r, j] * beta[w, used[r, j]]
        partial[j] = total
    return total


@njit(inline="always", **OPTIONS)
def choose(u, total, partial, used, r, smooth, w):
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


@njit(**OPTIONS)
def sweep(z, order, beta, smooth, used, n, place, size, partial, stream, backward):
    """Draw each z_i given all others, in order or in reverse order."""
    for step in range(z.size):
        i = z.size - 1 - step if backward else step
        w = order[i]
        remove(used, n, place, size, 0, z[i])
        total = in_use(beta, w, used, n, size, 0, partial)
        k = choose(uniform(stream), total, partial, used, 0, smooth, w)
        z[i] = k
        add(used, n, place, size, 0, k)


@njit(**OPTIONS)
def proportions(counts, begin, alpha, beta, n_passes):
    """theta (K,) by n_passes of theta_k prop. to alpha_k + sum_w n_w phi_wk, from equal topics.

    phi_wk is proportional to theta_k beta_kw.
    """
    theta, total = np.empty(alpha.size), np.empty(alpha.size)
    for k in range(alpha.size):
        theta[k] = 1.0 / alpha.size
    for _ in range(n_passes):
        for k in range(alpha.size):
            total[k] = alpha[k]
        for w in range(beta.shape[0]):
            mass = 0.0
            for k in range(alpha.size):
                mass += theta[k] * beta[w, k]
            ratio = counts[begin + w] / mass
            for k in range(alpha.size):
                total[k] += ratio * theta[k] * beta[w, k]
        mass = 0.0
        for k in range(alpha.size):
            mass += total[k]
        for k in range(alpha.size):
            theta[k] = total[k] / mass
    return theta


@njit(**OPTIONS)
def begin(z, order, theta, beta, used, n, place, size, partial, stream):
    """Draw each z_i from p(z_i | theta), which is proportional to theta_k beta_kw."""
    clear(place, size)
    for i in range(z.size):
        w, total, k = order[i], 0.0, 0
        for k in range(theta.size):
            total += theta[k] * beta[w, k]
            partial[k] = total
        target, k = uniform(stream) * total, 0
        while partial[k] <= target:
            k += 1
        z[i] = k
        add(used, n, place, size, 0, k)


@njit(**OPTIONS)
def log_joint(z, order, alpha, beta):
    """log p(w, z), one token after the other."""
    n = np.zeros(alpha.size)
    alpha_sum = 0.0
    for k in range(alpha.size):
        alpha_sum += alpha[k]
    value = 0.0
    for i in range(z.size):
        k = z[i]
        value += math.log((alpha[k] + n[k]) / (alpha_sum + i) * beta[order[i], k])
        n[k] += 1.0
    return value


@njit(**OPTIONS)
def log_transition(goal, z, order, alpha, beta, smooth, used, n, place, size, partial):
    """log T(goal <- z), the probability that `sweep` in order takes z to the goal.

    State 0 is that of z and stays; state 1 goes from z to the goal.
    """
    last = alpha.size - 1
    size[1] = size[0]
    for k in range(alpha.size):
        used[1, k], n[1, k], place[1, k] = used[0, k], n[0, k], place[0, k]
    value, product = 0.0, 1.0
    for i in range(z.size):
        w, k = order[i], goal[i]
        remove(used, n, place, size, 1, z[i])
        total = in_use(beta, w, used, n, size, 1, partial) + smooth[w, last]
        number = n[1, place[1, k]] if place[1, k] >= 0 else 0.0
        factor = (number + alpha[k]) * beta[w, k] / total
        add(used, n, place, size, 1, k)
        # A logarithm costs as much as the rest: one for as many factors as a number can hold.
        if factor < 1e-100:
            value += math.log(factor)
        else:
            product *= factor
            if product < 1e-200:
                value += math.log(product)
                product = 1.0
    return value + math.log(product)
