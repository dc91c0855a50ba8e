"""Streaming VB: Bayes' rule where it is exact, an objective that never falls, alpha learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from tests.helpers import BACKENDS, DTYPES, matched_cosines, planted_lda, random_counts, snapshot
from trustream.inference import batch as batch_vb
from trustream.inference import streaming_vb
from trustream.inference.state import State
from trustream.models.lda import LdaModel, LdaPrior
from trustream.models.mixture import BernoulliModel, BernoulliPrior, GaussianModel, GaussianPrior

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
N_WORDS = 60


def take(model: Any, state: State, batch: Any, seed: int = 0, **options: Any) -> Any:
    options = {"n_inner": 5, "n_local": 4, "rng": np.random.default_rng(seed), **options}
    return streaming_vb.step(model, state, batch, **options)


@each_case
@pytest.mark.parametrize("backend", BACKENDS)
def test_objective_never_falls(case: Case, backend: str) -> None:
    """Within each batch, at every pair; the second batch has the first one's posterior as prior."""
    model = case.make(dtype="float64", backend=backend, n_threads=1)
    state = streaming_vb.init(model, case.prior())
    gained = 0.0
    for rows in (slice(0, 40), slice(40, 80)):
        batch = model.batch(case.data, rows)
        state, info = take(model, state, batch, n_inner=12, tol=-np.inf)
        assert (info.n_inner, len(info.objective)) == (12, 12)
        rises = np.diff(info.objective)
        assert rises.min() > -1e-9 * abs(info.objective[0])
        gained += rises.sum()
    assert gained > 0.1 or case.is_exact


@each_case
def test_one_batch_of_everything_is_batch_vb(case: Case) -> None:
    """From lambda_0 = eta: the objective is the bound, and the end a fixed point of batch VB."""
    model, prior = case.make(dtype="float64", backend="compiled", n_threads=1), case.prior()
    batch = model.batch(case.data, slice(None))
    options = {"n_inner": 3000, "n_local": 50, "tol": 1e-12}
    state, info = take(model, streaming_vb.init(model, prior), batch, **options)
    before = case.dense(state.lambda_, prior)
    after, pass_ = batch_vb.step(model, state, case.data, [slice(None)], [info.local], n_local=50)
    np.testing.assert_allclose(pass_.objective[0], info.objective[-1], rtol=1e-10)
    for a, b in zip(case.dense(after.lambda_, prior), before, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3 * np.abs(b).max())


@each_case
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_point_counts_once(case: Case, dtype: str) -> None:
    """lambda - eta holds as many tokens, or points, as there were in all batches."""
    model, prior = case.make(dtype=dtype, backend="compiled", n_threads=1), case.prior()
    state = streaming_vb.init(model, prior)
    eta = case.counted(state.lambda_, prior)
    weight = 0.0
    for rows in (slice(0, 30), slice(30, 90), slice(30, 90)):  # the last one twice, on purpose
        batch = model.batch(case.data, rows)
        state, _ = take(model, state, batch)
        weight += case.weight(batch)
    found = case.counted(state.lambda_, prior) - eta
    np.testing.assert_allclose(found, weight, rtol=1e-4 if dtype == "float32" else 1e-10)
    assert (state.n_steps, state.n_seen) == (3, 150)


def _one_component(name: str) -> tuple[Any, Any, Any, Any]:
    """(model, prior, data, exact posterior as a list) with K = 1, where Bayes' rule is exact."""
    rng = np.random.default_rng(1)
    if name == "lda":
        counts = random_counts(rng, 40, N_WORDS, 8, "real")
        expected = [0.2 + np.asarray(counts.sum(axis=0)).reshape(-1, 1)]
        return LdaModel(1, N_WORDS, "float64"), LdaPrior.of(0.3, 0.2, 1, N_WORDS), counts, expected
    if name == "bernoulli":
        x = rng.integers(2, size=(40, 6)).astype(np.float64)
        model: Any = BernoulliModel(n_components=1, n_features=6, dtype="float64")
        ones = x.sum(axis=0)[:, np.newaxis]
        return model, BernoulliPrior([0.5], 2.0, 3.0), x, [[40.5], 2 + ones, 43 - ones]
    x = rng.normal(3.0, 2.0, (40, 1))
    prior = GaussianPrior([0.5], [1.0], 0.3, [[1.0]], 4.0)
    y = x - 1.0
    model = GaussianModel(n_components=1, n_features=1, dtype="float64")
    return model, prior, x, [[40.5], [40.3], [y.sum(axis=0)], [1 + (y**2).sum(axis=0)], [44.0]]


