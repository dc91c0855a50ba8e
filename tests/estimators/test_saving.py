"""save and load: a loaded model goes on exactly as the saved one would have."""

import numpy as np
import pandas as pd
import pytest

import trustream
from tests.data.models import make
from trustream import GaussianMixture, LatentDirichletAllocation, TopicRecommender, persist
from trustream.estimators import saving

SETTINGS = [
    {},
    {"dtype": "float64"},
    {"dtype": np.float32},
    {"learning_method": "online"},
    {"learn_priors": "per-word"},
    {"learning_method": "streaming-vb"},
    {"learning_method": "streaming-batch"},
    {"learning_rate": "adaptive"},
    {"learning_method": "online", "learning_rate": "adaptive", "dtype": "float64"},
    {"learn_priors": False, "doc_topic_prior": [0.1, 0.2, 0.3]},
    {"topic_word_prior": np.linspace(0.01, 0.3, 36).reshape(3, 12)},
    {"topic_word_prior": np.linspace(0.01, 0.3, 12), "total_samples": 500},
    {"random_state": np.random.RandomState(3)},
    {"random_state": np.random.Generator(np.random.MT19937(3))},
]


@pytest.fixture(scope="module")
def counts():
    return np.random.default_rng(0).poisson(1.0, size=(60, 12))


@pytest.mark.parametrize("settings", SETTINGS)
def test_lda_continues_exactly(tmp_path, counts, settings):
    lda = LatentDirichletAllocation(**{"n_components": 3, "random_state": 0, **settings})
    for start in range(0, 40, 10):
        lda.partial_fit(counts[start : start + 10])
    lda.save(tmp_path / "model.safetensors")
    loaded = trustream.load(tmp_path / "model.safetensors")
    assert type(loaded) is LatentDirichletAllocation
    assert np.array_equal(loaded.transform(counts), lda.transform(counts))
    for start in (40, 50):
        lda.partial_fit(counts[start : start + 10])
        loaded.partial_fit(counts[start : start + 10])
        assert np.array_equal(loaded.components_, lda.components_)
        assert np.array_equal(loaded.doc_topic_prior_, lda.doc_topic_prior_)
        assert np.array_equal(loaded.topic_word_prior_, lda.topic_word_prior_)
    assert loaded.n_batch_iter_ == lda.n_batch_iter_ == 6


def test_vocabulary_is_kept(tmp_path, counts):
    words = [f"słowo{i}" for i in range(12)]
    lda = LatentDirichletAllocation(3, random_state=0).fit(pd.DataFrame(counts, columns=words))
    lda.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert loaded.top_words(5) == lda.top_words(5)
    assert loaded.feature_names_in_.tolist() == words


def test_warm_start_after_loading(tmp_path, counts):
    lda = LatentDirichletAllocation(3, warm_start=True, max_iter=2, random_state=0).fit(counts)
    lda.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert np.array_equal(loaded.fit(counts).components_, lda.fit(counts).components_)


def test_unfitted_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        LatentDirichletAllocation(3).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_callback_is_left_out(tmp_path, counts):
    lda = LatentDirichletAllocation(3, callback=lambda state, info: False).fit(counts)
    lda.save(tmp_path / "model")
    assert trustream.load(tmp_path / "model").callback is None


# --- what does not fit


def changed(estimator, path, header=(), arrays=()):
    """The file of an estimator with some values of header and arrays replaced; None removes."""
    old_arrays, old_header = saving.to_arrays(estimator)
    new = {**old_header, **dict(header)}
    kept = {**old_arrays, **dict(arrays)}
    persist.write(
        path,
        {key: value for key, value in kept.items() if value is not None},
        {key: value for key, value in new.items() if value is not None},
    )
    return path


