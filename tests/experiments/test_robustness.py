"""Four libraries' methods over the same draws, on a corpus that takes a moment."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments import plots, robustness
from experiments.experiment import Result
from tests.experiments import tiny
from trustream.presets import Preset

pytest.importorskip("gensim")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tiny.articles(tmp_path_factory.mktemp("articles"))
    return tiny.result_of(tiny.ROBUSTNESS, folder)


def test_all_methods_have_the_same_draws(found: Result) -> None:
    settings = [[run.settings for run in found.of(series)] for series in robustness.SERIES]
    assert settings[0] == settings[1] == settings[2] == settings[3]
    assert settings[0][0] != settings[0][1]
    for series in robustness.SERIES:
        values = robustness.scores(found, series)
        assert values.shape == (2,)
        assert (-np.log(40) - 1 < values).all()
        assert (values < -np.log(20) + 0.3).all()


@pytest.mark.parametrize("fit", [robustness._fit_sklearn, robustness._fit_gensim])
def test_peers_learn_planted_topics_when_settings_are_good(fit: object, tmp_path: Path) -> None:
    data, _ = robustness.load(tiny.articles(tmp_path), {**tiny.ROBUSTNESS.settings["quick"]})
    preset = Preset(10, alpha=0.1, eta=0.1, kappa=0.6, tau=1.0, n_inner=5, n_local=40)
    topics = fit(data.train, 2, preset, 0)  # type: ignore[operator]
    topics = topics / topics.sum(axis=1, keepdims=True)
    shares = np.sort(topics[:, :20].sum(axis=1))
    assert shares[0] < 0.05
    assert shares[1] > 0.95


def test_figure_and_table_have_all_four(found: Result) -> None:
    names = [line.get_gid() for line in plots.curves(robustness.draw(found))]
    assert names == [f"ours-{series}" for series in robustness.SERIES]
    rows = {what: ours for what, _, ours in robustness.summarise(found).rows}
    worst = rows["scikit-learn: best, median, worst, nat/word"].split(", ")[2]
    assert float(worst) == pytest.approx(robustness.scores(found, "sklearn").min(), abs=1e-3)
