"""The mean beside lambda is the mean of all targets eta + N_pop/B s, whatever happens to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from tests.conformance.cases import CASES, Case
from tests.helpers import BACKENDS, DTYPES, Array, planted_lda, random_counts, snapshot
from trustream.inference import trust_region
from trustream.inference.population import for_data, published, scaled_to, with_mean
from trustream.inference.restoring import Restorable
from trustream.inference.state import Mean, State, advance
from trustream.learning.defaults import for_topics
from trustream.learning.learner import Learner
from trustream.models.lda import LazyRows, LdaModel, LdaNatural, LdaPrior

V, K = 40, 4


@dataclass
class Slow:
    """lambda and mean as dense float64 arrays, in two parts: of the prior, and of the data."""

    lambda_: list[Array]
    mean: list[Array]

    @classmethod
    def of(cls, start: Array) -> Slow:
        zeros = np.zeros(start.shape)
        return cls([zeros, start.astype(np.float64)], [zeros.copy(), start.astype(np.float64)])

    def step(self, eta: Array, words: Array, s: Array, scale: float, rho: float, w: float) -> None:
        """lambda and mean move to the target by their rates."""
        target = np.zeros_like(eta)
        target[words] = scale * s
        for parts, rate in ((self.lambda_, rho), (self.mean, w)):
            parts[0] = (1 - rate) * parts[0] + rate * eta
            parts[1] = (1 - rate) * parts[1] + rate * target

    def rescale(self, factor: float) -> None:
        self.lambda_[1], self.mean[1] = factor * self.lambda_[1], factor * self.mean[1]


def compare(state: State, slow: Slow, rtol: float) -> None:
    """Rows and totals of both."""
    assert state.mean is not None
    for table, parts in ((state.lambda_, slow.lambda_), (state.mean.lambda_, slow.mean)):
        expected = parts[0] + parts[1]
        np.testing.assert_allclose(table.dense(state.prior.pattern), expected, rtol=rtol)
        np.testing.assert_allclose(table.totals, expected.sum(axis=0), rtol=rtol)
        np.testing.assert_allclose(table.shift * state.prior.pattern[0, 0], parts[0][0, 0])


def dense_eta(prior: LdaPrior) -> Array:
    return np.broadcast_to(prior.rows(slice(None)), (V, K)).copy()


@dataclass(frozen=True)
class Recording(LdaModel):
    """Notes what the last blend of a step was made of."""

    blends: list[Any] = field(default_factory=list, compare=False)

    def blend(
        self, anchor: Any, prior: Any, batch: Any, statistics: Any, rho: float, scale: float
    ) -> Any:
        self.blends[:] = [(batch.words, statistics, rho, scale, dense_eta(prior))]
        return super().blend(anchor, prior, batch, statistics, rho, scale)


def test_10_000_steps_of_lda() -> None:
    """Steps as a stream takes them, in float32: eta is learned, the population grows and shrinks,
    and the window of the mean with it.

    The mean's scale falls below 1e-20 and is renewed; rates of 0.99 do that to lambda's.
    """
    rng = np.random.default_rng(0)
    counts, _ = planted_lda(rng, K, V, 60, 12, 0.2, 0.1)
    model = Recording(K, V)
    learner = Learner(model, for_topics(K, batch_size=4, inner_iter=1, max_doc_update_iter=3))
    state = learner.start(LdaPrior.of(0.1, 0.1, K, V), rng)
    slow, n_renewed, etas = Slow.of(state.lambda_.stored), [0, 0], []
    n_documents, population = 60.0, 100.0
    for t in range(10_000):
        if t % 700 == 699:
            before, n_documents = population, float(rng.integers(30, 300))
            population = n_documents * float(rng.uniform(1, 20))
            slow.rescale(population / before)
        rho = 0.99 if t % 250 < 12 else float(10 ** rng.uniform(-2, -0.5))
        window = float(10 ** rng.uniform(1, 3))
        batch = learner.batch(counts, rng.choice(60, 4, replace=False))
        old = state.lambda_.scale, 1.0 if state.mean is None else state.mean.lambda_.scale
        state, info = learner.step(
            state, batch, n_documents, rng=rng, rho=rho, population=population, window=window
        )
        assert info.n_documents == population and state.mean is not None
        (blended,) = model.blends
        words, statistics, _, scale, eta = blended
        s = model.materialise(statistics).rows.astype(np.float64)
        slow.step(eta, words, s, scale, rho, min(rho, 4 / window))
        n_renewed[0] += state.lambda_.scale > 1e3 * old[0]
        n_renewed[1] += state.mean.lambda_.scale > 1e3 * old[1]
        etas.append(state.prior.eta)
        if t % 500 == 499:
            compare(state, slow, 1e-4)
    assert min(n_renewed) >= 2
    assert max(etas) > 1.2 * min(etas)
    # What is shown is for the documents that there are.
    shown, share = published(model, state), n_documents / population
    expected = slow.mean[0] + share * slow.mean[1]
    np.testing.assert_allclose(shown.lambda_.dense(shown.prior.pattern), expected, rtol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["one eta", "eta of words", "seeded"])
def test_any_statistics(kind: str, backend: str, dtype: str) -> None:
    """500 steps at any rate, 1 too, with weights up to it; words of all, of one and of none."""
    rng = np.random.default_rng(1)
    model = LdaModel(K, V, dtype, backend)
    shape = {"one eta": (), "eta of words": (V,), "seeded": (K, V)}[kind]
    prior = LdaPrior.of(0.1, rng.uniform(0.05, 0.5, shape), K, V)
    start = model.initial(prior, rng)
    slow = Slow.of(start.stored)
    state = with_mean(model, State(start, prior, 1, population=100.0), 1.0)
    counts = random_counts(rng, 60, V, 6)
    for t in range(500):
        weight = float(rng.choice([1.0, 0.5, 1e-3, rng.random()]))
        rho = float(rng.choice([1.0, 0.9, 1e-4, rng.random()]))
        state = with_mean(model, state, weight)
        rows = rng.permutation(60)[: rng.integers(1, 6)] if t % 10 else np.array([0])
        batch = model.batch(counts, rows)
        s = rng.gamma(0.2, 5.0, (batch.n_words, K)).astype(dtype)
        statistics = LdaNatural(s, s.sum(axis=0, dtype=np.float64))
        anchor = model.restrict(state.lambda_, prior, batch)
        natural = model.blend(anchor, prior, batch, statistics, rho, 7.0)
        state = advance(model, state, batch, natural, rho)
        slow.step(dense_eta(prior), batch.words, s.astype(float), 7.0, rho, min(rho, weight))
        if t % 100 == 50:
            state = scaled_to(model, state, 100.0 + t, 100.0)
            slow.rescale((100.0 + t) / (100.0 if t == 50 else t))
        if t % 50 == 49:
            compare(state, slow, 5e-5 if dtype == "float32" else 1e-11)


def test_a_weight_of_the_rate_keeps_lambda_itself() -> None:
    """With w = rho from the start, mean and lambda are the same numbers but for rounding."""
    rng = np.random.default_rng(2)
    counts, _ = planted_lda(rng, K, V, 60, 12, 0.2, 0.1)
    model, prior = LdaModel(K, V, "float64"), LdaPrior.of(0.1, 0.1, K, V)
    state = with_mean(model, State(model.initial(prior, rng), prior), 1.0)
    for t in range(50):
        batch = model.batch(counts, rng.choice(60, 5, replace=False))
        options: dict[str, Any] = {"n_documents": 60.0, "n_inner": 1, "n_local": 3}
        state, _ = trust_region.step(model, state, batch, rho=(2 + t) ** -0.5, **options)
    assert state.mean is not None
    found, expected = (table.dense(prior.pattern) for table in (state.mean.lambda_, state.lambda_))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


# What keeps its table lazily rescales by the prior's part of it, as tests above say of LDA.
DENSE = [case for case in CASES[4:] if case.name != "factorization"]


@pytest.mark.parametrize("case", DENSE, ids=lambda case: case.name)
def test_other_models(case: Case) -> None:
    """Where a batch touches all of lambda, the plain formula."""
    model, prior = case.make(dtype="float64"), case.prior()
    start = case.start(model, prior)
    posterior = model.posterior(prior, model.zero_statistics())
    eta = case.dense(posterior, prior)
    state = with_mean(model, State(start, prior), 1.0)
    expected = case.dense(start, prior)
    rng = np.random.default_rng(3)
    for t in range(40):
        state = with_mean(model, state, 1 / (1 + t / 4))
        rho, rows = (2 + t) ** -0.5, rng.choice(case.n_points, 30, replace=False)
        options: dict[str, Any] = {"n_documents": 900.0, "n_inner": 2, "n_local": 1}
        before, n_before = case.dense(state.lambda_, prior), case.counted(state.lambda_, prior)
        batch = model.batch(case.data, rows)
        state, _ = trust_region.step(model, state, batch, rho=rho, **options)
        after, n_after = case.dense(state.lambda_, prior), case.counted(state.lambda_, prior)
        w = min(rho, 1 / (1 + t / 4))
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            target = (new - (1 - rho) * old) / rho
            expected[i] = (1 - w) * expected[i] + w * target
        # N/B s is in the target beside eta: 900 data points for 30.
        mass = (n_after - (1 - rho) * n_before) / rho - case.counted(posterior, prior)
        assert mass == pytest.approx(30 * case.weight(batch), rel=1e-9)
        if t == 20:
            state = scaled_to(model, replace(state, population=900.0), 300.0, 300.0)
            pairs = zip(expected, eta, strict=True)
            expected = [part + (whole - part) / 3 for whole, part in pairs]
    assert state.mean is not None
    for found, value in zip(case.dense(state.mean.lambda_, prior), expected, strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-9)
    shown = for_data(model, replace(state, share=1.0, population=None))
    assert snapshot(shown.lambda_) == snapshot(state.mean.lambda_) and shown.mean is None


# --- beginnings and ends


def learner_of(**options: Any) -> tuple[Learner, Any]:
    counts, _ = planted_lda(np.random.default_rng(4), K, V, 60, 12, 0.2, 0.1)
    return Learner(LdaModel(K, V, **options), for_topics(K, batch_size=10)), counts


def test_a_mean_begins_as_a_copy() -> None:
    """Which shares nothing with lambda."""
    model, prior = LdaModel(K, V), LdaPrior.of(0.1, 0.1, K, V)
    state = State(model.initial(prior, np.random.default_rng(0)), prior)
    with_one = with_mean(model, state, 0.5)
    assert with_one.mean is not None and with_one.mean.weight == 0.5
    assert snapshot(with_one.mean.lambda_) == snapshot(state.lambda_)
    assert not np.shares_memory(with_one.mean.lambda_.stored, state.lambda_.stored)
    # The next weight is another, the mean is the same.
    later = with_mean(model, with_one, 0.1)
    assert later.mean == Mean(with_one.mean.lambda_, 0.1)
    assert with_mean(model, later, None).mean is None


def test_no_mean_where_rows_are_stored_anew() -> None:
    """With an eta of each word, and without a population or a window."""
    per_word, counts = learner_of(eta_per_word=True)
    plain, _ = learner_of()
    kept = []
    for learner, options in (
        (per_word, {"population": 500.0, "window": 60.0}),
        (plain, {"window": 60.0}),
        (plain, {"population": 500.0}),
        (plain, {"population": 500.0, "window": 60.0}),
    ):
        rng = np.random.default_rng(0)
        state = learner.start(LdaPrior.of(0.1, 0.1, K, V), rng)
        batch = learner.batch(counts, slice(0, 10))
        state, _ = learner.step(state, batch, 60, rng=rng, rho=0.5, **options)
        kept.append(state.mean is not None)
    assert kept == [False, False, False, True]


def test_what_lambda_learns_from_is_not_changed() -> None:
    """lambda, priors and random numbers are those of steps that keep no mean, bit for bit."""
    learner, counts = learner_of()
    results = []
    for window in (None, 30.0):
        rng = np.random.default_rng(0)
        state = learner.start(LdaPrior.of(0.1, 0.1, K, V), rng)
        for t in range(20):
            batch = learner.batch(counts, slice(10 * (t % 6), 10 * (t % 6) + 10))
            state, _ = learner.step(
                state, batch, 60, rng=rng, rho=(1 + t) ** -0.5, population=500.0, window=window
            )
        results.append(snapshot([state.lambda_, state.prior, rng.random()]))
    assert results[0] == results[1]


# --- steps that happen wholly or not at all


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("where", ["put_averaged", "commit_averaged", "replace_prior", "nowhere"])
def test_an_exception_leaves_lambda_and_mean(
    where: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After half of what it was to write, or all of it; and the step can be taken again."""
    learner, counts = learner_of(dtype=dtype)
    rng = np.random.default_rng(0)
    state = learner.start(LdaPrior.of(0.1, 0.1, K, V), rng)
    options: dict[str, Any] = {"rng": rng, "rho": 0.5, "population": 500.0, "window": 60.0}
    batches = [learner.batch(counts, slice(10 * t, 10 * t + 10)) for t in range(6)]
    for batch in batches[:4]:
        state, _ = learner.step(state, batch, 60, **options)
    kept = Restorable(state)
    del state
    before = snapshot([kept.restored().lambda_, kept.restored().mean, kept.restored().prior])
    tables = [kept.restored().lambda_.stored, kept.restored().mean.lambda_.stored]
    stored = snapshot(tables)

    class Broken(Exception):
        pass

    def after(function: Callable[..., Any]) -> Callable[..., Any]:
        def broken(*arguments: Any) -> None:
            function(*arguments)
            raise Broken

        return broken

    target = LazyRows if where == "put_averaged" else LdaModel
    for batch in batches[4:]:
        with monkeypatch.context() as patch:
            if where != "nowhere":
                patch.setattr(target, where, after(getattr(target, where)))
                with pytest.raises(Broken):
                    learner.step(kept.restored(), batch, 60, protect=kept.protect, **options)
            else:
                learner.step(kept.restored(), batch, 60, protect=kept.protect, **options)
        assert snapshot(tables) != stored
        value = kept.restored()
        assert snapshot([value.lambda_, value.mean, value.prior]) == before
    state, _ = learner.step(kept.restored(), batches[4], 60, protect=kept.protect, **options)
    assert state.n_steps == 5 and state.mean is not None