@pytest.mark.parametrize("name", ["lda", "bernoulli", "gaussian"])
def test_one_component_is_bayes_rule(name: str) -> None:
    """Four batches, in either order: the posterior in closed form."""
    model, prior, data, expected = _one_component(name)
    for order in ((0, 10, 20, 30), (30, 20, 10, 0)):
        state = streaming_vb.init(model, prior)
        for first in order:
            state, _ = take(model, state, model.batch(data, slice(first, first + 10)))
        lambda_ = state.lambda_
        found = [lambda_.dense(prior.pattern)] if name == "lda" else list(lambda_)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_other_words_stay_bit_for_bit() -> None:
    counts = random_counts(np.random.default_rng(2), 30, N_WORDS, 6)
    model, prior = LdaModel(4, N_WORDS), LdaPrior.of(0.1, 0.1, 4, N_WORDS)
    state, _ = take(model, streaming_vb.init(model, prior), model.batch(counts, slice(0, 15)))
    before = state.lambda_.dense(prior.pattern)
    batch = model.batch(counts, slice(15, 19))
    state, _ = take(model, state, batch)
    changed = (state.lambda_.dense(prior.pattern) != before).any(axis=1)
    assert set(np.flatnonzero(changed)) == set(batch.words.tolist())
    assert 0 < changed.sum() < N_WORDS


