"""Streaming batch: batch VB on a fresh draw from a fresh start, whose result replaces the old."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from tests.helpers import planted_lda, snapshot
from trustream.inference import batch as batch_vb
from trustream.inference import empirical_bayes, streaming_batch
from trustream.inference.state import State
from trustream.models.lda import LdaModel, LdaPrior

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.mark.parametrize(("n", "size"), [(10, 4), (4, 10), (7, 7), (1, 1)])
def test_draws(n: int, size: int) -> None:
    """min(B, N_t) different rows in order; all rows come up, and draws differ."""
    rng = np.random.default_rng(0)
    draws = [streaming_batch.draw(n, size, rng) for _ in range(50)]
    for rows in draws:
        assert rows.size == min(n, size)
        assert (np.diff(rows) > 0).all() and rows.min() >= 0 and rows.max() < n
    assert set(np.concatenate(draws)) == set(range(n))
    assert len({tuple(rows) for rows in draws}) == (1 if size >= n else len(draws)) or n == 10


@each_case
def test_is_batch_vb_from_a_random_start(case: Case) -> None:
    """Pass by pass the same bits, and nothing of the old lambda is left."""
    model, prior = case.make(dtype="float64", backend="compiled", n_threads=1), case.prior()
    rows = np.arange(0, 80, 2)
    results = []
    for seed in (1, 2):
        old = State(model.initial(prior, np.random.default_rng(seed)), prior, 5, 100)
        state, info = streaming_batch.step(
            model,
            old,
            case.data,
            rows,
            n_inner=4,
            n_local=3,
            rng=np.random.default_rng(9),
            tol=-np.inf,
            block_size=16,
        )
        results.append(snapshot(state.lambda_))
        assert (state.n_steps, state.n_seen) == (6, 140)
        assert (info.n_inner, info.batch_size, info.n_documents) == (4, 40, 40)
    expected = State(model.initial(prior, np.random.default_rng(9)), prior)
    beliefs, bounds = None, []
    for _ in range(4):
        blocks = [rows[:16], rows[16:32], rows[32:]]
        expected, pass_ = batch_vb.step(model, expected, case.data, blocks, beliefs, n_local=3)
        beliefs = pass_.local
        bounds.append(pass_.objective[0])
    assert results[0] == results[1] == snapshot(expected.lambda_)
    assert info.objective == tuple(bounds)
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[0])


def corpus() -> Any:
    return planted_lda(np.random.default_rng(0), 4, 60, 120, 40, 0.2, 0.1)[0]


def take(state: State, **options: Any) -> Any:
    options = {"n_inner": 60, "n_local": 20, "rng": np.random.default_rng(3), **options}
    return streaming_batch.step(LdaModel(4, 60, "float64"), state, corpus(), ROWS, **options)


ROWS = np.arange(10, 90)


def start() -> State:
    model, prior = LdaModel(4, 60, "float64"), LdaPrior.of(0.5, 0.4, 4, 60)
    return State(model.initial(prior, np.random.default_rng(0)), prior)


def test_stops_when_little_is_gained() -> None:
    _, info = take(start(), tol=0.01)
    rises = np.diff(info.objective)
    assert 2 < info.n_inner < 60
    assert rises[-1] < 0.01 * 80 and (rises[:-1] >= 0.01 * 80).all()


def test_priors_go_on_from_draw_to_draw() -> None:
    """Learned as batch VB learns them, after each pass; the next draw starts from them."""
    first, _ = take(start(), learn=("alpha", "eta"), n_inner=3)
    state = start()
    model, beliefs = LdaModel(4, 60, "float64"), None
    state = State(model.initial(state.prior, np.random.default_rng(3)), state.prior)
    for _ in range(3):
        state, info = batch_vb.step(model, state, corpus(), [ROWS], beliefs, n_local=20)
        beliefs = info.local
        state = empirical_bayes.update(model, state, None, beliefs, rho=1.0, rng=None)
    np.testing.assert_allclose(first.prior.alpha, state.prior.alpha)
    np.testing.assert_allclose(first.prior.eta, state.prior.eta)
    alpha = first.prior.alpha.copy()
    second, _ = take(first, learn=("alpha",), n_inner=1)
    assert (np.abs(np.log2(second.prior.alpha / alpha)) <= 1 + 1e-12).all()
    assert (second.prior.alpha != alpha).all() and second.prior.eta == first.prior.eta
    fixed, _ = take(start(), n_inner=2)
    assert (fixed.prior.alpha == 0.5).all() and fixed.prior.eta == 0.4


def test_the_start_can_be_given() -> None:
    model = LdaModel(4, 60, "float64")
    asked = []

    def own(prior: Any, rows: Any, rng: np.random.Generator) -> Any:
        asked.append(rows)
        return model.initial(prior, np.random.default_rng(77))

    given, _ = take(start(), start=own, n_inner=2)
    usual, _ = take(start(), rng=np.random.default_rng(77), n_inner=2)
    assert snapshot(given.lambda_) == snapshot(usual.lambda_)
    assert asked[0] is ROWS
