"""Memoized inference: totals that add up, a bound that is the bound and never falls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from tests.helpers import BACKENDS, DTYPES, planted_lda, snapshot
from trustream.inference import batch as batch_vb
from trustream.inference import memoized
from trustream.inference.state import State
from trustream.models.lda import LdaModel, LdaNatural, LdaPrior
from trustream.models.mixture import BernoulliModel, BernoulliPrior

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
N_BATCHES = 5


def rows_of(case: Case) -> list[Any]:
    """Five parts of different sizes, some picked out, some in order."""
    n = case.n_points
    odd = np.arange(1, n // 2, 2)
    return [np.arange(0, n // 2, 2), odd[:3], odd[3:], slice(n // 2, n - 5), slice(n - 5, n)]


def start(case: Case, dtype: str = "float64", backend: str = "compiled") -> Any:
    model, prior = case.make(dtype=dtype, backend=backend, n_threads=1), case.prior()
    return model, memoized.init(model, State(case.start(model, prior), prior), N_BATCHES)


def visit_all(
    case: Case, model: Any, state: State, rng: np.random.Generator, n_local: int = 3
) -> tuple[State, Any]:
    info = None
    for index in rng.permutation(N_BATCHES):
        batch = model.batch(case.data, rows_of(case)[index])
        state, info = memoized.step(model, state, batch, int(index), n_local=n_local)
    return state, info


@each_case
@pytest.mark.parametrize("backend", BACKENDS)
def test_bound_never_falls(case: Case, backend: str) -> None:
    """From visit to visit, which is more than from pass to pass; priors fixed, float64."""
    model, state = start(case, backend=backend)
    rng, bounds = np.random.default_rng(0), []
    state, _ = visit_all(case, model, state, rng)
    for _ in range(3):
        for index in rng.permutation(N_BATCHES):
            batch = model.batch(case.data, rows_of(case)[index])
            state, _ = memoized.step(model, state, batch, int(index), n_local=2)
            bounds.append(memoized.bound(model, state))
    assert np.diff(bounds).min() > -1e-11 * abs(bounds[0])
    assert bounds[-1] - bounds[0] > 1e-3 or case.is_exact


@each_case
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bound_is_that_of_all_data(case: Case, dtype: str) -> None:
    """H_b, totals and KL put together give L(lambda, phi) as batch VB computes it.

    The beliefs after the first pass are those that the start gave, so that L at the start's lambda
    is the bound of batch VB's first pass; and lambda = eta + total is better.
    """
    model, state = start(case, dtype)
    state, _ = visit_all(case, model, state, np.random.default_rng(0), n_local=4)
    first = State(case.start(model, state.prior), state.prior, memory=state.memory)
    found = memoized.bound(model, first)
    _, info = batch_vb.step(model, first, case.data, rows_of(case), n_local=4)
    rtol = 1e-5 if dtype == "float32" else 1e-11
    np.testing.assert_allclose(found, info.objective[0], rtol=rtol)
    assert memoized.bound(model, state) > found + 1


@each_case
@pytest.mark.parametrize("dtype", DTYPES)
def test_total_is_the_sum_over_batches(case: Case, dtype: str) -> None:
    """After 21 passes of taking out and putting in; and lambda is eta + that sum."""
    model, state = start(case, dtype)
    rng = np.random.default_rng(0)
    for _ in range(21):
        state, _ = visit_all(case, model, state, rng)
    total = model.running_total()
    for rows, visit in zip(rows_of(case), state.memory.visits, strict=True):
        total = model.exchange(total, model.batch(case.data, rows), None, visit.statistics)
    for found, expected in zip(state.memory.total, total, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
    lambda_ = case.dense(model.lambda_of_total(total, state.prior), state.prior)
    rtol = 1e-6 if dtype == "float32" else 1e-11
    for found, expected in zip(case.dense(state.lambda_, state.prior), lambda_, strict=True):
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected).max())
    assert case.valid(case.dense(state.lambda_, state.prior))


@each_case
def test_one_batch_is_batch_vb(case: Case) -> None:
    """All data in one batch: the same lambda and bound, pass by pass."""
    model, prior = case.make(dtype="float64", backend="compiled", n_threads=1), case.prior()
    state = State(case.start(model, prior), prior)
    mine = memoized.init(model, State(case.start(model, prior), prior), 1)
    batch, beliefs = model.batch(case.data, slice(None)), None
    for _ in range(4):
        state, info = batch_vb.step(model, state, case.data, [slice(None)], beliefs, n_local=4)
        beliefs = info.local
        mine, _ = memoized.step(model, mine, batch, 0, n_local=4)
        pairs = zip(case.dense(mine.lambda_, prior), case.dense(state.lambda_, prior), strict=True)
        for found, expected in pairs:
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@each_case
def test_the_first_pass_is_one_of_batch_vb(case: Case) -> None:
    """lambda waits for the last batch, and is then eta + all statistics, as in batch VB."""
    model, state = start(case)
    before = case.dense(state.lambda_, state.prior)
    for index, rows in enumerate(rows_of(case)):
        assert all(map(np.array_equal, case.dense(state.lambda_, state.prior), before))
        state, _ = memoized.step(model, state, model.batch(case.data, rows), index, n_local=4)
    fresh = State(case.start(model, state.prior), state.prior)
    expected, _ = batch_vb.step(model, fresh, case.data, rows_of(case), n_local=4)
    pairs = zip(
        case.dense(state.lambda_, state.prior),
        case.dense(expected.lambda_, state.prior),
        strict=True,
    )
    for found, other in pairs:
        np.testing.assert_allclose(found, other, rtol=1e-10, atol=1e-10)
    # From here on every visit counts at once.
    after, _ = memoized.step(model, state, model.batch(case.data, rows_of(case)[0]), 0, n_local=4)
    assert not np.array_equal(case.dense(after.lambda_, state.prior)[0], found)


def corpus(seed: int) -> Any:
    return planted_lda(np.random.default_rng(seed), 4, 60, 60, 40, 0.2, 0.1)[0]


@pytest.mark.parametrize("per_word", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_bound_never_falls_while_priors_are_learned(seed: int, per_word: bool) -> None:
    """From pass to pass, with a safeguarded step on alpha and eta between passes."""
    counts = corpus(seed)
    model = LdaModel(5, 60, "float64", eta_per_word=per_word)
    prior = LdaPrior.of([0.01, 0.1, 1.0, 5.0, 0.3], 0.7, 5, 60)
    state = State(model.initial(prior, np.random.default_rng(seed)), prior)
    state, bounds = memoized.init(model, state, 4), []
    for _ in range(25):
        for index in range(4):
            batch = model.batch(counts, slice(15 * index, 15 * index + 15))
            state, _ = memoized.step(model, state, batch, index, n_local=3)
        bounds.append(memoized.bound(model, state))
        state = memoized.learned(model, state)
    assert (np.diff(bounds) > -1e-8).all()
    rows = state.memory.total.rows + state.prior.rows(slice(None))
    np.testing.assert_allclose(state.lambda_.dense(state.prior.pattern), rows, rtol=1e-12)
    assert state.prior.alpha.max() < 4.0
    assert np.ptp(state.prior.rows(slice(None))) > 0.1 if per_word else state.prior.eta != 0.7


def test_forgotten_beliefs_let_the_bound_fall() -> None:
    """The negative control: each visit of LDA from uniform beliefs, in one local iteration."""
    counts = corpus(0)
    model, prior = LdaModel(5, 60, "float64"), LdaPrior.of(0.1, 0.1, 5, 60)
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    state, bounds = memoized.init(model, state, 4), []
    for _ in range(10):
        for index in range(4):
            visit = state.memory.visits[index]
            if visit is not None:
                state.memory.visits[index] = memoized.Visit(visit.statistics, visit.rest, None)
            batch = model.batch(counts, slice(15 * index, 15 * index + 15))
            state, _ = memoized.step(model, state, batch, index, n_local=1 + state.n_steps % 3)
            if state.memory.complete:
                bounds.append(memoized.bound(model, state))
    assert np.diff(bounds).min() < -1


def test_memory_is_counted() -> None:
    """Statistics of a batch's words in float32, gamma in float32, the total in float64."""
    counts = corpus(1)
    model, prior = LdaModel(5, 60), LdaPrior.of(0.1, 0.1, 5, 60)
    state = memoized.init(model, State(model.initial(prior, np.random.default_rng(0)), prior), 2)
    batches = [model.batch(counts, slice(0, 2)), model.batch(counts, slice(2, 60))]
    expected = 8 * (60 * 5 + 5)
    for index, batch in enumerate(batches):
        state, info = memoized.step(model, state, batch, index, n_local=3)
        expected += 4 * batch.n_words * 5 + 8 * 5 + 4 * batch.size * 5
        assert info.memory == expected
        # Nothing that the statistics were made from is kept alive.
        assert type(state.memory.visits[index].statistics) is LdaNatural
    assert batches[0].n_words < 60


