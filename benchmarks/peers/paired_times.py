"""Run scikit-learn and trustream alternately, and compare their times to the same score.

The speed of a shared machine drifts by half within minutes. Curves that are measured one after the
other carry that; here both sides see the same minutes. Each round has another seed, for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.harness.rows import Row, Setup, at_least
from benchmarks.peers import MAIN, grid, methods, trustream_curves
from benchmarks.peers.curves import time_to
from benchmarks.peers.recorder import Recorder, Scorer
from benchmarks.peers.targets import TIMES
from benchmarks.peers.workloads import WORKLOADS

FILES = WORKLOADS[MAIN].files
# The first target on the curves: a peer, its point, and how many times less time.
PEER, LABEL, TARGET = TIMES[0]
ROUNDS = 7
# Fits of trustream between which the peer's score lies, each made so often in a round.
PARTS = (1 / 4, 3 / 8, 1 / 2, 3 / 4)
REPEATS = 3


class Round(NamedTuple):
    """Seconds of both sides, the peer's score, and the first whole fit of ours that reaches it."""

    theirs: float
    ours: float
    score: float
    whole: float


def measure(setup: Setup) -> Iterator[Row]:
    """Time of one pass of the peer over ours to its score: the median of the rounds."""
    workload = WORKLOADS[MAIN].quick() if setup.quick else WORKLOADS[MAIN]
    train, held_out = workload.load(setup.data)
    scorer = Scorer(held_out, 1, setup.n_threads)
    settings = grid.settings(PEER)
    name = f"time to the score of {PEER} after {LABEL}, both in turn, median of {ROUNDS}"
    rounds = []
    for seed in range(ROUNDS):
        found = one_round(train, workload.n_topics, settings, scorer, seed)
        if found is None:
            yield Row(name, None, f">= {TARGET:g}", "x less", False, {"seed": seed})
            return
        rounds.append(found)
    ratios = sorted(one.theirs / one.ours for one in rounds)
    details = {"rounds": [one._asdict() for one in rounds], "ratios": ratios}
    yield at_least(name, float(np.median(ratios)), TARGET, "x less", **details)


def one_round(
    train: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    scorer: Scorer,
    seed: int,
) -> Round | None:
    """Both sides once; None if ours does not reach the peer's score."""
    recorder = Recorder(scorer, name="in turn", only_last=True)
    methods.module(PEER).run(train, n_topics, {**settings, "random_state": seed}, 1.0, recorder)
    theirs = recorder.points[-1]
    seconds: dict[float, list[float]] = {part: [] for part in PARTS}
    scores: dict[float, float] = {}
    for _ in range(REPEATS):
        for part in PARTS:
            watch, model = trustream_curves.fit(train, n_topics, {"random_state": seed}, part)
            seconds[part].append(watch.seconds)
            if part not in scores:
                recorder.add(
                    trustream_curves.passes_label(part),
                    watch,
                    model.components_,
                    model.doc_topic_prior_,
                )
                scores[part] = recorder.points[-1].completion
    curve = [(float(np.median(seconds[part])), scores[part]) for part in PARTS]
    reached = time_to(curve, theirs.completion)
    if reached is None:
        return None
    return Round(theirs.seconds, reached.seconds, theirs.completion, reached.whole)
