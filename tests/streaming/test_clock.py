"""The rate follows what was added, decays on a quiet store, and is never 1."""

from __future__ import annotations

import pytest

from trustream.store.protocol import Totals
from trustream.streaming.clock import LARGEST_RATE, Clock


def totals(added: int, training: int | None = None) -> Totals:
    n = added if training is None else training
    return Totals(n, n, 0, 10 * n, 5, added, added, 1)


def test_the_papers_schedule_while_documents_arrive() -> None:
    """rho = (tau + (N_t - N_0) / B)^-kappa, however many steps are taken between arrivals."""
    for steps_between in (1, 3):
        clock = Clock.start(totals(0))
        for added in range(100, 1100, 100):
            for _ in range(steps_between):
                clock = clock.passed(totals(added), 10)
            assert clock.quiet == 0
            assert clock.rate(2.0, 0.7, 50) == pytest.approx((2.0 + added / 50) ** -0.7)


def test_the_first_pass_over_a_full_store_counts_as_arrivals() -> None:
    clock = Clock.start(totals(1000))
    assert clock.arrived == 0
    for step in range(1, 11):
        clock = clock.passed(totals(1000), 100)
        assert clock.arrived == 100 * step
        assert clock.rate(1.0, 0.5, 100) == pytest.approx((1 + step) ** -0.5)
    # A second pass is still at the last rate, a third is not.
    for _ in range(10):
        clock = clock.passed(totals(1000), 100)
    assert clock.arrived == 1000 and clock.quiet == 0 and clock.is_idle(totals(1000))
    before = clock.rate(1.0, 0.5, 100)
    clock = clock.passed(totals(1000), 100)
    assert clock.quiet == 100 and clock.rate(1.0, 0.5, 100) < before


def test_deletions_do_not_raise_the_rate() -> None:
    clock = Clock.start(totals(0)).passed(totals(1000), 100)
    rate = clock.rate(1.0, 0.5, 100)
    clock = clock.passed(totals(1000, training=10), 10)
    assert clock.rate(1.0, 0.5, 100) <= rate


def test_new_documents_end_the_quiet_in_proportion() -> None:
    clock = Clock.start(totals(0)).passed(totals(1000), 100)
    for _ in range(100):
        clock = clock.passed(totals(1000), 100)
    quiet = clock.quiet
    assert quiet == 101 * 100 - 1000  # all beyond one pass
    clock = clock.passed(totals(1001), 100)
    assert clock.quiet == pytest.approx(quiet * (1 - 1 / 1001), rel=1e-3)
    assert not clock.is_idle(totals(1001))
    clock = clock.passed(totals(3000), 100)
    assert clock.quiet < quiet / 2


def test_never_one() -> None:
    clock = Clock.start(totals(0)).passed(totals(0, 1), 1)
    assert clock.rate(0.001, 0.9, 1000) == LARGEST_RATE < 1
