"""The mixture estimators: what goes in, what comes out, what stays untouched."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy import integrate

from trustream import BernoulliMixture, GaussianMixture

SMALL = {"n_components": 3, "max_iter": 5, "random_state": 0}
MIXTURES = {
    "bernoulli": (BernoulliMixture, {"binarize": None}),
    "full": (GaussianMixture, {"covariance_type": "full"}),
    "diag": (GaussianMixture, {"covariance_type": "diag"}),
    "tied": (GaussianMixture, {"covariance_type": "tied"}),
}
each_mixture = pytest.mark.parametrize("kind", MIXTURES)


def make(kind, **settings):
    cls, own = MIXTURES[kind]
    return cls(**{**SMALL, **own, **settings})


def data(kind, n=300):
    """Three clusters, far from each other, and the cluster of each point."""
    rng = np.random.default_rng(1)
    z = rng.integers(3, size=n)
    if kind == "bernoulli":
        probabilities = np.kron(np.eye(3), np.full(5, 0.9)) + 0.05
        return (rng.random((n, 15)) < probabilities[z]).astype(float), z
    return np.array([[-8.0, 0], [8, 3], [0, 9]])[z] + rng.normal(size=(n, 2)), z


def snapshot(estimator):
    return pickle.dumps({k: v for k, v in vars(estimator).items() if k != "_model"})


@each_mixture
@pytest.mark.parametrize("method", ["trust-region", "natural-gradient", "batch"])
def test_clusters_are_found(kind, method):
    """Labels are the planted ones up to their names. Random starts of the Bernoulli may fail."""
    X, z = data(kind)
    mixture = make(kind, learning_method=method, n_init=5, max_iter=20).fit(X)
    names = {(a, b) for a, b in zip(z, mixture.predict(X), strict=True)}
    assert len(names) == 3
    assert np.allclose(np.sort(mixture.weights_), np.sort(np.bincount(z) / z.size), atol=0.05)


@each_mixture
def test_shapes_and_sums(kind):
    X, _ = data(kind)
    mixture = make(kind).fit(X)
    phi = mixture.predict_proba(X)
    assert phi.shape == (300, 3) and np.allclose(phi.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(mixture.transform(X), phi)
    assert np.array_equal(mixture.predict(X), phi.argmax(axis=1))
    assert mixture.weights_.shape == (3,) and np.isclose(mixture.weights_.sum(), 1)
    assert mixture.means_.shape == (3, X.shape[1])
    assert mixture.score_samples(X).shape == (300,)
    assert np.isclose(mixture.score(X), mixture.score_samples(X).mean())
    assert np.isclose(mixture.lower_bound_, mixture.elbo(X))
    assert mixture.n_iter_ == 5
    # 15 points a batch, a twentieth of the data.
    assert mixture.n_batch_iter_ == 100
    shapes = {"full": (3, 2, 2), "diag": (3, 2), "tied": (2, 2)}
    if kind in shapes:
        assert mixture.covariances_.shape == shapes[kind]


@each_mixture
@pytest.mark.parametrize("method", ["trust-region", "batch"])
def test_threads_change_nothing(kind, method):
    X, _ = data(kind, 2000)
    fits = [
        make(kind, learning_method=method, max_iter=2, n_jobs=n, batch_size=700).fit(X)
        for n in (1, 2, 3)
    ]
    for other in fits[1:]:
        assert np.array_equal(other.means_, fits[0].means_)
        assert np.array_equal(other.predict_proba(X), fits[0].predict_proba(X))
        assert other.lower_bound_ == fits[0].lower_bound_


@each_mixture
def test_beliefs_do_not_depend_on_company(kind):
    X, _ = data(kind)
    mixture = make(kind).fit(X)
    phi = mixture.predict_proba(X)
    assert np.array_equal(mixture.predict_proba(X[7:8])[0], phi[7])
    assert np.array_equal(mixture.predict_proba(X[::-1])[::-1], phi)


@each_mixture
def test_reading_never_writes(kind):
    X, _ = data(kind)
    mixture = make(kind).fit(X)
    before = snapshot(mixture)
    mixture.predict(X)
    mixture.predict_proba(X)
    mixture.score_samples(X)
    mixture.elbo(X, total_samples=1000)
    mixture.sample(10)
    mixture.means_[:] = 0
    mixture.weights_[:] = 0
    assert snapshot(mixture) == before


@each_mixture
def test_fit_raises_the_bound_above_one_component(kind):
    X, _ = data(kind)
    one = make(kind, n_components=1).fit(X)
    assert np.allclose(one.predict_proba(X), 1)
    assert make(kind, n_init=3).fit(X).lower_bound_ > one.lower_bound_ + 0.5


@each_mixture
def test_partial_fit_counts_and_scales(kind):
    X, _ = data(kind)
    seen = []
    mixture = make(kind, callback=lambda state, info: seen.append(info.n_documents))
    for start in range(0, 90, 30):
        mixture.partial_fit(X[start : start + 30])
    # A population is so many times the data.
    multiple = 3 if kind == "bernoulli" else 1
    assert seen == [30 * multiple, 60 * multiple, 90 * multiple]
    mixture.set_params(total_samples=1000).partial_fit(X[90:120])
    assert seen[-1] == 1000 * multiple and mixture.n_batch_iter_ == 4


@each_mixture
def test_partial_fit_with_fewer_points_than_components(kind):
    X, _ = data(kind)
    mixture = make(kind, n_components=7).partial_fit(X[:1])
    assert np.isfinite(mixture.means_).all()
    assert np.isfinite(mixture.partial_fit(X[1:3]).score_samples(X)).all()


@each_mixture
def test_samples_look_like_the_data(kind):
    X, _ = data(kind)
    mixture = make(kind, n_init=3).fit(X)
    drawn, z = mixture.sample(5000)
    assert drawn.shape == (5000, X.shape[1]) and z.shape == (5000,)
    assert np.allclose(np.bincount(z, minlength=3) / 5000, mixture.weights_, atol=0.03)
    assert np.abs(drawn.mean(axis=0) - X.mean(axis=0)).max() < 0.1 * (1 + np.abs(X).max())


def test_densities_of_binary_data_sum_to_one():
    X, _ = data("bernoulli")
    mixture = make("bernoulli").fit(X[:, :8])
    everything = (np.arange(256)[:, np.newaxis] >> np.arange(8)) & 1
    assert np.isclose(np.exp(mixture.score_samples(everything)).sum(), 1, atol=1e-5)


@pytest.mark.parametrize("kind", ["full", "diag", "tied"])
def test_densities_of_real_data_integrate_to_one(kind):
    X, _ = data(kind)
    mixture = make(kind).fit(X[:, :1])
    grid = np.linspace(-400, 400, 200_001)[:, np.newaxis]
    density = np.exp(mixture.score_samples(grid))
    assert np.isclose(integrate.trapezoid(density, grid[:, 0]), 1, atol=2e-3)


@each_mixture
def test_containers(kind):
    X, _ = data(kind)
    names = [f"f{i}" for i in range(X.shape[1])]
    phi = make(kind).fit(X).predict_proba(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        assert np.array_equal(make(kind).fit(frame).predict_proba(frame), phi)
    if kind == "bernoulli":
        for sparse in (sp.csr_matrix(X), sp.csr_array(X), sp.csr_array(X.astype(bool))):
            # Sums over what is not zero are taken in another order: equal up to rounding.
            assert np.allclose(make(kind).fit(sparse).predict_proba(sparse), phi, atol=1e-5)
        assert np.array_equal(make(kind).fit(X.astype(bool)).predict_proba(X), phi)
    else:
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            make(kind).fit(sp.csr_array(X))


def test_binarize_is_a_threshold():
    X, _ = data("bernoulli")
    shades = np.where(X > 0, 0.8, 0.3)
    plain = make("bernoulli").fit(X)
    assert np.array_equal(make("bernoulli", binarize=0.5).fit(shades).means_, plain.means_)
    sparse = make("bernoulli", binarize=0.5).fit(sp.csr_array(X * 0.8))
    assert np.allclose(sparse.means_, plain.means_, rtol=1e-4)


@pytest.mark.parametrize("kind", ["full", "diag", "tied"])
def test_shifted_and_scaled_data_give_the_same_clusters(kind):
    X, _ = data(kind)
    phi = make(kind).fit(X).predict_proba(X)
    moved = X * [1e-3, 1e3] + [1e4, -1e5]
    assert np.allclose(make(kind).fit(moved).predict_proba(moved), phi, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@each_mixture
def test_dtype_of_beliefs(kind, dtype):
    X, _ = data(kind)
    assert make(kind, dtype=dtype).fit(X).predict_proba(X).dtype == dtype
