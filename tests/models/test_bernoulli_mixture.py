"""What is particular to the mixture of Bernoullis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.helpers import BACKENDS, DTYPES, matched_cosines, snapshot
from tests.models.mixtures import NATURAL_GRADIENT, TRUST_REGION, Setup, fit, setup, some_lambda
from trustream.inference import trust_region
from trustream.inference.state import State
from trustream.models.mixture import feature_blocks
from trustream.models.mixture.bernoulli import (
    BernoulliExpected,
    BernoulliModel,
    BernoulliNatural,
    BernoulliPrior,
)


def step_results(case: Setup, data: Any) -> tuple[Any, ...]:
    """All that a step on some rows of `data` gives."""
    model, prior, _ = case
    batch = model.batch(data, np.arange(3, 210))
    assert batch.size == 207
    state, info = trust_region.step(
        model,
        State(some_lambda(case), prior),
        batch,
        rho=0.3,
        n_documents=500.0,
        n_inner=2,
        n_local=1,
    )
    bound = model.local_bound(state.lambda_, prior, batch, None)
    given = model.beliefs(prior, batch, info.local)[1]
    return *state.lambda_, info.local, bound, *given


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_data_are_the_same_data(make: Any, backend: str) -> None:
    case = setup("bernoulli", d=13, backend=backend)
    batch = case.model.batch(case.x, slice(None))
    assert batch.sparse is not None  # the data have rows of both sorts
    assert batch.dense is not None
    expected = snapshot(step_results(case, case.x))
    rows = make(case.x)
    assert snapshot(step_results(case, rows)) == expected
    # Unsorted, with a stored zero and an entry in two parts: still the same, and left as it was.
    sums = case.x.sum(axis=1)
    for n in (3 + int(np.flatnonzero(sums[3:] == count)[0]) for count in (3, 9)):
        entries = np.flatnonzero(case.x[n])
        off = np.flatnonzero(case.x[n] == 0)[:1]
        values = np.concatenate([[0.0, 0.25], np.ones(entries.size)])
        values[-1] = 0.75
        indices = np.concatenate([off, entries[:1], entries[::-1]])
        row = make((values, indices, [0, values.size]), shape=(1, case.x.shape[1]))
        messy = sparse.vstack([rows[:n], row, rows[n + 1 :]], format="csr")
        assert not messy.has_canonical_format
        before = snapshot(messy)
        assert snapshot(step_results(case, messy)) == expected
        everything = case.model.batch(messy, slice(None))
        assert everything.sparse.indptr[-1] == case.x[everything.sparse.which].sum()
        assert snapshot(messy) == before


@pytest.mark.parametrize("density", [0.05, 0.5])
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_type_of_dense_data_does_not_matter(backend: str, density: float) -> None:
    rng = np.random.default_rng(0)
    case = setup("bernoulli", d=83, backend=backend)
    x = rng.random((230, 83)) < density
    case = case._replace(x=x.astype(np.uint8))
    expected = snapshot(step_results(case, case.x))
    for dtype in (bool, np.int32, np.int64, np.float16, np.float32, np.float64, np.longdouble):
        assert snapshot(step_results(case, x.astype(dtype))) == expected
    assert snapshot(step_results(case, np.asfortranarray(x))) == expected
    fixed = x.astype(np.uint8)
    fixed.flags.writeable = False
    assert snapshot(step_results(case, fixed)) == expected
    assert snapshot(step_results(case, sparse.csr_array(x.astype(float)))) == expected


def test_rows_are_told_apart_by_their_own_density() -> None:
    rng = np.random.default_rng(0)
    x = (rng.random((60, 40)) < np.where(np.arange(60) % 3 == 0, 0.8, 0.05)[:, None]).astype(float)
    model = BernoulliModel(n_components=3, n_features=40, dtype="float64")
    batch = model.batch(x, slice(None))
    np.testing.assert_array_equal(batch.dense.which, np.arange(0, 60, 3))
    assert batch.sparse.size == 40
    np.testing.assert_array_equal(batch.dense.values[:20], x[::3])
    again = sparse.csr_array(
        (batch.sparse.values, batch.sparse.indices, batch.sparse.indptr), shape=(40, 40)
    )
    np.testing.assert_array_equal(again.toarray(), x[np.arange(60) % 3 > 0])
    assert model.batch(x, slice(0, 1)).sparse is None
    assert model.batch(x, slice(1, 3)).dense is None


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_parameters_keep_their_type(backend: str, dtype: str) -> None:
    model, prior, x = setup("bernoulli", backend=backend, dtype=dtype)
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    state, info = trust_region.step(
        model,
        state,
        model.batch(x, slice(0, 150)),
        rho=0.3,
        n_documents=np.float64(500.0),
        n_inner=2,
        n_local=1,
    )
    assert info.local.dtype == state.lambda_.a.dtype == state.lambda_.b.dtype == dtype
    assert state.lambda_.gamma.dtype == np.float64
    total = model.add_statistics(model.zero_statistics(), None, state.lambda_)
    assert total.a.dtype == np.float64
    assert model.posterior(prior, total).a.dtype == dtype


def test_counts_of_zeros_are_never_negative() -> None:
    """A feature that is always on: rounding must not make its b fall below the prior's."""
    x = np.ones((230, 3), dtype=np.uint8)
    prior = BernoulliPrior(np.ones(7), 1e-6, 1e-6)
    model = BernoulliModel(n_components=7, n_features=3)
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    for _ in range(3):
        batch = model.batch(x, slice(None))
        state, _ = trust_region.step(
            model, state, batch, rho=1.0, n_documents=1e9, n_inner=3, n_local=1
        )
    assert (state.lambda_.b >= np.float32(1e-6)).all()
    assert np.isfinite(model.global_bound(state.lambda_, prior))