# --- rows that come late


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_late_row_is_shown_as_the_mean_since_it_came(dtype: str) -> None:
    """By hand: the mean of its targets, with the weights since then, which sum to one."""
    rng = np.random.default_rng(5)
    model, prior = LdaModel(K, V, dtype=dtype), LdaPrior.of(0.1, 0.2, K, V)
    state = with_mean(model, State(model.initial(prior, rng), prior), 0.05)
    late, came, n_steps = 7, 40, 70
    weighted, log_kept = np.zeros(K), 0.0
    for t in range(n_steps):
        mean = state.mean
        assert mean is not None
        if t == came:
            # As it is when a word takes over the column of another one.
            stored = mean.lambda_.stored
            totals = mean.lambda_.totals - mean.lambda_.scale * stored[late]
            stored[late] = 0
            table = replace(mean.lambda_, totals=totals)
            changed = mean.late.changed([late], [], mean.log_kept)
            state = replace(state, mean=replace(mean, lambda_=table, late=changed))
        w = 0.02 + 0.03 * rng.random()
        state = replace(state, mean=replace(state.mean, weight=w))
        batch = model.batch(random_counts(rng, 6, V, 5), slice(None))
        counts = rng.gamma(1.0, 1.0, (batch.n_words, K)).astype(dtype)
        statistics = LdaNatural(counts, counts.sum(axis=0, dtype=np.float64))
        anchor = model.restrict(state.lambda_, prior, batch)
        natural = model.blend(anchor, prior, batch, statistics, 0.3, 8.0)
        state = advance(model, state, batch, natural, 0.3)
        if t >= came:
            log_kept += np.log1p(-w)
            weighted *= 1 - w
            if late in batch.words:
                weighted += w * 8.0 * counts[list(batch.words).index(late)]
    shown = for_data(model, state).lambda_
    rtol = 1e-4 if dtype == "float32" else 1e-9
    expected = weighted / (1 - np.exp(log_kept)) + shown.shift
    values = shown.dense(prior.pattern)
    np.testing.assert_allclose(values[late], expected, rtol=rtol)
    np.testing.assert_allclose(shown.totals, values.sum(axis=0, dtype=np.float64), rtol=rtol)
    # The others are the mean itself, which is not changed.
    assert state.mean is not None
    kept = state.mean.lambda_.dense(prior.pattern)
    others = np.arange(V) != late
    np.testing.assert_array_equal(values[others], kept[others])
    assert (kept[late] < values[late]).all()
