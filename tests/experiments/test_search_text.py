"""Random hyperparameters on a corpus that takes a moment."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from experiments import articles, plots, search, search_text
from experiments.experiment import Result
from tests.experiments import tiny
from trustream import presets


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tiny.articles(tmp_path_factory.mktemp("articles"))
    return tiny.result_of(tiny.SEARCH, folder)


def test_parts_do_not_overlap_and_do_not_depend_on_the_training_part(tmp_path: Path) -> None:
    tiny.articles(tmp_path)
    few, source = articles.load(tmp_path, 20, 10, 5)
    all_, _ = articles.load(tmp_path, None, 10, 5)
    assert [part.shape[0] for part in few] == [20, 10, 5]
    assert all_.train.shape[0] == 65  # the stubs are left out
    for name in ("validation", "test"):
        assert (getattr(few, name) != getattr(all_, name)).nnz == 0
    rows = np.concatenate([part.toarray() for part in all_])
    assert len(np.unique(rows, axis=0)) == len(rows) == 80
    assert not source.same_as_paper
    assert "instead of 3.8 million" in source.name


def test_too_few_articles_and_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"wiki_en\.npz.*--data"):
        articles.load(tmp_path, None, 1, 1)
    tiny.articles(tmp_path)
    for sizes in ((70, 10, 5), (None, 70, 10)):
        with pytest.raises(ValueError, match="80 articles of 10 words or more: too few"):
            articles.load(tmp_path, *sizes)


def test_draws_cover_the_grid() -> None:
    presets = [search.draw_preset(number) for number in range(600)]
    for name, choices in search.GRID.items():
        if name == "inner_and_local":
            counts = Counter((p.n_inner, p.n_local) for p in presets)
        else:
            counts = Counter(getattr(p, name) for p in presets)
        assert set(counts) == set(choices)
        assert min(counts.values()) > 600 / len(choices) / 2


def test_both_methods_have_the_same_draws_and_as_many_local_iterations() -> None:
    runs = search.plan({"n_components": [100, 200]}, 3, "wikipedia")
    assert len(runs) == 12 + 8  # four sets of Table 1 have 100 topics
    assert len({run.name for run in runs}) == 20
    for trust, natural in zip(runs[::2], runs[1::2], strict=True):
        assert trust.series.replace("TR", "NG") == natural.series
        assert (trust.settings, trust.seed) == (natural.settings, natural.seed)
    preset = search.draw_preset(0)
    trust_, natural_ = (preset.estimator(method) for method in search.METHODS.values())
    assert (
        trust_["max_iter"] * trust_["inner_iter"] * trust_["max_doc_update_iter"]
        == natural_["max_iter"] * natural_["max_doc_update_iter"]
    )


def test_scores_are_those_of_articles_that_were_not_trained_on(found: Result) -> None:
    assert len(found.runs) == 2 * 2 * 2
    for run in found.runs:
        (point,) = run.points
        # Forty words, of which an article has twenty: the best and the worst a model can do.
        assert -np.log(40) - 0.3 < point["score"] < -np.log(20) + 0.3
        passes = {"TR": 3, "NG": 6}[run.series[:2]]
        assert point["n_steps"] == passes * -(-50 // run.settings["batch_size"])


def test_the_figure_has_both_clouds_for_each_number_of_topics(found: Result) -> None:
    names = [line.get_gid() for line in plots.curves(search_text.draw(found))]
    assert names == ["ours-K2", "paper-K2", "ours-K3", "paper-K3"]
    lines = plots.curves(search_text.draw(found))
    ng, tr = search.pairs(found, 2)
    np.testing.assert_array_equal(lines[0].get_data(), [ng, tr])


def test_the_papers_pairs_are_all_there() -> None:
    sizes = {k: len(search_text.published_pairs(k)[0]) for k in (100, 200, 400, 800)}
    assert sum(sizes.values()) == 71
    assert min(sizes.values()) > 0


def test_the_summary_counts_wins(found: Result) -> None:
    rows = {what: (paper, ours) for what, paper, ours in search_text.summarise(found).rows}
    ng, tr = search.pairs(found, 2)
    assert rows["K = 2: pairs in which trust region wins"][1] == f"{(tr > ng).sum()} of 2"
    best = rows["K = 2, trust region: best, median, worst, nat/word"][1].split(", ")[0]
    assert float(best) == pytest.approx(tr.max(), abs=1e-3)


def test_the_sets_of_the_papers_table_are_run_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(search.SETS, "wikipedia", {2: (6, 4)})
    experiment = tiny.small(tiny.SEARCH, n_seeds=1, n_components=[2])
    result = tiny.result_of(experiment, tiny.articles(tmp_path))
    assert [run.seed for run in result.of("NG_K2_set")] == [4, 6]
    assert result.of("TR_K2_set")[1].settings["eta"] == presets.get("wikipedia-6").eta
    assert len(search.pairs(result, 2)[0]) == 1
    assert "1 draws" in search_text.summarise(result).notes[0]
    rows = {what: (paper, ours) for what, paper, ours in search_text.summarise(result).rows}
    paper, ours = rows["Table 1, set 4, K = 2: natural gradient, trust region"]
    assert paper == "-6.922, -6.756"
    ng, tr = search.pairs(result, 2, of="_set")
    assert ours == f"{ng[0]:.3f}, {tr[0]:.3f}"
    texts = [text.get_text() for text in search_text.draw(result).axes[0].texts]
    assert texts == ["4", "6"]
