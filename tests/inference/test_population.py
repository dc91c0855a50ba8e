"""A population: lambda for more data than there are, and what is shown of it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from trustream.inference import batch as batch_vb
from trustream.inference import empirical_bayes, memoized, trust_region
from trustream.inference.population import published, scaled_to, with_mean
from trustream.inference.state import State
from trustream.learning.defaults import for_topics
from trustream.learning.learner import Learner
from trustream.models.factorization import FactorModel
from trustream.models.lda import LdaModel, LdaPrior

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def learned(case: Case, dtype: str = "float64") -> tuple[Any, State]:
    """A state after a step, so that a lazily kept lambda has a scale and a shift."""
    model = case.make(dtype=dtype)
    prior = case.prior()
    state = State(case.start(model, prior), prior)
    batch = model.batch(case.data, slice(0, 30))
    options: dict[str, Any] = {"rho": 0.4, "n_documents": 900.0, "n_inner": 2, "n_local": 3}
    return model, trust_region.step(model, state, batch, **options)[0]


def eta_of(case: Case, model: Any, state: State) -> list[np.ndarray]:
    """The prior's part of lambda; of one that is kept lazily it is what steps have put in."""
    if isinstance(model, LdaModel):
        empty = replace(state.lambda_, stored=np.zeros_like(state.lambda_.stored))
        return case.dense(empty, state.prior)
    if isinstance(model, FactorModel):
        rates = np.full_like(state.lambda_.rates, state.lambda_.rate_shift)
        stored = np.zeros_like(state.lambda_.stored)
        return case.dense(replace(state.lambda_, stored=stored, rates=rates), state.prior)
    return case.dense(model.posterior(state.prior, model.zero_statistics()), state.prior)


@each_case
def test_what_is_shown_lies_between_prior_and_lambda(case: Case) -> None:
    """eta + (N / N_pop) (lambda - eta), entry by entry; the state itself is unchanged."""
    model, state = learned(case)
    before = case.dense(state.lambda_, state.prior)
    state = scaled_to(model, replace(state, population=1000.0), 1000.0, 250.0)
    assert (state.population, state.share) == (1000.0, 0.25)
    shown = published(model, state)
    assert (shown.population, shown.share) == (None, 1.0)
    etas = eta_of(case, model, state)
    found = case.dense(shown.lambda_, shown.prior)
    for value, whole, eta in zip(found, before, etas, strict=True):
        np.testing.assert_allclose(value, eta + 0.25 * (whole - eta), rtol=1e-10, atol=1e-12)
    for now, then in zip(case.dense(state.lambda_, state.prior), before, strict=True):
        np.testing.assert_array_equal(now, then)


@each_case
def test_what_was_learned_without_a_population(case: Case) -> None:
    """It stands for the data that there are, and is scaled; a start stands for nothing yet."""
    model, state = learned(case)
    before, etas = case.dense(state.lambda_, state.prior), eta_of(case, model, state)
    larger = scaled_to(model, state, 1000.0, 250.0)
    for now, then, eta in zip(case.dense(larger.lambda_, larger.prior), before, etas, strict=True):
        np.testing.assert_allclose(now, eta + 4 * (then - eta), rtol=1e-10, atol=1e-11)
    start = State(case.start(model, state.prior), state.prior)
    given = case.dense(start.lambda_, start.prior)
    start = scaled_to(model, start, 1000.0, 250.0)
    assert (start.population, start.share) == (1000.0, 0.25)
    assert all(map(np.array_equal, case.dense(start.lambda_, start.prior), given))


@each_case
def test_there_and_back(case: Case) -> None:
    """A population that grows and shrinks again leaves lambda as it was; so do running sums."""
    model, state = learned(case)
    before = case.dense(state.lambda_, state.prior)
    state = scaled_to(model, state, 900.0, 900.0)
    larger = scaled_to(model, state, 45_000.0, 900.0)
    for now, then, eta in zip(
        case.dense(larger.lambda_, larger.prior), before, eta_of(case, model, state), strict=True
    ):
        np.testing.assert_allclose(now, eta + 50 * (then - eta), rtol=1e-10, atol=1e-11)
    again = scaled_to(model, larger, 900.0, 900.0)
    for now, then in zip(case.dense(again.lambda_, again.prior), before, strict=True):
        np.testing.assert_allclose(now, then, rtol=1e-9, atol=1e-9)
    if isinstance(model, LdaModel):
        sums = larger.lambda_.dense(larger.prior.pattern).sum(axis=0, dtype=np.float64)
        np.testing.assert_allclose(larger.lambda_.totals, sums, rtol=1e-9)