@pytest.mark.parametrize("backend", BACKENDS)
def test_extreme_parameters_give_finite_beliefs(backend: str) -> None:
    rng = np.random.default_rng(0)
    model = BernoulliModel(n_components=3, n_features=50, backend=backend)
    a, b = np.exp(rng.uniform(-6, 17, (2, 50, 3))).astype(np.float32)
    lambda_ = BernoulliNatural(np.array([1e-3, 1.0, 1e9]), a, b)
    batch = model.batch(rng.integers(0, 2, (20, 50)), slice(None))
    phi, statistics = model.local_step(lambda_, BernoulliPrior(np.ones(3)), batch)
    assert model.is_finite(statistics)
    np.testing.assert_allclose(phi.sum(axis=1), 1, rtol=1e-5)


def test_blocks_do_not_change_the_sums(monkeypatch) -> None:
    """Many blocks of both sorts, few at a time: the same totals as in one go."""
    case = setup("bernoulli", n=700)
    model, prior, x = case
    lambda_ = some_lambda(case)
    batch = model.batch(x, slice(None))
    phi, statistics = model.local_step(lambda_, prior, batch)
    np.testing.assert_allclose(statistics.a, x.T @ phi, rtol=1e-12)
    monkeypatch.setattr(feature_blocks, "_MOST_PARTIALS", 2)
    assert snapshot(model.local_step(lambda_, prior, batch)) == snapshot((phi, statistics))


