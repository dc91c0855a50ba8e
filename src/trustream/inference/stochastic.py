"""What trust-region and natural-gradient steps share: a learning rate, N and empirical Bayes."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

from trustream.inference import adaptive, empirical_bayes
from trustream.inference.algorithm import Algorithm, StepOptions
from trustream.inference.driver import Step
from trustream.inference.state import Info, State


class StochasticAlgorithm(Algorithm):
    """A step at a learning rate on a batch that stands for all data, then one on the priors."""

    has_rate = True
    has_population = True
    memory = adaptive.MEMORY

    @abstractmethod
    def update(self, options: StepOptions) -> Step:
        """The pure step with its settings filled in."""

    def step(
        self, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        """One step at the given or the adaptive rate, and empirical Bayes at the same rate."""
        update = self.update(options)
        if options.adaptive:
            update = partial(adaptive.step, inner=update, **options.local)
        state, info = update(model, state, batch, rho=options.rho, n_documents=options.n_documents)
        if options.learn:
            state = empirical_bayes.update(
                model, state, batch, [info.local], rho=info.rho, rng=options.rng,
                learn=options.learn, equal_documents=options.equal_documents,
                least_separation=options.least_separation,
            )  # fmt: skip
        return state, info
