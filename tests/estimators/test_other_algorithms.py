"""Streaming VB, streaming batch, memoized inference and the adaptive rate, from the estimators."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import trustream
from tests.helpers import matched_cosines, planted_lda, snapshot
from trustream import BernoulliMixture, GaussianMixture, LatentDirichletAllocation
from trustream.inference import streaming_vb
from trustream.inference.adaptive import N_FIRST, Averages

METHODS = ("streaming-vb", "streaming-batch", "memoized")
COUNTS, TOPICS = planted_lda(np.random.default_rng(4), 6, 200, 1000, 60, 0.1, 0.05)
CENTRES = np.array([[-6.0, 0.0], [6.0, 0.0], [0.0, 8.0]])
LABELS = np.random.default_rng(1).integers(3, size=600)
POINTS = CENTRES[LABELS] + np.random.default_rng(2).standard_normal((600, 2))
PROBS = np.random.default_rng(3).beta(0.2, 0.2, (3, 20))
BITS = (np.random.default_rng(4).random((600, 20)) < PROBS[LABELS]).astype(float)

each_method = pytest.mark.parametrize("method", METHODS)
each_kind = pytest.mark.parametrize(
    ("kind", "data"),
    [(LatentDirichletAllocation, COUNTS), (BernoulliMixture, BITS), (GaussianMixture, POINTS)],
    ids=["lda", "bernoulli", "gaussian"],
)


def lda(method: str, **options: Any) -> LatentDirichletAllocation:
    options = {"random_state": 0, "learn_priors": "alpha", "topic_word_prior": 0.05} | options
    return LatentDirichletAllocation(6, learning_method=method, **options)


def lambda_of(estimator: Any) -> list[Any]:
    """The bits of lambda, however the estimator keeps it."""
    return snapshot(estimator._state.lambda_)


def mass_of(estimator: Any) -> float:
    """Tokens or data points in lambda, the prior's included."""
    lambda_ = estimator._state.lambda_
    is_lda = isinstance(estimator, LatentDirichletAllocation)
    return float((lambda_.totals if is_lda else lambda_.gamma).sum())


def weight_of(kind: Any, data: Any) -> float:
    """Tokens or data points of the data."""
    return float(data.sum() if kind is LatentDirichletAllocation else data.shape[0])


@each_method
def test_planted_topics_are_found(method: str) -> None:
    """At least four of six: streaming VB has one pass, the others local optima of batch VB."""
    model = lda(
        method, max_iter=40, batch_size=1000 if method == "streaming-batch" else 200, n_init=3
    )
    beta = model.fit(COUNTS).components_
    cosines = matched_cosines(beta / beta.sum(axis=1, keepdims=True), TOPICS)
    assert (cosines > 0.9).sum() >= 4
    assert model.doc_topic_prior_.max() < 0.5 and (model.doc_topic_prior_ != 0.1).all()


@each_method
@pytest.mark.parametrize(("kind", "data"), [(GaussianMixture, POINTS), (BernoulliMixture, BITS)])
def test_clusters_are_found(kind: Any, data: Any, method: str) -> None:
    labels = kind(3, learning_method=method, random_state=0, n_init=3).fit(data).predict(data)
    agreed = [
        np.mean(np.array(names)[LABELS] == labels) for names in itertools.permutations(range(3))
    ]
    assert max(agreed) > 0.95