def test_samples_have_the_expected_frequencies() -> None:
    model = BernoulliModel(n_components=2, n_features=3, backend="reference")
    expected = BernoulliExpected(np.array([0.2, 0.8]), np.array([[0.1, 0.5, 0.9], [1.0, 0.0, 0.3]]))
    x, z = model.sample(expected, 20_000, np.random.default_rng(0))
    assert x.dtype == np.uint8
    np.testing.assert_allclose(np.bincount(z) / z.size, expected.weights, atol=0.01)
    for k in range(2):
        np.testing.assert_allclose(x[z == k].mean(axis=0), expected.probs[k], atol=0.025)
    prior = BernoulliPrior(np.ones(2), [9.0, 1.0, 1.0], [1.0, 1.0, 9.0])
    drawn, x, z = model.sample_prior(prior, 50, np.random.default_rng(0))
    assert drawn.probs.shape == (2, 3)
    assert x.shape == (50, 3)
    assert z.shape == (50,)
    many = [model.sample_prior(prior, 1, np.random.default_rng(i))[0].probs for i in range(500)]
    np.testing.assert_allclose(np.mean(many, axis=(0, 1)), [0.9, 0.5, 0.1], atol=0.04)


def test_expected_parameters() -> None:
    model = BernoulliModel(n_components=2, n_features=1, backend="reference")
    lambda_ = BernoulliNatural(np.array([1.0, 3.0]), np.array([[1.0, 2.0]]), np.array([[3.0, 2.0]]))
    expected = model.expected(lambda_, BernoulliPrior(np.ones(2)))
    np.testing.assert_allclose(expected.weights, [0.25, 0.75])
    np.testing.assert_allclose(expected.probs, [[0.25], [0.5]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, 0.0],), "alpha"),
        (([1.0, np.nan],), "alpha"),
        (([1.0, 1.0], -1.0), "a must"),
        (([1.0, 1.0], 1.0, [np.inf]), "b must"),
    ],
)
def test_bad_priors_are_named(arguments, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BernoulliPrior(*arguments)


def test_prior_and_model_must_fit() -> None:
    model = BernoulliModel(n_components=2, n_features=3)
    for prior, message in (
        (BernoulliPrior(1.0), "alpha must have shape"),
        (BernoulliPrior(np.ones(3)), "alpha must have shape"),
        (BernoulliPrior(np.ones(2), np.ones(2)), "a must be a number or of shape"),
        (BernoulliPrior(np.ones(2), 1.0, np.ones((3, 1))), "b must be a number or of shape"),
    ):
        with pytest.raises(ValueError, match=message):
            model.initial(prior, np.random.default_rng(0))


def test_parameters_in_another_order_of_memory() -> None:
    case = setup("bernoulli")
    model, prior, x = case
    lambda_ = some_lambda(case)
    turned = lambda_._replace(a=np.asfortranarray(lambda_.a), b=np.asfortranarray(lambda_.b))
    batch = model.batch(x, slice(None))
    statistics = model.local_step(lambda_, prior, batch)[1]
    expected = snapshot(model.blend(lambda_, prior, batch, statistics, 0.3, 2.0))
    assert snapshot(model.blend(turned, prior, batch, statistics, 0.3, 2.0)) == expected


def test_planted_components_are_found_and_natural_gradients_lose_some() -> None:
    """The negative control: with natural gradients for trust regions this test fails."""
    k, d, n = 15, 60, 3000
    losers = 0
    for seed in range(5):
        rng = np.random.default_rng(100 + seed)
        model = BernoulliModel(n_components=k, n_features=d)
        planted = BernoulliExpected(np.full(k, 1 / k), rng.beta(0.5, 0.5, (k, d)))
        x, _ = model.sample(planted, n, rng)
        case = Setup(model, BernoulliPrior(np.ones(k)), x)
        used, found = {}, {}
        for name, step in (("tr", TRUST_REGION), ("ng", NATURAL_GRADIENT)):
            lambda_ = fit(case, step, seed, batch_size=20, n_epochs=3).lambda_
            used[name] = int((lambda_.gamma > n / k / 10).sum())
            probs = model.expected(lambda_, case.prior).probs
            found[name] = int((matched_cosines(probs, planted.probs) >= 0.95).sum())
        assert used["tr"] == found["tr"] == k
        assert used["ng"] <= k
        losers += used["ng"] < k and found["ng"] < k
    assert losers >= 4
