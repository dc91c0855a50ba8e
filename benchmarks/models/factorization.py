"""Poisson factorisation of likes of movies, next to cornac's hierarchical one.

Both learn from the same likes, and their lists are measured on the same held-out ones, of the same
users: on random splits, and on a split by time, where each user's latest likes are held out. The
peer has several numbers of iterations to choose from and is measured with the one whose recall is
best, on the held-out likes themselves; ours has its defaults. Speed is the time to that recall.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness.rows import Row, Setup, at_least, at_most, information
from benchmarks.recommend import data, methods
from benchmarks.recommend.data import Split
from trustream import PoissonFactorization
from trustream.evaluation import ranking
from trustream.learning.learner import Learner
from trustream.models.factorization import FactorModel, FactorPrior

FILES = (data.FILE,)
K, M = 20, 20
MEASURES = ("precision", "recall", "ndcg")
# Iterations of the peer, whose recall falls again after some; 100 is its default.
_ITERATIONS = (10, 25, 50, 100)
# Users of the data on which steps are timed: few, and a hundred times as many.
_FEW, _TIMES, _BATCH = 2_000, 100, 200


def measure(setup: Setup) -> Iterator[Row]:
    """Quality on both kinds of splits, seconds to the peer's recall, and of a step."""
    matrix = data.likes(setup.data)
    splits = {f"random split {i}": data.split(matrix, i) for i in range(setup.choose(3, 1))}
    splits["split by time"] = data.split_by_time(setup.data)
    PoissonFactorization(K, random_state=0).fit(matrix[:200])  # compiled before it is timed
    for name, split in splits.items():
        goal, peer_seconds, n = _peer(split)
        ours, seconds = _timed(methods.poisson, split.train, 0, K)
        found = _scores(ours, split)
        for measure_ in MEASURES:
            yield information(f"{measure_}@{M}, {name}: ours", found[measure_], "")
            yield information(f"{measure_}@{M}, {name}: cornac's HPF", goal[measure_], "")
        sooner = _seconds_to(split, goal["recall"])
        facts = {
            "ours": seconds,
            "cornac": peer_seconds,
            "iterations of cornac": n,
            "to the same recall": sooner,
        }
        yield information(f"a whole fit, {name}: cornac over ours", peer_seconds / seconds, "x")
        if sooner is None:
            yield Row(f"{name}: cornac's recall was not reached", None, ">= 5", "x", None)
        else:
            what = f"to cornac's recall, {name}: cornac over ours"
            yield at_least(what, peer_seconds / sooner, 5.0, "x", **facts)
    few, many = _step_seconds(setup)
    yield at_most(f"a step, {_TIMES} times the users", many / few, 1.5, "x", few=few, many=many)


def _timed(method: Any, *arguments: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    result = method(*arguments)
    return result, time.perf_counter() - start


def _peer(split: Split) -> tuple[dict[str, float], float, int]:
    """(measures, seconds, iterations) of the peer with the iterations that suit it best."""
    found = []
    for n in _ITERATIONS:
        factors, seconds = _timed(methods.hierarchical_poisson, split.train, 0, K, n)
        found.append((_scores(factors, split), seconds, n))
    return max(found, key=lambda result: result[0]["recall"])


def _scores(factors: Any, split: Split) -> dict[str, float]:
    result = ranking(factors, split.held_out, seen=split.train, m=M)
    return {name: getattr(result, name).mean for name in MEASURES}


def _seconds_to(split: Split, recall: float) -> float | None:
    """Of the shortest fit whose recall is at least that, of 1, 2, 5 and 10 passes; or None."""
    for passes in (1, 2, 5, 10):
        factors, seconds = _timed(lambda n=passes: methods.poisson(split.train, 0, K, max_iter=n))
        if _scores(factors, split)["recall"] >= recall:
            return seconds
    return None


def _step_seconds(setup: Setup) -> tuple[float, float]:
    """Median seconds of a step on a batch of 200 users, drawn from few and from many."""
    found = []
    for n_users in (_FEW, _TIMES * _FEW):
        rng = np.random.default_rng(0)
        counts = sparse.random_array(
            (n_users, 5_000), density=0.004, rng=rng, format="csr", dtype=np.float32
        )
        counts.data[:] = 1
        learner = Learner(
            FactorModel(K, 5_000, n_threads=setup.n_threads), PoissonFactorization(K)._recipe()
        )
        state = learner.start(FactorPrior(5_000, 0.3, 1500.0), rng)
        seconds = []
        for _ in range(setup.choose(60, 20)):
            rows = np.sort(rng.choice(n_users, _BATCH, replace=False))
            start = time.perf_counter()
            state, _ = learner.step(state, learner.batch(counts, rows), n_users, rng=rng)
            seconds.append(time.perf_counter() - start)
        found.append(float(np.median(seconds[5:])))
    return found[0], found[1]
