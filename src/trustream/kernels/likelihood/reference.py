"""Held-out likelihood in plain Python: the estimators as they stand, for testing `compiled`.

Same names, signatures and random numbers as there; see there for shapes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.kernels.likelihood.reference_random import Stream

Array = NDArray[Any]


class _Topics:
    """Numbers of tokens by topic, of the topics in use, in the order in which they came into use.

    The conditional of one token given the others,

        p(z_i = k | others) proportional to n_k beta_kw + alpha_k beta_kw,

    is drawn from as a mixture of 2K terms: those of the topics in use, then alpha_k beta_kw.
    """

    def __init__(self, n_topics: int) -> None:
        self.n = np.zeros(n_topics)
        self.used: list[int] = []

    def copy(self) -> _Topics:
        other = _Topics(self.n.size)
        other.n, other.used = self.n.copy(), self.used.copy()
        return other

    def add(self, k: int) -> None:
        if self.n[k] == 0:
            self.used.append(k)
        self.n[k] += 1

    def remove(self, k: int) -> None:
        self.n[k] -= 1
        if self.n[k] == 0:
            self.used[self.used.index(k)] = self.used[-1]
            self.used.pop()

    def draw(self, alpha: Array, beta: Array, u: float) -> int:
        terms = np.concatenate([self.n[self.used] * beta[self.used], alpha * beta])
        cumulative = np.cumsum(terms)
        i = int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))
        i = min(i, int(np.flatnonzero(terms)[-1]))
        return self.used[i] if i < len(self.used) else i - len(self.used)


class _Document:
    """A document's tokens in random order, and the rows of the table for its words."""

    def __init__(
        self, indptr: Array, ids: Array, counts: Array, table: Array, alpha: Array, d: int
    ) -> None:
        words = slice(indptr[d], indptr[d + 1])
        self.alpha = alpha
        self.rows = table[ids[words], : alpha.size]
        self.sorted = np.repeat(np.arange(self.rows.shape[0]), counts[words])

    def shuffle(self, stream: Stream) -> None:
        tokens = self.sorted.copy()
        for i in range(tokens.size - 1, 0, -1):
            j = int(stream.uniform() * (i + 1))
            tokens[i], tokens[j] = tokens[j], tokens[i]
        self.beta = self.rows[tokens]  # (N, K), beta_kw of each token

    def proportions(self, n_passes: int) -> Array:
        """theta by n_passes of theta_k proportional to alpha_k + sum_w n_w phi_wk."""
        n = np.bincount(self.sorted, minlength=self.rows.shape[0])
        theta = np.full(self.alpha.size, 1.0 / self.alpha.size)
        for _ in range(n_passes):
            theta = self.alpha + theta * ((n / (self.rows @ theta)) @ self.rows)
            theta /= theta.sum()
        return theta

    def sweep(self, z: Array, topics: _Topics, stream: Stream, backward: bool) -> None:
        """Draw each z_i given all others, in order or in reverse order."""
        order = range(z.size)
        for i in reversed(order) if backward else order:
            topics.remove(z[i])
            z[i] = topics.draw(self.alpha, self.beta[i], stream.uniform())
            topics.add(z[i])

    def log_joint(self, z: Array) -> float:
        """log p(w, z), one token after the other."""
        value, n = 0.0, np.zeros(self.alpha.size)
        for i, k in enumerate(z):
            value += math.log((self.alpha[k] + n[k]) / (self.alpha.sum() + i) * self.beta[i, k])
            n[k] += 1
        return value

    def log_transition(self, goal: Array, z: Array, topics: _Topics) -> float:
        """log T(goal <- z), the probability that `sweep` in order takes z to the goal."""
        value, topics = 0.0, topics.copy()
        for i in range(z.size):
            topics.remove(z[i])
            weight = (topics.n + self.alpha) * self.beta[i]
            value += math.log(weight[goal[i]] / weight.sum())
            topics.add(goal[i])
        return value


