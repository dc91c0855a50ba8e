"""A population: lambda for more data than there are, and what is shown of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from trustream.inference import empirical_bayes, trust_region
from trustream.inference.population import published, scaled_to
from trustream.inference.state import State
from trustream.learning.learner import Learner
from trustream.learning.recipe import for_topics
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
    """The prior's part of lambda, which for LDA is what steps have put in."""
    if isinstance(model, LdaModel):
        empty = replace(state.lambda_, stored=np.zeros_like(state.lambda_.stored))
        return case.dense(empty, state.prior)
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
