"""One step of a trainer, by whichever method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from trustream.inference import (
    empirical_bayes,
    natural_gradient,
    streaming_batch,
    streaming_vb,
    trust_region,
)
from trustream.inference.restoring import Undo
from trustream.inference.state import Info, State
from trustream.models.lda import LdaModel
from trustream.streaming.settings import TrainerSettings


def take_step(
    settings: TrainerSettings,
    model: LdaModel,
    state: State,
    counts: sparse.csr_array,
    rho: float,
    n_documents: int,
    rng: np.random.Generator,
    protect: Callable[[Undo], None] | None = None,
) -> tuple[State, Info]:
    """The state after learning from a batch, in the memory of the one passed in.

    Args:
        counts: (B, V), the batch.
        rho: learning rate; streaming VB and streaming batch have none.
        n_documents: N_t, what the batch stands for.
        rng: for empirical Bayes and random starts.
        protect: told how to put the state back, before its memory is changed.
    """
    s, size = settings, counts.shape[0]
    local: dict[str, Any] = {"n_local": s.max_doc_update_iter, "local_tol": s.mean_change_tol}
    if s.method == "streaming-batch":
        learn = ("alpha", "eta") if s.learn_priors else ()
        rows = np.arange(size)
        return streaming_batch.step(
            model, state, counts, rows, n_inner=s.n_inner, tol=s.tol, rng=rng, learn=learn, **local
        )
    batch = model.batch(counts, slice(0, size))
    if protect is not None:
        protect(model.savepoint(state.lambda_, state.prior, batch))
    if s.method == "streaming-vb":
        return streaming_vb.step(
            model,
            state,
            batch,
            n_inner=s.n_inner,
            tol=s.tol,
            rng=rng,
            learn=s.learn_priors,
            **local,
        )
    scaled: dict[str, Any] = {"rho": rho, "n_documents": n_documents, **local}
    if s.method == "natural-gradient":
        state, info = natural_gradient.step(model, state, batch, **scaled)
    else:
        state, info = trust_region.step(model, state, batch, n_inner=s.n_inner, **scaled)
    if s.learn_priors:
        state = empirical_bayes.update(model, state, batch, [info.local], rho=rho, rng=rng)
    return state, info