def test_eta_is_learned_from_what_is_shown() -> None:
    """A step on eta is the one of the posterior that is shown; lambda itself leads elsewhere."""
    case = CASES[0]
    model, state = learned(case)
    local, _ = model.beliefs(state.prior, model.batch(case.data, slice(0, 30)), None)

    def eta(given: State) -> float:
        after = empirical_bayes.update(model, given, None, [local], rho=1.0, rng=None)
        return float(after.prior.eta)

    expected = eta(state)
    for factor in (10.0, 1000.0):
        grown = scaled_to(model, scaled_to(model, state, 900.0, 900.0), factor * 900.0, 900.0)
        assert eta(grown) == pytest.approx(expected, rel=1e-6)
        # Negative control: the same lambda, as if so many data had been seen.
        assert eta(State(grown.lambda_, state.prior)) != pytest.approx(expected, rel=1e-3)


def test_a_step_with_a_population() -> None:
    """The blend stands for N_pop; without one a step is as it always was."""
    counts = CASES[0].data
    learner = Learner(LdaModel(7, 150), for_topics(7, batch_size=30, learn_priors=False))
    results = []
    for options in ({}, {"population": None}, {"population": 10.0}, {"population": 9000.0}):
        rng = np.random.default_rng(0)
        state = learner.start(LdaPrior.of(0.1, 0.1, 7, 150), rng)
        batch = learner.batch(counts, slice(0, 30))
        state, info = learner.step(state, batch, 90, rng=rng, rho=0.5, **options)
        results.append((state, info.n_documents))
    plain, none, small, large = results
    # A population below N is N.
    assert [n for _, n in results] == [90, 90, 90, 9000]
    for state, _ in (none, small):
        np.testing.assert_array_equal(state.lambda_.totals, plain[0].lambda_.totals)
    assert (plain[0].population, small[0].population, large[0].population) == (None, 90, 9000)
    tokens = float(counts[:30].sum())
    expected = 0.5 * 150 * 7 + 0.5 * (0.1 * 150 * 7 + 9000 / 30 * tokens)
    assert float(large[0].lambda_.totals.sum()) == pytest.approx(expected, rel=0.01)
    assert large[0].share == 0.01


# --- all data at once