@pytest.fixture(scope="module")
def lda(counts):
    return LatentDirichletAllocation(3, random_state=0, learning_rate="adaptive").partial_fit(
        counts
    )


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"n_steps": -1}, "n_steps in the header is -1, expected an integer of at least 0"),
        ({"n_steps": True}, "n_steps in the header is True"),
        ({"n_seen": 2.0}, "n_seen in the header is 2.0"),
        ({"n_seen": None}, "missing from the header: n_seen"),
        ({"more": 1}, "unknown in the header: more"),
        ({"memory": "Memory"}, "memory in the header is 'Memory', expected one of 'Averages'"),
        ({"memory": None}, "unknown in the arrays: memory"),
        ({"params": []}, "params in the header is a list"),
        ({"params": {"n_components": 2}}, r"has shape \(12, 3\), expected \(12, 2\)"),
        ({"params": {"n_components": 10**30}}, "n_components in the parameters is"),
        ({"params": {"n_components": 3, "learning_rate": "fast"}}, "'learning_rate' parameter"),
        ({"params": {"n_components": 3, "dtype": "float64"}}, "type float32, expected float64"),
        ({"params": {"n_components": 3, "dtype": "int8"}}, "dtype must be float32 or float64"),
        ({"params": {"n_components": 3, "n_jobs": 0}}, "n_jobs"),
        ({"params": {"n_components": 3, "callback": "print"}}, "'callback' parameter"),
        ({"params": {"n_components": 3, "tol": float("nan")}}, "'tol' parameter"),
        ({"params": {"n_components": 3, "exec": 1}}, "unknown in the parameters: exec"),
        ({"attributes": {"n_features_in_": 3 * 10**8, "n_iter_": 1, "_n_samples_seen": 60}},
         r"lambda.stored has shape \(12, 3\), expected \(300000000, 3\)"),
        ({"attributes": {"n_features_in_": 12, "n_iter_": 1}}, "attributes: _n_samples_seen"),
        ({"attributes": {"n_features_in_": 12, "n_iter_": 1, "_n_samples_seen": 60,
                         "transform": 1}}, "unknown in the attributes: transform"),
        ({"rng": {}}, "missing from a generator: state"),
    ],
)  # fmt: skip
def test_headers_that_do_not_fit(tmp_path, lda, header, words):
    path = changed(lda, tmp_path / "model", header)
    with pytest.raises(ValueError, match=f"damaged .*{words}.*; restore it from a copy, or fit"):
        trustream.load(path)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("lambda.stored", None, "missing from the arrays: lambda.stored"),
        ("lambda.more", lambda _: np.zeros(3), "unknown in the arrays: lambda.more"),
        ("lambda.stored", lambda a: a[:1], r"shape \(1, 3\), expected \(12, 3\)"),
        ("lambda.stored", lambda a: a.astype("f8"), "type float64, expected float32"),
        ("lambda.stored", lambda a: a - 1e6, "lambda holds negative numbers"),
        ("lambda.stored", lambda a: a * 1e6, "totals of lambda are not its sums"),
        ("lambda.stored", lambda a: np.where(a == a.max(), np.nan, a), "holds nan"),
        ("lambda.stored", lambda a: np.where(a == a.max(), np.inf, a), "holds inf"),
        ("lambda.scale", lambda a: a * 0, "lambda.scale holds 0, expected finite numbers above 0"),
        ("lambda.shift", lambda a: a - 1e3, "lambda.shift holds"),
        ("lambda.totals", lambda a: -a, "lambda.totals holds"),
        ("lambda.totals", lambda a: a * 1e3, "totals of lambda are not its sums"),
        ("prior.alpha", lambda a: a[:2], r"shape \(2,\), expected \(3,\)"),
        ("prior.alpha", lambda a: a * 0, "prior.alpha holds 0"),
        ("prior.pattern", lambda a: np.ones((5, 1)), r"expected \(1, 1\) or \(12, 1\)"),
        ("prior.pattern_sums", lambda a: a * 5, "totals of eta are not its sums"),
        ("memory.gradient", lambda a: a[:-1], r"shape \(35,\), expected \(36,\)"),
        ("memory.tau", lambda a: a * 0, "memory.tau holds 0"),
        ("memory.count", lambda a: a * 1.5, "memory.count has type float64, expected int64"),
        ("feature_names", lambda _: persist.pack_strings(["a"]), "1 names for 12 features"),
        ("feature_names", lambda _: np.zeros(3, np.uint8), "JSON|Expecting"),
        ("param.n_components", lambda _: np.ones(3), "'n_components' stands there twice"),
        ("param.verbose", lambda _: np.ones(3), "stands there twice"),
    ],
)  # fmt: skip
def test_arrays_that_do_not_fit(tmp_path, lda, name, change, words):
    arrays, _ = saving.to_arrays(lda)
    new = None if change is None else change(arrays.get(name))
    path = changed(lda, tmp_path / "model", arrays={name: new})
    with pytest.raises(ValueError, match=f"damaged .*({words}).*; restore it from a copy, or fit"):
        trustream.load(path)


