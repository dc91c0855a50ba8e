"""The gamma distribution against quadrature and the identities of exponential families."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from tests.families.numeric import check_exponential_family
from trustream.families import gamma

PAIRS = [(0.3, 0.7), (1.0, 1.0), (2.5, 40.0), (30.0, 2.0)]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_expectations_are_integrals(a: float, b: float) -> None:
    edges = [0, 1e-6, 1e-3, 0.05, 0.5, 2, 10, 40, 200]

    def integral(f) -> float:
        return mpmath.quad(lambda x: f(x) * x ** (a - 1) * mpmath.exp(-b * x), edges)

    with mpmath.workdps(30):
        normalizer = integral(lambda x: 1)
        log = integral(mpmath.log) / normalizer
        mean = integral(lambda x: x) / normalizer
        log_z = mpmath.log(normalizer)
        entropy = log_z - (a - 1) * log + b * mean
    np.testing.assert_allclose(gamma.log_normalizer(a, b), float(log_z), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(gamma.expected_log(a, b), float(log), rtol=1e-6)
    np.testing.assert_allclose(gamma.mean(a, b), float(mean), rtol=1e-6)
    np.testing.assert_allclose(gamma.entropy(a, b), float(entropy), rtol=1e-6)


@pytest.mark.parametrize("first", PAIRS)
@pytest.mark.parametrize("second", PAIRS)
def test_identities_of_an_exponential_family(first, second) -> None:
    """Natural parameters are (a, -b), statistics (log x, x)."""
    if first == second:
        assert gamma.kl(*first, *second) == 0
        return
    check_exponential_family(
        lambda x: float(gamma.log_normalizer(x[0], -x[1])),
        lambda x: np.array([gamma.expected_log(x[0], -x[1]), gamma.mean(x[0], -x[1])]),
        lambda x, y: float(gamma.kl(x[0], -x[1], y[0], -y[1])),
        np.array([first[0], -first[1]]),
        np.array([second[0], -second[1]]),
    )
