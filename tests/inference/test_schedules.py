"""Learning rates: the formulas of the paper, always in (0, 1]."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trustream.inference import schedules
from trustream.inference.state import State


def at(n_steps: int) -> State:
    return State(None, None, n_steps=n_steps)


@settings(derandomize=True)
@given(st.floats(0.001, 1e6), st.floats(0.0, 1.0), st.integers(0, 10**9))
def test_rates_are_rates(tau: float, kappa: float, t: int) -> None:
    """(tau + t)^-kappa, cut at 1, and never rising."""
    rate = schedules.decaying(tau, kappa)
    assert 0 < rate(at(t + 1)) <= rate(at(t)) <= 1
    # The first step has t = 1.
    assert rate(at(t)) == min(1.0, (tau + t + 1) ** -kappa)


@pytest.mark.parametrize("tau", [0.0, -1.0, float("nan")])
def test_tau_is_positive(tau: float) -> None:
    with pytest.raises(ValueError, match="tau"):
        schedules.decaying(tau, 0.5)
