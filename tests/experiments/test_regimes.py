"""Trust region against natural gradient, cell by cell, on a corpus that takes a moment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments import regimes
from experiments.experiment import Record, Result, Source
from tests.experiments import tiny

SETTINGS = {
    **regimes.EXPERIMENT.settings["quick"],
    "n_components": 2,
    "sizes": [30, 60],
    "batch_sizes": [5, 20],
    "n_articles": 60,
    "n_validation": 10,
    "n_test": 10,
}
TINY = replace(regimes.EXPERIMENT, settings={"quick": SETTINGS}, n_seeds={"quick": 2})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return tiny.result_of(TINY, tiny.articles(tmp_path_factory.mktemp("articles")))


def test_every_cell_has_both_methods_and_learns(found: Result) -> None:
    assert len(found.runs) == 2 * 2 * 2 * 2 * 2
    for population in regimes.POPULATIONS:
        for n in SETTINGS["sizes"]:
            for size in SETTINGS["batch_sizes"]:
                assert len(regimes.differences(found, population, n, size)) == 2
    # Knowing the half of the vocabulary gains log 2 over word frequencies.
    best = max(run.points[0]["score"] for run in found.runs)
    assert best == pytest.approx(-np.log(20), abs=0.2)
    assert {run.points[0]["in_use"] for run in found.runs} <= {1, 2}


def test_sizes_may_have_fewer_seeds() -> None:
    runs = regimes.plan({**SETTINGS, "fewer_seeds": {"60": 1}}, 2)
    assert {(run.settings["n"], run.seed) for run in runs} == {(30, 0), (30, 1), (60, 0)}


def test_differences_pair_seeds() -> None:
    scores = {("TR", 0): -7.0, ("TR", 1): -7.2, ("NG", 1): -7.3}
    runs = [
        Record(f"{method}_auto_N30_B5", seed, {}, [{"score": score, "in_use": 2}], 1.0)
        for (method, seed), score in scores.items()
    ]
    result = Result("regimes", "quick", SETTINGS, Source("", [], "", False), {}, {}, runs)
    assert regimes.differences(result, "auto", 30, 5) == pytest.approx([0.1])


def test_figure_and_table_have_every_cell(found: Result) -> None:
    rows = regimes.summarise(found).rows
    assert [what for what, _, _ in rows][:2] == [
        "30 articles, batches of 5, true N",
        "30 articles, batches of 20, true N",
    ]
    assert len(rows) == 8
    values = regimes.differences(found, "true", 30, 5)
    assert float(rows[0][2].split(" ")[0]) == pytest.approx(np.mean(values), abs=6e-4)
    panels = regimes.draw(found).axes
    first = panels[0].lines[0].get_ydata()[0]
    assert first == pytest.approx(np.mean(values))


def test_cells_that_are_not_done_are_left_out(found: Result) -> None:
    """Of the larger size only one method, as when time runs out."""
    runs = [run for run in found.runs if "N60" not in run.series or run.series.startswith("TR")]
    part = replace(found, runs=runs)
    summary = regimes.summarise(part)
    assert len(summary.rows) == 4
    assert all(what.startswith("30 articles") for what, _, _ in summary.rows)
    assert "of 2 cells" in " ".join(summary.notes)
    assert len(regimes.draw(part).axes[0].containers) == 1
