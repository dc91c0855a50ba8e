"""An algorithm of our own, as a new file of `trustream.inference` would be.

A trust-region step at half of the rate.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from trustream.inference import trust_region
from trustream.inference.algorithm import StepOptions
from trustream.inference.driver import Step
from trustream.inference.state import Info, State
from trustream.inference.stochastic import StochasticAlgorithm


def step(
    model: Any, state: State, batch: Any, *, rho: float, n_documents: float, **effort: Any
) -> tuple[State, Info]:
    """Algorithm 1 with rho/2 in place of rho."""
    half = rho / 2
    return trust_region.step(model, state, batch, rho=half, n_documents=n_documents, **effort)


class HalfStep(StochasticAlgorithm):
    """The step above, with a learning rate and empirical Bayes as all stochastic ones have."""

    name = "half-step"

    def update(self, options: StepOptions) -> Step:
        return partial(step, n_inner=options.n_inner, **options.local)
