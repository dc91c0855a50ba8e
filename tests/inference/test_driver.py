"""The driver: passes over the data, and a generator that belongs to its caller."""

from __future__ import annotations

from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest

from tests.helpers import random_counts, snapshot
from trustream.inference import driver, empirical_bayes, schedules, trust_region
from trustream.inference.state import Info, State
from trustream.models.lda import LdaModel, LdaPrior

N, V, K = 50, 40, 3


@pytest.mark.parametrize(("n", "batch_size"), [(1, 1), (5, 2), (50, 7), (50, 50), (50, 1000)])
def test_each_row_once_per_pass(n: int, batch_size: int) -> None:
    """Sizes differ by one at most, rows are in order inside a batch, and the order is random."""
    rng = np.random.default_rng(0)
    passes = [list(driver.shuffled(n, batch_size, rng)) for _ in range(2)]
    for batches in passes:
        assert sorted(np.concatenate(batches)) == list(range(n))
        sizes = [rows.size for rows in batches]
        assert max(sizes) <= batch_size and max(sizes) - min(sizes) <= 1
        assert all((np.diff(rows) > 0).all() for rows in batches)
    if 1 < batch_size < n:
        assert snapshot(passes[0]) != snapshot(passes[1])


def run(state: State, batches: list[Any], learn: bool = False) -> Any:
    model = LdaModel(K, V)
    counts = random_counts(np.random.default_rng(1), N, V, 10)
    rng = np.random.default_rng(2)

    def update(model: Any, state: State, batch: Any, info: Info) -> State:
        return empirical_bayes.update(model, state, batch, [info.local], rho=info.rho, rng=rng)

    return driver.run(
        model,
        state,
        counts,
        batches,
        step=partial(trust_region.step, n_inner=2, n_local=3),
        schedule=schedules.decaying(1.0, 0.6),
        n_documents=N,
        learn=update if learn else None,
    )


def start() -> State:
    prior = LdaPrior.of(0.1, 0.1, K, V)
    return State(LdaModel(K, V).initial(prior, np.random.default_rng(0)), prior)


def test_stopped_and_resumed() -> None:
    """Three steps, then the rest from the state they left: the same bits as in one go."""
    batches = list(driver.shuffled(N, 8, np.random.default_rng(3)))
    *_, (whole, last) = run(start(), batches)
    *_, (half, _) = islice(run(start(), batches), 3)
    assert half.n_steps == 3
    *_, (resumed, again) = run(half, batches[3:])
    assert snapshot(resumed) == snapshot(whole)
    assert snapshot(again) == snapshot(last)
    assert (whole.n_steps, whole.n_seen) == (7, N)


def test_nothing_happens_until_asked() -> None:
    """A generator that nobody advances takes no step, and each batch is asked for only then."""
    asked: list[int] = []

    def batches() -> Any:
        for i in range(5):
            asked.append(i)
            yield np.array([i])

    state = start()
    before = snapshot(state)
    steps = run(state, batches())
    assert asked == [] and snapshot(state) == before
    next(steps)
    next(steps)
    assert asked == [0, 1]


def test_rate_and_counters() -> None:
    """Every step is told its rate and N, and says so."""
    batches = [np.arange(10), np.arange(20, 25), np.arange(2)]
    infos = [info for _, info in run(start(), batches)]
    rate = schedules.decaying(1.0, 0.6)
    assert [i.rho for i in infos] == [rate(State(None, None, n_steps=t)) for t in range(3)]
    assert [(i.n_steps, i.batch_size, i.n_documents) for i in infos] == [
        (1, 10, N),
        (2, 5, N),
        (3, 2, N),
    ]


def test_priors_are_learned_after_each_step() -> None:
    batches = list(driver.shuffled(N, 8, np.random.default_rng(3)))
    alphas = [state.prior.alpha for state, _ in run(start(), batches, learn=True)]
    assert all((a != b).any() for a, b in pairwise(alphas))
    *_, (state, _) = run(start(), batches)
    assert (state.prior.alpha == 0.1).all()
