"""Empirical Bayes: priors learned from the posterior, a little after each step (section 3.1).

The bound depends on the parameter of a conjugate prior through its evidence, the expected
log-density of the global or local parameters that are draws from the prior. A model says what its
priors can be learned from, as `PriorEvidence`, which knows how to take one step uphill
(`models.dirichlet_evidence` for Dirichlet priors).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from trustream.inference import population
from trustream.inference.state import State
from trustream.models.capabilities import LearnablePriors, require
from trustream.models.protocol import Batch, ConjugateModel


def update(
    model: ConjugateModel,
    state: State,
    batch: Batch | None,
    locals_: list[object],
    *,
    rho: float,
    rng: np.random.Generator | None,
    learn: Collection[str] = ("alpha", "eta"),
    equal_documents: float = 0.0,
    least_separation: float = 0.0,
) -> State:
    """Take one step on the model's priors; lambda stays what it is.

    Args:
        batch: the batch just learned from, or None for all data.
        locals_: its local beliefs, or those of all batches.
        rho: step size in (0, 1].
        rng: draws the sample that a step looks at; None looks at everything.
        learn: names of the priors that may change.
        equal_documents: e, data points for each of the K components, in which all components are
            equally frequent, that are added to the N that there are: they have the part
            e K / (N + e K) of the evidence. Only with a population, which says what N is.
        least_separation: of components in the data points, from 0 to 1, without which the prior of
            local parameters stays as it is.

    Raises:
        TypeError: the model has no `LearnablePriors`.
    """
    model = require(model, LearnablePriors, "empirical Bayes")
    # Of the posterior for the data that there are: a population that was never seen would speak
    # for a smaller eta.
    shown = population.lambda_for_data(model, state)
    added = 0.0 if state.population is None else equal_documents * model.n_components
    n_documents = (state.population or 0.0) * state.share
    equal = added / (n_documents + added) if added else 0.0
    evidence = model.prior_evidence(
        shown, state.prior, batch, locals_, rng, equal, least_separation
    )
    values = {name: e.improved(rho) for name, e in evidence.items() if name in learn}
    if not values:
        return state
    lambda_, prior = model.replace_prior(state.lambda_, state.prior, batch, values)
    return replace(state, lambda_=lambda_, prior=prior)