def parts_of(case: Case) -> list[slice]:
    n = case.n_points
    return [slice(0, n // 3), slice(n // 3, n - 7), slice(n - 7, n)]


def totals_of(case: Case, model: Any, state: State, beliefs: list[Any] | None) -> tuple[Any, float]:
    """Statistics of all data at this lambda, and the sum of their local bounds."""
    total, value = model.zero_statistics(), 0.0
    for index, rows in enumerate(parts_of(case)):
        batch = model.batch(case.data, rows)
        natural = model.restrict(state.lambda_, state.prior, batch)
        local = model.beliefs(state.prior, batch, None)[0] if beliefs is None else beliefs[index]
        local, statistics = model.local_step(natural, state.prior, batch, local, 4, 0.0)
        value += float(model.local_bound(natural, state.prior, batch, local).sum())
        total = model.add_statistics(total, batch, statistics)
    return total, value


@each_case
@pytest.mark.parametrize("factor", [1.0, 5.0])
def test_batch_vb_with_a_population(case: Case, factor: float) -> None:
    """lambda = eta + (N_pop/N) s of the lambda before, and what is reported is the sum of local
    bounds less (N/N_pop) KL, which never falls and comes to rest."""
    model, prior = case.make(dtype="float64"), case.prior()
    state = State(case.start(model, prior), prior)
    etas = case.dense(model.posterior(prior, model.zero_statistics()), prior)
    population = factor * case.n_points
    beliefs, bounds, moved = None, [], np.inf
    for t in range(60):
        before = case.dense(state.lambda_, prior)
        if t < 3:
            total, local = totals_of(case, model, state, copy.deepcopy(beliefs))
            expected = local + model.global_bound(state.lambda_, prior) / factor
            sums = case.dense(model.posterior(prior, total), prior)
        state, info = batch_vb.step(
            model, state, case.data, parts_of(case), beliefs, n_local=4, population=population
        )
        beliefs = info.local
        bounds.append(info.objective[0])
        after = case.dense(state.lambda_, prior)
        if t < 3:
            assert bounds[-1] == pytest.approx(expected, rel=1e-10)
            for found, whole, eta in zip(after, sums, etas, strict=True):
                np.testing.assert_allclose(
                    found, eta + factor * (whole - eta), rtol=1e-10, atol=1e-10
                )
        moved = max(
            np.abs(a - b).max() / np.abs(b).max() for a, b in zip(after, before, strict=True)
        )
        assert (state.population, state.share) == (population, 1 / factor)
    assert np.diff(bounds).min() > -1e-10 * abs(bounds[0])
    assert bounds[-1] > bounds[0] + 1 and bounds[-1] - bounds[-2] < 2e-3 * case.n_points
    assert moved < 0.05


@each_case
@pytest.mark.parametrize("population", [None, 2.0])
def test_batch_vb_goes_on_with_another_population(case: Case, population: float | None) -> None:
    """A warm start: what is reported is the new objective from the first pass on, so that it does
    not fall and end the fit."""
    model, prior = case.make(dtype="float64"), case.prior()
    state = State(case.start(model, prior), prior)
    beliefs, bounds = None, []
    wanted = None if population is None else population * case.n_points
    for t in range(16):
        state, info = batch_vb.step(
            model, state, case.data, parts_of(case), beliefs, n_local=4,
            population=50.0 * case.n_points if t < 8 else wanted,
        )  # fmt: skip
        beliefs = info.local
        bounds.append(info.objective[0])
    assert np.diff(bounds[8:]).min() > -1e-10 * abs(bounds[0])
    assert state.population == wanted


@each_case
def test_memoized_with_a_population(case: Case) -> None:
    """The bound of the visits is that of batch VB, computed directly, and never falls."""
    model, prior = case.make(dtype="float64"), case.prior()
    n, factor = case.n_points, 4.0
    state = State(case.start(model, prior), prior)
    state = memoized.init(model, state, 3, population=factor * n, n_documents=n)
    assert (state.population, state.share) == (factor * n, 1 / factor)
    batches = [model.batch(case.data, rows) for rows in parts_of(case)]
    for index, batch in enumerate(batches):
        state, _ = memoized.step(model, state, batch, index, n_local=4)
    # All were visited with the lambda of the start.
    first = replace(state, lambda_=case.start(model, prior))
    total, local = totals_of(case, model, first, None)
    expected = local + model.global_bound(first.lambda_, prior) / factor
    assert memoized.bound(model, first) == pytest.approx(expected, rel=1e-10)
    etas = case.dense(model.posterior(prior, model.zero_statistics()), prior)
    sums = case.dense(model.posterior(prior, total), prior)
    found = case.dense(state.lambda_, prior)
    for value, whole, eta in zip(found, sums, etas, strict=True):
        np.testing.assert_allclose(value, eta + factor * (whole - eta), rtol=1e-9, atol=1e-9)
    bounds, rng = [memoized.bound(model, state)], np.random.default_rng(0)
    assert bounds[0] > expected
    for _ in range(5):
        for index in rng.permutation(3).tolist():
            state, _ = memoized.step(model, state, batches[index], index, n_local=3)
            bounds.append(memoized.bound(model, state))
    assert np.diff(bounds).min() > -1e-10 * abs(bounds[0])
    assert bounds[-1] > bounds[0] or case.is_exact
    lambda_ = case.dense(model.lambda_of_total(state.memory.total, prior), prior)
    for value, whole in zip(case.dense(state.lambda_, prior), lambda_, strict=True):
        np.testing.assert_allclose(value, whole, rtol=1e-9, atol=1e-9)


def test_memoized_from_another_population() -> None:
    """A warm start scales lambda first; a mean, which visits do not move, is not kept."""
    model, state = learned(CASES[0])
    state = with_mean(model, replace(state, population=90.0), 0.1)
    state = scaled_to(model, state, 9000.0, 90.0)
    before = CASES[0].dense(state.lambda_, state.prior)[0]
    for population, factor in ((None, 0.01), (450.0, 0.05)):
        now = memoized.init(model, state, 3, population=population, n_documents=90.0)
        found = CASES[0].dense(now.lambda_, now.prior)[0]
        part = now.lambda_.shift * now.prior.pattern
        np.testing.assert_allclose(found, part + factor * (before - part), rtol=1e-9)
        assert now.share == (1.0 if population is None else 0.2) and now.mean is None
    rows = parts_of(CASES[0])
    after, _ = batch_vb.step(model, state, CASES[0].data, rows, n_local=3, population=450.0)
    assert after.mean is None
