"""Sequences drawn from hidden Markov models whose states are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment


class Planted(NamedTuple):
    """Observations of all sequences, their lengths, states and transition probabilities."""

    X: np.ndarray
    lengths: list[int]
    states: np.ndarray
    transitions: np.ndarray


def planted(
    emissions: str, k: int = 4, n: int = 60, length: int = 30, d: int = 16, seed: int = 0
) -> Planted:
    """n sequences of k states that stay for a few observations."""
    rng = np.random.default_rng(seed)
    transitions = 0.3 * rng.dirichlet(np.full(k, 5.0), k) + 0.7 * np.eye(k)
    cumulative = transitions.cumsum(axis=1)
    z = np.empty((n, length), np.int64)
    z[:, 0] = rng.integers(k, size=n)
    for t in range(1, length):
        below = (cumulative[z[:, t - 1]] < rng.random((n, 1))).sum(axis=1)
        z[:, t] = np.minimum(below, k - 1)
    states = z.ravel()
    X: Any
    if emissions == "categorical":
        # Mostly symbols of the state's own.
        own = rng.random(states.size) < 0.97
        X = np.where(own, 3 * states + rng.integers(3, size=states.size), 0)
        X = np.where(own, X, rng.integers(3 * k, size=states.size))[:, np.newaxis]
    elif emissions == "bernoulli":
        probs = rng.beta(0.5, 0.5, (k, d))
        X = (rng.random((states.size, d)) < probs[states]).astype(float)
    else:
        angles = 2 * np.pi * np.arange(k) / k
        means = 5 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        X = means[states] + rng.standard_normal((states.size, 2))
    return Planted(X, [length] * n, states, transitions)


def matching(found: np.ndarray, states: np.ndarray, k: int) -> tuple[np.ndarray, float]:
    """Which found state each planted one is, and the share of observations that agree."""
    table = np.zeros((k, k))
    np.add.at(table, (states, found), 1)
    rows, columns = linear_sum_assignment(-table)
    return columns, float(table[rows, columns].sum() / len(states))


def n_used(beliefs: np.ndarray) -> int:
    """States with at least a tenth of an equal share of the observations."""
    return int((beliefs.mean(axis=0) > 0.1 / beliefs.shape[1]).sum())
