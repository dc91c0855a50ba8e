"""The rate follows what was added, decays on a quiet store, and is never 1."""

from __future__ import annotations

import pytest

from trustream.learning.defaults import PASSES
from trustream.store.records import Totals
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
                clock = clock.passed(totals(added), 10, PASSES)
            assert clock.quiet == 0
            assert clock.rate(2.0, 0.7, 50) == pytest.approx((2.0 + added / 50) ** -0.7)


def test_the_first_pass_over_a_full_store_counts_as_arrivals() -> None:
    clock = Clock.start(totals(1000))
    assert clock.arrived == 0
    for step in range(1, 11):
        clock = clock.passed(totals(1000), 100, PASSES)
        assert clock.arrived == 100 * step
        assert clock.rate(1.0, 0.5, 100) == pytest.approx((1 + step) ** -0.5)
    # A second pass is still at the last rate, a third is not.
    for _ in range(10):
        clock = clock.passed(totals(1000), 100, PASSES)
    assert clock.arrived == 1000 and clock.quiet == 0 and clock.is_idle(totals(1000), 2)
    before = clock.rate(1.0, 0.5, 100)
    clock = clock.passed(totals(1000), 100, PASSES)
    assert clock.quiet == 100 and clock.rate(1.0, 0.5, 100) < before


def test_deletions_do_not_raise_the_rate() -> None:
    clock = Clock.start(totals(0)).passed(totals(1000), 100, PASSES)
    rate = clock.rate(1.0, 0.5, 100)
    clock = clock.passed(totals(1000, training=10), 10, PASSES)
    assert clock.rate(1.0, 0.5, 100) <= rate


def test_new_documents_end_the_quiet_in_proportion() -> None:
    clock = Clock.start(totals(0)).passed(totals(1000), 100, PASSES)
    for _ in range(100):
        clock = clock.passed(totals(1000), 100, PASSES)
    quiet = clock.quiet
    assert quiet == 101 * 100 - 1000  # all beyond one pass
    clock = clock.passed(totals(1001), 100, PASSES)
    assert clock.quiet == pytest.approx(quiet * (1 - 1 / 1001), rel=1e-3)
    assert not clock.is_idle(totals(1001), 2)
    clock = clock.passed(totals(3000), 100, PASSES)
    assert clock.quiet < quiet / 2


def test_never_one() -> None:
    clock = Clock.start(totals(0)).passed(totals(0, 1), 1, PASSES)
    assert clock.rate(0.001, 0.9, 1000) == LARGEST_RATE < 1


# --- phases, with a population


def test_a_phase_begins_when_the_store_has_doubled() -> None:
    """At 100, 200, 400 and 800 documents the rate is back at its first value, and not between."""
    clock, begins = Clock.start(totals(0)), []
    for added in range(100, 1000, 20):
        before = clock.phase_looks
        clock = clock.passed(totals(added), 10, PASSES)
        if clock.phase_looks == 10:
            begins.append(added)
            assert clock.phase_documents == added
            assert clock.phase_rate(2.0, 0.5, 10) == pytest.approx(3**-0.5)
        else:
            assert clock.phase_looks == before + 10
    assert begins == [100, 200, 400, 800]


def test_no_phase_begins_where_documents_are_enough() -> None:
    """The first one does; the next when documents are few for their topics again."""
    clock = Clock.start(totals(0))
    for step, added in enumerate((100, 200, 400, 1000), start=1):
        clock = clock.passed(totals(added), 10, PASSES, begins_anew=False)
        assert (clock.phase_documents, clock.phase_looks) == (100, 10 * step)
    clock = clock.passed(totals(1000), 10, PASSES, begins_anew=True)
    assert (clock.phase_documents, clock.phase_looks) == (1000, 10)


def test_a_full_store_is_one_phase() -> None:
    """From the first step on; deletions do not begin another one."""
    clock = Clock.start(totals(1000))
    assert clock.phase_looks == clock.phase_documents == 0
    for step in range(1, 31):
        clock = clock.passed(totals(1000, training=1000 if step < 10 else 300), 100, PASSES)
        assert (clock.phase_documents, clock.phase_looks) == (1000, 100 * step)
    # Nor does what refills it.
    clock = clock.passed(totals(1900, training=1200), 100, PASSES)
    assert clock.phase_documents == 1000


