"""The learner: the one place through which every model learns.

`fit` of an estimator calls `passes`, `partial_fit` and the trainer of a stream call `go_on`. Both
consist of calls of `step`, but for the algorithms that need all data at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trustream.array_types import Float64
from trustream.inference.algorithm import Algorithm, Plan, Start, StepOptions
from trustream.inference.population import for_data, scaled_to, with_mean, with_smoothing
from trustream.inference.restoring import Undo
from trustream.inference.state import Info, State
from trustream.learning import algorithms
from trustream.learning.continuing import is_smoothed
from trustream.learning.executor import Executor, InParts, InProcess
from trustream.learning.recipe import DataSize, Recipe
from trustream.models.capabilities import Smoothing, has
from trustream.models.protocol import Rows


@dataclass(frozen=True)
class Learner:
    """A model, how to learn it, and who computes.

    States go in and come out: a learner itself holds nothing that learning changes.

    Attributes:
        model: any conjugate model (`trustream.models.protocol`).
        recipe: every decision of how to learn.
        executor: computes batches and steps; None does so in this process, in the parts that the
            recipe says.

    >>> from trustream.learning.defaults import for_topics
    >>> from trustream.models.lda import LdaModel, LdaPrior
    >>> import scipy.sparse
    >>> counts = scipy.sparse.csr_array(np.eye(4))
    >>> learner = Learner(LdaModel(2, 4), for_topics(2, batch_size=2, max_iter=3))
    >>> rng = np.random.default_rng(0)
    >>> state = learner.start(LdaPrior.of(0.1, 0.1, 2, 4), rng)
    >>> *_, (state, info) = learner.passes(state, counts, rng)
    >>> state.n_steps, state.n_seen
    (6, 12)
    """

    model: Any
    recipe: Recipe
    executor: Executor = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        recipe = self.recipe
        if recipe.n_parts > 1 and not self.algorithm.takes_parts:
            others = algorithms.choice(lambda algorithm: algorithm.takes_parts)
            raise ValueError(
                f"n_parts is {recipe.n_parts}, and {recipe.method} goes through all data block by "
                f"block: use {others}, or n_parts=1"
            )
        if self.executor is None:
            here = (
                InProcess() if recipe.n_parts == 1 else InParts(recipe.n_parts, recipe.exact_steps)
            )
            object.__setattr__(self, "executor", here)

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm that the recipe names."""
        return algorithms.get(self.recipe.method)

    def start(self, prior: Any, rng: np.random.Generator, start: Start | None = None) -> State:
        """The state before the first step.

        Args:
            prior: of the model.
            rng: draws the start.
            start: makes the first lambda from prior, rows and rng; None is the model's `initial`.
        """
        return self.algorithm.init(self.model, prior, rng, start)

    def batch(self, data: Any, rows: Rows | slice = slice(None)) -> Any:
        """Rows of validated data as `step` takes them."""
        return self.executor.batch(self.algorithm, self.model, data, rows)

    def step(
        self,
        state: State,
        batch: Any,
        n_documents: float,
        *,
        rng: np.random.Generator,
        rho: float | None = None,
        looks: float = 0.0,
        population: float | None = None,
        window: float | None = None,
        new_share: float = 0.0,
        start: Callable[[Any, np.random.Generator], Any] | None = None,
        protect: Callable[[Undo], None] | None = None,
    ) -> tuple[State, Info]:
        """Learn from one batch, priors included.

        Args:
            state: consumed; go on with the returned one.
            batch: from `batch`.
            n_documents: N, the number of data points that the batch stands for.
            rng: draws what the step draws.
            rho: learning rate; None is the recipe's for data that go on for ever.
            looks: at each data point so far, which decides how much effort a step is worth.
            population: the number of data points that lambda shall stand for, N if that is more;
                None is N.
            window: data points that a mean of lambda is taken over, which is shown in its place;
                None keeps none. Only with a population.
            new_share: what part of the data points that were never looked at is in this batch,
                where these come first; parts of lambda that came with them are shown for it.
            start: makes the lambda that the batch starts from, for algorithms that need one.
            protect: told how to put the state back, before its memory is changed.
        """
        if protect is not None:
            protect(self.algorithm.savepoint(self.model, state, batch))
        if not self.smooths:
            state = _unsmoothed(state)
        rate = self.recipe.schedule(state) if rho is None else rho
        if population is None or not self.algorithm.has_population:
            state = for_data(self.model, state)
        else:
            weight = window and min(1.0, batch.size / window)
            state = with_mean(self.model, state, weight, new_share)
            population = max(population, n_documents)
            state = scaled_to(self.model, state, population, n_documents)
            n_documents = population
        options = self._options(state.n_steps, n_documents, rng, rate, looks, start)
        return self.executor.step(self.algorithm, self.model, state, batch, options)

    def passes(
        self,
        state: State,
        data: Any,
        rng: np.random.Generator,
        size: DataSize | None = None,
        start: Start | None = None,
    ) -> Iterator[tuple[State, Info]]:
        """All steps of a fit to data that are all there, each as (state, info).

        Args:
            state: consumed.
            data: validated rows.
            rng: draws the order of the rows and what steps draw.
            size: by which batches and the population are chosen; None counts rows.
            start: as in `start`, for the rows of a batch.
        """
        # Not a generator itself, which would keep the first state, a whole lambda, to the end.
        n, first = data.shape[0], state.n_steps
        size = size or DataSize(n, float(n))
        per_pass, n_passes = self.length(size)
        schedule = self.recipe.fit_schedule(state, n_passes * per_pass)
        population = self.population(size)

        def step(state: State, rows: Rows) -> tuple[State, Info]:
            return self.step(
                state,
                self.batch(data, rows),
                n,
                rng=rng,
                rho=schedule(state),
                looks=(state.n_steps - first) / per_pass,
                population=population,
                start=None if start is None else lambda prior, rng: start(prior, rows, rng),
            )

        options = self._options(sys.maxsize, n, rng, 1.0, 0.0, None)
        plan = Plan(data, n, self.recipe.batch_size_for(size), n_passes, options, step, population)
        return self.algorithm.passes(self.model, state, plan)

    def go_on(
        self,
        state: State,
        data: Any,
        n_documents: float,
        *,
        rng: np.random.Generator,
        population: float | None,
        window: float,
        weight: float | Float64,
        **options: Any,
    ) -> tuple[State, Info]:
        """Learn from data that keep coming: one step, and before it how much to smooth, if due.

        Args:
            state: consumed.
            data: validated rows.
            n_documents, rng, population, window: as in `step`; options too.
            weight: how often each of the rows stands in what is shown already, as in `smoothed`.
        """
        if self.is_smoothed(state, data):
            state = self.smoothed(state, data, rng, weight)
        return self.step(
            state,
            self.batch(data),
            n_documents,
            rng=rng,
            population=population,
            window=window,
            **options,
        )

    def smoothed(
        self, state: State, data: Any, rng: np.random.Generator, weight: float | Float64 = 1.0
    ) -> State:
        """The state with another eta for what is shown, by which training data are predicted best.

        Without any where nothing is smoothed (`smooths`). See `State.smoothing`.

        Args:
            data: validated rows, of which a sample is left out.
            rng: draws the sample.
            weight: how often each row stands in what is shown, one number or one for each row. It
                is 1 after passes over all data. In a mean over a pass it lies between 0.6, just
                before a row is learned from again, and 1.6.
        """
        if not self.smooths:
            return _unsmoothed(state)
        return with_smoothing(self.executor.model(self.model), state, data, weight, rng)

    @property
    def smooths(self) -> bool:
        """Whether what is shown has a smoothing: learned for a population, and eta is learned.

        An eta that a user has chosen stays.
        """
        has_population = self.recipe.has_population and self.algorithm.has_population
        return has_population and "eta" in self.recipe.learn

    def is_smoothed(self, state: State, data: Any) -> bool:
        """Whether it is time to find the smoothing anew, from data before they are learned from."""
        model = self.executor.model(self.model)
        n_batches = model.smoothing_batches(data) if has(model, Smoothing) else 1
        return is_smoothed(state.n_steps, state.n_seen, data.shape[0], n_batches)

    def length(self, size: DataSize) -> tuple[int, int]:
        """(steps of a pass, most passes) of a fit to so much data."""
        n, batch_size = int(size.n_documents), self.recipe.batch_size_for(size)
        return (
            self.algorithm.steps_per_pass(n, batch_size),
            self.algorithm.n_passes(n, batch_size, self.recipe.max_iter),
        )

    def ending(self, size: DataSize, n_done: int) -> Learner | None:
        """The learner of the passes that end a fit which has settled after so many.

        A rate that falls at the end of a fit falls now, as if `max_iter` had been such that it was
        time to: else lambda would keep the noise of the last batches. Where no rate falls, there
        are no passes left, `max_iter` is 0. None if the fit would not end sooner: it goes on.

        >>> from trustream.learning.defaults import for_topics
        >>> learner, size = Learner(None, for_topics(10, max_iter=20)), DataSize(4_000, 400_000.0)
        >>> learner.ending(size, 4).recipe.max_iter
        4
        >>> learner.ending(size, 11) is None
        True
        """
        recipe, wanted = self.recipe, 0.0
        if self.algorithm.has_rate and not recipe.adaptive and recipe.cooldown > 0:
            wanted = np.ceil(n_done * recipe.cooldown / max(1 - recipe.cooldown, 1e-9))
        if wanted >= recipe.max_iter - n_done:
            return None
        recipe = replace(
            recipe,
            max_iter=int(wanted),
            cooldown=1.0,
            batch_size=recipe.batch_size_for(size),
            late=recipe.late and (0.0, recipe.late[1]),
        )
        return replace(self, recipe=recipe)

    def population(self, size: DataSize) -> float | None:
        """N_pop, the data points that lambda stands for while it is learned from so much data."""
        return self.recipe.population_for(size, self.model.n_components)

    def _options(
        self,
        n_steps: int,
        n_documents: float,
        rng: np.random.Generator,
        rho: float,
        looks: float,
        start: Callable[[Any, np.random.Generator], Any] | None,
    ) -> StepOptions:
        recipe = self.recipe
        effort = recipe.effort_at(n_steps, looks)
        return StepOptions(
            rng=rng,
            rho=rho,
            n_documents=n_documents,
            n_inner=effort.n_inner,
            n_local=effort.n_local,
            local_tol=recipe.local_tol,
            tol=recipe.tol,
            learn=recipe.learn,
            equal_documents=recipe.equal_documents,
            least_separation=recipe.least_separation,
            adaptive=recipe.adaptive,
            start=start,
        )


def _unsmoothed(state: State) -> State:
    """Without the smoothing that it was given while its learner was another."""
    return state if state.smoothing is None else replace(state, smoothing=None)
