"""Poisson factorisation's lambda, kept lazily, against the same kept densely; and its priors."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse, stats

from tests.helpers import BACKENDS, random_counts, snapshot
from trustream.inference import population, trust_region
from trustream.inference.state import Mean, State
from trustream.models.factorization import FactorModel, FactorPrior, FactorRows
from trustream.models.factorization.computation import balanced_activity
from trustream.models.factorization.validity import check_factors
from trustream.models.gamma_evidence import GammaEvidence

K, V = 5, 60
PRIOR = FactorPrior(V, 0.2, 15.0, 0.3, 0.7, 1.5)


def model_of(backend: str = "compiled", dtype: str = "float64") -> FactorModel:
    return FactorModel(K, V, dtype, backend)


def counts(n_users: int = 40, seed: int = 0) -> sparse.csr_matrix:
    return random_counts(np.random.default_rng(seed), n_users, V, 8)


@pytest.mark.parametrize("backend", BACKENDS)
def test_items_outside_of_a_batch_decay(backend: str) -> None:
    """50 blends with random statistics and rates: shapes and rates as if all were written out."""
    rng, model, data = np.random.default_rng(1), model_of(backend), counts()
    lambda_ = model.initial(PRIOR, rng)
    shapes, rates = lambda_.dense_shapes(), lambda_.rates.copy()
    for _ in range(50):
        rows, rho = np.sort(rng.choice(40, 4, replace=False)), float(rng.choice([0.05, 0.3, 1.0]))
        batch = model.batch(data, rows)
        phi = rng.dirichlet(np.ones(K), batch.ids.size)
        natural = model.restrict(lambda_, PRIOR, batch)
        _, s = model.beliefs(PRIOR, batch, phi)
        new = model.blend(natural, PRIOR, batch, s, rho, 10.0)
        lambda_ = model.commit(lambda_, PRIOR, batch, new, rho)
        whole = np.zeros((V, K))
        whole[batch.words] = s.rows
        shapes = (1 - rho) * shapes + rho * (PRIOR.item_shape + 10.0 * whole)
        rates = (1 - rho) * rates + rho * (PRIOR.item_rate + 10.0 * s.rates)
        np.testing.assert_allclose(lambda_.dense_shapes(), shapes, rtol=1e-9)
        np.testing.assert_allclose(lambda_.rates, rates, rtol=1e-12)
        np.testing.assert_allclose(lambda_.totals, shapes.sum(axis=0), rtol=1e-9)
    np.testing.assert_allclose(lambda_.item_sums, (shapes / rates).sum(axis=0), rtol=1e-9)
    check_factors(lambda_, PRIOR)


def test_a_batch_says_nothing_of_other_items_but_the_rate() -> None:
    """The rate of items that no user of the batch has changes; their shape only decays."""
    model, data = model_of(), sparse.csr_matrix(np.eye(V)[:3])
    lambda_ = model.initial(PRIOR, np.random.default_rng(0))
    before = lambda_.dense_shapes()[10]
    batch = model.batch(data, slice(None))
    state, _ = trust_region.step(
        model, State(lambda_, PRIOR), batch, rho=0.5, n_documents=3, n_inner=2, n_local=5
    )
    after = state.lambda_
    np.testing.assert_allclose(after.dense_shapes()[10], 0.5 * before + 0.5 * PRIOR.item_shape)
    assert (after.rates != PRIOR.item_rate / PRIOR.item_shape).all()


def test_uniform_beliefs_balance_users() -> None:
    """theta and xi of uniform beliefs are each the best given the other, whatever the counts."""
    totals = np.array([K * 0.3, 3.0, 50.0, 1e12])
    shape = PRIOR.activity_posterior_shape(K)
    for prior in (PRIOR, replace(PRIOR, activity_rate=1e-8), replace(PRIOR, item_rate=1e9)):
        activity = balanced_activity(prior, K, totals)
        theta_sum = totals / (shape / activity + prior.item_sum)
        np.testing.assert_allclose(activity, prior.activity_rate + theta_sum, rtol=1e-9)


def test_rates_are_the_best_for_the_evidence() -> None:
    """GammaEvidence is the expected log-density of draws, and its full step the maximum."""
    rng = np.random.default_rng(2)
    draws = rng.gamma(0.7, 1 / 3.0, 500)
    evidence = GammaEvidence(10.0, 0.7, float(draws.mean()), draws.size)

    def density(rate: float) -> float:
        return float(stats.gamma.logpdf(draws, 0.7, scale=1 / rate).sum())

    np.testing.assert_allclose(
        evidence.value(2.0) - evidence.value(5.0), density(2.0) - density(5.0), rtol=1e-9
    )
    best = optimize.minimize_scalar(lambda rate: -density(rate), bounds=(0.1, 20), method="bounded")
    np.testing.assert_allclose(evidence.improved(1.0), best.x, rtol=1e-4)
    values = [evidence.value(float(evidence.improved(rho)[0])) for rho in (0.0, 0.1, 0.5, 0.9, 1)]
    assert (np.diff(values) > 0).all()
    for useless in (evidence._replace(n_draws=0.0), evidence._replace(mean=0.0)):
        assert useless.improved(1.0) == 10.0


def test_prior_evidence_is_that_of_the_bound() -> None:
    """What a change of both rates does to the bound is what the evidence says."""
    model, data = model_of(), counts()
    lambda_ = model.initial(PRIOR, np.random.default_rng(0))
    batch = model.batch(data, slice(None))
    natural = model.restrict(lambda_, PRIOR, batch)
    local, _ = model.beliefs(PRIOR, batch, None)
    local, _ = model.local_step(natural, PRIOR, batch, local, 5, 0.0)
    evidence = model.prior_evidence(lambda_, PRIOR, batch, [local], None)

    def whole(prior: FactorPrior) -> float:
        users = float(model.local_bound(natural, prior, batch, local).sum())
        return users + model.global_bound(lambda_, prior)

    for name, old in (("item_rate", PRIOR.item_rate), ("activity_rate", PRIOR.activity_rate)):
        changed = replace(PRIOR, **{name: 3 * old})
        gain = evidence[name].value(3 * old) - evidence[name].value(old)
        np.testing.assert_allclose(whole(changed) - whole(PRIOR), gain, rtol=1e-9)


def test_rescaled_and_back() -> None:
    """For three times the data and back; what the prior has put there stays."""
    model, data = model_of(), counts()
    batch = model.batch(data, slice(None))
    _, s = model.beliefs(PRIOR, batch, None)
    total = model.add_statistics(model.zero_statistics(), batch, s)
    lambda_ = model.posterior(PRIOR, total)
    tripled = model.rescaled(lambda_, PRIOR, 3.0)
    rows = PRIOR.item_shape + 3 * (lambda_.dense_shapes() - PRIOR.item_shape)
    np.testing.assert_allclose(tripled.dense_shapes(), rows)
    np.testing.assert_allclose(tripled.totals, rows.sum(axis=0))
    np.testing.assert_allclose(
        tripled.rates, PRIOR.item_rate + 3 * (lambda_.rates - PRIOR.item_rate)
    )
    back = model.rescaled(tripled, PRIOR, 1 / 3)
    np.testing.assert_allclose(back.rates, lambda_.rates)


def test_a_mean_is_the_mean_of_what_steps_are_drawn_to() -> None:
    """With weights of a half, after two steps: 1/4 start + 1/4 first + 1/2 second target."""
    model, data = model_of(), counts()
    state = State(model.initial(PRIOR, np.random.default_rng(0)), PRIOR)
    state = replace(state, mean=Mean(pickle.loads(pickle.dumps(state.lambda_)), 0.5))
    expected = [state.lambda_.dense_shapes(), state.lambda_.rates]
    for rows in (slice(0, 10), slice(10, 25)):
        batch = model.batch(data, rows)
        before = [state.lambda_.dense_shapes(), state.lambda_.rates]
        options: dict[str, Any] = {"n_documents": 40, "n_inner": 1, "n_local": 3}
        state, _ = trust_region.step(model, state, batch, rho=0.5, **options)
        after = [state.lambda_.dense_shapes(), state.lambda_.rates]
        targets = [2 * new - old for new, old in zip(after, before, strict=True)]
        expected = [0.5 * m + 0.5 * t for m, t in zip(expected, targets, strict=True)]
    mean = population.for_data(model, state).lambda_
    np.testing.assert_allclose(mean.dense_shapes(), expected[0], rtol=1e-9)
    np.testing.assert_allclose(mean.rates, expected[1], rtol=1e-9)
    np.testing.assert_allclose(mean.totals, expected[0].sum(axis=0), rtol=1e-9)


def test_new_items_stand_at_the_prior() -> None:
    model = model_of()
    lambda_ = model.initial(PRIOR, np.random.default_rng(0)).decayed(
        0.25, 0.2, 15.0, np.full(K, 1.0), np.full(K, 2.0)
    )
    before = lambda_.dense_shapes()
    lambda_ = replace(lambda_, totals=before.sum(axis=0))
    longer = lambda_.with_items(3, PRIOR.item_shape)
    np.testing.assert_allclose(longer.dense_shapes()[:V], before)
    np.testing.assert_allclose(longer.dense_shapes()[V:], PRIOR.item_shape)
    np.testing.assert_allclose(longer.totals, longer.dense_shapes().sum(axis=0))


def test_a_savepoint_puts_lambda_back() -> None:
    model, data = model_of(), counts()
    lambda_ = model.initial(PRIOR, np.random.default_rng(0))
    before, batch = snapshot(lambda_), model.batch(data, slice(0, 9))
    restore = model.savepoint(lambda_, PRIOR, batch)
    options: dict[str, Any] = {"rho": 0.4, "n_documents": 40, "n_inner": 1, "n_local": 3}
    trust_region.step(model, State(lambda_, PRIOR), batch, **options)
    assert snapshot(lambda_) != before
    restore()
    assert snapshot(lambda_) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stored": np.full((V, K), -1.0)}, "negative"),
        ({"totals": np.full(K, 1e9)}, "not its sums"),
        ({"rate_shift": 1e9}, "more than all of them"),
        ({"rates": np.full(K, 1e305)}, "beyond all bounds"),
    ],
)
def test_impossible_parameters_are_refused(change: dict[str, Any], message: str) -> None:
    lambda_: FactorRows = model_of().initial(PRIOR, np.random.default_rng(0))
    check_factors(lambda_, PRIOR)
    with pytest.raises(ValueError, match=message):
        check_factors(replace(lambda_, **change), PRIOR)
    with pytest.raises(ValueError, match="a prior of 7 items for 60"):
        check_factors(lambda_, replace(PRIOR, n_items=7))
