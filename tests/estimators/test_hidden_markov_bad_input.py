"""Wrong input to hidden Markov models: a clear error, and a model left as it was."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from tests.estimators.planted_sequences import planted
from trustream import HiddenMarkovModel

KINDS = ("categorical", "bernoulli", "gaussian")
METHODS = ["fit", "partial_fit", "predict", "predict_proba", "score", "score_samples", "elbo"]
each_kind = pytest.mark.parametrize("kind", KINDS)
each_method = pytest.mark.parametrize("method", METHODS)
DATA = {kind: planted(kind, n=3, length=10, d=4)[:2] for kind in KINDS}


def state_of(hmm: Any) -> bytes:
    return pickle.dumps({k: v for k, v in vars(hmm).items() if k != "_model"})


def fitted(kind: str) -> Any:
    X, lengths = DATA[kind]
    return HiddenMarkovModel(2, kind, max_iter=1, random_state=0).fit(X, lengths)


@each_kind
@each_method
@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([10, 10, 9], "lengths add up to 29, and X has 30 rows"),
        ([10, 10, 11], "lengths add up to 31, and X has 30 rows"),
        ([20, 0, 10], "lengths must be at least 1, got 0 at position 1: leave out"),
        ([40, -10], "lengths must be at least 1, got -10 at position 1"),
        ([9.5, 20.5], "lengths must be whole numbers, got 9.5"),
        ([np.nan, 30], "lengths must be whole numbers, got nan"),
        ([], "lengths add up to 0|list of whole numbers"),
        (30, "lengths must be a list of whole numbers, the rows of each sequence, got 30"),
        ([[15, 15]], "lengths must be a list of whole numbers"),
        (["10", "20"], "lengths must be a list of whole numbers"),
    ],
)
def test_wrong_lengths(kind: str, method: str, lengths: Any, message: str) -> None:
    hmm = fitted(kind)
    before = state_of(hmm)
    with pytest.raises(ValueError, match=message):
        getattr(hmm, method)(DATA[kind][0], lengths)
    assert state_of(hmm) == before


def changed(X: Any, value: Any) -> Any:
    X = X.astype(float)
    X[3, 0] = value
    return X


@each_kind
@each_method
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: changed(X, np.nan), "NaN"),
        (lambda X: changed(X, np.inf), "infinity"),
        (lambda X: X[:0], "0 sample"),
        (lambda X: X[:, 0], "1D"),
        (lambda X: X + 1j, r"[Cc]omplex"),
        (lambda X: ["a text", "another text"], "list of strings"),
        (lambda X: np.hstack([X, X]), "features|columns"),
    ],
)
def test_bad_data(kind: str, method: str, spoil: Any, message: str) -> None:
    hmm = fitted(kind)
    if kind == "categorical" and method == "fit" and message == "features|columns":
        message = "takes? one column of symbols"
    elif method == "fit" and message == "features|columns":
        return  # a new fit may have other columns
    before = state_of(hmm)
    with pytest.raises(ValueError, match=message):
        getattr(hmm, method)(spoil(DATA[kind][0]))
    assert state_of(hmm) == before


@each_method
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "X has the value -1, and symbols are whole numbers from 0 on"),
        (1.5, "X has the value 1.5, and symbols are whole numbers"),
        (10**9, "X has the symbol 1000000000, "),
    ],
)
def test_wrong_symbols(method: str, value: float, message: str) -> None:
    hmm = fitted("categorical")
    before = state_of(hmm)
    with pytest.raises(ValueError, match=message):
        getattr(hmm, method)(changed(DATA["categorical"][0], value))
    assert state_of(hmm) == before


@pytest.mark.parametrize("method", METHODS[1:])
def test_symbols_that_were_not_there(method: str) -> None:
    hmm = fitted("categorical")
    before = state_of(hmm)
    with pytest.raises(ValueError, match=r"the model knows the symbols 0 to 11: fit it"):
        getattr(hmm, method)(changed(DATA["categorical"][0], 12))
    assert state_of(hmm) == before
    X, lengths = DATA["categorical"]
    wide = HiddenMarkovModel(2, n_symbols=20, max_iter=1, random_state=0).fit(X, lengths)
    assert np.isfinite(wide.score(changed(X, 12)))
    with pytest.raises(ValueError, match="fit it again with n_symbols=21 or more"):
        wide.fit(changed(X, 20))


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("categorical", {"start_prior": [1.0]}, r"start_prior has shape \(1,\), expected a number"),
        ("categorical", {"transition_prior": np.ones(2)}, r"transition_prior has shape \(2,\)"),
        ("categorical", {"transition_prior": 0.0}, "transition_prior must be positive"),
        ("categorical", {"emission_prior": np.ones(3)}, r"expected a number or \(12,\)"),
        ("categorical", {"emissions": "poisson"}, "'emissions' parameter"),
        ("categorical", {"subchain_length": 0}, "'subchain_length' parameter"),
        ("categorical", {"subchain_buffer": -1}, "'subchain_buffer' parameter"),
        ("categorical", {"n_components": 0}, "'n_components' parameter"),
        ("bernoulli", {"probability_prior": (1.0, 1.0, 1.0)}, r"is a pair \(a, b\)"),
        ("bernoulli", {"binarize": None}, "the data are not binary"),
        ("gaussian", {"mean_prior": np.zeros(3)}, r"mean_prior has shape \(3,\), expected \(2,\)"),
        ("gaussian", {"degrees_of_freedom_prior": 1.0}, "must be above 1"),
    ],
)
def test_wrong_parameters(kind: str, settings: dict[str, Any], message: str) -> None:
    X, lengths = DATA[kind]
    if kind == "bernoulli":
        X = 2 * X
    hmm = HiddenMarkovModel(**{"n_components": 2, "emissions": kind, **settings})
    with pytest.raises(ValueError, match=message):
        hmm.fit(X, lengths)
    assert not hasattr(hmm, "transmat_")


@each_kind
def test_parameters_that_were_changed_after_the_fit(kind: str) -> None:
    X, lengths = DATA[kind]
    hmm = fitted(kind).set_params(n_components=3)
    with pytest.raises(ValueError, match="was fitted with other parameters than it has now"):
        hmm.predict(X, lengths)


def test_values_too_large_for_squares() -> None:
    X, lengths = DATA["gaussian"]
    with pytest.raises(ValueError, match="so that sums of squares do not overflow"):
        HiddenMarkovModel(2, "gaussian").fit(1e120 * X, lengths)


@pytest.mark.parametrize("kind", ["categorical", "gaussian"])
def test_a_list_of_sequences(kind: str) -> None:
    """As others take it; X has the rows of all of them."""
    X, _ = DATA[kind]
    with pytest.raises(ValueError, match=r"X is a list of 2 sequences.* as `lengths`"):
        HiddenMarkovModel(2, kind).fit([X[:3], X[3:8]])
    with pytest.raises(ValueError, match="X is a list of 3 sequences"):
        fitted(kind).predict([[0, 1], [0, 1, 1], [0]])


def test_subchains_without_transitions() -> None:
    X, lengths = DATA["categorical"]
    with pytest.raises(ValueError, match="leaves no transitions to learn from"):
        HiddenMarkovModel(2, subchain_length=1, subchain_buffer=0).fit(X, lengths)
    HiddenMarkovModel(2, subchain_length=1, subchain_buffer=1, max_iter=1).fit(X, lengths)


@pytest.mark.parametrize("kind", ["bernoulli", "gaussian"])
def test_constant_columns(kind: str) -> None:
    """They say nothing of states: beliefs are as without them, and nothing is infinite."""
    X, lengths = planted(kind, n=10, length=20, d=4)[:2]
    wide = np.column_stack([X, np.ones(len(X)), np.zeros(len(X))])
    hmm = HiddenMarkovModel(2, kind, random_state=0).fit(wide, lengths)
    assert all(np.isfinite(part).all() for part in (hmm.means_, hmm.score_samples(wide, lengths)))
    np.testing.assert_allclose(hmm.means_[:, -2:], [[1, 0]] * 2, atol=0.05)
    alone = HiddenMarkovModel(2, kind, random_state=0).fit(np.ones((20, 1)), [10, 10])
    assert np.isfinite(alone.lower_bound_)
