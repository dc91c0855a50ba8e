"""The streaming batch algorithm (section 3.3 of the paper), a baseline for streams.

Draw min(B, N_t) of the N_t data points that are there, run batch VB on them from a random start,
for so many passes or until it converges, put the result in the place of the old parameters, and
start again. Priors that are learned go on from one draw to the next; lambda does not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trustream.inference import batch, empirical_bayes, streaming_vb
from trustream.inference.algorithm import Algorithm, Plan, Start, StepOptions
from trustream.inference.driver import BLOCK_SIZE
from trustream.inference.state import Info, State
from trustream.models.protocol import ConjugateModel, Rows


@dataclass(frozen=True, slots=True)
class DrawnRows:
    """Rows of the data, to be prepared in parts."""

    data: Any
    rows: Rows

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.rows.size


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
    block_size: int = BLOCK_SIZE,
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
        tol: stop when a pass raises the bound by less than this many nats per data point.
        learn: names of the priors that empirical Bayes may change after each pass.
        block_size: data points worked on at a time.
        start: makes the lambda to start from; None is the model's `initial`.

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


class StreamingBatch(Algorithm):
    """Draws of 50,000 data points, as in section 4.3 of the paper."""

    name, data, takes_parts = "streaming-batch", "draws", False
    batch_size, n_inner = 50_000, 100

    def init(self, model: Any, prior: Any, rng: np.random.Generator, start: Start | None) -> State:
        """lambda = eta until the first draw replaces it."""
        return streaming_vb.init(model, prior)

    def batch(self, model: Any, data: Any, rows: Rows | slice) -> DrawnRows:
        """The rows themselves, which are prepared in parts, pass by pass."""
        return DrawnRows(data, np.arange(data.shape[0])[rows])

    def savepoint(self, model: Any, state: State, batch: Any) -> Callable[[], None]:
        """Nothing: a step works on parameters of its own."""
        return lambda: None

    def step(
        self, model: Any, state: State, batch: DrawnRows, options: StepOptions
    ) -> tuple[State, Info]:
        """Learn from a draw; what was learned before is replaced."""
        make = options.start
        return step(
            model,
            state,
            batch.data,
            batch.rows,
            n_inner=options.n_inner,
            tol=options.tol,
            rng=options.rng,
            learn=options.learn,
            start=None if make is None else lambda prior, rows, rng: make(prior, rng),
            **options.local,
        )

    def steps_per_pass(self, n_documents: int, batch_size: int) -> int:
        """A draw is a step."""
        return 1

    def n_passes(self, n_documents: int, batch_size: int, wanted: int) -> int:
        """One if a draw has all data: nothing is gained from drawing them again."""
        return 1 if batch_size >= n_documents else wanted

    def batches(self, plan: Plan) -> Iterable[Rows]:
        """A single draw."""
        return [draw(plan.n_documents, plan.batch_size, plan.options.rng)]