def chib(
    indptr: Array,
    ids: Array,
    counts: Array,
    table: Array,
    alpha: Array,
    keys: Array,
    n_burn: int,
    n_iter: int,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """out[d, r] = log p(w, z*) - log mean_s T(z* <- z^s)."""
    for d in range(start, stop):
        document = _Document(indptr, ids, counts, table, alpha, d)
        theta = document.proportions(n_burn)
        for r in range(out.shape[1]):
            stream = Stream(keys[d], r)
            document.shuffle(stream)
            z, topics = np.zeros(document.sorted.size, np.int64), _Topics(alpha.size)
            for i in range(z.size):
                cumulative = np.cumsum(theta * document.beta[i])
                u = stream.uniform()
                z[i] = np.searchsorted(cumulative, u * cumulative[-1], side="right")
                topics.add(z[i])
            for _ in range(n_burn):
                document.sweep(z, topics, stream, False)
            goal = z.copy()
            first = int(stream.uniform() * n_iter)
            document.sweep(z, topics, stream, True)
            middle = z.copy()
            terms = [document.log_transition(goal, z, topics)]
            for _ in range(first + 1, n_iter):
                document.sweep(z, topics, stream, False)
                terms.append(document.log_transition(goal, z, topics))
            z, topics = middle, _Topics(alpha.size)
            for k in z:
                topics.add(int(k))
            for _ in range(first):
                document.sweep(z, topics, stream, True)
                terms.append(document.log_transition(goal, z, topics))
            out[d, r] = document.log_joint(goal) - np.logaddexp.reduce(terms) + math.log(n_iter)


def left_to_right(
    indptr: Array,
    ids: Array,
    counts: Array,
    table: Array,
    alpha: Array,
    keys: Array,
    n_resampled: int,
    out: Array,
    influence: Array,
    weights: Array,
    start: int,
    stop: int,
) -> None:
    """out[d] = sum_i log mean_r p_ir, and weights[d, r] = sum_i log p_ir."""
    n_particles = weights.shape[1]
    for d in range(start, stop):
        document, stream = (
            _Document(indptr, ids, counts, table, alpha, d),
            Stream(keys[d], 0),
        )
        document.shuffle(stream)
        z = np.zeros((n_particles, document.sorted.size), np.int64)
        particles = [_Topics(alpha.size) for _ in range(n_particles)]
        out[d], influence[d], weights[d] = 0.0, 0.0, 0.0
        for i, beta in enumerate(document.beta):
            few = 0 <= n_resampled < i
            for j in range(n_resampled if few else i):
                chosen = int(stream.uniform() * i) if few else j
                for r, topics in enumerate(particles):
                    topics.remove(z[r, chosen])
                    u = stream.uniform()
                    z[r, chosen] = topics.draw(alpha, document.beta[chosen], u)
                    topics.add(z[r, chosen])
            p = np.empty(n_particles)
            for r, topics in enumerate(particles):
                p[r] = (topics.n + alpha) @ beta / (alpha.sum() + i)
                z[r, i] = topics.draw(alpha, beta, stream.uniform())
                topics.add(z[r, i])
            out[d] += math.log(p.mean())
            influence[d] += p / p.mean() - 1.0
            weights[d] += np.log(p)


def importance(
    indptr: Array,
    ids: Array,
    counts: Array,
    table: Array,
    alpha: Array,
    keys: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """out[d, s] = log p(w | theta_s), theta_s drawn from the prior."""
    for d in range(start, stop):
        stream = Stream(keys[d], 0)
        words = slice(indptr[d], indptr[d + 1])
        for s in range(out.shape[1]):
            log_theta = np.array([stream.log_gamma(a) for a in alpha])
            theta = np.exp(log_theta - log_theta.max())
            theta /= theta.sum()
            with np.errstate(divide="ignore"):
                out[d, s] = counts[words] @ np.log(table[ids[words], : alpha.size] @ theta)


def split_tokens(
    indptr: Array, counts: Array, keys: Array, repeat: int, observed: Array, start: int, stop: int
) -> None:
    """observed = counts of a random half of each document's tokens, which takes the odd one."""
    for d in range(start, stop):
        stream = Stream(keys[d], repeat)
        left = int(counts[indptr[d] : indptr[d + 1]].sum())
        wanted = (left + 1) // 2
        for i in range(indptr[d], indptr[d + 1]):
            observed[i] = 0
            for _ in range(counts[i]):
                if stream.uniform() * left < wanted:
                    observed[i] += 1
                    wanted -= 1
                left -= 1


def mixture_score(
    indptr: Array,
    ids: Array,
    counts: Array,
    table: Array,
    theta: Array,
    out: Array,
    start: int,
    stop: int,
) -> None:
    """out[d] = sum_w n_dw log sum_k theta_dk table_wk."""
    for d in range(start, stop):
        words = slice(indptr[d], indptr[d + 1])
        n = counts[words]
        probability = table[ids[words], : theta.shape[1]] @ theta[d]
        with np.errstate(divide="ignore"):
            out[d] = n[n > 0] @ np.log(probability[n > 0])
