"""The loops behind `fit`: passes of a stochastic algorithm, or of batch VB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from trustream.inference import (
    batch,
    driver,
    empirical_bayes,
    natural_gradient,
    schedules,
    trust_region,
)
from trustream.inference.state import Info, State
from trustream.models.protocol import Batch, Model

# Data points at a time where all of them are visited: bounds the memory of a pass.
BLOCK_SIZE = 256


@dataclass(frozen=True)
class Settings:
    """How to learn, with every default filled in.

    Attributes:
        method: "trust-region", "natural-gradient" or "batch".
        tau, kappa: of the schedule rho = (tau + t)^-kappa.
        cooldown: share of a fit's steps, at its end, over which the rate falls to zero.
        batch_size, max_iter: B, and passes over the data.
        n_inner, n_local, local_tol: of a step.
        tol: batch VB stops when a pass raises the bound by less, in nats a data point.
        learn: names of the priors to learn.
    """

    method: str
    tau: float
    kappa: float
    cooldown: float
    batch_size: int
    max_iter: int
    n_inner: int
    n_local: int
    local_tol: float
    tol: float
    learn: tuple[str, ...]

    @property
    def step(self) -> driver.Step:
        """The stochastic step; for batch VB, which has none, the trust-region step."""
        if self.method == "natural-gradient":
            return partial(natural_gradient.step, n_local=self.n_local, local_tol=self.local_tol)
        return partial(
            trust_region.step,
            n_inner=self.n_inner,
            n_local=self.n_local,
            local_tol=self.local_tol,
        )

    @property
    def schedule(self) -> schedules.Schedule:
        """The learning rate of data that go on for ever."""
        return schedules.decaying(self.tau, self.kappa)

    def fit_schedule(self, state: State, n_documents: int) -> schedules.Schedule:
        """The learning rate of a fit that starts from `state`."""
        last = state.n_steps + self.max_iter * self.steps_a_pass(n_documents)
        return schedules.cooling(self.schedule, state.n_steps, last, self.cooldown)

    def prior_update(self, rng: np.random.Generator) -> driver.PriorUpdate | None:
        """Empirical Bayes after each step, or None."""
        if not self.learn:
            return None

        def update(model: Model, state: State, batch: Batch, info: Info) -> State:
            return empirical_bayes.update(
                model, state, batch, [info.local], rho=info.rho, rng=rng, learn=self.learn
            )

        return update

    def steps_a_pass(self, n_documents: int) -> int:
        """Steps that one pass over the data takes."""
        return 1 if self.method == "batch" else -(-n_documents // self.batch_size)


def blocks(n_documents: int) -> list[slice]:
    """The data in order, BLOCK_SIZE at a time.

    >>> blocks(300)
    [slice(0, 256, None), slice(256, 300, None)]
    """
    return [
        slice(first, min(first + BLOCK_SIZE, n_documents))
        for first in range(0, n_documents, BLOCK_SIZE)
    ]


def passes(
    model: Model,
    state: State,
    data: Any,
    n_documents: int,
    settings: Settings,
    rng: np.random.Generator,
) -> Iterator[tuple[State, Info]]:
    """All steps of a fit, one (state, info) each."""
    # Not a generator itself: it would keep the first state alive, a whole lambda, to the end.
    if settings.method == "batch":
        return _batch_passes(model, state, data, n_documents, settings)
    return _stochastic_passes(model, state, data, n_documents, settings, rng)


def _stochastic_passes(
    model: Model,
    state: State,
    data: Any,
    n_documents: int,
    settings: Settings,
    rng: np.random.Generator,
) -> Iterator[tuple[State, Info]]:
    schedule = settings.fit_schedule(state, n_documents)
    for _ in range(settings.max_iter):
        steps = driver.run(
            model,
            state,
            data,
            driver.shuffled(n_documents, settings.batch_size, rng),
            step=settings.step,
            schedule=schedule,
            n_documents=n_documents,
            learn=settings.prior_update(rng),
        )
        for state, info in steps:  # the next pass goes on from the last state
            yield state, info


def _batch_passes(
    model: Model, state: State, data: Any, n_documents: int, settings: Settings
) -> Iterator[tuple[State, Info]]:
    beliefs: list[Any] | None = None
    previous = -np.inf
    for _ in range(settings.max_iter):
        state, info = batch.step(
            model,
            state,
            data,
            blocks(n_documents),
            beliefs,
            n_local=settings.n_local,
            local_tol=settings.local_tol,
        )
        beliefs = info.local
        if settings.learn:
            state = empirical_bayes.update(
                model, state, None, info.local, rho=1.0, rng=None, learn=settings.learn
            )
        yield state, info
        if info.objective[-1] - previous < settings.tol * n_documents:
            return
        previous = info.objective[-1]


def visit(model: Model, data: Any, n_documents: int, look: Callable[[slice, Any], None]) -> None:
    """Prepare the data block by block and hand each to `look(rows, batch)`."""
    for rows in blocks(n_documents):
        look(rows, model.batch(data, rows))
