"""Regressions next to scikit-learn's BayesianRidge and statsmodels' MixedLM, and what a step costs.

And how well they predict (`_regression_quality`).

All three have the same data, and the results that can be compared are: coefficients, and for groups
the errors of their weights.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import BayesianRidge
from statsmodels.regression.mixed_linear_model import MixedLM

from benchmarks.harness.rows import Row, Setup, at_least, at_most, information
from benchmarks.harness.timing import interleaved, seconds
from benchmarks.models import _regression_quality
from trustream import BayesianLinearRegression, ProbitRegression

FILES: tuple[str, ...] = ()
N_FEATURES, ROWS_PER_GROUP, GROUPS_PER_STEP = 3, 10, 100


def measure(setup: Setup) -> Iterator[Row]:
    """Fits without and with groups, and a step after few and many groups."""
    yield from _without_groups(setup)
    yield from _with_groups(setup)
    for kind in (BayesianLinearRegression, ProbitRegression):
        yield _step(setup, kind)
    yield from _regression_quality.measure(setup)


def planted(
    n_groups: int, n_features: int = N_FEATURES, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """X, y, groups, and the coefficients of groups with the intercept last, (G, D + 1)."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(1.0, 0.5, (n_groups, n_features + 1))
    groups = np.repeat(np.arange(n_groups), ROWS_PER_GROUP)
    X = rng.standard_normal((groups.size, n_features))
    y = (X * weights[groups, :-1]).sum(axis=1) + weights[groups, -1]
    return X, y + 0.5 * rng.standard_normal(y.size), groups, weights


def _without_groups(setup: Setup) -> Iterator[Row]:
    """The closed form, with the best precision of the weights."""
    rng = np.random.default_rng(0)
    for n, d in ((setup.choose(200_000, 20_000), 20), (2_000, 100)):
        X = rng.standard_normal((n, d))
        y = X @ rng.standard_normal(d) + rng.standard_normal(n)
        ours, theirs = BayesianLinearRegression(n_jobs=setup.n_threads), BayesianRidge()
        times = interleaved(
            {"ours": lambda: ours.fit(X, y), "BayesianRidge": lambda: theirs.fit(X, y)},  # noqa: B023
            setup.choose(7, 3),
        )
        best = {name: min(runs) for name, runs in times.items()}
        yield information(
            f"linear regression, {n} rows of {d} features: BayesianRidge's time / ours",
            best["BayesianRidge"] / best["ours"],
            "x",
            seconds=times,
            difference=float(np.abs(ours.coef_ - theirs.coef_).max()),
        )


def _with_groups(setup: Setup) -> Iterator[Row]:
    """Random intercepts and slopes."""
    X, y, groups, weights = planted(setup.choose(1_000, 100))
    design = np.column_stack([X, np.ones(len(X))])
    ours = BayesianLinearRegression(n_jobs=setup.n_threads)
    found: dict[str, Any] = {}

    def peer() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found["fit"] = MixedLM(y, design, groups, exog_re=design).fit()

    ours.fit(X[:100], y[:100], groups[:100])  # kernels
    times = {"ours": [seconds(lambda: ours.fit(X, y, groups)) for _ in range(3)]}
    times["MixedLM"] = [seconds(peer)]
    fit = found["fit"]
    effects = np.array([fit.random_effects[g] for g in range(len(weights))]) + fit.fe_params
    own = np.column_stack([ours.group_coef_, ours.group_intercept_])
    errors = {
        name: float(np.sqrt(np.mean((value - weights) ** 2)))
        for name, value in (("ours", own), ("MixedLM", effects))
    }
    yield at_least(
        f"hierarchical regression, {len(weights)} groups: MixedLM's time / ours",
        times["MixedLM"][0] / min(times["ours"]),
        1,
        "x",
        seconds=times,
        rmse_of_group_weights=errors,
    )
    yield at_most(
        "error of group weights, ours / MixedLM's", errors["ours"] / errors["MixedLM"], 1.02, "x"
    )


def _step(setup: Setup, kind: Any) -> Row:
    """A call of `partial_fit` with 100 new groups, after few and after many groups."""
    few, many = 1_000, setup.choose(100_000, 10_000)
    X, y, groups, _ = planted(many + 2_000)
    y = y > y.mean() if kind is ProbitRegression else y
    models = {}
    for n_seen in (few, many):
        model = kind(learning_method="trust-region", covariance_prior=0.1, random_state=0)
        for first in range(0, n_seen, 1_000):
            rows = slice(first * ROWS_PER_GROUP, (first + 1_000) * ROWS_PER_GROUP)
            model.partial_fit(X[rows], y[rows], groups[rows])
        models[n_seen] = model
    times: dict[int, list[float]] = {few: [], many: []}
    for i in range(setup.choose(20, 10)):
        first = (many + i * GROUPS_PER_STEP) * ROWS_PER_GROUP
        rows = slice(first, first + GROUPS_PER_STEP * ROWS_PER_GROUP)
        for n_seen, model in models.items():
            times[n_seen].append(
                seconds(lambda: model.partial_fit(X[rows], y[rows], groups[rows]))  # noqa: B023
            )
    return at_most(
        f"{kind.__name__}, a step after {many} groups / after {few}",
        float(np.median(times[many]) / np.median(times[few])),
        1.2,
        "x",
        median_ms={n: 1e3 * float(np.median(runs)) for n, runs in times.items()},
    )
