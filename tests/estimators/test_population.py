"""Estimators that learn for a population: what they show, save and go on with."""

from __future__ import annotations

import copy
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trustream
from tests.data.models import make
from tests.helpers import Array, planted_lda, snapshot
from trustream import BernoulliMixture, LatentDirichletAllocation
from trustream.estimators import compilation
from trustream.inference.population import published
from trustream.inference.state import State
from trustream.store.records import Record
from trustream.streaming.checkpoint import Checkpoint

K, V, N = 4, 60, 200
COUNTS, _ = planted_lda(np.random.default_rng(0), K, V, N, 15, 0.2, 0.1)
FOLDER = Path(make.__file__).parent
METHODS = ["trust-region", "natural-gradient", "batch", "memoized"]


def fitted(**options: Any) -> LatentDirichletAllocation:
    return LatentDirichletAllocation(
        K, **{"random_state": 0, "population": 5000, "dtype": "float64", **options}
    ).fit(COUNTS)


def shown_by_hand(state: State) -> Array:
    """e + (N/N_pop) of what the data have put into lambda, or into the mean, (K, V)."""
    table = state.lambda_ if state.mean is None else state.mean.lambda_
    eta = table.shift if state.smoothing is None else state.smoothing
    return (eta * state.prior.pattern + state.share * table.scale * table.stored).T


@pytest.mark.parametrize("number", [5000.0, np.float32(5000), np.int64(5000)])
def test_any_number_can_be_a_population(number: Any) -> None:
    """NumPy's numbers too, whose types must not get into lambda."""
    expected = fitted().transform(COUNTS)
    np.testing.assert_array_equal(fitted(population=number).transform(COUNTS), expected)


# --- what is shown


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("learn", [True, False])
def test_components(method: str, learn: bool) -> None:
    """For the documents that there are: eta, and a token for each of theirs."""
    lda = fitted(learning_method=method, learn_priors=learn)
    state = lda._state
    assert (state.population, state.share) == (5000, N / 5000)
    assert (state.smoothing is not None) == learn
    np.testing.assert_allclose(lda.components_, shown_by_hand(state), rtol=1e-12)
    n_tokens = lda.components_.sum() - lda.topic_word_prior_ * V * K
    # Where the rate falls to zero, what the last batches said counts more or less.
    rtol = 0.05 if method in METHODS[:2] else 1e-9
    assert n_tokens == pytest.approx(float(COUNTS.sum()), rel=rtol)
    if method in ("batch", "memoized"):
        # lambda itself stands for 25 times as many.
        data = state.lambda_.scale * state.lambda_.stored.sum()
        assert data == pytest.approx(25 * float(COUNTS.sum()), rel=1e-9)


def test_a_population_smaller_than_the_data_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "_warm", set())
    for population in (1, N - 1):
        lda = LatentDirichletAllocation(K, population=population)
        with pytest.raises(ValueError, match=f"population is {population}, and there are {N} doc"):
            lda.fit(COUNTS)
        assert not lda.__sklearn_is_fitted__()
    lda = LatentDirichletAllocation(K, population=300, total_samples=301)
    with pytest.raises(ValueError, match="there are 301 documents"):
        lda.partial_fit(COUNTS)
    # One document is enough for one: what compiles kernels ahead has two.
    one = LatentDirichletAllocation(K, population=1, dtype="float64").fit(COUNTS[:1])
    assert one._state.population == 1
    for population in (N, 10 * N):
        assert fitted(population=population)._state.population == population
    assert fitted(population=None)._state.population is None
    # With an unknown number of documents it grows with them.
    lda = LatentDirichletAllocation(K, population=300, random_state=0)
    populations = [lda.partial_fit(COUNTS)._state.population for _ in range(3)]
    assert populations == [300, 400, 600]
    assert lda._state.share == 1.0


@pytest.mark.parametrize("wrong", [0, -5, 0.5, float("nan"), "many", [300]])
def test_what_is_no_population(wrong: Any) -> None:
    with pytest.raises(ValueError, match="population"):
        LatentDirichletAllocation(K, population=wrong).fit(COUNTS)


