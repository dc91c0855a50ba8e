"""`fit` against tomotopy, on data that take a moment."""

from __future__ import annotations

import numpy as np
import pytest

from experiments import gibbs_gap, plots
from experiments.experiment import Result
from tests.experiments import tiny

pytest.importorskip("tomotopy", reason="the experiment runs it")

GAP = tiny.small(
    gibbs_gap.EXPERIMENT,
    n_seeds=1,
    corpora=["wiki_en"],
    n_documents=[30, 60],
    n_components={"2": 30, "3": 60},
    n_iterations=50,
    n_test=10,
)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return tiny.result_of(GAP, tiny.articles(tmp_path_factory.mktemp("articles")))


def test_both_libraries_find_planted_topics(result: Result) -> None:
    cells = gibbs_gap.cells(result)
    assert [cell for cell, _ in cells] == [
        ("wiki_en", 30, 2),
        ("wiki_en", 60, 2),
        ("wiki_en", 60, 3),
    ]
    for _, runs in cells:
        assert runs.keys() == gibbs_gap.LABELS.keys()
        for run in runs.values():
            (point,) = run.points
            # Forty words, of which an article has twenty.
            assert -np.log(40) < point["completion"] < -np.log(20) + 0.3
            assert point["npmi_all"] > 0.1
            assert point["seconds"] > 0 and point["processor_seconds"] >= 0


def test_the_shortest_runs_come_first_and_methods_stay_together() -> None:
    runs = gibbs_gap.plan(gibbs_gap.EXPERIMENT.settings["paper"], 1)
    methods = [run.settings.pop("method") for run in runs]
    assert methods[: 2 * len(gibbs_gap.LABELS)] == 2 * list(gibbs_gap.LABELS)
    cells = [run.settings for run in runs[:: len(gibbs_gap.LABELS)]]
    assert cells[0] == {"corpus": "wiki_simple", "n_documents": 500, "n_components": 10}
    assert cells[-1] == {"corpus": "wiki_en", "n_documents": 20_000, "n_components": 400}
    assert not any(cell["n_components"] == 400 and cell["n_documents"] < 5000 for cell in cells)


def test_the_summary_has_leads_and_times(result: Result) -> None:
    rows = {what: ours for what, _, ours in gibbs_gap.summarise(result).rows}
    assert len(rows) == 6
    for _, runs in gibbs_gap.cells(result):
        ours, theirs = (runs[name].points[0]["chib"] for name in ("fit", "tomotopy"))
        assert any(f"Chib {ours:.3f} ({ours - theirs:+.3f})" in text for text in rows.values())
    names = {line.get_gid() for line in plots.curves(gibbs_gap.draw(result))}
    assert "ours-completion-tomotopy" in names