class _WithoutRandomness:
    """The model, but each batch starts from eta, where all components are equal."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def random_start(self, prior: Any, batch: Any, rng: Any) -> Any:
        return self._model.restrict(streaming_vb.init(self._model, prior).lambda_, prior, batch)


@pytest.mark.parametrize("name", ["lda", "bernoulli", "gaussian-full"])
def test_equal_components_need_the_random_start(name: str) -> None:
    """Without it all components stay equal, bit for bit in the reference; with it they do not."""
    case = next(case for case in CASES if case.name == name)
    spreads = []
    for wrap in (lambda model: model, _WithoutRandomness):
        model = wrap(case.make(dtype="float64", backend="reference", n_threads=1))
        prior = case.prior()
        if name == "lda":
            prior = replace(prior, alpha=np.full(7, 0.2))
        state, _ = take(model, streaming_vb.init(model, prior), model.batch(case.data, slice(80)))
        # gamma of a mixture, or how many tokens a topic has
        spreads.append(
            np.ptp(case.dense(state.lambda_, prior)[0].reshape(-1, prior.alpha.size).sum(0))
        )
    assert spreads[0] > 1
    assert spreads[1] < 1e-9


def test_stops_when_little_is_gained() -> None:
    case = CASES[0]
    model = case.make(dtype="float64", backend="compiled", n_threads=1)
    batch = model.batch(case.data, slice(0, 60))
    _, info = take(model, streaming_vb.init(model, case.prior()), batch, n_inner=500, tol=0.01)
    rises = np.diff(info.objective)
    assert 2 < info.n_inner < 500
    assert rises[-1] < 0.01 * 60 and (rises[:-1] >= 0.01 * 60).all()


def test_without_tol_no_objective() -> None:
    """And the same lambda."""
    case = CASES[0]
    model = case.make(dtype="float64", backend="compiled", n_threads=1)
    batch = model.batch(case.data, slice(0, 60))
    with_it, without = (
        take(model, streaming_vb.init(model, case.prior()), batch, tol=tol)
        for tol in (-np.inf, None)
    )
    assert snapshot(with_it[0]) == snapshot(without[0])
    assert (with_it[1].n_inner, without[1].n_inner) == (5, 5)
    assert len(with_it[1].objective) == 5 and without[1].objective == ()


def test_alpha_from_all_documents_so_far() -> None:
    """The evidence is that of all beliefs, each as its batch left it; one Newton step a batch."""
    counts = planted_lda(np.random.default_rng(3), 4, N_WORDS, 90, 40, 0.2, 0.1)[0]
    model = LdaModel(4, N_WORDS, "float64")
    prior = LdaPrior.of(0.5, 0.1, 4, N_WORDS)
    state, locals_ = streaming_vb.init(model, prior), []
    for first in (0, 30, 60):
        batch = model.batch(counts, slice(first, first + 30))
        old = state.prior.alpha
        state, info = take(model, state, batch, seed=first, learn=True)
        locals_.append(info.local)
        whole = model.prior_evidence(state.lambda_, state.prior, batch, locals_, None)["alpha"]
        np.testing.assert_allclose(state.memory.log_sum / state.memory.count, whole.mean_log)
        assert state.memory.count == whole.n_draws == first + 30
        expected = whole._replace(parameter=old).improved(rho=1.0)
        np.testing.assert_allclose(state.prior.alpha, expected, rtol=1e-10)
    assert state.prior.alpha.max() < 0.5
    assert state.prior.eta == 0.1


def test_mixtures_have_nothing_to_learn() -> None:
    case = next(case for case in CASES if case.name == "bernoulli")
    model = case.make(dtype="float64", backend="compiled", n_threads=1)
    state = streaming_vb.init(model, case.prior())
    before = snapshot(state.prior)
    state, _ = take(model, state, model.batch(case.data, slice(50)), learn=True)
    assert snapshot(state.prior) == before and state.memory is None


def test_planted_topics_are_found() -> None:
    """In batches of 200 documents; none of them without the random start."""
    counts, topics = planted_lda(np.random.default_rng(4), 6, 200, 1000, 60, 0.1, 0.05)
    found = []
    for wrap in (lambda model: model, _WithoutRandomness):
        model, prior = wrap(LdaModel(6, 200)), LdaPrior.of(0.1, 0.05, 6, 200)
        state, rng = streaming_vb.init(model, prior), np.random.default_rng(0)
        for first in range(0, 1000, 200):
            batch = model.batch(counts, slice(first, first + 200))
            state, _ = take(model, state, batch, n_inner=100, n_local=50, tol=1e-3, rng=rng)
        found.append((matched_cosines(model.expected(state.lambda_, prior), topics) > 0.9).sum())
    assert found == [6, 0]


def test_components_stay_what_they_are() -> None:
    """However many points the random start imagines, a batch does not exchange components."""
    rng = np.random.default_rng(6)
    centres = np.array([[-5.0, 0], [5, 0], [0, 7]])
    x = centres[rng.integers(3, size=1060)] + rng.standard_normal((1060, 2))
    prior = GaussianPrior(np.ones(3), x.mean(axis=0), 1.0, np.cov(x.T), 4.0)
    model = GaussianModel(n_components=3, n_features=2, start_count=1e4)
    start = model.start(prior, prior.to_y(centres), 0.1)
    for seed in range(5):
        state, options = streaming_vb.init(model, prior), {"seed": seed, "n_inner": 100}
        state, _ = take(model, state, model.batch(x, slice(0, 60)), start=start, **options)
        state, _ = take(model, state, model.batch(x, slice(60, 1060)), **options)
        np.testing.assert_allclose(model.expected(state.lambda_, prior).means, centres, atol=0.4)


def test_a_fresh_start_finds_more_than_one_at_lambda() -> None:
    """Bernoulli mixtures of six components in batches of 100: predictive density of all data."""
    scores = []
    for fresh in (True, False):
        total = 0.0
        for seed in range(4):
            rng = np.random.default_rng(seed)
            probs = rng.beta(0.4, 0.4, (6, 50))
            x = (rng.random((1500, 50)) < probs[rng.integers(6, size=1500)]).astype(float)
            model, prior = BernoulliModel(n_components=6, n_features=50), BernoulliPrior(np.ones(6))
            state, rng = streaming_vb.init(model, prior), np.random.default_rng(seed)
            for first in range(0, 1500, 100):
                start = None if fresh or first == 0 else state.lambda_
                batch = model.batch(x, slice(first, first + 100))
                options = {"n_inner": 50, "tol": 1e-3, "rng": rng, "start": start}
                state, _ = take(model, state, batch, **options)
            whole = model.batch(x, slice(None))
            total += model.predictive_log_density(state.lambda_, prior, whole).mean()
        scores.append(total / 4)
    assert scores[0] > scores[1] + 0.3
