"""Empirical Bayes: priors learned from the posterior, a little after each step (section 3.1).

The part of the bound that depends on a Dirichlet prior's parameters a is its evidence
(`kernels.priors`), a concave function. Its Hessian is minus the Fisher information of the
prior, so that the natural gradient is the Newton direction; a step follows it by the learning rate,

    a <- a + rho * I(a)^-1 (E_q[t] - E_a[t]).

Safeguards: a step changes a parameter by at most a factor of two, keeps it within bounds, and is
halved until the evidence does not fall. A batch of any kind thus leaves a usable prior.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from trustream import kernels
from trustream.inference.state import State
from trustream.models.protocol import Batch, DirichletEvidence, Float64, Model

SMALLEST, LARGEST = 1e-6, 1e4
_HALVINGS = 20


def improved(evidence: DirichletEvidence, rho: float, backend: str = "compiled") -> Float64:
    """The parameter after one safeguarded step; unchanged if no step is any good.

    Args:
        rho: step size in (0, 1].
        backend: which kernels compute the step, "compiled" or "reference".
    """
    old, mean_log, multiplicity, rest, n_draws = evidence
    if n_draws == 0 or old.size == 0:
        return old
    new, direction = np.empty_like(old), np.empty_like(old)
    is_better = kernels.get("priors", backend).dirichlet_step(
        old, mean_log, float(multiplicity), float(rest), float(rho), SMALLEST, LARGEST, _HALVINGS,
        direction, new,
    )  # fmt: skip
    return new if is_better else old


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
    values = {
        name: improved(e, rho, model.backend) for name, e in evidence.items() if name in learn
    }
    if not values:
        return state
    lambda_, prior = model.replace_prior(state.lambda_, state.prior, batch, values)
    return State(lambda_, prior, state.n_steps, state.n_seen, state.memory)
