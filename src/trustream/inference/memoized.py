"""Memoized variational inference (Hughes and Sudderth 2013).

Batch VB in steps of a batch. The statistics of every batch are kept, so that a visit takes out
what the batch said before and puts in what it says now:

    phi_b = argmax given lambda,   total <- total - s_b(old) + s_b(new),   lambda = eta + total.

There is no learning rate, and each visit raises the bound of all data, equations 5 and 6,

    L = sum_b { H_b + <E[t], s_b> } - KL(lambda, eta),     H_b = bound_b - <E_visit[t], s_b>,

where bound_b is the sum of the batch's local bounds at its visit, and H_b, the part that does not
depend on lambda, is kept as well. With a population (`inference.population`) s_b stands for
N_pop / N times as much in the total, and KL counts N / N_pop in L. Two things must be kept for L
never to fall:

- The statistics, exactly as they went into the total. They are kept in the model's dtype (for LDA
  only the batch's words); the total is float64, so that taking out what was put in leaves nothing.
- Local beliefs, where a local step is an iteration that depends on its start (LDA's gamma). From a
  fresh start it could end in a worse optimum than the one which the total contains. A mixture's
  phi is exact given lambda, and is not kept.

The first pass is one of batch VB: lambda waits until every batch has been seen. eta + the
statistics of a few batches is a poor place to judge the next ones from: components that get no data
from the first batches stay at the prior for good (a test shows it).

Memory, in numbers: V K (total) + sum_b W_b K (statistics) + N K (gamma) for LDA, and the number of
batches times the size of lambda for mixtures; `Info.memory` has it in bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from trustream.inference import empirical_bayes
from trustream.inference.algorithm import Algorithm, Plan, StepOptions
from trustream.inference.population import for_data, scaled_to
from trustream.inference.state import Info, State, advance, refuse_unless_finite
from trustream.models.capabilities import RunningTotals, require
from trustream.models.protocol import Batch, ConjugateModel

_NAME = "memoized inference"


@dataclass(frozen=True, slots=True)
class Visit:
    """What a batch left behind: s_b as it stands in the total, H_b in nats and, if they are needed,
    its local beliefs."""

    statistics: Any
    rest: float
    local: Any


@dataclass(frozen=True, slots=True)
class Memory:
    """The running total and the last visit of each batch, None for one not seen yet."""

    total: Any
    visits: list[Visit | None]

    @property
    def complete(self) -> bool:
        """Whether every batch was seen."""
        return None not in self.visits


def init(
    model: ConjugateModel,
    state: State,
    n_batches: int,
    *,
    population: float | None = None,
    n_documents: float = 1.0,
) -> State:
    """`state` with an empty memory for so many batches.

    Args:
        population: N_pop, the data points that lambda stands for; None is N.
        n_documents: N, of which only N / N_pop is of any importance.

    Raises:
        TypeError: the model has no `RunningTotals`.
    """
    model = require(model, RunningTotals, _NAME)
    visits: list[Visit | None] = [None] * n_batches
    state = replace(state, memory=Memory(model.running_total(), visits), mean=None)
    if population is None:
        return for_data(model, state)
    return scaled_to(model, state, population, n_documents)


def step(
    model: ConjugateModel,
    state: State,
    batch: Batch,
    index: int,
    *,
    n_local: int,
    local_tol: float = 0.0,
) -> tuple[State, Info]:
    """Visit a batch.

    Args:
        state: as `init` or the last step left it; consumed, its memory too.
        index: the batch's number; a number always goes with the same data points.
        n_local, local_tol: of a local step.

    Raises:
        FloatingPointError: the new lambda is not finite; `state` is as it was.
        TypeError: the model has no `RunningTotals`.
        ValueError: the state has no memory of this kind; see `init`.
    """
    model = require(model, RunningTotals, _NAME)
    prior, memory = state.prior, state.memory
    if not isinstance(memory, Memory):
        raise ValueError(f"a state from `memoized.init` is needed, this one has memory {memory!r}")
    before: Visit | None = memory.visits[index]
    natural = model.restrict(state.lambda_, prior, batch)
    if before is None or before.local is None:
        local, _ = model.beliefs(prior, batch, None)
    else:
        local = before.local
    local, statistics = model.local_step(natural, prior, batch, local, n_local, local_tol)
    statistics = model.materialise(statistics)
    if state.share < 1:
        statistics = type(statistics)(*(part / state.share for part in statistics))
    refuse_unless_finite(model, statistics)
    rest = float(model.local_bound(natural, prior, batch, local).sum())
    rest -= state.share * model.inner(natural, batch, statistics)
    was_complete = memory.complete
    old = None if before is None else before.statistics
    total = model.exchange(memory.total, batch, old, statistics)
    memory.visits[index] = Visit(statistics, rest, None if model.exact_local else local)
    state = replace(state, memory=replace(memory, total=total))
    if was_complete:
        natural = model.restrict_total(total, prior, batch)
    elif memory.complete:
        # The last batch of the first pass: the lambda that all started from is gone.
        state = replace(state, lambda_=model.lambda_of_total(total, prior))
        natural = model.restrict(state.lambda_, prior, batch)
    # Learning rate 0 where the batch is silent: there the total did not change.
    state = advance(model, state, batch, natural, 0.0)
    size = batch.size
    return state, Info(state.n_steps, 1.0, size, size, 1, local, (), n_bytes(state.memory))


def bound(model: ConjugateModel, state: State) -> float:
    """L of all data in nats, from what the visits left: exact, no data point is looked at again.

    A batch's H_b holds for the alpha of its visit, so that alpha may change between passes only.

    Raises:
        ValueError: some batch was not seen yet.
    """
    model = require(model, RunningTotals, _NAME)
    memory: Memory = state.memory
    if not memory.complete:
        unseen = memory.visits.count(None)
        raise ValueError(f"the bound is one of all data, but {unseen} batches were not seen yet")
    value = sum(visit.rest for visit in memory.visits if visit is not None)
    of_lambda = model.inner_total(state.lambda_, state.prior, memory.total)
    of_lambda += model.global_bound(state.lambda_, state.prior)
    return value + state.share * of_lambda


def learned(
    model: ConjugateModel, state: State, learn: Collection[str] = ("alpha", "eta")
) -> State:
    """Empirical Bayes after a full pass, from all beliefs; then lambda = eta + total again.

    Each step of the prior is halved until the evidence does not fall, so that L does not either.
    """
    model = require(model, RunningTotals, _NAME)
    visits = [visit.local for visit in state.memory.visits]
    after = empirical_bayes.update(model, state, None, visits, rho=1.0, rng=None, learn=learn)
    if after is state:
        return state
    return replace(after, lambda_=model.lambda_of_total(state.memory.total, after.prior))


def n_bytes(memory: Any) -> int:
    """Bytes of all arrays of total, statistics and beliefs, whatever the model keeps them in.

    >>> n_bytes(Memory((np.zeros(3),), [None, Visit((np.zeros(2),), 0.0, {"gamma": np.zeros(4)})]))
    72
    """
    if isinstance(memory, np.ndarray):
        return memory.nbytes
    if is_dataclass(memory):
        memory = [getattr(memory, field.name) for field in fields(memory)]
    elif isinstance(memory, dict):
        memory = [*memory.values()]
    return sum(n_bytes(part) for part in memory) if isinstance(memory, (tuple, list)) else 0


class Memoized(Algorithm):
    """Visits to the same batches in changing order, until a pass no longer raises the bound."""

    name, data, takes_batches, has_population = "memoized", "all", False, True
    takes_parts = False

    def step(
        self, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """Refused: a batch is visited again and again, and has a number."""
        raise ValueError("memoized inference needs all data: it has no steps on single batches")

    def passes(self, model: Any, state: State, plan: Plan) -> Iterator[tuple[State, Info]]:
        """Passes over the batches; the last step of each has the bound of all data."""
        options, previous = plan.options, -np.inf
        batches = list(self.batches(plan))
        state = init(
            model, state, len(batches), population=plan.population, n_documents=plan.n_documents
        )
        for _ in range(plan.n_passes):
            order = options.rng.permutation(len(batches)).tolist()
            for index in order:
                batch = model.batch(plan.data, batches[index])
                state, info = step(model, state, batch, index, **options.local)
                if index == order[-1]:
                    info = replace(info, objective=(bound(model, state),))
                    if options.learn:
                        state = learned(model, state, options.learn)
                yield state, info
            if info.objective[0] - previous < options.tol * plan.n_documents:
                return
            previous = info.objective[0]

    def finish(self, state: State) -> State:
        """Without the memory: statistics and beliefs are of no use without the data."""
        return replace(state, memory=None)
