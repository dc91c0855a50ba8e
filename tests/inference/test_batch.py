"""Batch VB: the bound never falls, whatever the blocks, also while priors are learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers import BACKENDS, DTYPES, planted_lda, random_counts, snapshot
from trustream.inference import batch, empirical_bayes
from trustream.inference.state import State
from trustream.models.lda import LdaModel, LdaPrior

N_WORDS = 60
# A bound of -1e4 nats is a sum of some 1e4 terms: rounding in float64 stays below this.
ROUNDING = 1e-8


def corpus(seed: int) -> Any:
    """60 documents of two kinds: planted topics, and noise with empty and one-word documents."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        return random_counts(rng, 60, N_WORDS, 12, "real")
    return planted_lda(rng, 4, N_WORDS, 60, 40, 0.2, 0.1)[0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_local", [1, 5])
def test_bound_never_falls(seed: int, n_local: int, backend: str) -> None:
    """25 passes, beliefs kept from pass to pass; the first ten raise the bound by 100 nats."""
    counts = corpus(seed)
    model = LdaModel(5, N_WORDS, "float64", backend)
    prior = LdaPrior.of(0.1, [0.3, 0.05, *np.full(N_WORDS - 2, 0.1)], 5, N_WORDS)
    state = State(model.initial(prior, np.random.default_rng(seed)), prior)
    blocks, local, bounds = [slice(0, 25), slice(25, 26), np.arange(26, 60)], None, []
    for _ in range(25):
        state, info = batch.step(model, state, counts, blocks, local, n_local=n_local)
        local = info.local
        bounds.append(info.objective[0])
    assert (np.diff(bounds) > -ROUNDING).all()
    assert bounds[10] - bounds[0] > 100


@pytest.mark.parametrize("per_word", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_bound_never_falls_while_priors_are_learned(seed: int, per_word: bool) -> None:
    """Each full step on alpha and eta is safeguarded, so the bound rises through it as well."""
    counts = corpus(seed)
    model = LdaModel(5, N_WORDS, "float64", eta_per_word=per_word)
    prior = LdaPrior.of([0.01, 0.1, 1.0, 5.0, 0.3], 0.7, 5, N_WORDS)
    state = State(model.initial(prior, np.random.default_rng(seed)), prior)
    local, bounds = None, []
    for _ in range(25):
        state, info = batch.step(model, state, counts, [slice(None)], local, n_local=3)
        local = info.local
        bounds.append(info.objective[0])
        state = empirical_bayes.update(model, state, None, local, rho=1.0, rng=None)
    assert (np.diff(bounds) > -ROUNDING).all()
    assert state.prior.alpha.max() < 4.0
    assert np.ptp(state.prior.rows(slice(None))) > 0.1 if per_word else state.prior.eta != 0.7


@pytest.mark.parametrize("dtype", DTYPES)
def test_blocks_do_not_matter(dtype: str) -> None:
    """The same lambda, bound and beliefs whether the data come in one part or in many."""
    counts = corpus(0)
    model = LdaModel(5, N_WORDS, dtype)
    prior = LdaPrior.of(0.1, 0.1, 5, N_WORDS)
    results = []
    for blocks in ([slice(None)], [slice(i, i + 7) for i in range(0, 60, 7)]):
        state = State(model.initial(prior, np.random.default_rng(0)), prior)
        local = None
        for _ in range(3):
            state, info = batch.step(model, state, counts, blocks, local, n_local=4)
            local = info.local
        assert (state.n_steps, state.n_seen, info.batch_size, info.rho) == (3, 180, 60, 1.0)
        results.append((state.lambda_.stored, np.concatenate(local), info.objective[0]))
    rtol = 1e-4 if dtype == "float32" else 1e-12
    for one, many in zip(*results, strict=True):
        np.testing.assert_allclose(many, one, rtol=rtol)


def test_the_old_state_is_not_touched() -> None:
    """A pass makes a new lambda and new beliefs; the list of the old ones is given up."""
    counts = corpus(0)
    model = LdaModel(5, N_WORDS)
    prior = LdaPrior.of(0.1, 0.1, 5, N_WORDS)
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    first, info = batch.step(model, state, counts, [slice(None)], n_local=4)
    old = list(info.local)
    before = snapshot([first, old, counts])
    _, second = batch.step(model, first, counts, [slice(None)], info.local, n_local=4)
    assert snapshot([first, old, counts]) == before
    assert snapshot(second.local) != snapshot(old)
    assert second.local is info.local
