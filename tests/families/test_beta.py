"""The beta distribution against quadrature and the identities of exponential families."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from tests.families.numeric import check_exponential_family
from trustream.families import beta

PAIRS = [(0.3, 0.7), (1.0, 1.0), (2.5, 40.0), (300.0, 2.0)]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_expectations_are_integrals(a: float, b: float) -> None:
    def integral(f) -> float:
        def weighted(x):
            return f(x) * x ** (a - 1) * (1 - x) ** (b - 1)

        return mpmath.quad(weighted, [0, 1e-4, 0.5, 1 - mpmath.mpf("1e-4"), 1])

    with mpmath.workdps(30):
        normalizer = integral(lambda x: 1)
        logs = [
            integral(mpmath.log) / normalizer,
            integral(lambda x: mpmath.log(1 - x)) / normalizer,
        ]
        mean = integral(lambda x: x) / normalizer
    np.testing.assert_allclose(beta.log_normalizer(a, b), float(mpmath.log(normalizer)), rtol=1e-6)
    np.testing.assert_allclose(beta.expected_log(a, b), [float(v) for v in logs], rtol=1e-6)
    np.testing.assert_allclose(beta.mean(a, b), float(mean), rtol=1e-6)


@pytest.mark.parametrize("first", PAIRS)
@pytest.mark.parametrize("second", PAIRS)
def test_identities_of_an_exponential_family(first, second) -> None:
    if first == second:
        assert beta.kl(*first, *second) == 0
        return
    check_exponential_family(
        lambda x: float(beta.log_normalizer(x[0], x[1])),
        lambda x: np.array(beta.expected_log(x[0], x[1])),
        lambda x, y: float(beta.kl(x[0], x[1], y[0], y[1])),
        np.array(first),
        np.array(second),
    )


def test_arrays_of_any_shape() -> None:
    a, b = np.random.default_rng(0).gamma(2.0, size=(2, 3, 4)).astype(np.float32)
    first, second = beta.expected_log(a, b)
    assert first.shape == second.shape == beta.mean(a, b).shape == (3, 4)
    assert beta.kl(a, b, 1.0, 1.0).shape == (3, 4)
    assert first.dtype == np.float64
