"""The loops behind `fit` and the step behind `partial_fit`, for each algorithm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from trustream.estimators.settings import Settings
from trustream.inference import (
    batch,
    driver,
    empirical_bayes,
    memoized,
    streaming_batch,
    streaming_vb,
)
from trustream.inference.restoring import Undo
from trustream.inference.state import Info, State
from trustream.models.protocol import Batch, ConjugateModel, Rows

# Data points at a time where all of them are visited: bounds the memory of a pass.
BLOCK_SIZE = 256


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
# Takes what puts a state back, as `Restorable.protect` does.
Protect = Callable[[Undo], None]


def initial_state(
    model: ConjugateModel, prior: Any, settings: Settings, start: Start, rng: np.random.Generator
) -> State:
    """Where learning starts: lambda = eta, nothing seen, for the algorithms that begin there."""
    if settings.method in ("streaming-vb", "streaming-batch"):
        return streaming_vb.init(model, prior)
    return State(start(prior, slice(None), rng), prior)


def passes(
    model: ConjugateModel,
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
    model: ConjugateModel,
    state: State,
    data: Any,
    settings: Settings,
    start: Start,
    rng: np.random.Generator,
    *,
    rows: Rows | slice,
    n_documents: float,
    protect: Protect | None = None,
) -> tuple[State, Info, Batch | None]:
    """One step on some rows, and their batch if priors are still to be learned from it.

    `protect` is told how to put the state back, before its memory is changed.
    """
    local = settings.local
    stopping: dict[str, Any] = {"n_inner": settings.effort.n_inner, "tol": settings.tol}
    if settings.method == "streaming-batch":
        drawn = np.arange(data.shape[0])[rows]
        state, info = streaming_batch.step(
            model, state, data, drawn, rng=rng, learn=settings.learn, block_size=BLOCK_SIZE,
            start=start, **local, **stopping,
        )  # fmt: skip
        return state, info, None
    batch = model.batch(data, rows)
    if protect is not None:
        protect(model.savepoint(state.lambda_, state.prior, batch))
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
    return *settings.step()(model, state, batch, rho=rho, n_documents=n_documents), batch


def _stochastic_passes(
    model: ConjugateModel,
    state: State,
    data: Any,
    n_documents: int,
    settings: Settings,
    rng: np.random.Generator,
) -> Iterator[tuple[State, Info]]:
    schedule = settings.fit_schedule(state, n_documents)
    step = settings.fit_step(state, n_documents)
    for _ in range(settings.max_iter):
        steps = driver.run(
            model,
            state,
            data,
            driver.shuffled(n_documents, settings.batch_size, rng),
            step=step,
            schedule=schedule,
            n_documents=n_documents,
            learn=settings.prior_update(rng),
        )
        for state, info in steps:  # the next pass goes on from the last state
            yield state, info


def _streaming_passes(
    model: ConjugateModel,
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
    model: ConjugateModel,
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
                **settings.local,
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
    model: ConjugateModel, state: State, data: Any, n_documents: int, settings: Settings
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
            **settings.local,
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


def visit(
    model: ConjugateModel, data: Any, n_documents: int, look: Callable[[slice, Any], None]
) -> None:
    """Prepare the data block by block and hand each to `look(rows, batch)`."""
    for rows in blocks(n_documents):
        look(rows, model.batch(data, rows))
