"""Wrong input to the mixtures: a clear error, and a model left as it was."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import trustream
from trustream import BernoulliMixture, GaussianMixture

BINARY = (np.random.default_rng(0).random((30, 4)) < 0.5).astype(float)
REAL = np.random.default_rng(0).normal(size=(30, 4))
CASES = {"bernoulli": (BernoulliMixture, BINARY), "gaussian": (GaussianMixture, REAL)}
each_case = pytest.mark.parametrize("case", CASES)


def snapshot(estimator):
    return pickle.dumps({k: v for k, v in vars(estimator).items() if k != "_model"})


def changed(X, value):
    X = X.copy()
    X[3, 1] = value
    return X


@each_case
@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict", "score", "elbo"])
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: changed(X, np.nan), "NaN"),
        (lambda X: changed(X, np.inf), "infinity"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[0], "1D"),
        (lambda X: X + 1j, r"[Cc]omplex"),
    ],
)
def test_bad_data_is_refused_and_changes_nothing(case, method, spoil, message):
    cls, X = CASES[case]
    mixture = cls(2, max_iter=2, random_state=0).fit(X)
    before = snapshot(mixture)
    with pytest.raises(ValueError, match=message):
        getattr(mixture, method)(spoil(X))
    assert snapshot(mixture) == before


@each_case
def test_wrong_width(case):
    cls, X = CASES[case]
    mixture = cls(2, max_iter=2, random_state=0).fit(X)
    before = snapshot(mixture)
    for method in ("partial_fit", "predict", "score"):
        with pytest.raises(ValueError, match="3 features"):
            getattr(mixture, method)(X[:, :3])
    assert snapshot(mixture) == before


@each_case
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"learning_method": "em"}, "learning_method"),
        ({"weight_concentration_prior": np.nan}, "weight_concentration_prior"),
        ({"weight_concentration_prior": -1.0}, "weight_concentration_prior"),
        ({"weight_concentration_prior": [1.0, 1.0, 1.0]}, "weight_concentration_prior has shape"),
        ({"cooldown": 2.0}, "cooldown"),
        ({"dtype": "int32"}, "dtype"),
    ],
)
def test_bad_parameters(case, parameters, message):
    cls, X = CASES[case]
    with pytest.raises(ValueError, match=message):
        cls(**{"n_components": 2, **parameters}).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"probability_prior": (1.0,)}, "pair"),
        ({"probability_prior": (0.0, 1.0)}, "positive"),
        ({"probability_prior": (np.nan, 1.0)}, "positive"),
        ({"probability_prior": (np.ones(3), 1.0)}, "shape"),
    ],
)
def test_bad_bernoulli_priors(parameters, message):
    with pytest.raises(ValueError, match=message):
        BernoulliMixture(2, **parameters).fit(BINARY)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mean_prior": np.zeros(3)}, "mean_prior has shape"),
        ({"mean_prior": [0, 0, 0, np.nan]}, "mean_prior must be finite"),
        ({"mean_precision_prior": 0.0}, "mean_precision_prior"),
        ({"degrees_of_freedom_prior": 3.0}, "degrees_of_freedom_prior must be above 3"),
        ({"covariance_prior": np.ones(4)}, "covariance_prior has shape"),
        ({"covariance_prior": -np.eye(4)}, "covariance_prior"),
        ({"covariance_prior": np.full((4, 4), np.nan)}, "covariance_prior must be finite"),
        ({"covariance_type": "diag", "covariance_prior": np.eye(4)}, "covariance_prior has shape"),
        ({"covariance_type": "spherical"}, "covariance_type"),
        ({"init_params": "kmeans"}, "init_params"),
    ],
)
def test_bad_gaussian_priors(parameters, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(2, **parameters).fit(REAL)


def test_shades_are_refused_without_a_threshold():
    for X in (changed(BINARY, 0.5), sp.csr_array(changed(BINARY, 2.0))):
        with pytest.raises(ValueError, match="not binary"):
            BernoulliMixture(2, binarize=None).fit(X)


def test_a_negative_threshold_and_sparse_data():
    with pytest.raises(ValueError, match="sparse"):
        BernoulliMixture(2, binarize=-1.0).fit(sp.csr_array(BINARY))
    assert np.isfinite(BernoulliMixture(2, binarize=-1.0).fit(BINARY).lower_bound_)


@pytest.mark.parametrize("scale", [1e101, 1e160, 1e200, 1e307])
@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict_proba", "score_samples", "elbo"])
def test_gaussian_values_too_large_are_refused(method, scale):
    mixture = GaussianMixture(2, max_iter=2, random_state=0).fit(REAL)
    before = snapshot(mixture)
    for X in (REAL * scale, changed(REAL, -scale)):
        with pytest.raises(ValueError, match=r"X has values from .* expected less than 1e\+100"):
            getattr(mixture, method)(X)
    assert snapshot(mixture) == before


def test_what_stands_at_one_place_of_a_sparse_matrix_counts_together():
    """Two ones at a place are a two, and not a one; two halves are a one. X is left as it is."""
    twice = sp.csr_array((30, 4))
    twice.data, twice.indices = np.ones(3), np.array([1, 1, 0], np.int32)
    twice.indptr = np.r_[0, np.full(30, 3)].astype(np.int32)
    with pytest.raises(ValueError, match="not binary"):
        BernoulliMixture(2, binarize=None).fit(twice)
    twice.data[:] = [0.5, 0.5, 1.0]
    expected = BernoulliMixture(2, random_state=0).fit(np.where(np.arange(120) < 2, 1, 0)
                                                       .reshape(30, 4))  # fmt: skip
    for options in ({"binarize": None}, {"binarize": 0.75}):
        found = BernoulliMixture(2, random_state=0, **options).fit(twice)
        np.testing.assert_array_equal(found.means_, expected.means_)
    assert twice.nnz == 3 and twice.indices.tolist() == [1, 1, 0]


@pytest.mark.parametrize("covariance_type", ["full", "diag", "tied"])
@pytest.mark.parametrize(
    "X",
    [
        np.ones((20, 3)),
        np.column_stack([REAL[:, :2], np.zeros(30)]),
        np.column_stack([REAL[:, 0], REAL[:, 0], REAL[:, 0]]),
        REAL[:2, :3],
        REAL[:1, :3],
    ],
    ids=["all equal", "constant column", "collinear", "two points", "one point"],
)
def test_degenerate_gaussian_data_give_a_finite_model(covariance_type, X):
    mixture = GaussianMixture(4, covariance_type=covariance_type, random_state=0).fit(X)
    assert np.isfinite(mixture.lower_bound_)
    assert np.isfinite(mixture.score_samples(X)).all()
    assert np.isfinite(mixture.means_).all() and np.isfinite(mixture.covariances_).all()


@each_case
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_saved_mixture_continues_exactly(tmp_path, case, dtype):
    cls, X = CASES[case]
    mixture = cls(2, random_state=0, dtype=dtype)
    mixture.partial_fit(X[:10]).partial_fit(X[10:20])
    mixture.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert type(loaded) is cls
    assert np.array_equal(loaded.predict_proba(X), mixture.predict_proba(X))
    loaded.partial_fit(X[20:])
    mixture.partial_fit(X[20:])
    assert np.array_equal(loaded.means_, mixture.means_)
    assert np.array_equal(loaded.score_samples(X), mixture.score_samples(X))


@pytest.mark.parametrize("covariance_type", ["diag", "tied"])
def test_saved_covariance_types(tmp_path, covariance_type):
    mixture = GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(REAL)
    mixture.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert np.array_equal(loaded.covariances_, mixture.covariances_)
    assert loaded.lower_bound_ == mixture.lower_bound_
