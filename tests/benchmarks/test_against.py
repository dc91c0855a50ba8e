"""Two versions in turn: the ratio of their times, round by round."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.against.command import compared


def test_a_drift_of_both_leaves_the_ratio() -> None:
    """A machine that becomes half as fast in between changes both, and the ratio not at all."""
    rng = np.random.default_rng(0)
    drift = np.linspace(1.0, 2.0, 30)
    then = drift * rng.lognormal(0.0, 0.05, 30)
    now = 1.1 * drift * rng.lognormal(0.0, 0.05, 30)
    ratio, low, high = compared(now.tolist(), then.tolist())
    assert ratio == pytest.approx(1.1, abs=0.03)
    assert low < ratio < high and 1.0 < low and high < 1.2


def test_the_interval_covers() -> None:
    """Of 400 comparisons of equals, about one in twenty has an interval without 1."""
    rng = np.random.default_rng(1)
    outside = 0
    for _ in range(400):
        _, low, high = compared(rng.lognormal(size=31).tolist(), rng.lognormal(size=31).tolist())
        outside += not low <= 1.0 <= high
    assert 4 <= outside <= 40
