"""How well regressions predict: with groups, all rows together, each group alone, and peers.

R^2 of rows that were left out, in cross-validation of data that come with scikit-learn, and errors
of planted weights over several seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.rows import Row, Setup, information
from trustream import BayesianLinearRegression, ProbitRegression

Scores = dict[str, list[float]]


def measure(setup: Setup) -> Iterator[Row]:
    """Differences between the fit with groups and the others, with standard errors."""
    for name, X, y, groups in _sets():
        yield from _differences(name, _folds(X, y, groups, setup.choose(4, 1)), "R^2")
    yield from _classes(setup)
    for kind in (BayesianLinearRegression, ProbitRegression):
        name = f"{kind.__name__}, planted groups of 8 rows"
        yield from _differences(name, _planted(kind, setup.choose(20, 3)), "mean squared error")


def _sets() -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    X, y = load_diabetes(return_X_y=True, scaled=False)
    decades = np.array([f"sex {row[1]:.0f}, {row[0] // 10:.0f}0 to 9" for row in X])
    yield "diabetes by age and sex", X[:, 2:], y, decades
    X, species = load_iris(return_X_y=True)
    yield "iris, petal width by species", X[:, :3], X[:, 3], species
    X, cultivars = load_wine(return_X_y=True)
    yield "wine, alcohol by cultivar", X[:, 1:], X[:, 0], cultivars


def _differences(name: str, scores: Scores, unit: str) -> Iterator[Row]:
    """With groups minus the others."""
    ours = np.array(scores["with groups"])
    yield information(f"{name}: with groups", float(ours.mean()), unit)
    for other, values in scores.items():
        if other != "with groups":
            gain = ours - values
            yield information(
                f"{name}: with groups minus {other}",
                float(gain.mean()),
                unit,
                standard_error=float(gain.std(ddof=1) / np.sqrt(gain.size)),
            )


def _each_alone(kind: Any, X: Any, y: Any, groups: Any, new: Any, new_groups: Any) -> np.ndarray:
    """Predictions by a fit to each group, where it has enough rows, and else by one to all."""
    predicted = kind().fit(X, y).predict(new)
    for group in np.unique(new_groups):
        rows, wanted = groups == group, new_groups == group
        if rows.sum() > 2:
            predicted[wanted] = kind().fit(X[rows], y[rows]).predict(new[wanted])
    return np.asarray(predicted)


def _folds(X: np.ndarray, y: np.ndarray, groups: np.ndarray, n_repeats: int) -> Scores:
    scores: Scores = {"with groups": [], "all rows together": [], "each group": [], "ridge": []}
    kind = BayesianLinearRegression
    folds = RepeatedKFold(n_splits=5, n_repeats=n_repeats, random_state=0)
    for a, b in folds.split(X):
        ridge = make_pipeline(StandardScaler(), BayesianRidge()).fit(X[a], y[a])
        predictions = (
            kind().fit(X[a], y[a], groups[a]).predict(X[b], groups[b]),
            kind().fit(X[a], y[a]).predict(X[b]),
            _each_alone(kind, X[a], y[a], groups[a], X[b], groups[b]),
            ridge.predict(X[b]),
        )
        for name, values in zip(scores, predictions, strict=True):
            scores[name].append(float(r2_score(y[b], values)))
    scores["BayesianRidge"] = scores.pop("ridge")
    return scores


def _classes(setup: Setup) -> Iterator[Row]:
    X, y = load_breast_cancer(return_X_y=True)
    gains: Scores = {"accuracy": [], "log-likelihood in nats": []}
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=setup.choose(4, 1), random_state=0)
    for a, b in folds.split(X, y):
        ours = ProbitRegression().fit(X[a], y[a])
        theirs = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X[a], y[a])
        gains["accuracy"].append(ours.score(X[b], y[b]) - theirs.score(X[b], y[b]))
        losses = [log_loss(y[b], model.predict_proba(X[b])) for model in (theirs, ours)]
        gains["log-likelihood in nats"].append(float(losses[0] - losses[1]))
    for unit, values in gains.items():
        yield information(
            "breast cancer: ProbitRegression minus LogisticRegression",
            float(np.mean(values)),
            unit,
            standard_error=float(np.std(values, ddof=1) / np.sqrt(len(values))),
        )


def _planted(kind: Any, n_seeds: int) -> Scores:
    """Mean squared errors of the weights of 40 groups of 8 rows."""
    scores: Scores = {"with groups": [], "all rows together": [], "each group": []}
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        weights = rng.normal([1.0, -0.5, 0.3], [0.5, 0.4, 0.6], (40, 3))
        groups = np.repeat(np.arange(40), 8)
        X = rng.standard_normal((320, 2))
        signal = (X * weights[groups, :2]).sum(axis=1) + weights[groups, 2]
        noise = rng.standard_normal(320)
        y = signal + 0.5 * noise if kind is BayesianLinearRegression else signal + noise > 0
        fitted, pooled = kind().fit(X, y, groups), kind().fit(X, y)
        found = {
            "with groups": np.column_stack([fitted.group_coef_, fitted.group_intercept_]),
            "all rows together": np.tile([*pooled.coef_, pooled.intercept_], (40, 1)),
        }
        alone = found["all rows together"].copy()
        for g in range(40):
            if np.unique(y[groups == g]).size > 1:
                one = kind().fit(X[groups == g], y[groups == g])
                alone[g] = [*one.coef_, one.intercept_]
        found["each group"] = alone
        for name, values in found.items():
            scores[name].append(float(np.mean((values - weights) ** 2)))
    return scores
