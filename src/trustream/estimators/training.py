"""The loops behind `fit` and the step behind `partial_fit`, for each algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from trustream.inference import (
    adaptive,
    batch,
    driver,
    empirical_bayes,
    memoized,
    natural_gradient,
    schedules,
    streaming_batch,
    streaming_vb,
    trust_region,
)
from trustream.inference.state import Info, State
from trustream.models.protocol import Batch, Model, Rows

# Data points at a time where all of them are visited: bounds the memory of a pass.
BLOCK_SIZE = 256


@dataclass(frozen=True)
class Settings:
    """How to learn, with every default filled in.

    Attributes:
        method: "trust-region", "natural-gradient", "batch", "streaming-vb", "streaming-batch" or
            "memoized".
        rate: "decaying" or "adaptive", of trust-region and natural-gradient steps.
        tau, kappa: of the schedule rho = (tau + t)^-kappa.
        cooldown: share of a fit's steps, at its end, over which the rate falls to zero.
        batch_size, max_iter: B, and passes over the data.
        n_inner, n_local, local_tol: of a step.
        first: (t, n_local) of a model's first t stochastic steps, if they have another n_local.
        tol: what goes on until it converges stops when a pass over its data raises the bound by
            less, in nats a data point.
        learn: names of the priors to learn.
    """

    method: str
    rate: str
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
    first: tuple[int, int] | None = None

    @property
    def step(self) -> driver.Step:
        """The stochastic step; for batch VB, which has none, the trust-region step."""
        later = self._step(self.n_local)
        if self.first is None:
            return later
        n_first, n_local = self.first
        earlier = self._step(n_local)

        def step(model: Model, state: State, batch: Any, **rate: Any) -> tuple[State, Info]:
            chosen = earlier if state.n_steps < n_first else later
            return chosen(model, state, batch, **rate)

        return step

    def _step(self, n_local: int) -> driver.Step:
        local: dict[str, Any] = {"n_local": n_local, "local_tol": self.local_tol}
        if self.method == "natural-gradient":
            step: driver.Step = partial(natural_gradient.step, **local)
        else:
            step = partial(trust_region.step, n_inner=self.n_inner, **local)
        return partial(adaptive.step, inner=step, **local) if self.rate == "adaptive" else step

    @property
    def schedule(self) -> schedules.Schedule:
        """The learning rate of data that go on for ever."""
        return schedules.decaying(self.tau, self.kappa)

    def fit_schedule(self, state: State, n_documents: int) -> schedules.Schedule:
        """The learning rate of a fit that starts from `state`."""
        last = state.n_steps + self.n_passes(n_documents) * self.steps_a_pass(n_documents)
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
        whole = self.method in ("batch", "streaming-batch")
        return 1 if whole else -(-n_documents // self.batch_size)

    def n_passes(self, n_documents: int) -> int:
        """Most passes of a fit.

        Streaming VB counts what it sees, so it sees each data point once. The streaming batch
        algorithm gains nothing from drawing all data again.
        """
        once = self.method == "streaming-vb" or (
            self.method == "streaming-batch" and self.batch_size >= n_documents
        )
        return 1 if once else self.max_iter


def blocks(n_documents: int) -> list[slice]:
    """The data in order, BLOCK_SIZE at a time.

    >>> blocks(300)
    [slice(0, 256, None), slice(256, 300, None)]
    """
    return [
        slice(first, min(first + BLOCK_SIZE, n_documents))
        for first in range(0, n_documents, BLOCK_SIZE)
    ]


# Makes the lambda that a fit starts from, given prior, rows and random numbers.
Start = streaming_batch.Start


def initial_state(
    model: Model, prior: Any, settings: Settings, start: Start, rng: np.random.Generator
) -> State:
    """Where learning starts: lambda = eta, nothing seen, for the algorithms that begin there."""
    if settings.method in ("streaming-vb", "streaming-batch"):
        return streaming_vb.init(model, prior)
    return State(start(prior, slice(None), rng), prior)


def passes(
    model: Model,
    state: State,
    data: Any,
    n_documents: int,
    settings: Settings,
    start: Start,
    rng: np.random.Generator,
) -> Iterator[tuple[State, Info]]:
    """All steps of a fit, one (state, info) each."""
    # Not a generator itself: it would keep the first state alive, a whole lambda, to the end.
    if settings.method == "batch":
        return _batch_passes(model, state, data, n_documents, settings)
    if settings.method == "memoized":
        return _memoized_passes(model, state, data, n_documents, settings, rng)
    if settings.method in ("streaming-vb", "streaming-batch"):
        return _streaming_passes(model, state, data, n_documents, settings, start, rng)
    return _stochastic_passes(model, state, data, n_documents, settings, rng)


def single_step(
    model: Model,
    state: State,
    data: Any,
    settings: Settings,
    start: Start,
    rng: np.random.Generator,
    *,
    rows: Rows | slice,
    n_documents: float,
) -> tuple[State, Info, Batch | None]:
    """One step on some rows, and their batch if priors are still to be learned from it."""
    local: dict[str, Any] = {"n_local": settings.n_local, "local_tol": settings.local_tol}
    stopping: dict[str, Any] = {"n_inner": settings.n_inner, "tol": settings.tol}
    if settings.method == "streaming-batch":
        drawn = np.arange(data.shape[0])[rows]
        state, info = streaming_batch.step(
            model, state, data, drawn, rng=rng, learn=settings.learn, block_size=BLOCK_SIZE,
            start=start, **local, **stopping,
        )  # fmt: skip
        return state, info, None
    batch = model.batch(data, rows)
    if settings.method == "streaming-vb":
        first = None
        if state.n_seen == 0:
            # The first batch starts where any fit would, at points of the data if need be.
            first = model.restrict(start(state.prior, rows, rng), state.prior, batch)
        learn = "alpha" in settings.learn
        state, info = streaming_vb.step(
            model, state, batch, rng=rng, learn=learn, start=first, **local, **stopping
        )
        return state, info, None
    rho = settings.schedule(state)
    return *settings.step(model, state, batch, rho=rho, n_documents=n_documents), batch


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


def _streaming_passes(
    model: Model,
    state: State,
    data: Any,
    n_documents: int,
    settings: Settings,
    start: Start,
    rng: np.random.Generator,
) -> Iterator[tuple[State, Info]]:
    """One pass of streaming VB, or draws of the streaming batch algorithm."""
    size = settings.batch_size
    for _ in range(settings.n_passes(n_documents)):
        if settings.method == "streaming-vb":
            draws = driver.shuffled(n_documents, size, rng)
        else:
            draws = iter([streaming_batch.draw(n_documents, size, rng)])
        for rows in draws:
            state, info, _ = single_step(
                model, state, data, settings, start, rng, rows=rows, n_documents=n_documents
            )
            yield state, info


def _memoized_passes(
    model: Model,
    state: State,
    data: Any,
    n_documents: int,
    settings: Settings,
    rng: np.random.Generator,
) -> Iterator[tuple[State, Info]]:
    """Passes over the same batches in changing order; the last step of each tells the bound."""
    batches = list(driver.shuffled(n_documents, settings.batch_size, rng))
    state = memoized.init(model, state, len(batches))
    previous = -np.inf
    for _ in range(settings.max_iter):
        order = rng.permutation(len(batches)).tolist()
        for index in order:
            state, info = memoized.step(
                model,
                state,
                model.batch(data, batches[index]),
                index,
                n_local=settings.n_local,
                local_tol=settings.local_tol,
            )
            if index == order[-1]:
                info = replace(info, objective=(memoized.bound(model, state),))
                if settings.learn:
                    state = memoized.learned(model, state, settings.learn)
            yield state, info
        if info.objective[0] - previous < settings.tol * n_documents:
            return
        previous = info.objective[0]


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
