"""Two versions in turn: the ratio of their times, and how good their fits are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.against import fits
from benchmarks.against.command import compared
from tests.helpers import planted_lda


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


@pytest.mark.slow
def test_a_version_fits_as_well_as_itself(tmp_path: Path) -> None:
    """To the last digit, seed by seed; and another seed fits otherwise."""
    counts, _ = planted_lda(np.random.default_rng(5), 3, 30, 150, 40, 0.1, 0.05)
    cell, here = fits.Cell("wiki_simple", 100, 3), Path(fits.__file__).parents[2]
    versions = {name: fits.Fits(here, tmp_path) for name in ("now", "then")}
    try:
        scores = fits._scores(cell, counts, [0, 1], versions, str(tmp_path))
    finally:
        for version in versions.values():
            version.close()
    for measure in fits.MARGINS:
        now, then = (scores[version][measure] for version in ("now", "then"))
        assert now == then and now[0] != now[1]
        assert fits.compared(now, then) == (0.0, 0.0)
    # Better than word frequencies, of which there are thirty.
    assert min(scores["now"]["completion"]) > -np.log(30)
    assert all(row.met for row in fits._rows(cell, scores))


def test_what_counts_as_worse() -> None:
    """Both two standard errors and the margin have to be passed."""
    assert fits.compared([0.0, 0.0], [0.02, 0.021]).is_worse(0.01)
    assert not fits.compared([0.0, 0.0], [0.0, 0.04]).is_worse(0.01)
    assert not fits.compared([0.0, 0.0], [0.004, 0.0041]).is_worse(0.01)
    assert not fits.compared([0.0], [1.0]).is_worse(0.01)  # one pair says nothing