def planted_bits(seed: int) -> tuple[Any, Any, Any]:
    """(model, prior, data) of eight Bernoulli components with 40 features, 1,000 points."""
    rng = np.random.default_rng(seed)
    probs = rng.beta(0.3, 0.3, (8, 40))
    x = (rng.random((1000, 40)) < probs[rng.integers(8, size=1000)]).astype(float)
    return BernoulliModel(n_components=8, n_features=40), BernoulliPrior(np.ones(8)), x


def test_waiting_for_all_batches_pays() -> None:
    """If lambda follows from the first batch on, a quarter of the components get no data."""
    n_used = []
    for waits in (True, False):
        n_used.append(0)
        for seed in range(3):
            model, prior, x = planted_bits(seed)
            state = State(model.initial(prior, np.random.default_rng(seed)), prior)
            state = memoized.init(model, state, 40)
            for t in range(5 * 40):
                batch = model.batch(x, slice(25 * (t % 40), 25 * (t % 40) + 25))
                state, _ = memoized.step(model, state, batch, t % 40, n_local=1)
                if t < 40 and not waits:
                    lambda_ = model.lambda_of_total(state.memory.total, prior)
                    state = replace(state, lambda_=lambda_)
            n_used[-1] += int((state.lambda_.gamma > 20).sum())
    assert n_used[0] == 24 and n_used[1] < 21