def test_auto_gives_each_pair_of_topic_and_word_tokens() -> None:
    lda = fitted(population="auto")
    length = float(COUNTS.sum()) / N
    n_used = int((COUNTS.sum(axis=0) > 0).sum())
    assert lda._state.population == pytest.approx(30 * K * n_used / length)
    # With enough documents there is none but them.
    many = LatentDirichletAllocation(2, random_state=0).fit(
        np.tile([[5, 3, 9], [9, 0, 1]], (20, 1))
    )
    assert (many._state.population, many._state.share) == (40, 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_everything_looks_at_what_is_shown(method: str) -> None:
    """elbo, transform and scores are those of an estimator that has that state and no other."""
    lda = fitted(learning_method=method)
    plain, cold = copy.deepcopy(lda), copy.deepcopy(lda)
    plain._state = published(lda._current_model(), lda._state)
    assert (plain._state.population, plain._state.smoothing) == (None, None)
    cold._state = replace(cold._state, population=None, share=1.0, smoothing=None)

    def numbers(estimator: Any) -> list[Any]:
        return [
            estimator.elbo(COUNTS),
            estimator.transform(COUNTS),
            estimator.score(COUNTS),
            estimator.perplexity(COUNTS),
            estimator.components_,
            estimator.topic_word_prior_,
            estimator.top_words(5),
        ]

    for found, expected, other in zip(*map(numbers, (lda, plain, cold)), strict=True):
        assert snapshot(found) == snapshot(expected)
        if not isinstance(found, list):
            assert snapshot(found) != snapshot(other)


def test_the_best_of_several_is_best_as_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """n_init compares the bounds of what is shown, and keeps the whole state of the best."""
    seen = []
    bound = LatentDirichletAllocation._bound

    def noted(self: Any, model: Any, state: State, X: Any, *rest: Any) -> Any:
        found = bound(self, model, state, X, *rest)
        seen.append((found[0], snapshot([state.lambda_, state.prior]), state))
        return found

    monkeypatch.setattr(LatentDirichletAllocation, "_bound", noted)
    lda = fitted(n_init=4)
    assert len(seen) == 4 and len({value for value, _, _ in seen}) == 4
    for _, _, state in seen:
        assert (state.population, state.share, state.smoothing) == (None, 1.0, None)
    best = max(seen, key=lambda entry: entry[0])
    assert snapshot([lda._shown.lambda_, lda._shown.prior]) == best[1]
    assert lda.elbo(COUNTS) * N == pytest.approx(best[0], rel=1e-9)
    assert lda._state.population == 5000


def test_callbacks_see_what_is_shown() -> None:
    states: list[State] = []

    def callback(state: State, info: Any) -> bool:
        states.append(state)
        return False

    lda = LatentDirichletAllocation(K, random_state=0, callback=callback, population=5000)
    lda.fit(COUNTS).partial_fit(COUNTS)
    assert len(states) > 20
    assert all((state.population, state.share) == (None, 1.0) for state in states)


# --- files


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_file_keeps_population_and_smoothing(tmp_path: Path, method: str, dtype: str) -> None:
    """Exactly; and `partial_fit` goes on as it would have, bit for bit."""
    lda = fitted(learning_method=method, dtype=dtype, population="auto")
    state = lda._state
    assert None not in (state.population, state.smoothing) and state.share < 1
    lda.save(tmp_path / "lda")
    loaded = trustream.load(tmp_path / "lda")
    assert snapshot(loaded._state) == snapshot(state)
    np.testing.assert_array_equal(loaded.components_, lda.components_)
    if method == "memoized":
        return
    # Up to a step after which the smoothing is looked at again.
    for t in range(129 - lda.n_batch_iter_ if lda.n_batch_iter_ > 64 else 20):
        first = 25 * (t % 8)
        for estimator in (lda, loaded):
            estimator.partial_fit(COUNTS[first : first + 25])
        assert snapshot(loaded._state) == snapshot(lda._state)
        assert loaded._mean_tokens == lda._mean_tokens
    np.testing.assert_array_equal(loaded.components_, lda.components_)
    assert loaded._state.smoothing != state.smoothing


def test_a_file_keeps_a_mean(tmp_path: Path) -> None:
    """All its numbers; it is what is shown, and goes on as it would have."""
    assert fitted()._state.mean is None
    lda = LatentDirichletAllocation(K, random_state=0, population=5000, dtype="float64")
    for t in range(12):
        lda.partial_fit(COUNTS[50 * (t % 4) : 50 * (t % 4) + 50])
    state = lda._state
    assert state.mean is not None
    lda.save(tmp_path / "lda")
    loaded = trustream.load(tmp_path / "lda")
    assert snapshot(loaded._state.mean.lambda_) == snapshot(state.mean.lambda_)
    np.testing.assert_allclose(loaded.components_, shown_by_hand(state), rtol=1e-12)
    np.testing.assert_array_equal(loaded.components_, lda.components_)
    assert not np.allclose(shown_by_hand(replace(state, mean=None)), lda.components_, rtol=1e-3)
    for first in (100, 150, 0):
        for estimator in (lda, loaded):
            estimator.partial_fit(COUNTS[first : first + 50])
        assert snapshot(loaded._state) == snapshot(lda._state)


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_that_goes_on_keeps_no_mean(method: str) -> None:
    """Passes over all data do not move it: what is shown is lambda again."""
    lda = LatentDirichletAllocation(
        K, random_state=0, population=5000, dtype="float64", warm_start=True
    )
    for t in range(12):
        lda.partial_fit(COUNTS[50 * (t % 4) : 50 * (t % 4) + 50])
    assert lda._state.mean is not None
    lda.set_params(learning_method=method).fit(COUNTS)
    assert lda._state.mean is None
    np.testing.assert_allclose(lda.components_, shown_by_hand(lda._state), rtol=1e-12)
    n_tokens = lda.components_.sum() - lda.topic_word_prior_ * V * K
    assert n_tokens == pytest.approx(float(COUNTS.sum()), rel=0.05)


@pytest.mark.parametrize("name", ["lda", "lda-float64", "lda-online", "lda-eta-of-words"])
def test_old_files_go_on_with_a_population(name: str) -> None:
    """They have none, and show what they hold; the next step scales lambda for it."""
    lda = trustream.load(FOLDER / f"{name}.safetensors")
    state = lda._state
    assert (state.population, state.share, state.smoothing, state.mean) == (None, 1.0, None, None)
    expected = state.lambda_.dense(state.prior.pattern).T
    np.testing.assert_array_equal(lda.components_, expected)
    lda.partial_fit(make.COUNTS[:20])
    assert lda._state.population is not None and lda._state.n_steps == state.n_steps + 1
    assert np.isfinite(lda.components_).all() and (lda.components_ > 0).all()
    n_tokens = lda.components_.sum() - lda._shown.prior.totals.sum()
    # What 500 documents have, or the 80 that were seen; lambda was learned in four steps.
    n_documents = 500 if name == "lda-eta-of-words" else 80
    assert n_tokens == pytest.approx(n_documents * make.COUNTS.sum() / 60, rel=0.35)


def test_old_checkpoints_have_neither_mean_nor_population() -> None:
    for name in make.CHECKPOINTS:
        content = (FOLDER / f"{name}.safetensors").read_bytes()
        state = Checkpoint.from_bytes(content, name).state
        assert (state.population, state.share, state.smoothing, state.mean) == (
            None, 1.0, None, None,
        )  # fmt: skip


def test_a_checkpoint_keeps_everything(tmp_path: Path) -> None:
    """Population, mean, smoothing and the place in the pass; a resumed trainer learns the same."""
    rows = np.asarray(COUNTS.toarray(), int)
    records = [
        Record(f"d{d}", {f"w{v}": int(rows[d, v]) for v in np.flatnonzero(rows[d])})
        for d in range(N)
    ]
    ends = []
    for breaks in ([40], [13, 27]):
        with trustream.open_store(tmp_path / f"{len(breaks)}.db", min_documents=1) as store:
            store.append(records)
            for steps in breaks:
                with trustream.StreamTrainer(
                    store, K, batch_size=15, score_every=0, prefetch=False
                ) as trainer:
                    trainer.run(steps=steps)
                    checkpoint = trainer.checkpoint()
                assert checkpoint is not None
                again = Checkpoint.from_bytes(checkpoint.to_bytes(), "again")
                state = checkpoint.state
                assert None not in (state.population, state.smoothing, state.mean)
                assert snapshot(replace(again.state, mean=None)) == snapshot(
                    replace(state, mean=None)
                )
                assert snapshot(again.state.mean.lambda_) == snapshot(state.mean.lambda_)
                assert (again.clock, again.draws) == (checkpoint.clock, checkpoint.draws)
        ends.append(snapshot([state, checkpoint.clock, sorted(checkpoint.draws["pass"].items())]))
    assert ends[0] == ends[1]


# --- mixtures


def clusters(seed: int, n: int) -> Array:
    """Binary data (n + 1000, 50) of twenty clusters."""
    rng = np.random.default_rng(seed)
    probs = rng.beta(0.5, 0.5, (20, 50))
    return (rng.random((n + 1000, 50)) < probs[rng.integers(20, size=n + 1000)]).astype(float)


@pytest.mark.parametrize("method", ["trust-region", "natural-gradient", "batch", "memoized"])
def test_components_of_a_mixture_live(method: str) -> None:
    """Fifteen data points a cluster keep more of twenty components alive, and predict better."""
    gains, alive = [], []
    for seed in range(3):
        data = clusters(seed, 300)
        fits = [
            BernoulliMixture(
                20, population=population, learning_method=method, random_state=seed
            ).fit(data[:300])
            for population in (None, "auto")
        ]
        gains.append(fits[1].score(data[300:]) - fits[0].score(data[300:]))
        alive.append([int((fit.weights_ > 2 / 300).sum()) for fit in fits])
    assert np.mean(gains) > 0.3, gains
    assert np.all(np.diff(alive) >= 0), alive


def test_a_mixture_is_shown_for_its_data() -> None:
    """Its Dirichlet and beta counts sum to the data points that there are."""
    data = clusters(0, 300)[:300]
    mixture = BernoulliMixture(20, dtype="float64", random_state=0).fit(data)
    assert (mixture._state.population, mixture._state.share) == (900.0, 1 / 3)
    shown = mixture._shown.lambda_
    np.testing.assert_allclose(shown.gamma.sum(), 300 + 20, rtol=1e-9)
    np.testing.assert_allclose((shown.a + shown.b).sum(axis=1), 300 + 2 * 20, rtol=1e-9)
    whole = BernoulliMixture(20, population=None, random_state=0).fit(data)
    assert whole._state.population is None


def test_a_mixture_refuses_a_small_population() -> None:
    with pytest.raises(ValueError, match="population is 200, and there are 300"):
        BernoulliMixture(2, population=200).fit(clusters(0, 300)[:300])
    with pytest.raises(ValueError, match="population"):
        BernoulliMixture(2, population="few").fit(clusters(0, 300)[:300])


def test_a_mixture_goes_on_from_a_file(tmp_path: Path) -> None:
    data = clusters(1, 300)[:300]
    mixture = BernoulliMixture(20, random_state=0).fit(data[:200])
    mixture.save(tmp_path / "mixture.safetensors")
    loaded = trustream.load(tmp_path / "mixture.safetensors")
    assert loaded.population == "auto"
    for one in (mixture, loaded):
        one.partial_fit(data[200:])
    np.testing.assert_array_equal(loaded.means_, mixture.means_)


def test_a_population_in_which_topics_may_stay_alike_is_warned_of() -> None:
    """The differences of the random start are lost in the statistics of the first batch."""
    with pytest.warns(UserWarning, match="at most 1,000 times the documents"):
        fitted(population=1001 * N)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(population=1000 * N)