@each_kind
def test_streaming_vb_sees_each_row_once(kind: Any, data: Any) -> None:
    """One pass whatever max_iter; a second fit with warm_start adds the rows again."""
    model = kind(3, learning_method="streaming-vb", batch_size=100, random_state=0, warm_start=True)
    n, masses = data.shape[0], []
    for times in (1, 2):
        model.fit(data)
        masses.append(mass_of(model))
        assert (model.n_iter_, model.n_batch_iter_) == (1, times * n // 100)
        assert model._state.n_seen == times * n
    np.testing.assert_allclose(masses[1] - masses[0], weight_of(kind, data), rtol=1e-5)


@each_kind
def test_streaming_vb_ignores_how_many_rows_there_are(kind: Any, data: Any) -> None:
    """total_samples and the learning rate have no part in it."""
    results = []
    for total, decay in ((None, 0.5), (1e6, 0.9)):
        options = {"total_samples": total, "learning_decay": decay, "random_state": 0}
        if kind is GaussianMixture:
            options["init_params"] = "random"
            options["total_samples"] = None
        model = kind(3, learning_method="streaming-vb", **options)
        for first in (0, 200, 400):
            model.partial_fit(data[first : first + 200])
        results.append(lambda_of(model))
    assert results[0] == results[1]


@each_kind
def test_streaming_batch_forgets(kind: Any, data: Any) -> None:
    """partial_fit is batch VB on its rows; what was fitted before is gone."""
    model = kind(3, learning_method="streaming-batch", random_state=0).partial_fit(data[:300])
    first = lambda_of(model)
    model.partial_fit(data[300:600])
    weight = weight_of(kind, data[300:600])
    # Within what priors add: 3 topics x 200 words of eta, or 3 x alpha.
    assert weight < mass_of(model) < weight + 200
    assert lambda_of(model) != first
    assert model.n_batch_iter_ == 2


def test_streaming_batch_draws_again_only_if_there_is_more() -> None:
    model = lda("streaming-batch", max_iter=3, inner_iter=2).fit(COUNTS)
    assert (model.n_iter_, model.n_batch_iter_) == (1, 1)
    seen = []
    model = lda(
        "streaming-batch",
        max_iter=3,
        inner_iter=2,
        batch_size=300,
        callback=lambda state, info: seen.append(info),
    ).fit(COUNTS)
    assert (model.n_iter_, model.n_batch_iter_) == (3, 3)
    assert [(info.batch_size, info.n_inner) for info in seen] == [(300, 2)] * 3


@each_kind
def test_memoized_bound_never_falls(kind: Any, data: Any) -> None:
    """In what the callback sees, priors being learned where there are any; memory is told."""
    seen = []
    options = {"learning_method": "memoized", "dtype": "float64", "tol": 0.0, "random_state": 0}
    model = kind(
        3, max_iter=8, batch_size=150, callback=lambda state, info: seen.append(info), **options
    ).fit(data)
    bounds = [info.objective[0] for info in seen if info.objective]
    a_pass = -(-data.shape[0] // 150)
    assert len(bounds) == model.n_iter_ and len(seen) == a_pass * len(bounds)
    assert np.diff(bounds).min() > -1e-9 * abs(bounds[0]) and bounds[-1] > bounds[0]
    assert all(info.memory > 0 for info in seen)
    assert model._state.memory is None


@each_kind
def test_memoized_goes_on_from_what_is_fitted(kind: Any, data: Any) -> None:
    """The first pass of a warm start ends no lower than the last of the fit before."""
    bounds: list[float] = []

    def note(state: Any, info: Any) -> None:
        bounds.extend(info.objective)

    options = {"learning_method": "memoized", "dtype": "float64", "tol": 0.0, "random_state": 0}
    if kind is LatentDirichletAllocation:
        options |= {"learn_priors": False, "max_doc_update_iter": 500, "mean_change_tol": 1e-6}
    model = kind(3, max_iter=6, batch_size=150, warm_start=True, callback=note, **options)
    model.fit(data)
    before = len(bounds)
    model.fit(data)
    assert len(bounds) > before
    assert bounds[before] > bounds[before - 1] - 1e-3 * data.shape[0]


def test_memoized_has_no_partial_fit() -> None:
    model = lda("memoized")
    assert not hasattr(model, "partial_fit") and hasattr(lda("streaming-vb"), "partial_fit")
    with pytest.raises(AttributeError) as error:
        model.partial_fit(COUNTS)
    assert "needs all data" in str(error.value.__cause__)
    # Another method may go on from a memoized fit.
    model.fit(COUNTS)
    model.set_params(learning_method="trust-region").partial_fit(COUNTS[:50])


@each_method
def test_threads_change_nothing(method: str) -> None:
    results = [lambda_of(lda(method, max_iter=2, n_jobs=n).fit(COUNTS)) for n in (1, 2)]
    assert results[0] == results[1]


@each_kind
@each_method
def test_loaded_is_the_same(kind: Any, data: Any, method: str, tmp_path: Any) -> None:
    """Also after fit, and for mixtures: the next step has the same bits."""
    model = kind(3, learning_method=method, max_iter=2, random_state=0).fit(data)
    model.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert lambda_of(loaded) == lambda_of(model)
    if method != "memoized":
        for one in (model, loaded):
            one.partial_fit(data[:100])
        assert lambda_of(loaded) == lambda_of(model)
        assert snapshot(loaded._state.memory) == snapshot(model._state.memory)


def test_what_is_kept_of_alpha_is_saved(tmp_path: Any) -> None:
    """Without it the next alpha would be another."""
    model = lda("streaming-vb").partial_fit(COUNTS[:300])
    model.save(tmp_path / "model")
    loaded, forgetful = (trustream.load(tmp_path / "model") for _ in range(2))
    assert isinstance(loaded._state.memory, streaming_vb.Draws)
    forgetful._state = streaming_vb.replace(forgetful._state, memory=None)
    for one in (model, loaded, forgetful):
        one.partial_fit(COUNTS[300:350])
    assert np.array_equal(loaded.doc_topic_prior_, model.doc_topic_prior_)
    assert not np.array_equal(forgetful.doc_topic_prior_, model.doc_topic_prior_)


@pytest.mark.parametrize("method", ["trust-region", "natural-gradient"])
@each_kind
def test_adaptive_rates(kind: Any, data: Any, method: str) -> None:
    """The schedule's rates at first, others after that, all within (0, 1]; saved and used on."""
    infos = []
    options = {"learning_method": method, "max_iter": 2, "batch_size": 50, "random_state": 0}
    model = kind(
        3, learning_rate="adaptive", callback=lambda state, info: infos.append(info), **options
    ).fit(data)
    usual = []
    kind(3, cooldown=0.0, callback=lambda state, info: usual.append(info), **options).fit(data)
    rates = [info.rho for info in infos]
    assert all(0 < rho <= 1 for rho in rates)
    assert rates[N_FIRST + 1] != usual[N_FIRST + 1].rho
    assert isinstance(model._state.memory, Averages)
    assert infos[-1].memory == model._state.memory.gradient.nbytes


def test_bad_learning_rate() -> None:
    with pytest.raises(ValueError, match="learning_rate"):
        lda("trust-region", learning_rate="quick").fit(COUNTS)