@pytest.mark.parametrize(
    ("kind", "name", "change", "words"),
    [
        ("full", "lambda.C", lambda a: -a, "not positive definite"),
        ("full", "lambda.nu", lambda a: a * 0 + 0.5, "nu is not above 1"),
        ("full", "prior.Psi", lambda a: -a, "Psi must be positive definite"),
        ("full", "prior.Psi", lambda a: a + np.triu(np.ones((2, 2)), 1), "Psi must be symmetric"),
        ("full", "prior.nu", lambda a: a * 0 + 0.5, "nu must be above"),
        ("diag", "lambda.C", lambda a: -a, "not positive definite"),
        ("diag", "lambda.s", lambda a: a * 0, "lambda.s holds 0"),
        ("tied", "lambda.C", lambda a: -a, "not positive definite"),
        ("tied", "lambda.nu", lambda a: np.repeat(a, 2), r"expected \(1,\)"),
        ("diag", "lambda.sm", lambda a: a * 1e200, "not positive definite"),
    ],
)
def test_covariances_that_are_none(tmp_path, kind, name, change, words):
    points = np.random.default_rng(0).normal(size=(50, 2))
    mixture = GaussianMixture(2, covariance_type=kind, max_iter=2, random_state=0).fit(points)
    arrays, _ = saving.to_arrays(mixture)
    path = changed(mixture, tmp_path / "model", arrays={name: change(arrays[name])})
    with pytest.raises(ValueError, match=f"damaged .*{words}.*; restore it from a copy"):
        trustream.load(path)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 5}, r"lambda.stored has shape \(12, 3\), expected \(12, 5\)"),
        ({"dtype": "float64"}, "has type float32, expected float64"),
        ({"learning_decay": 7}, "learning_decay"),
        ({"doc_topic_prior": [1.0, 2.0]}, r"param.doc_topic_prior has shape \(2,\)"),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(tmp_path, counts, parameters, words):
    lda = LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(counts)
    lda.set_params(**parameters)
    with pytest.raises(ValueError, match=f"cannot save .*{words}.*fit again"):
        lda.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("part", "change", "words"),
    [
        ("indices", lambda a: a + 100, "out of order or out of range"),
        ("indices", lambda a: a[::-1].copy(), "out of order or out of range"),
        ("indices", lambda a: -a - 1, "weights.indices holds"),
        ("indices", lambda a: a[:-1], "shape"),
        ("indptr", lambda a: a[::-1].copy(), "do not follow on each other"),
        ("indptr", lambda a: a + 1, "do not follow on each other"),
        ("indptr", lambda a: np.append(a, a[-1]), "4 users and 5 items|shape"),
        ("indptr", lambda a: a[:0], "weights.indptr has shape"),
        ("data", lambda a: -a, "weights.data holds -1"),
        ("data", lambda a: a * np.nan, "weights.data holds nan"),
        ("data", lambda a: a.astype("f8"), "type float64"),
    ],
)
def test_ratings_that_do_not_fit(tmp_path, part, change, words):
    recommender = TopicRecommender(2, threshold=4, random_state=0).fit(make.RATINGS)
    recommender.save(tmp_path / "model")
    arrays, header = persist.read(tmp_path / "model")
    name = f"weights.{part}"
    persist.write(tmp_path / "model", {**arrays, name: change(arrays[name])}, header)
    with pytest.raises(ValueError, match=f"damaged .*({words}).*; restore it from a copy"):
        trustream.load(tmp_path / "model")
