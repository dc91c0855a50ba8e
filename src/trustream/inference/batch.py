"""Batch variational Bayes: every data point, then lambda = eta + (N_pop / N) s.

Without a population (`inference.population`) N_pop is N. With one, what never falls from pass to
pass is the sum of the local bounds minus (N / N_pop) KL(lambda, eta).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trustream.inference import empirical_bayes
from trustream.inference.algorithm import Plan
from trustream.inference.driver import blocks
from trustream.inference.population import scaled_to
from trustream.inference.state import Info, State, refuse_unless_finite
from trustream.inference.trust_region import TrustRegion
from trustream.models.capabilities import WholeDataTotals, require
from trustream.models.protocol import ConjugateModel, Rows


def step(
    model: ConjugateModel,
    state: State,
    data: Any,
    parts: Sequence[Rows | slice],
    locals_: list[Any] | None = None,
    *,
    n_local: int,
    local_tol: float = 0.0,
    population: float | None = None,
) -> tuple[State, Info]:
    """One pass of coordinate ascent over all parts of the data.

    The bound in `info.objective` is L(lambda, phi) with the new phi and the old lambda. It never
    falls from pass to pass, because each part goes on from its beliefs of the pass before.

    Args:
        parts: the data points in parts, so that memory stays bounded.
        locals_: beliefs of each part from the pass before (`info.local`), consumed: each is
            replaced by the new one, so that there is only one of each. None starts uniform.
        population: N_pop, None for N.

    Raises:
        FloatingPointError: the new lambda is not finite; `state` is as it was.
        TypeError: the model has no `WholeDataTotals`.
    """
    model = require(model, WholeDataTotals, "batch variational Bayes")
    prior = state.prior
    total = model.zero_statistics()
    bound, n_documents = 0.0, 0
    beliefs: list[Any] = [None] * len(parts) if locals_ is None else locals_
    for index, rows in enumerate(parts):
        batch = model.batch(data, rows)
        natural = model.restrict(state.lambda_, prior, batch)
        local = model.beliefs(prior, batch, None)[0] if locals_ is None else beliefs[index]
        local, statistics = model.local_step(natural, prior, batch, local, n_local, local_tol)
        bound += float(model.local_bound(natural, prior, batch, local).sum())
        total = model.add_statistics(total, batch, statistics)
        beliefs[index] = local
        n_documents += batch.size
    # Of this pass, whatever the lambda that it started from stood for.
    share = 1.0 if population is None else n_documents / population
    bound += share * model.global_bound(state.lambda_, prior)
    lambda_ = model.posterior(prior, total)
    refuse_unless_finite(model, lambda_)
    n_steps, n_seen = state.n_steps + 1, state.n_seen + n_documents
    state = replace(state, lambda_=lambda_, n_steps=n_steps, n_seen=n_seen, population=None)
    state = replace(state, share=1.0, mean=None)
    if population is not None:
        state = scaled_to(model, state, population, n_documents)
    return state, Info(state.n_steps, 1.0, n_documents, n_documents, 1, beliefs, (bound,))


class BatchVB(TrustRegion):
    """Passes over all data until the bound is level; single batches get trust-region steps."""

    name, data, has_rate, takes_parts = "batch", "all", False, False
    gains_from_small_batches = later_steps_need_less = False

    def steps_per_pass(self, n_documents: int, batch_size: int) -> int:
        """A pass is a step."""
        return 1

    def passes(self, model: Any, state: State, plan: Plan) -> Iterator[tuple[State, Info]]:
        """Passes until one raises the bound by less than `tol` per data point."""
        options, beliefs, previous = plan.options, None, -np.inf
        for _ in range(plan.n_passes):
            parts = blocks(plan.n_documents)
            state, info = step(
                model, state, plan.data, parts, beliefs, population=plan.population, **options.local
            )
            beliefs = info.local
            if options.learn:
                state = empirical_bayes.update(
                    model, state, None, info.local, rho=1.0, rng=None, learn=options.learn
                )
            yield state, info
            if info.objective[-1] - previous < options.tol * plan.n_documents:
                return
            previous = info.objective[-1]
