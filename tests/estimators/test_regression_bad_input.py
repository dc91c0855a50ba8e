"""Wrong input of regressions: an error that says what to do, and the model as it was."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tests.estimators.regressions import planted
from tests.estimators.test_regression import assert_same_bits, data_for
from trustream import BayesianLinearRegression, ProbitRegression

both = pytest.mark.parametrize("kind", [BayesianLinearRegression, ProbitRegression])


def changed(array: Any, value: Any) -> np.ndarray:
    array = np.array(array, dtype=float)
    array.flat[3] = value
    return array


WRONG: list[tuple[Any, str]] = [
    (lambda X, y, g: (X, None, g), "requires y to be passed"),
    (lambda X, y, g: (X, y[:-1], g), f"y has {470 - 1} entries|y has .* entries and X has"),
    (lambda X, y, g: (X, y, g[:-1]), "groups has .* entries and X has .* rows"),
    (lambda X, y, g: (changed(X, np.nan), y, g), "NaN"),
    (lambda X, y, g: (changed(X, np.inf), y, g), "infinity"),
    (lambda X, y, g: (changed(X, 1e200), y, g), "expected less than 1e.100"),
    (lambda X, y, g: (X, changed(y, np.nan), g), "NaN"),
    (lambda X, y, g: (X[:, :1], y, g), "1 features?, but .* is expecting 2 features"),
    (lambda X, y, g: (X[:0], y[:0], g[:0]), "0 sample"),
    (lambda X, y, g: (X, y, g.astype(float)), "groups must be all integers or all strings"),
    (lambda X, y, g: (X, y, np.where(g == 1, None, g)), "groups must be all integers"),
    (lambda X, y, g: (X, y, [*g[:-1].tolist(), "a", ]), "groups are str|must be all integers"),
    (lambda X, y, g: (X, y, g > 3), "groups must be all integers or all strings"),
    (lambda X, y, g: (X, y, g.astype(str)), "groups are str, like '0', and were int"),
    (lambda X, y, g: (X, y, None), "was fitted with groups, and these data have none"),
    (lambda X, y, g: (X, y, np.column_stack([g, g])), "groups has shape .*, expected"),
]  # fmt: skip


@both
@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_wrong_data(kind: Any, wrong: Any, message: str) -> None:
    X, y, groups = data_for(kind, n_groups=20)
    model = kind(learning_method="trust-region", random_state=0).partial_fit(X, y, groups)
    before = copy.deepcopy(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*wrong(X, y, groups))
    assert vars(model).keys() - {"_model"} == vars(before).keys() - {"_model"}
    assert_same_bits(model, before)
    # It goes on as if nothing had been.
    for some in (model, before):
        some.partial_fit(X, y, groups)
    assert_same_bits(model, before)
    with pytest.raises(ValueError):
        kind().set_params(warm_start=True).fit(X, y, groups).fit(*wrong(X, y, groups))


@both
def test_sparse_data_are_refused(kind: Any) -> None:
    X, y, groups = data_for(kind, n_groups=20)
    model = kind()
    with pytest.raises(TypeError, match=r"Sparse data was passed.*toarray"):
        model.fit(sparse.csr_array(X), y, groups)
    assert not hasattr(model, "n_features_in_")


@both
def test_groups_where_there_were_none(kind: Any) -> None:
    X, y, groups = data_for(kind, n_groups=20)
    model = kind().fit(X, y)
    for call in (model.predict, lambda X, g: model.elbo(X, y, g)):
        with pytest.raises(ValueError, match=r"was fitted without groups, .* leave them out"):
            call(X, groups)
    for name in ("groups_", "group_coef_", "group_covariance_"):
        assert not hasattr(model, name)


@both
def test_texts_are_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="text"):
        kind().fit(["cats and dogs", "stocks"], [0, 1])


def test_responses_that_are_no_numbers() -> None:
    data = planted(0, n_groups=10)
    with pytest.raises(ValueError, match=r"y must be numbers, got .* use ProbitRegression"):
        BayesianLinearRegression().fit(data.X, np.where(data.classes, "yes", "no"))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(4), "one class only, .*, expected two"),
        (np.arange(4) % 3, "Only binary classification is supported"),
        (np.array([0.1, 0.2, 0.3, 0.4]), "continuous"),
    ],
)
def test_classes(y: np.ndarray, message: str) -> None:
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(ValueError, match=message):
        ProbitRegression().fit(X, y)


def test_classes_of_later_parts() -> None:
    data = planted(0, n_groups=10)
    X, y = data.X, data.classes
    one = np.ones(5, int)
    with pytest.raises(ValueError, match=r"one class only.*give both to partial_fit as `classes`"):
        ProbitRegression().partial_fit(X[:5], one)
    model = ProbitRegression(random_state=0).partial_fit(X[:5], one, classes=[0, 1])
    model.partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y has the class .*2.*, expected one of"):
        model.partial_fit(X[:5], 2 * one)
    with pytest.raises(ValueError, match=r"classes is .* and was"):
        model.partial_fit(X, y, classes=[1, 2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degrees_of_freedom_prior": 3.0}, "must be above 4, the number of weights and one"),
        ({"covariance_prior": 0.0}, "covariance_prior"),
        ({"mean_precision_prior": -1.0}, "mean_precision_prior"),
        ({"weight_precision": 0.0}, "weight_precision"),
        ({"learning_method": "magic"}, "learning_method"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"dtype": "int8"}, "dtype must be float32 or float64"),
    ],
)
@both
def test_parameters(kind: Any, options: dict[str, Any], message: str) -> None:
    X, y, groups = data_for(kind, n_groups=10)
    model = kind(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, groups)
    assert not hasattr(model, "coef_")


@both
def test_changed_parameters(kind: Any) -> None:
    X, y, groups = data_for(kind, n_groups=10)
    model = kind().fit(X, y, groups).set_params(fit_intercept=False)
    with pytest.raises(ValueError, match="was fitted with other parameters"):
        model.predict(X)


@both
def test_memoized_has_no_partial_fit(kind: Any) -> None:
    assert not hasattr(kind(learning_method="memoized"), "partial_fit")
    assert hasattr(kind(), "partial_fit")


@both
def test_not_fitted(kind: Any) -> None:
    X, _, _ = data_for(kind, n_groups=10)
    assert not hasattr(kind(), "coef_") and not hasattr(kind(), "group_coef_")
    with pytest.raises(ValueError, match="not fitted yet"):
        kind().predict(X)


@both
def test_groups_of_both_kinds(kind: Any) -> None:
    """NumPy would make strings of the numbers in silence."""
    with pytest.raises(ValueError, match=r"all integers or all strings, got \[1, 'a', 1\]"):
        kind().fit(np.eye(4), [0, 1, 0, 1], [1, "a", 1, "a"])


@both
def test_a_column_too_small_to_square_is_a_constant(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = X[:, 0] > 0 if kind is ProbitRegression else X[:, 0]
    tiny, without = kind().fit(X * [1, 1e-170], y), kind().fit(X * [1, 0], y)
    np.testing.assert_allclose(tiny.coef_, without.coef_, rtol=1e-9, atol=1e-12)
