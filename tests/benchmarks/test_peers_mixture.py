"""scikit-learn's posterior written as ours, which the comparison of mixtures rests on."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from benchmarks.peers import mixture
from trustream.models.mixture import GaussianModel, GaussianPrior

K, D = 3, 4


@pytest.fixture
def fitted():
    """(prior, model, data, posteriors of scikit-learn after three and after four iterations)."""
    rng = np.random.default_rng(0)
    x = (
        rng.normal(size=(300, D)) * [1, 2, 3, 4]
        + rng.normal(0, 4, (K, D))[rng.integers(K, size=300)]
    )
    prior = GaussianPrior(np.full(K, 2.0), x.mean(axis=0), 1.5, np.cov(x, rowvar=False), D + 2.0)
    model = GaussianModel(n_components=K, n_features=D, dtype="float64")
    posteriors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for n_iter in (3, 4):
            peer = mixture.peer(prior, max_iter=n_iter, reg_covar=0.0).fit(x)
            posteriors.append(mixture.as_lambda(peer, prior))
    return prior, model, x, posteriors


def test_one_more_iteration_of_scikit_learn_is_one_of_ours(fitted) -> None:
    prior, model, x, (three, four) = fitted
    _, statistics = model.local_step(three, prior, model.batch(x, slice(None)))
    for ours, theirs in zip(model.posterior(prior, statistics), four, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


def test_bound_is_the_models_and_rises(fitted) -> None:
    prior, model, x, (three, four) = fitted
    batch = model.batch(x, slice(None))
    whole = model.local_bound(three, prior, batch).sum() + model.global_bound(three, prior)
    first, second = (mixture.bound(model, prior, lambda_, x) for lambda_ in (three, four))
    np.testing.assert_allclose(first, whole / len(x))
    assert second > first
