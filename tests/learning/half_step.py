"""An algorithm of our own, as a new file of `trustream.inference` would be.

A trust-region step at half of the rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from trustream._schema import Array
from trustream.inference import trust_region
from trustream.inference.algorithm import StepOptions
from trustream.inference.driver import Step
from trustream.inference.memory_format import MemoryFormat
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


@dataclass(frozen=True, slots=True)
class Alphas:
    """A memory of our own: the sum of alpha, (K,), after each of so many steps."""

    total: np.ndarray
    count: int


def _arrays(arrays: Mapping[str, Array], gradient: Sequence[str]) -> dict[str, Array]:
    """Of `Alphas`, as files hold it."""
    alpha = arrays["prior.alpha"]
    return {"total": Array(alpha.shapes, above=0.0), "count": Array([()], ("int64",), least=1.0)}


class RememberingHalfStep(HalfStep):
    """The step above, which keeps `Alphas` beside lambda."""

    name = "remembering-half-step"
    memory = MemoryFormat(Alphas, _arrays)

    def step(
        self, model: Any, state: State, batch: Any, options: StepOptions
    ) -> tuple[State, Info]:
        total, count = 0.0, 0
        if isinstance(state.memory, Alphas):
            total, count = state.memory.total, state.memory.count
        state, info = super().step(model, state, batch, options)
        return replace(state, memory=Alphas(total + state.prior.alpha, count + 1)), info
