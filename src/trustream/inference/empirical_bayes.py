"""Empirical Bayes: priors learned from the posterior, a little after each step (section 3.1).

The part of the bound that depends on a Dirichlet prior's parameters a is `evidence`, a concave
function. Its Hessian is minus the Fisher information of the prior, so that the natural gradient is
the Newton direction; a step follows it by the learning rate,

    a <- a + rho * I(a)^-1 (E_q[t] - E_a[t]).

Safeguards: a step changes a parameter by at most a factor of two, keeps it within bounds, and is
halved until the evidence does not fall. A batch of any kind thus leaves a usable prior.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from scipy import special

from trustream.inference.state import State
from trustream.models.protocol import Batch, DirichletEvidence, Float64, Model

SMALLEST, LARGEST = 1e-6, 1e4
_HALVINGS = 20


def evidence_value(evidence: DirichletEvidence, parameter: Float64) -> float:
    """Expected log-density per draw, in nats, at `parameter`; see `DirichletEvidence`.

    log G(rest + m sum_i a_i) - m sum_i log G(a_i) + m sum_i a_i l_i
    """
    m = evidence.multiplicity
    total = evidence.rest + m * parameter.sum()
    terms = parameter @ evidence.mean_log - special.gammaln(parameter).sum()
    return float(special.gammaln(total) + m * terms)


def newton_direction(evidence: DirichletEvidence) -> Float64:
    """I(a)^-1 g, with g the gradient and I = m diag(psi'(a)) - m^2 psi'(total) 1 1^T.

    The rank-one part is inverted by Sherman and Morrison's formula.
    """
    a, m = evidence.parameter, evidence.multiplicity
    total = evidence.rest + m * a.sum()
    gradient = m * (special.digamma(total) - special.digamma(a) + evidence.mean_log)
    # psi'(x) = zeta(2, x), Hurwitz' zeta function.
    diagonal = m * special.zeta(2.0, a)
    rank_one = m * m * special.zeta(2.0, total)
    remaining = 1 - rank_one * (1 / diagonal).sum()
    shared = rank_one * (gradient / diagonal).sum() / remaining
    return np.asarray((gradient + shared) / diagonal)


def improved(evidence: DirichletEvidence, rho: float) -> Float64:
    """The parameter after one safeguarded step; unchanged if no step is any good."""
    old = evidence.parameter
    if evidence.n_draws == 0 or old.size == 0:
        return old
    with np.errstate(all="ignore"):
        direction = newton_direction(evidence)
        start = evidence_value(evidence, old)
        if not (np.isfinite(direction).all() and np.isfinite(start)):
            return old
        # A prior that was given outside the bounds may stay there, but not go further.
        lowest = np.maximum(old / 2, np.minimum(old, SMALLEST))
        highest = np.minimum(old * 2, np.maximum(old, LARGEST))
        for _ in range(_HALVINGS):
            new = np.minimum(np.maximum(old + rho * direction, lowest), highest)
            if evidence_value(evidence, new) >= start:
                return new
            rho /= 2
    return old


def update(
    model: Model,
    state: State,
    batch: Batch | None,
    locals_: list[object],
    *,
    rho: float,
    rng: np.random.Generator | None,
    learn: Collection[str] = ("alpha", "eta"),
) -> State:
    """Take one step on the model's priors; lambda stays what it is.

    Args:
        batch: the batch just learned from, or None for all data.
        locals_: its local beliefs, or those of all batches.
        rho: step size in (0, 1].
        rng: draws the sample that a step looks at; None looks at everything.
        learn: names of the priors that may change.
    """
    evidence = model.prior_evidence(state.lambda_, state.prior, batch, locals_, rng)
    values = {name: improved(e, rho) for name, e in evidence.items() if name in learn}
    if not values:
        return state
    lambda_, prior = model.replace_prior(state.lambda_, state.prior, batch, values)
    return replace(state, lambda_=lambda_, prior=prior)
