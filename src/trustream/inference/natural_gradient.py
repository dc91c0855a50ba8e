"""Natural-gradient step: ordinary stochastic variational inference (equation 10 of the paper)."""

from __future__ import annotations

from functools import partial
from typing import Any

from trustream.inference.algorithm import StepOptions
from trustream.inference.driver import Step
from trustream.inference.state import Info, State, advance
from trustream.inference.stochastic import StochasticAlgorithm
from trustream.models.protocol import Batch, ConjugateModel


def step(
    model: ConjugateModel,
    state: State,
    batch: Batch,
    *,
    rho: float,
    n_documents: float,
    n_local: int,
    local_tol: float = 0.0,
    phi: Any | None = None,
) -> tuple[State, Info]:
    """phi* from lambda_t, then lambda = (1 - rho) lambda_t + rho (eta + N/B s(phi*)).

    Arguments as in `trust_region.step`; `phi` is where the local step starts.
    """
    prior, scale = state.prior, n_documents / batch.size
    anchor = model.restrict(state.lambda_, prior, batch)
    local, _ = model.beliefs(prior, batch, phi)
    local, statistics = model.local_step(anchor, prior, batch, local, n_local, local_tol)
    natural = model.blend(anchor, prior, batch, statistics, rho, scale)
    state = advance(model, state, batch, natural, rho)
    return state, Info(state.n_steps, rho, n_documents, batch.size, 1, local)


class NaturalGradient(StochasticAlgorithm):
    """Ordinary stochastic variational inference; "online" is scikit-learn's name for it."""

    name, aliases = "natural-gradient", ("online",)

    def update(self, options: StepOptions) -> Step:
        """`step` with its settings filled in."""
        return partial(step, **options.local)
