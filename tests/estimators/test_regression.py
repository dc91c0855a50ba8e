"""The regression estimators: groups, parts of groups, algorithms, files, pipelines."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import trustream
from tests.estimators.regressions import planted
from trustream import BayesianLinearRegression, ProbitRegression

both = pytest.mark.parametrize("kind", [BayesianLinearRegression, ProbitRegression])
METHODS = [
    "trust-region", "natural-gradient", "batch", "memoized", "streaming-vb", "streaming-batch"
]  # fmt: skip


def data_for(kind: Any, seed: int = 0, **options: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """X, y, groups."""
    data = planted(seed, **options)
    return data.X, data.y if kind is BayesianLinearRegression else data.classes, data.groups


def numbers(model: Any) -> list[np.ndarray]:
    """All that was learned of weights."""
    found = [model.coef_, [model.intercept_], model.coef_covariance_]
    if model._grouped:
        found += [model.group_coef_, model.group_intercept_, model.group_coef_std_]
        found.append(model.group_covariance_)
    if isinstance(model, BayesianLinearRegression):
        found.append([model.noise_variance_])
    return [np.asarray(part) for part in found]


def assert_same_bits(one: Any, two: Any) -> None:
    for a, b in zip(numbers(one), numbers(two), strict=True):
        assert a.tobytes() == b.tobytes()


# --- without groups


def test_without_groups_it_is_bayesian_ridge() -> None:
    """Which maximises the evidence in another way, and knows v instead of averaging over it."""
    X, y, _ = data_for(BayesianLinearRegression)
    ours, theirs = BayesianLinearRegression().fit(X, y), BayesianRidge(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-3)
    for a, b in zip(*(m.predict(X, return_std=True) for m in (ours, theirs)), strict=True):
        np.testing.assert_allclose(a, b, rtol=0.02, atol=0.01)


def test_more_features_than_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 50))
    y = X[:, 0] + 0.1 * rng.standard_normal(20)
    model = BayesianLinearRegression().fit(X, y)
    assert np.isfinite(model.coef_std_).all() and model.score(X, y) > 0.5
    probit = ProbitRegression().fit(X, y > 0)
    assert np.isfinite(probit.coef_std_).all() and probit.score(X, y > 0) == 1
    groups = np.arange(20) % 4
    for kind, target in ((BayesianLinearRegression, y), (ProbitRegression, y > 0)):
        fitted = kind(max_iter=5).fit(X, target, groups)
        assert all(np.isfinite(part).all() for part in numbers(fitted))


@both
def test_constant_columns(kind: Any) -> None:
    """They say nothing: the other coefficients are as without them, with and without groups."""
    X, y, groups = data_for(kind)
    wide = np.column_stack([X[:, 0], np.full(len(X), 7.0), X[:, 1], np.zeros(len(X))])
    given = {"weight_precision": 1.0, "covariance_prior": 0.1}
    for some in (None, groups):
        one, two = kind(**given).fit(X, y, some), kind(**given).fit(wide, y, some)
        assert all(np.isfinite(part).all() for part in numbers(two))
        # With groups the prior of the covariance is one of more weights.
        tolerance = 1e-8 if some is None else one.coef_std_
        assert (np.abs(two.coef_[[0, 2]] - one.coef_) < tolerance).all()
        mean = one.predict(X, some), two.predict(wide, some)
        assert np.abs(mean[0] - mean[1]).mean() < 0.05


def test_a_constant_response() -> None:
    X, _, groups = data_for(BayesianLinearRegression)
    for some in (None, groups):
        model = BayesianLinearRegression().fit(X, np.full(len(X), 3.0), some)
        np.testing.assert_allclose(model.predict(X, some), 3.0, atol=1e-3)


def test_a_response_without_noise() -> None:
    X, _, groups = data_for(BayesianLinearRegression)
    y = X @ [2.0, -3.0] + 1e6
    model = BayesianLinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, [2.0, -3.0], rtol=1e-5)
    np.testing.assert_allclose(model.intercept_, 1e6, rtol=1e-9)
    assert model.noise_variance_ < 1e-5
    grouped = BayesianLinearRegression().fit(X, y, groups)
    np.testing.assert_allclose(grouped.coef_, [2.0, -3.0], rtol=1e-2)


def test_one_row_says_nothing_of_the_noise() -> None:
    for groups in (None, ["a"]):
        model = BayesianLinearRegression().fit([[1.0, 2.0]], [3.0], groups)
        mean, std = model.predict([[1.0, 2.0], [5.0, 0.0]], return_std=True)
        np.testing.assert_allclose(mean, 3.0)
        assert (std == np.inf).all()
        assert (model.coef_std_ == np.inf).all() or groups is not None


@pytest.mark.parametrize("factor", [1e-8, 1e8])
def test_units_change_nothing(factor: float) -> None:
    X, y, groups = data_for(BayesianLinearRegression)
    for some in (None, groups):
        one = BayesianLinearRegression().fit(X, y, some)
        two = BayesianLinearRegression().fit(X * factor, y / factor + 5.0, some)
        np.testing.assert_allclose(two.coef_ * factor**2, one.coef_, rtol=1e-5)
        means = one.predict(X, some), (two.predict(X * factor, some) - 5.0) * factor
        np.testing.assert_allclose(*means, rtol=1e-4, atol=1e-3 if factor == 1e8 else 1e-5)


def test_separable_classes() -> None:
    """Weights stay finite, whatever the algorithm, as the priors are proper."""
    x = np.linspace(-1, 1, 60)[:, None]
    y = x[:, 0] > 0
    groups = np.arange(60) % 6
    for method in METHODS:
        for some in (None, groups):
            model = ProbitRegression(
                learning_method=method, random_state=0, covariance_prior=0.1, max_iter=50
            ).fit(x, y, some)
            assert all(np.isfinite(part).all() for part in numbers(model)), method
            assert np.abs(model.coef_).max() < 100 and model.score(x, y, some) > 0.9
            chances = model.predict_proba(x, some)
            np.testing.assert_allclose(chances.sum(axis=1), 1)
            assert 0 < chances.min()


# --- groups


@both
def test_unseen_groups_have_the_mean_and_larger_deviations(kind: Any) -> None:
    X, y, groups = data_for(kind)
    model = kind(covariance_prior=0.1).fit(X, y, groups)
    read = model.predict if kind is BayesianLinearRegression else model.decision_function
    names = {"return_std": True}
    known, unseen = read(X, groups, **names), read(X, np.full(len(X), 999), **names)
    nothing = read(X, **names)
    for a, b in zip(unseen, nothing, strict=True):
        assert (a == b).all()
    np.testing.assert_allclose(unseen[0], X @ model.coef_ + model.intercept_, rtol=1e-9)
    assert (unseen[1] > known[1]).mean() > 0.99
    place = list(model.groups_).index(groups[0])
    own = X[0] @ model.group_coef_[place] + model.group_intercept_[place]
    np.testing.assert_allclose(known[0][0], own, rtol=1e-9)


@both
def test_order_of_rows_and_names_of_groups_change_nothing(kind: Any) -> None:
    X, y, groups = data_for(kind)
    model = kind(covariance_prior=0.1).fit(X, y, groups)
    order = np.random.default_rng(1).permutation(len(X))
    names = np.array([f"group {g:03d}" for g in groups])
    other = kind(covariance_prior=0.1).fit(X[order], y[order], names[order])
    assert other.groups_.tolist() == [f"group {g:03d}" for g in model.groups_]
    for a, b in zip(numbers(model), numbers(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


@both
def test_groups_of_one_row_and_one_group(kind: Any) -> None:
    X, y, _ = data_for(kind, n_groups=30, n_rows=3)
    for groups in (np.arange(len(X)), np.zeros(len(X), int)):
        model = kind(covariance_prior=0.1).fit(X, y, groups)
        assert all(np.isfinite(part).all() for part in numbers(model))
        assert model.group_coef_.shape == (np.unique(groups).size, 2)


@both
@pytest.mark.parametrize("method", METHODS)
def test_every_algorithm_finds_the_planted_mean(kind: Any, method: str) -> None:
    X, y, groups = data_for(kind, n_groups=80, n_rows=10)
    best = kind(learning_method="batch", covariance_prior=0.1).fit(X, y, groups)
    model = kind(learning_method=method, covariance_prior=0.1, random_state=0).fit(X, y, groups)
    loss = best.elbo(X, y, groups) - model.elbo(X, y, groups)
    assert loss < 0.25  # nats per group, of about ten
    assert (np.abs(model.coef_ - best.coef_) < 1.5 * best.coef_std_).all()


def test_fit_is_the_same_for_any_number_of_threads() -> None:
    for kind in (BayesianLinearRegression, ProbitRegression):
        X, y, groups = data_for(kind, n_groups=150)
        for method in ("batch", "trust-region"):
            for some in (None, groups):
                models = [
                    kind(
                        n_jobs=n,
                        learning_method=method,
                        random_state=0,
                        max_iter=4,
                        covariance_prior=0.1,
                    )
                    for n in (1, 2, 3)
                ]
                for model in models:
                    model.fit(X, y, some)
                assert_same_bits(models[0], models[1])
                assert_same_bits(models[0], models[2])


# --- parts


def test_a_group_in_parts_counts_once_with_all_its_rows() -> None:
    """Linear: what is remembered of a group after its parts is what it is after all its rows."""
    X, y, groups = data_for(BayesianLinearRegression, n_groups=20)
    model = BayesianLinearRegression(learning_method="trust-region", random_state=0)
    half = np.arange(len(X)) % 2 == 0
    model.partial_fit(X[half], y[half], groups[half])
    model.partial_fit(X[~half], y[~half], groups[~half])
    whole = clone(model).partial_fit(X, y, groups)
    # Coordinates are those of the first call.
    assert model._n_samples_seen == whole._n_samples_seen == 20
    place = model.groups_.tolist().index(3)
    state = model._coordinates
    rows = state.rows(X[groups == 3])
    np.testing.assert_allclose(model._remembered()[3][0], rows.T @ rows, rtol=1e-10, atol=1e-10)
    assert model._remembered()[3][3] == (groups == 3).sum()
    assert model.group_coef_.shape == (20, 2) and place < 20


@both
def test_parts_of_groups_come_close_to_fit(kind: Any) -> None:
    X, y, groups = data_for(kind, n_groups=60, n_rows=12)
    fitted = kind(covariance_prior=0.1).fit(X, y, groups)
    model = kind(learning_method="trust-region", random_state=0)
    part = np.random.default_rng(0).integers(4, size=len(X))
    for i in range(4):
        model.partial_fit(X[part == i], y[part == i], groups[part == i])
    assert model._n_samples_seen == 60
    order = [model.groups_.tolist().index(g) for g in fitted.groups_]
    for name in ("group_coef_", "group_intercept_"):
        pair = getattr(model, name)[order].ravel(), getattr(fitted, name).ravel()
        assert np.corrcoef(*pair)[0, 1] > 0.9
    # After four steps, at a rate of about 0.3.
    np.testing.assert_allclose(model.coef_, fitted.coef_, atol=0.4)


def test_streaming_vb_takes_a_group_once() -> None:
    X, y, groups = data_for(BayesianLinearRegression)
    model = BayesianLinearRegression(learning_method="streaming-vb").partial_fit(X, y, groups)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match=r"group 0 came before, and .* counts each group once"):
        model.partial_fit(X[:50], y[:50], np.zeros(50, int))
    assert_same_bits(model, before)
    model.partial_fit(X, y, groups + 1000)
    assert model._n_samples_seen == 2 * np.unique(groups).size


@both
def test_partial_fit_without_groups(kind: Any) -> None:
    X, y, _ = data_for(kind, n_groups=200)
    model, fitted = kind(random_state=0), kind().fit(X, y)
    for i in range(0, len(X), 100):
        model.partial_fit(X[i : i + 100], y[i : i + 100])
    np.testing.assert_allclose(model.coef_, fitted.coef_, atol=0.1)
    assert model._n_samples_seen == len(X)


# --- files


@both
@pytest.mark.parametrize("names", [None, int, str])
def test_save_load_and_go_on(kind: Any, names: Any, tmp_path: Path) -> None:
    """Bit for bit, with parts of groups that come before and after."""
    X, y, groups = data_for(kind)
    y = np.where(y, "yes", "no") if kind is ProbitRegression else y
    chosen = None if names is None else groups.astype(names)
    half = np.arange(len(X)) < len(X) // 2

    def of(rows: np.ndarray) -> tuple[Any, ...]:
        return X[rows], y[rows], None if chosen is None else chosen[rows]

    model = kind(learning_method="trust-region", random_state=0).partial_fit(*of(half))
    model.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert type(loaded) is kind and loaded.get_params() == model.get_params()
    assert_same_bits(model, loaded)
    for some in (model, loaded):
        some.partial_fit(*of(~half)).partial_fit(*of(half))
    assert_same_bits(model, loaded)
    assert (model.predict(X, chosen) == loaded.predict(X, chosen)).all()
    fitted = kind(covariance_prior=0.1).fit(X, y, chosen)
    fitted.save(tmp_path / "fitted")
    again = trustream.load(tmp_path / "fitted")
    assert_same_bits(fitted, again)
    assert again.lower_bound_ == fitted.lower_bound_
    assert (again.predict(X, chosen) == fitted.predict(X, chosen)).all()


@pytest.mark.parametrize("labels", [[False, True], [3, 7], [0.0, 1.0], ["a", "b"]])
def test_classes_keep_their_type_in_files(labels: list[Any], tmp_path: Path) -> None:
    X, y, _ = data_for(ProbitRegression)
    y = np.array(labels)[y]
    model = ProbitRegression().fit(X, y)
    model.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert loaded.classes_.tolist() == labels and loaded.classes_.dtype.kind == y.dtype.kind
    assert (loaded.predict(X) == model.predict(X)).all()


def test_feature_names(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    X, y, groups = data_for(BayesianLinearRegression)
    frame = pandas.DataFrame(X, columns=["age", "dose"])
    model = BayesianLinearRegression().fit(frame, pandas.Series(y), pandas.Series(groups))
    model.save(tmp_path / "model")
    loaded = trustream.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["age", "dose"]
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"age": "weight"}))
    categories = pandas.Series(groups.astype(str), dtype="category")
    model.fit(frame, y, categories)
    assert model.groups_.dtype.kind == "U"


# --- scikit-learn


def test_pipelines_and_cross_validation() -> None:
    X, y, groups = data_for(BayesianLinearRegression)
    pipeline = make_pipeline(PolynomialFeatures(2, include_bias=False), BayesianLinearRegression())
    pipeline.fit(X, y, bayesianlinearregression__groups=groups)
    mean, std = pipeline.predict(X, groups=groups, return_std=True)
    assert mean.shape == std.shape == y.shape
    assert cross_val_score(ProbitRegression(), X, y > 0, cv=3).mean() > 0.6
    assert clone(pipeline[-1]).get_params() == pipeline[-1].get_params()


def test_no_intercept() -> None:
    X, y, groups = data_for(BayesianLinearRegression)
    for some in (None, groups):
        model = BayesianLinearRegression(fit_intercept=False).fit(X, y, some)
        assert model.intercept_ == 0 and model.coef_covariance_.shape == (2, 2)
        new = np.zeros((1, 2))
        assert model.predict(new)[0] == 0


def test_warm_start_goes_on() -> None:
    X, y, groups = data_for(BayesianLinearRegression)
    model = BayesianLinearRegression(warm_start=True, max_iter=2, covariance_prior=0.1)
    model.fit(X, y, groups)
    first = model.lower_bound_
    for _ in range(3):
        model.fit(X, y, groups)
    assert model.lower_bound_ > first and model.n_batch_iter_ > 4
