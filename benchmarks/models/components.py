"""Which components steps of a trust region keep, and steps of natural gradient from the same start.

Data are drawn from hidden Markov models and from Poisson factorisations whose components are known,
in a grid of cases that was written down before any of them was run, with seeds of its own. Natural
gradient makes as many passes, and four times as many, since its steps cost less.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness.rows import Row, Setup, information
from tests.estimators import planted_counts, planted_sequences
from trustream import HiddenMarkovModel, PoissonFactorization

FILES: tuple[str, ...] = ()
# By name: algorithm, and passes relative to those of the trust region.
METHODS = {
    "trust-region": ("trust-region", 1),
    "natural-gradient": ("natural-gradient", 1),
    "natural-gradient, 4 x passes": ("natural-gradient", 4),
}
SEEDS = range(100, 108)
# (emissions, columns): states, batch sizes of 200 sequences of 20 observations.
KINDS = (("bernoulli", 100), ("bernoulli", 16), ("categorical", 0), ("gaussian", 0))
STATES, SEQUENCES = (10, 20), (5, 20)
# Components, users, batch sizes.
COMPONENTS, USERS, BATCHES = (10, 20), (500, 1500), (10, 50)


def measure(setup: Setup) -> Iterator[Row]:
    """Seeds of each case in which all components are there at the end."""
    seeds = list(SEEDS)[: setup.choose(len(SEEDS), 1)]
    for (kind, d), k, batch in itertools.product(KINDS, STATES, SEQUENCES):
        runs = [_states(kind, d, k, batch, seed) for seed in seeds]
        yield _row(f"HMM, {kind} {d or ''}, K={k}, batches of {batch} sequences", k, runs)
    for k, n_users, batch in itertools.product(COMPONENTS, USERS, BATCHES):
        runs = [_factors(k, n_users, batch, seed) for seed in seeds]
        yield _row(f"factorisation, K={k}, {n_users} users, batches of {batch}", k, runs)


Run = dict[str, tuple[int, float]]


def _row(name: str, k: int, runs: list[Run]) -> Row:
    """The cases in which all are there, for the trust region; the others in the details."""
    found = {method: [run[method][0] for run in runs] for method in METHODS}
    bounds = {
        method: float(np.mean([run[method][1] - run["trust-region"][1] for run in runs]))
        for method in METHODS
    }
    whole = {method: sum(n == k for n in counts) for method, counts in found.items()}
    return information(
        f"{name}: seeds of {len(runs)} with all components",
        whole["trust-region"],
        "",
        with_all=whole,
        components=found,
        bound_minus_that_of_trust_region=bounds,
    )


def _states(kind: str, d: int, k: int, batch: int, seed: int) -> Run:
    """By method: states with a tenth of an equal share or more, and the bound."""
    data = planted_sequences.planted(kind, k=k, n=200, length=20, d=d or 16, seed=seed)
    found: Run = {}
    for name, (method, times) in METHODS.items():
        hmm = HiddenMarkovModel(
            k, kind, learning_method=method, batch_size=batch, max_iter=5 * times, n_init=1,
            random_state=seed,
        ).fit(data.X, data.lengths)  # fmt: skip
        used = planted_sequences.n_used(hmm.predict_proba(data.X, data.lengths))
        found[name] = (used, hmm.lower_bound_)
    return found


def _factors(k: int, n_users: int, batch: int, seed: int) -> Run:
    """By method: components that are found (cosine above 0.9), and the bound."""
    counts, beta = planted_counts.planted(seed, k, 12 * k, n_users)
    found: Run = {}
    for name, (method, times) in METHODS.items():
        options: dict[str, Any] = {"learning_method": method, "batch_size": batch}
        model = PoissonFactorization(k, max_iter=3 * times, random_state=seed, **options)
        model.fit(counts)
        found[name] = (planted_counts.n_found(model, beta), model.elbo(counts))
    return found
