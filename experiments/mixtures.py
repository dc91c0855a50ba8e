"""Functions that the experiments with mixtures share: the bound of all data during learning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.experiment import Record, Settings, Tick
from trustream.inference import driver, natural_gradient, schedules, trust_region
from trustream.inference.state import State
from trustream.models.protocol import ConjugateModel

# Data points at a time, to bound the memory.
_BLOCK = 5000


def average_bound(model: ConjugateModel, state: State, data: Any, n_documents: int) -> float:
    """The lower bound in nats per data point, equations 5 and 6 of the paper at the best phi.

    mean_n E_q[log p(x_n, z_n | beta) / q(z_n)] - KL(q(beta) || p(beta)) / N

    Args:
        data: all data points, or a random sample of them, which gives an estimate.
        n_documents: N, all of them.
    """
    total = 0.0
    for start in range(0, len(data), _BLOCK):
        batch = model.batch(data, slice(start, min(start + _BLOCK, len(data))))
        total += float(model.local_bound(state.lambda_, state.prior, batch, None).sum())
    return total / len(data) + model.global_bound(state.lambda_, state.prior) / n_documents


def n_used(gamma: Any, n_documents: int) -> int:
    """Components that hold at least a tenth of an equal share of the data.

    >>> n_used(np.array([80.0, 15.0, 1.0, 4.0]), 100)
    3
    """
    return int((gamma >= n_documents / gamma.size / 10).sum())


def stochastic(
    model: ConjugateModel,
    state: State,
    data: Any,
    method: str,
    settings: Settings,
    batch_size: int,
    rng: np.random.Generator,
) -> Iterator[State]:
    """The state after each trust-region ("TR") or natural-gradient step.

    Args:
        settings: `tau`, `kappa`, `n_inner`, and `epochs` by method: passes in random order.
    """
    step: driver.Step = partial(natural_gradient.step, n_local=1)
    if method == "TR":
        step = partial(trust_region.step, n_inner=settings["n_inner"], n_local=1)
    schedule = schedules.decaying(settings["tau"], settings["kappa"])
    n, n_epochs = len(data), settings["epochs"][method]
    batches = (rows for _ in range(n_epochs) for rows in driver.shuffled(n, batch_size, rng))
    steps = driver.run(model, state, data, batches, step=step, schedule=schedule, n_documents=n)
    return (state for state, _ in steps)


def watch(
    state: State, steps: Iterable[State], n_steps: int, n_points: int, tick: Tick
) -> Iterator[State]:
    """The first state, and those of `steps` at `marks`; `tick` is told the share that is done."""
    yield state
    chosen = marks(n_steps, n_points)
    for state in steps:
        if state.n_steps in chosen:
            yield state
        tick(state.n_steps / n_steps)


def marks(n_steps: int, n_points: int) -> set[int]:
    """Steps after which to look: 0, the last one, and others, closer together at the beginning.

    >>> sorted(marks(100, 5))
    [0, 1, 6, 25, 56, 100]
    """
    places = np.linspace(0, 1, n_points) ** 2
    return {round(place * n_steps) for place in places} | {0, min(1, n_steps), n_steps}


def band(records: Sequence[Record], x: str, y: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, the mean of y over runs and its standard error (0 for one run), at all marks."""
    xs = np.array([point[x] for point in records[0].points])
    ys = np.array([[point[y] for point in record.points] for record in records])
    n_runs = len(records)
    error = ys.std(axis=0, ddof=1) / np.sqrt(n_runs) if n_runs > 1 else np.zeros(len(xs))
    return xs, ys.mean(axis=0), error
