"""Exact log-likelihood of a document, topics and alpha fixed, in three ways."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import special

from tests.helpers import Array


def log_prior(n: Array, alpha: Array) -> Array:
    """log p(z) of an assignment with n tokens by topic (..., K), theta integrated out."""
    rising = special.gammaln(alpha + n) - special.gammaln(alpha)
    total = alpha.sum()
    return rising.sum(axis=-1) - special.gammaln(total + n.sum(axis=-1)) + special.gammaln(total)


def tokens_of(counts: Array) -> Array:
    """The words of a document, one for each token."""
    return np.repeat(np.arange(counts.size), counts)


def enumerated(counts: Array, topics: Array, alpha: Array) -> float:
    """log sum_z p(w, z) over all K^N assignments."""
    words = tokens_of(counts)
    z = np.array(list(itertools.product(range(alpha.size), repeat=words.size)), dtype=int)
    n = np.eye(alpha.size)[z].sum(axis=1)
    log_joint = log_prior(n, alpha) + np.log(topics[z, words]).sum(axis=1)
    return float(special.logsumexp(log_joint))


def by_numbers(counts: Array, topics: Array, alpha: Array) -> float:
    """Two topics: log sum_n p(n tokens of the first topic) c_n, any length.

    c_n sums prod_i beta over the assignments with n tokens of the first topic: coefficients of
    the polynomial prod_i (beta_1w x + beta_2w), built one token at a time.
    """
    log_c = np.zeros(1)
    for w in tokens_of(counts):
        first, second = np.log(topics[:, w])
        log_c = np.logaddexp(np.append(-np.inf, log_c + first), np.append(log_c + second, -np.inf))
    n = np.arange(log_c.size)
    numbers = np.stack([n, log_c.size - 1 - n], axis=1)
    return float(special.logsumexp(log_c + log_prior(numbers, alpha)))


def by_quadrature(counts: Array, topics: Array, alpha: Array, n_nodes: int = 2000) -> float:
    """Two topics: the integral over theta ~ Beta(alpha) by Gauss-Jacobi quadrature."""
    x, weights = special.roots_jacobi(n_nodes, alpha[1] - 1, alpha[0] - 1)
    theta = np.stack([(1 + x) / 2, (1 - x) / 2], axis=1)
    log_p = np.log(theta @ topics) @ counts
    return float(special.logsumexp(log_p, b=weights / weights.sum()))
