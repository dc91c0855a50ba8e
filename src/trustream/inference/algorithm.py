"""Describe an algorithm, so that one learner can run any of them: how it starts, steps and ends.

Each file of this package has the pure step of one algorithm and, at its end, its `Algorithm`.
`trustream.learning.algorithms` lists them by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from trustream.inference import driver
from trustream.inference.memory_format import MemoryFormat
from trustream.inference.restoring import together
from trustream.inference.state import Info, State
from trustream.models.protocol import Rows

# Makes the lambda that learning starts from, given prior, rows of the data and random numbers.
Start = Callable[[Any, "Rows | slice", np.random.Generator], Any]


@dataclass(frozen=True, slots=True)
class StepOptions:
    """What a single step is told.

    Attributes:
        rng: draws the random numbers of the step.
        rho: learning rate; algorithms without one ignore it.
        n_documents: N, the number of data points that the batch stands for.
        n_inner: most pairs of local and global update, or passes over the batch.
        n_local, local_tol: most iterations of a local step, and the change that ends it sooner.
        tol: what runs until it converges stops when it gains less, in nats per data point.
        learn: names of the priors that empirical Bayes may change.
        equal_documents: data points for each component, in which all components are equally
            frequent, that priors of local parameters are learned from beside those that there are.
        least_separation: of components in the batch, from 0 to 1, without which priors of local
            parameters stay as they are.
        adaptive: whether the learning rate is found from the gradients instead of `rho`.
        start: makes the lambda that a batch starts from, where an algorithm needs one; None is the
            model's own random start.
    """

    rng: np.random.Generator
    rho: float
    n_documents: float
    n_inner: int
    n_local: int
    local_tol: float
    tol: float
    learn: tuple[str, ...]
    equal_documents: float = 0.0
    least_separation: float = 0.0
    adaptive: bool = False
    start: Callable[[Any, np.random.Generator], Any] | None = None

    @property
    def local(self) -> dict[str, Any]:
        """The arguments of a local step."""
        return {"n_local": self.n_local, "local_tol": self.local_tol}


@dataclass(frozen=True, slots=True)
class Plan:
    """Passes over data that are all there.

    Attributes:
        data: what the model prepares batches from.
        n_documents: N, rows of the data.
        batch_size: most rows of a step.
        n_passes: most passes.
        options: of steps that do not depend on how far learning has come.
        step: takes one step on the given rows.
        population: N_pop, the data points that lambda stands for (`inference.population`); None
            is N.
    """

    data: Any
    n_documents: int
    batch_size: int
    n_passes: int
    options: StepOptions
    step: Callable[[State, Rows], tuple[State, Info]]
    population: float | None


class Algorithm(ABC):
    """How an algorithm starts, steps and ends; the defaults here are those of a stochastic one.

    Attributes:
        name: of the algorithm, as users give it.
        aliases: other names.
        data: what it learns from. "batches" stand for all data and may be drawn again and again,
            "arrivals" are seen once each, "draws" are learned from afresh each time, and "all"
            visits the same batches in every pass.
        has_rate: whether a learning rate and N enter its steps.
        has_population: whether lambda may stand for more data points than there are.
        takes_batches: whether single batches can be learned from as they come.
        takes_parts: whether all steps are on batches, which may be in parts.
        gains_from_small_batches: whether many steps on small batches are better than few steps on
            large ones.
        later_steps_need_less: whether local steps may be shorter once components have come apart,
            and pairs fewer once they are found.
        batch_size, n_inner: of a step, where neither the user nor the model has a say.
        memory: what it keeps in `State.memory` after a fit or a step, for files; None if nothing.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    data: ClassVar[Literal["batches", "arrivals", "draws", "all"]] = "batches"
    has_rate: ClassVar[bool] = False
    has_population: ClassVar[bool] = False
    takes_batches: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True
    gains_from_small_batches: ClassVar[bool] = False
    later_steps_need_less: ClassVar[bool] = False
    batch_size: ClassVar[int | None] = None
    n_inner: ClassVar[int | None] = None
    memory: ClassVar[MemoryFormat | None] = None

    @property
    def takes_each_once(self) -> bool:
        """Whether each data point counts once and for ever, so that none may come again."""
        return self.data == "arrivals"

    def init(self, model: Any, prior: Any, rng: np.random.Generator, start: Start | None) -> State:
        """The state before the first step."""
        if start is None:
            return State(model.initial(prior, rng), prior)
        return State(start(prior, slice(None), rng), prior)

    def batch(self, model: Any, data: Any, rows: Rows | slice) -> Any:
        """Rows of the data as a step takes them."""
        return model.batch(data, rows)

    def savepoint(self, model: Any, state: State, batch: Any) -> Callable[[], None]:
        """What puts the state back, whatever a step on the batch did to its memory."""
        undo: Callable[[], None] = model.savepoint(state.lambda_, state.prior, batch)
        if state.mean is None:
            return undo
        return together(undo, model.savepoint(state.mean.lambda_, state.prior, batch))

    @abstractmethod
    def step(
        self, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """Learn from one batch, priors included; `state` is consumed."""

    def divided(self) -> Algorithm:
        """The algorithm whose steps each part of a batch takes for itself; this one, if none is."""
        return self

    def steps_per_pass(self, n_documents: int, batch_size: int) -> int:
        """Steps that one pass over the data takes."""
        return -(-n_documents // batch_size)

    def n_passes(self, n_documents: int, batch_size: int, wanted: int) -> int:
        """Passes that are of use, of so many that are wanted."""
        return wanted

    def batches(self, plan: Plan) -> Iterable[Rows]:
        """Rows of the batches of one pass."""
        return driver.shuffled(plan.n_documents, plan.batch_size, plan.options.rng)

    def passes(self, model: Any, state: State, plan: Plan) -> Iterator[tuple[State, Info]]:
        """All steps of a fit, each as (state, info)."""
        for _ in range(plan.n_passes):
            for rows in self.batches(plan):
                state, info = plan.step(state, rows)
                yield state, info

    def finish(self, state: State) -> State:
        """The state that is kept when a fit has ended."""
        return state
