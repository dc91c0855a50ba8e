"""Small mixtures of every kind, with data, for the tests of this folder."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tests.helpers import Array
from trustream.inference import driver, natural_gradient, schedules, trust_region
from trustream.inference.driver import Step
from trustream.inference.state import State
from trustream.models.mixture import BernoulliModel, BernoulliPrior, GaussianModel, GaussianPrior

KINDS = ("bernoulli", "full", "diag", "tied")
GAUSSIAN = KINDS[1:]
NATURAL_GRADIENT: Step = partial(natural_gradient.step, n_local=1)
TRUST_REGION: Step = partial(trust_region.step, n_inner=5, n_local=1)


class Setup(NamedTuple):
    model: Any
    prior: Any
    x: Array


def gaussian_prior(kind: str, x: Array, k: int) -> GaussianPrior:
    """Mean and covariance of the data, each worth about one point; uniform weights."""
    cov = np.atleast_2d(np.cov(x, rowvar=False))
    d = cov.shape[0]
    if kind == "diag":
        return GaussianPrior(np.ones(k), x.mean(axis=0), 1.0, np.diag(cov), 3.0)
    return GaussianPrior(np.ones(k), x.mean(axis=0), 1.0, cov, d + 2.0)


def setup(kind: str, k: int = 4, d: int = 5, n: int = 230, seed: int = 0, **options: Any) -> Setup:
    """Random data in k loose groups; 230 points are three blocks, the last one not full."""
    rng = np.random.default_rng(seed)
    options = {"dtype": "float64", "backend": "reference"} | options
    z = rng.integers(k, size=n)
    if kind == "bernoulli":
        x = (rng.random((n, d)) < rng.beta(0.5, 0.5, (k, d))[z]).astype(np.uint8)
        prior: Any = BernoulliPrior(rng.gamma(4.0, 0.3, k), rng.gamma(4.0, 0.3, d), 0.7)
        return Setup(BernoulliModel(n_components=k, n_features=d, **options), prior, x)
    x = 30 + rng.normal(0, 2.0, (k, d))[z] + rng.standard_normal((n, d)) @ rng.normal(size=(d, d))
    model = GaussianModel(n_components=k, n_features=d, covariance_type=kind, **options)
    return Setup(model, gaussian_prior(kind, x, k), x)


def some_lambda(case: Setup, seed: int = 0, n_steps: int = 3) -> Any:
    """A lambda that a few steps from a random start have led to."""
    rng = np.random.default_rng(seed)
    state = State(case.model.initial(case.prior, rng), case.prior)
    for _ in range(n_steps):
        rows = np.sort(rng.choice(len(case.x), 60, replace=False))
        batch = case.model.batch(case.x, rows)
        state, _ = NATURAL_GRADIENT(
            case.model, state, batch, rho=0.5, n_documents=float(len(case.x))
        )
    return state.lambda_


def fit(
    case: Setup, step: Step, seed: int, batch_size: int, n_epochs: int, tau: float = 1.0
) -> State:
    """Stochastic steps over shuffled data."""
    model, prior, x = case
    rng = np.random.default_rng(seed)
    state = State(model.initial(prior, rng), prior)
    batches = (rows for _ in range(n_epochs) for rows in driver.shuffled(len(x), batch_size, rng))
    steps = driver.run(
        model,
        state,
        x,
        batches,
        step=step,
        schedule=schedules.decaying(tau, 0.5),
        n_documents=len(x),
    )
    for state, _ in steps:  # noqa: B007
        pass
    return state
