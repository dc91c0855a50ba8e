"""Round clusters to start a Gaussian mixture from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from trustream.models.mixture import GaussianModel, GaussianPrior, gaussian_start


def of_widths(widths: list[float], d: int, n: int) -> np.ndarray:
    """n points of each width in the same place."""
    rng = np.random.default_rng(0)
    return np.concatenate([width * rng.standard_normal((n, d)) for width in widths])


def test_a_round_is_what_the_docstring_says() -> None:
    rng = np.random.default_rng(0)
    y, m = rng.normal(size=(30, 2)), rng.normal(size=(3, 2))
    overall, n_nearest = y.var(axis=0).mean(), 30 // 3
    distance = np.array([[((a - b) ** 2).sum() for b in m] for a in y])
    v = np.array([(overall + np.sort(column)[n_nearest]) / 3 for column in distance.T])
    density = np.array(
        [[stats.multivariate_normal(m[k], v[k]).pdf(a) for k in range(3)] for a in y]
    )
    phi = density / density.sum(axis=1, keepdims=True)
    counts = phi.sum(axis=0)
    means = np.array([(m[k] + phi[:, k] @ y) / (1 + counts[k]) for k in range(3)])
    spread = [(phi[:, k] * ((y - means[k]) ** 2).sum(axis=1)).sum() for k in range(3)]
    variances = (overall + np.array(spread)) / (1 + 2 * counts)
    weights = (1 + counts) / 33
    density = np.array([stats.multivariate_normal(means[k], variances[k]).pdf(y) for k in range(3)])
    found = gaussian_start.spherical(y, m, 1)
    np.testing.assert_allclose(found.m, means)
    np.testing.assert_allclose(found.v, variances)
    np.testing.assert_allclose(found.log_likelihood, np.log(weights @ density).mean())


def test_clusters_that_differ_in_width_are_found() -> None:
    widths = [0.1, 1.0, 10.0]
    y = of_widths(widths, d=16, n=500)
    far = y[np.argsort(-np.square(y).sum(axis=1))[:3]]
    near = y[[0, 500, 1000]]
    fit = gaussian_start.best(y, (far, near))
    np.testing.assert_allclose(np.sort(np.sqrt(fit.v)), widths, rtol=0.2)


def test_places_far_apart_win_where_clusters_are() -> None:
    rng = np.random.default_rng(0)
    centres = 20 * np.eye(4)
    y = np.repeat(centres, 50, axis=0) + rng.standard_normal((200, 4))
    # Two places in one cluster leave another two to one component.
    near = y[[0, 1, 60, 110]]
    fit = gaussian_start.best(y, (near, y[[0, 60, 110, 160]]))
    order = np.argsort(fit.m.argmax(axis=1))
    np.testing.assert_allclose(fit.m[order], centres, atol=0.7)


def test_of_equal_fits_the_first_is_taken() -> None:
    y = np.random.default_rng(0).normal(size=(50, 2))
    m = y[:3]
    first = gaussian_start.best(y, (m, m[::-1]))
    np.testing.assert_array_equal(first.m, gaussian_start.best(y, (m,)).m)


@pytest.mark.parametrize("y", [np.zeros((5, 2)), np.array([[0.0, 0.0]] * 4 + [[1e9, 0.0]])])
def test_data_that_repeat_have_a_width(y: np.ndarray) -> None:
    m, v, value = gaussian_start.spherical(y, y[[0, 4]], 10)
    assert np.isfinite(m).all() and np.isfinite(value)
    assert (v > 0).all()


def test_a_width_for_each_component() -> None:
    model = GaussianModel(n_components=2, n_features=3, start_count=1e6)
    prior = GaussianPrior(np.ones(2), np.zeros(3), 1.0, np.eye(3), 5.0)
    m = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    expected = model.expected(model.start(prior, m, np.array([0.25, 4.0])), prior)
    np.testing.assert_allclose(expected.means, m, atol=1e-5)
    np.testing.assert_allclose(expected.covariances[0], 0.25 * np.eye(3), atol=1e-4)
    np.testing.assert_allclose(expected.covariances[1], 4 * np.eye(3), atol=1e-4)
