"""Distributions of regression weights: gradients of log-normalisers, divergences, evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from trustream.families import normal_weights, weights_and_noise


def precision(rng: np.random.Generator) -> np.ndarray:
    half = rng.standard_normal((3, 5))
    return half @ half.T


def both(family: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    more = ((2.0, 5.0), (1.0, 3.0)) if family is weights_and_noise else ((), ())
    return tuple(family.natural(rng.standard_normal(3), precision(rng), *rest) for rest in more)


def expected(family: Any, lambda_: Any) -> Any:
    if family is weights_and_noise:
        return family.expected(lambda_)
    m, covariance, _ = family.traditional(lambda_)
    return family.Natural(-(covariance + np.outer(m, m)) / 2, m)


def gradient(family: Any, lambda_: Any, part: int, index: tuple[int, ...]) -> float:
    """Of a(lambda) in one entry; matrices stay symmetric."""
    step, values = 1e-5, []
    for sign in (1, -1):
        moved = [np.array(entry) for entry in lambda_]
        if moved[part].ndim == 2:
            moved[part][index] += sign * step / 2
            moved[part][index[::-1]] += sign * step / 2
        else:
            moved[part][index] += sign * step
        values.append(family.log_normalizer(type(lambda_)(*moved)))
    return (values[0] - values[1]) / (2 * step)


@pytest.mark.parametrize("family", [normal_weights, weights_and_noise])
def test_expectations_are_gradients(family: Any) -> None:
    lambda_, _ = both(family)
    found = expected(family, lambda_)
    for part, entries in enumerate(lambda_):
        for index in np.ndindex(entries.shape):
            slope = gradient(family, lambda_, part, index)
            np.testing.assert_allclose(found[part][index], slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("family", [normal_weights, weights_and_noise])
def test_divergence(family: Any) -> None:
    """KL = <E[t], lambda - other> - a(lambda) + a(other), and zero from itself."""
    lambda_, other = both(family)
    pairs = zip(expected(family, lambda_), lambda_, other, strict=True)
    value = sum(float(np.sum(t * (a - b))) for t, a, b in pairs)
    value += family.log_normalizer(other) - family.log_normalizer(lambda_)
    np.testing.assert_allclose(family.kl(lambda_, other), value, rtol=1e-10)
    assert abs(family.kl(lambda_, lambda_)) < 1e-12


def test_evidence_of_one_row_is_a_student_density() -> None:
    prior = weights_and_noise.natural([1.0, -1.0], np.diag([2.0, 0.5]), 3.0, 4.0)
    x, y = np.array([0.3, 2.0]), 1.5
    rows = weights_and_noise.Natural(np.outer(x, x), y * x, np.array([y * y]), np.ones(1))
    posterior = type(prior)(*(a + b for a, b in zip(prior, rows, strict=True)))
    scale = np.sqrt(3.0 / 4.0 * (1 + x @ np.diag([0.5, 2.0]) @ x))
    exact = stats.t(4.0, loc=x @ [1.0, -1.0], scale=scale).logpdf(y)
    np.testing.assert_allclose(weights_and_noise.evidence(prior, posterior, 1), exact, rtol=1e-12)
