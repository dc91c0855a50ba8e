"""LDA on Wikipedia articles, as the measurements of its speed set it up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial
from itertools import islice

import numpy as np
import scipy.sparse as sp

from benchmarks import corpora
from benchmarks.harness.rows import Setup
from trustream.inference import driver, natural_gradient, schedules
from trustream.inference.state import Info, State
from trustream.models.lda import LdaModel, LdaPrior

FILES = ("wiki_en.npz",)


def load(setup: Setup) -> sp.csr_matrix:
    """Articles x words."""
    return corpora.wiki(setup.data, "wiki_en")


def widened(counts: sp.csr_matrix, n_words: int) -> sp.csr_matrix:
    """The same documents with their words spread at random over a larger vocabulary."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.choice(n_words, counts.shape[1], replace=False)).astype(np.int32)
    return sp.csr_matrix(
        (counts.data, columns[counts.indices], counts.indptr), shape=(counts.shape[0], n_words)
    )


def start(model: LdaModel, counts: sp.csr_matrix, n_steps: int = 20) -> State:
    """A state that has seen some data, so that topics differ as they do in use."""
    rng = np.random.default_rng(0)
    prior = LdaPrior.of(0.1, 0.1, model.n_components, model.n_words)
    state = State(model.initial(prior, rng), prior)
    steps = driver.run(
        model,
        state,
        counts,
        driver.shuffled(counts.shape[0], 100, rng),
        step=partial(natural_gradient.step, n_local=20),
        schedule=schedules.decaying(10.0, 0.7),
        n_documents=counts.shape[0],
    )
    return last(islice(steps, n_steps))


def last(steps: Iterable[tuple[State, Info]]) -> State:
    """The state after all of them."""
    return deque(steps, maxlen=1).pop()[0]
