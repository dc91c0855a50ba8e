"""Compiling kernels before there is anything to do, so that the first step is as quick as any."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from scipy import sparse

from trustream.estimators.progress import compilation_notice
from trustream.inference.state import State
from trustream.models.lda import LdaModel, LdaPrior
from trustream.store.protocol import Documents
from trustream.streaming.score import score
from trustream.streaming.settings import TrainerSettings
from trustream.streaming.stepping import take_step


@cache
def warm_up(method: str, dtype: str) -> None:
    """Take one step and one score on next to nothing; once in a process.

    Says so on a terminal if it takes long, which it does once after an install.
    """
    with compilation_notice():
        counts = sparse.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]], np.float32))
        settings = replace(
            TrainerSettings(n_components=2), method=method, dtype=dtype, inner_iter=1
        )
        model, prior = LdaModel(2, 3, dtype=dtype), LdaPrior.of(0.1, 0.1, 2, 3)
        rng = np.random.default_rng(0)
        state = State(model.initial(prior, rng), prior)
        state, _ = take_step(settings, model, state, counts, 0.5, 2, rng)
        documents = Documents(
            ["a", "b"],
            counts.indptr.astype(np.int64),
            counts.indices.astype(np.int32),
            counts.data,
            0,
            0,
        )
        score(model, state.lambda_, state.prior, documents, seed=0, n_jobs=1)
