"""The driver: a generator of (state, info), so that stopping and storing belong to the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from trustream.inference.schedules import Schedule
from trustream.inference.state import Info, State
from trustream.models.protocol import Batch, ConjugateModel, Rows

# Data points at a time where all of them are visited: bounds the memory of a pass.
BLOCK_SIZE = 256


class Step(Protocol):
    """A stochastic algorithm with its own settings filled in (`functools.partial`)."""

    def __call__(
        self, model: ConjugateModel, state: State, batch: Any, *, rho: float, n_documents: float
    ) -> tuple[State, Info]: ...


PriorUpdate = Callable[[ConjugateModel, State, Batch, Info], State]


def shuffled(n_documents: int, batch_size: int, rng: np.random.Generator) -> Iterator[Rows]:
    """One pass: each row once, in random order, in even batches of at most `batch_size`.

    >>> [rows.size for rows in shuffled(5, 2, np.random.default_rng(0))]
    [2, 2, 1]
    """
    n_batches = -(-n_documents // batch_size)
    for rows in np.array_split(rng.permutation(n_documents), n_batches):
        yield np.sort(rows)


def blocks(n_documents: int) -> list[slice]:
    """All rows in order, BLOCK_SIZE at a time.

    >>> blocks(300)
    [slice(0, 256, None), slice(256, 300, None)]
    """
    return [
        slice(first, min(first + BLOCK_SIZE, n_documents))
        for first in range(0, n_documents, BLOCK_SIZE)
    ]


def run(
    model: ConjugateModel,
    state: State,
    data: Any,
    batches: Iterable[Rows],
    *,
    step: Step,
    schedule: Schedule,
    n_documents: float,
    learn: PriorUpdate | None = None,
) -> Iterator[tuple[State, Info]]:
    """Take one step per batch and yield the state after it.

    Args:
        batches: rows of `data`, one array per step.
        step: the algorithm, for instance `partial(trust_region.step, n_inner=5, n_local=10)`.
        schedule: the learning rate.
        n_documents: N, the number of data points that each batch stands for.
        learn: update of the prior after each step (`empirical_bayes.update`), or None.
    """
    for rows in batches:
        batch = model.batch(data, rows)
        state, info = step(model, state, batch, rho=schedule(state), n_documents=n_documents)
        if learn is not None:
            state = learn(model, state, batch, info)
        yield state, info
