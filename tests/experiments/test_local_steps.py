"""Local steps next to exact ones: pairs of seeds, figure and table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments import local_steps
from experiments.experiment import Record, Result, Source
from tests.experiments import tiny

SETTINGS = {
    **local_steps.EXPERIMENT.settings["quick"],
    "n_components": [2],
    # More steps than are exact in any case.
    "batch_sizes": [5],
    "n": 60,
    "n_articles": 60,
    "n_validation": 10,
    "n_test": 10,
}
TINY = replace(local_steps.EXPERIMENT, settings={"quick": SETTINGS}, n_seeds={"quick": 2})


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return tiny.result_of(TINY, tiny.articles(tmp_path_factory.mktemp("articles")))


def test_both_modes_take_the_same_steps_and_differ(found: Result) -> None:
    assert len(found.runs) == 2 * 2
    assert {run.points[0]["n_steps"] for run in found.runs} == {60}
    differences = local_steps.differences(found, 2, 5)
    assert len(differences) == 2 and all(difference != 0 for difference in differences)
    # Knowing the half of the vocabulary gains log 2 over word frequencies.
    best = max(run.points[0]["score"] for run in found.runs)
    assert best == pytest.approx(-np.log(20), abs=0.2)


def test_differences_pair_seeds() -> None:
    scores = {("local", 0): -7.0, ("local", 1): -7.2, ("exact", 1): -7.1}
    runs = [
        Record(f"{mode}_K2_B5", seed, {}, [{"score": score}], 1.0)
        for (mode, seed), score in scores.items()
    ]
    result = Result("local-steps", "quick", SETTINGS, Source("", [], "", False), {}, {}, runs)
    assert local_steps.differences(result, 2, 5) == pytest.approx([-0.1])


def test_figure_and_table(found: Result) -> None:
    values = local_steps.differences(found, 2, 5)
    ((what, _, said),) = local_steps.summarise(found).rows
    assert what == "2 topics, batches of 5"
    assert float(said.partition(",")[0]) == pytest.approx(np.mean(values), abs=6e-5)
    assert f"worst of 2 seeds {min(values):+.4f}" in said
    (axes,) = local_steps.draw(found).axes
    drawn = next(line for line in axes.lines if line.get_gid() == "ours-0")
    assert drawn.get_ydata()[0] == pytest.approx(np.mean(values))
