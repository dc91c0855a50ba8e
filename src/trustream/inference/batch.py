"""Batch variational Bayes: every data point, then lambda = eta + s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trustream.inference.state import Info, State, refuse_unless_finite
from trustream.models.protocol import ConjugateModel, Rows, WholeDataTotals, require


def step(
    model: ConjugateModel,
    state: State,
    data: Any,
    blocks: Sequence[Rows | slice],
    locals_: list[Any] | None = None,
    *,
    n_local: int,
    local_tol: float = 0.0,
) -> tuple[State, Info]:
    """One pass of coordinate ascent over all blocks of the data.

    The bound in `info.objective` is L(lambda, phi) with the new phi and the old lambda. It never
    falls from pass to pass, because each block goes on from its beliefs of the pass before.

    Args:
        blocks: the data points in parts, so that memory stays bounded.
        locals_: beliefs of each block from the pass before (`info.local`), given up: each is
            replaced by the new one, so that there is only one of each. None starts uniform.

    Raises:
        FloatingPointError: the new lambda is not finite; `state` is as it was.
        TypeError: the model has no `WholeDataTotals`.
    """
    model = require(model, WholeDataTotals, "batch variational Bayes")
    prior = state.prior
    total = model.zero_statistics()
    bound = model.global_bound(state.lambda_, prior)
    n_documents = 0
    beliefs: list[Any] = [None] * len(blocks) if locals_ is None else locals_
    for index, rows in enumerate(blocks):
        batch = model.batch(data, rows)
        natural = model.restrict(state.lambda_, prior, batch)
        local = model.beliefs(prior, batch, None)[0] if locals_ is None else beliefs[index]
        local, statistics = model.local_step(natural, prior, batch, local, n_local, local_tol)
        bound += float(model.local_bound(natural, prior, batch, local).sum())
        total = model.add_statistics(total, batch, statistics)
        beliefs[index] = local
        n_documents += batch.size
    lambda_ = model.posterior(prior, total)
    refuse_unless_finite(model, lambda_)
    n_steps, n_seen = state.n_steps + 1, state.n_seen + n_documents
    state = replace(state, lambda_=lambda_, n_steps=n_steps, n_seen=n_seen)
    return state, Info(state.n_steps, 1.0, n_documents, n_documents, 1, beliefs, (bound,))
