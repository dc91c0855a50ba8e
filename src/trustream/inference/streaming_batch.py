"""The streaming batch algorithm (section 3.3 of the paper), a baseline for streams.

Draw min(B, N_t) of the N_t data points that are there, run batch VB on them from a random start,
for so many passes or until it converges, put the result in the place of the old parameters, and
start again. Priors that are learned go on from one draw to the next; lambda does not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np

from trustream.inference import batch, empirical_bayes
from trustream.inference.state import Info, State
from trustream.models.protocol import ConjugateModel, Rows

# Makes the lambda that batch VB starts from, given prior, rows and random numbers.
Start = Callable[[Any, Rows | slice, np.random.Generator], Any]


def draw(n_documents: int, batch_size: int, rng: np.random.Generator) -> Rows:
    """min(B, N_t) different rows, in order.

    >>> draw(3, 10, np.random.default_rng(0)).tolist()
    [0, 1, 2]
    """
    size = min(batch_size, n_documents)
    return np.sort(rng.choice(n_documents, size, replace=False))


def step(
    model: ConjugateModel,
    state: State,
    data: Any,
    rows: Rows,
    *,
    n_inner: int,
    n_local: int,
    rng: np.random.Generator,
    local_tol: float = 0.0,
    tol: float = 0.0,
    learn: Collection[str] = (),
    block_size: int = 256,
    start: Start | None = None,
) -> tuple[State, Info]:
    """Batch VB on some rows from a random start; lambda is replaced.

    `info.objective` is the bound of these rows at each pass (see `batch.step`), `info.n_inner` the
    number of passes.

    Args:
        rows: the data points drawn.
        n_inner: most passes over them.
        n_local, local_tol: of a local step.
        rng: draws the start.
        tol: stop when a pass raises the bound by less than this many nats a data point.
        learn: names of the priors that empirical Bayes may change after each pass.
        block_size: data points worked on at a time.
        start: lambda to start from; None is the model's `initial`.

    Raises:
        FloatingPointError: lambda became infinite; `state` is as it was.
    """
    prior = state.prior
    fresh = model.initial(prior, rng) if start is None else start(prior, rows, rng)
    work = State(fresh, prior)
    blocks = [rows[first : first + block_size] for first in range(0, rows.size, block_size)]
    beliefs: list[Any] | None = None
    bounds: list[float] = []
    while len(bounds) < n_inner:
        work, info = batch.step(
            model, work, data, blocks, beliefs, n_local=n_local, local_tol=local_tol
        )
        beliefs = info.local
        bounds.append(info.objective[0])
        if learn:
            work = empirical_bayes.update(
                model, work, None, info.local, rho=1.0, rng=None, learn=learn
            )
        if len(bounds) > 1 and bounds[-1] - bounds[-2] < tol * rows.size:
            break
    n_steps, n_seen = state.n_steps + 1, state.n_seen + rows.size
    state = replace(state, lambda_=work.lambda_, prior=work.prior, n_steps=n_steps, n_seen=n_seen)
    size = int(rows.size)
    return state, Info(n_steps, 1.0, size, size, len(bounds), beliefs, tuple(bounds))