def test_mixtures_keep_no_beliefs() -> None:
    case = next(case for case in CASES if case.name == "bernoulli")
    model, state = start(case, "float32")
    state, info = visit_all(case, model, state, np.random.default_rng(0))
    assert all(visit.local is None for visit in state.memory.visits)
    assert info.memory == N_BATCHES * (5 * 8 + 2 * 4 * 150) + 8 * (5 + 2 * 150)


def test_only_the_words_of_the_batch_change() -> None:
    counts = corpus(2)
    model, prior = LdaModel(5, 60), LdaPrior.of(0.1, 0.1, 5, 60)
    state = memoized.init(model, State(model.initial(prior, np.random.default_rng(0)), prior), 2)
    batches = [model.batch(counts, slice(0, 2)), model.batch(counts, slice(2, 60))]
    for index in (1, 0):
        state, _ = memoized.step(model, state, batches[index], index, n_local=3)
    before = state.lambda_.dense(prior.pattern)
    state, _ = memoized.step(model, state, batches[0], 0, n_local=3)
    changed = (state.lambda_.dense(prior.pattern) != before).any(axis=1)
    assert set(np.flatnonzero(changed)) <= set(batches[0].words.tolist())
    assert changed.any()


def test_no_bound_before_all_was_seen() -> None:
    model, state = start(CASES[0])
    batch = model.batch(CASES[0].data, rows_of(CASES[0])[0])
    state, _ = memoized.step(model, state, batch, 0, n_local=3)
    with pytest.raises(ValueError, match="4 batches were not seen"):
        memoized.bound(model, state)


def test_no_step_without_a_memory() -> None:
    model, state = start(CASES[0])
    batch = model.batch(CASES[0].data, slice(5))
    with pytest.raises(ValueError, match="init` is needed"):
        memoized.step(model, State(state.lambda_, state.prior), batch, 0, n_local=3)


def test_an_infinite_batch_is_refused() -> None:
    """And nothing is changed by it."""
    counts = corpus(0)
    bad = counts.copy()
    bad.data[0] = np.finfo(np.float64).max
    model, prior = LdaModel(5, 60), LdaPrior.of(0.1, 0.1, 5, 60)
    state = memoized.init(model, State(model.initial(prior, np.random.default_rng(0)), prior), 2)
    state, _ = memoized.step(model, state, model.batch(counts, slice(0, 30)), 0, n_local=3)
    before = snapshot([state.lambda_, *state.memory.total, state.memory.visits[0].statistics])
    with pytest.raises(FloatingPointError, match="not finite"):
        memoized.step(model, state, model.batch(bad, slice(0, 30)), 0, n_local=3)
    after = snapshot([state.lambda_, *state.memory.total, state.memory.visits[0].statistics])
    assert after == before and state.memory.visits[1] is None
