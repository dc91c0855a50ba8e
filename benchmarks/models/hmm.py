"""A hidden Markov model of 20 states, learned from a million observations, next to hmmlearn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from hmmlearn.vhmm import VariationalCategoricalHMM

from benchmarks.harness.rows import Row, Setup, information

FILES: tuple[str, ...] = ()
N_STATES, N_SYMBOLS, LENGTH = 20, 50, 1_000


def measure(setup: Setup) -> Iterator[Row]:
    """Seconds of an iteration."""
    X, lengths = planted(setup.choose(1_000, 50))
    start = time.perf_counter()
    peer(n_iter=2).fit(X, lengths)
    seconds = (time.perf_counter() - start) / 2
    yield information("hmmlearn, an iteration, K=20", seconds, "s")


def planted(n_sequences: int) -> tuple[np.ndarray, np.ndarray]:
    """Symbols (N, 1) of sequences of 1,000, drawn from 20 states that tend to stay, and lengths."""
    rng = np.random.default_rng(0)
    transitions = rng.dirichlet(np.full(N_STATES, 0.2), N_STATES) / 2 + np.eye(N_STATES) / 2
    emissions = rng.dirichlet(np.full(N_SYMBOLS, 0.1), N_STATES)
    z = rng.integers(N_STATES, size=n_sequences)
    X = np.empty((n_sequences, LENGTH), np.int64)
    for t in range(LENGTH):
        X[:, t] = _draw(emissions[z], rng)
        z = _draw(transitions[z], rng)
    return X.reshape(-1, 1), np.full(n_sequences, LENGTH)


def peer(**settings: Any) -> VariationalCategoricalHMM:
    """hmmlearn's model with its defaults, for so many iterations."""
    return VariationalCategoricalHMM(N_STATES, tol=-np.inf, random_state=0, **settings)


def _draw(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One draw from each row of probabilities."""
    below = (rows.cumsum(axis=1) < rng.random((len(rows), 1))).sum(axis=1)
    return np.minimum(below, rows.shape[1] - 1)