def test_the_rate_falls_on_a_quiet_store() -> None:
    clock = Clock.start(totals(0))
    rates = []
    for step in range(1, 101):
        clock = clock.passed(totals(500), 50, PASSES)
        rates.append(clock.phase_rate(5.0, 0.5, 50))
        assert rates[-1] == pytest.approx((5.0 + step) ** -0.5)
    assert rates == sorted(rates, reverse=True) and rates[-1] < rates[0] / 3


@pytest.mark.parametrize("kappa", [0.0, 0.5, 0.8, 1.0])
def test_the_rate_settles_like_one_over_t(kappa: float) -> None:
    """From 40 steps of a phase on, without a jump; in a new phase it is large again."""
    clock, rates = Clock.start(totals(0)), []
    for step in range(1, 4001):
        clock = clock.passed(totals(500), 50, PASSES)
        rates.append(clock.phase_rate(5.0, kappa, 50, settling=40))
        if step <= 40:
            assert rates[-1] == clock.phase_rate(5.0, kappa, 50)
    assert rates[40] == pytest.approx(rates[39], rel=0.03)
    assert rates[3999] / rates[1999] == pytest.approx(0.5, rel=0.01)
    # What lambda remembers, 1 / rho steps, is the same share of the steps so far.
    assert 1 / rates[3999] / 4000 == pytest.approx(1 / rates[1999] / 2000, rel=0.01)
    clock = clock.passed(totals(1000), 50, PASSES)
    assert clock.phase_rate(5.0, kappa, 50, settling=40) == min(LARGEST_RATE, 6.0**-kappa)


@pytest.mark.parametrize("passes", [2, 5])
def test_arrivals_after_a_long_quiet_set_the_looks_back(passes: int) -> None:
    """To so many looks at each document that was there before; never forward."""
    clock = Clock.start(totals(0))
    for _ in range(1000):
        clock = clock.passed(totals(100), 10, passes)
    assert clock.phase_looks == 10_000
    settled = clock.phase_rate(5.0, 0.5, 10)
    clock = clock.passed(totals(110), 10, passes)
    assert clock.phase_looks == passes * 100 + 10
    assert clock.phase_rate(5.0, 0.5, 10) > 2 * settled
    # Nothing new, nothing set back.
    clock = clock.passed(totals(110), 10, passes)
    assert clock.phase_looks == passes * 100 + 20
    # In a young phase arrivals change nothing.
    young = Clock.start(totals(0)).passed(totals(100), 10, passes)
    assert young.passed(totals(120), 10, passes).phase_looks == 20


def test_phases_leave_the_papers_clock_alone() -> None:
    """The rate of a stream without a population is that of the same documents, step by step."""
    clock = Clock.start(totals(0))
    other = Clock.start(totals(0))
    for added in (100, 100, 100, 300, 300, 310, 2000):
        clock = clock.passed(totals(added), 70, 2)
        other = other.passed(totals(added), 70, 50)
        assert clock.rate(1.0, 0.7, 10) == other.rate(1.0, 0.7, 10)
    assert clock.rate(1.0, 0.7, 10) != clock.phase_rate(1.0, 0.7, 10)


def test_phase_rates_are_never_one() -> None:
    clock = Clock.start(totals(0)).passed(totals(1), 1, PASSES)
    assert clock.phase_rate(0.001, 0.9, 1000) == LARGEST_RATE < 1


@pytest.mark.parametrize("passes", [1, 2, 5])
def test_idle_after_so_many_looks(passes: int) -> None:
    """The first pass over a full store counts as one; what arrives starts the count anew."""
    clock, n_steps = Clock.start(totals(100)), 0
    assert not clock.is_idle(totals(100), passes)
    while not clock.is_idle(totals(100), passes):
        clock, n_steps = clock.passed(totals(100), 10, PASSES), n_steps + 1
    assert n_steps == 10 * passes
    assert not clock.is_idle(totals(101), passes)
    clock, n_steps = clock.passed(totals(120), 10, PASSES), 1
    while not clock.is_idle(totals(120), passes):
        clock, n_steps = clock.passed(totals(120), 10, PASSES), n_steps + 1
    assert n_steps == max(1, 12 * (passes - 1))


def test_the_window_of_a_mean() -> None:
    """Half of what was looked at, but no more than a pass, and a document at least."""
    clock = Clock.start(totals(1000))
    assert clock.window(totals(1000)) == 1.0
    windows = []
    for _ in range(40):
        clock = clock.passed(totals(1000), 100, PASSES)
        windows.append(clock.window(totals(1000)))
    assert windows == [min(1000.0, 50.0 * step) for step in range(1, 41)]
    assert clock.window(totals(1000, training=0)) == 1.0
