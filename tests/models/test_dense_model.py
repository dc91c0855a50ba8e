"""What `DenseModel` derives from a family: expectations, divergences and totals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.conformance.poisson_mixture import PoissonMixture, PoissonNatural, PoissonPrior
from trustream.families import dirichlet
from trustream.models.dense_model import DenseModel

MODEL = PoissonMixture(3, 4, "float64")


def some_natural(seed: int) -> PoissonNatural:
    rng = np.random.default_rng(seed)
    return PoissonNatural(*(rng.gamma(4.0, 0.5, shape) for shape in ((3,), (3, 4), (3,))))


def test_expected_statistics_are_the_slope_of_the_log_normaliser() -> None:
    """By central differences of 1e-5, to 1e-7."""
    natural = some_natural(0)
    for index, expected in enumerate(MODEL.expected_statistics(natural)):
        for place in np.ndindex(expected.shape):
            values = []
            for sign in (1, -1):
                moved = [part.copy() for part in natural]
                moved[index][place] += sign * 1e-5
                values.append(MODEL.log_normaliser(PoissonNatural(*moved)))
            assert (values[0] - values[1]) / 2e-5 == pytest.approx(expected[place], rel=1e-7)


def test_divergence_is_that_of_the_families() -> None:
    """Dirichlet from `families`; gammas from densities at draws, within five standard errors."""
    natural, other = some_natural(1), some_natural(2)
    rng, expected, variance = np.random.default_rng(3), 0.0, 0.0
    for k, d in np.ndindex(3, 4):
        q, p = (stats.gamma(n.a[k, d], scale=1 / n.b[k]) for n in (natural, other))
        draws = q.rvs(20_000, random_state=rng)
        ratios = q.logpdf(draws) - p.logpdf(draws)
        expected, variance = expected + ratios.mean(), variance + ratios.var() / draws.size
    weights = float(dirichlet.kl(natural.gamma, other.gamma))
    found = MODEL.kl(natural, other)
    assert abs(found - weights - expected) < 5 * np.sqrt(variance) < 0.1 * found


def test_priors_are_broadcast() -> None:
    """KL from eta as it is given and from eta written out for all of lambda."""
    prior, natural = PoissonPrior(0.7, 2.0, 0.5), some_natural(4)
    full = PoissonNatural(np.full(3, 0.7), np.full((3, 4), 2.0), np.full(3, 0.5))
    assert MODEL.divergence(natural, prior) == MODEL.divergence(natural, prior, None, full)
    assert MODEL.global_bound(full, prior) == 0


def test_a_model_without_a_family_says_so() -> None:
    class Half(PoissonMixture):
        expected_statistics: Any = DenseModel.expected_statistics

    with pytest.raises(NotImplementedError, match="Half has no expected_statistics"):
        Half(3, 4).kl(some_natural(5), some_natural(6))
