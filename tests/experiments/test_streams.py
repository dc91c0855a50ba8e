"""Streams through a store on data that take a moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import (
    articles,
    plots,
    stream_lines,
    stream_ratings,
    stream_text,
    streams,
)
from experiments.experiment import Record, Result, Source
from tests.experiments import tiny
from trustream import StreamTrainer, open_store
from trustream.streaming.published import as_estimator
from trustream.streaming.simulator import ticks

TEXT = tiny.small(
    stream_text.EXPERIMENT,
    n_seeds=2,
    streams=[
        {
            "n_components": 100,  # the figure has the paper's lines beside
            "TR": "wikipedia-4",
            "NG": "wikipedia-3",
            "n_articles": 50,
            "marks": [20, 30],
        }
    ],
    n_validation=10,
    n_test=10,
    first=10,
    rate=2.0,
    looks={"TR": 9.0, "NG": 60.0},
    batch_passes=3,
    svb_batch_sizes=[20, 500],
    svb_pairs=2,
)
RATINGS = tiny.small(
    stream_ratings.EXPERIMENT,
    n_seeds=1,
    streams=[{"n_components": 2, "TR": "netflix-1", "NG": "netflix-3", "marks": [20]}],
    n_validation=20,
    n_test=20,
    list_length=5,
    # Enough that topics are found whatever the seed.
    first=20,
    looks={"TR": 60.0, "NG": 300.0},
    svb_batch_sizes=[20],
    factors={"PF": [2], "NMF": [1, 2], "HPF": [2]},
)
OPTIONS = {**streams.svi_options("TR", "wikipedia-4", 3), "batch_size": 10, "inner_iter": 2}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return tiny.result_of(TEXT, tiny.articles(tmp_path_factory.mktemp("articles")))


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_ratings, "available", lambda name: name in ("PF", "NMF"))
        return tiny.result_of(RATINGS, tiny.likes(tmp_path_factory.mktemp("likes")))


@pytest.fixture
def counts(tmp_path: Path) -> Any:
    return articles.load(tiny.articles(tmp_path), 40, 10, 10)[0].train


def seen(counts: Any, **changed: Any) -> list[streams.Seen]:
    due = streams.svi_steps(looks=3.0, batch_size=10, first=10)
    values = {"marks": [5, 20, 40], "rate": 1.0, "p": 0.5, "seed": 0, **changed}
    return list(streams.follow(counts, OPTIONS, due, **values))


def test_models_are_there_from_the_first_step_to_the_last_document(counts: Any) -> None:
    found = seen(counts)
    # Nothing was learned at 5 documents.
    assert [each.n_documents for each in found] == [20, 40]
    assert [each.n_steps for each in found] == [3, 9]
    assert found[0].n_words < found[1].n_words < counts.sum()
    whole = seen(counts, whole=True)
    assert whole[-1].n_words == counts.sum()


def test_a_stream_is_what_its_store_would_show_after_every_word(
    counts: Any, tmp_path: Path
) -> None:
    """Words are committed when somebody looks; committing each tick by itself changes nothing."""
    ours = seen(counts)[-1].model
    words = [f"word-{column}" for column in range(counts.shape[1])]
    due = streams.svi_steps(looks=3.0, batch_size=10, first=10)
    arrived: set[str] = set()
    with open_store(tmp_path / "a.db", held_out=0.0, vocabulary=words) as store:
        trainer = StreamTrainer(store, score_every=0, prefetch=False, random_state=0, **OPTIONS)
        steps = trainer.steps()
        for tick in ticks(counts, words, rate=1.0, p=0.5, rng=np.random.default_rng(0)):
            store.append(tick.records)
            arrived |= {record.key for record in tick.records}
            while trainer.n_steps < due(len(arrived)):
                next(steps)
            if len(arrived) == 40:
                break
        checkpoint = trainer.checkpoint()
        assert checkpoint is not None
        theirs = as_estimator(checkpoint)
    np.testing.assert_array_equal(ours.components_, theirs.components_)


def test_every_line_has_its_points(text: Result) -> None:
    ends = {run.series: [p["n_documents"] for p in run.points] for run in text.runs}
    assert ends["full_TR_K100"] == ends["full_NG_K100"] == [50]
    # A batch of 500 never fills.
    assert ends.pop("svb_B500_K100_eta0.1") == []
    svb = [name for name in ends if name.startswith("svb_B20_")]
    assert len(svb) == 5
    for name in ("stream_TR_K100", "stream_NG_K100", "batch_K100", *svb):
        assert len(ends[name]) == 3
        assert ends[name][-1] == 50
    steps = {run.series: [p["n_steps"] for p in run.points] for run in text.runs}
    assert steps["batch_K100"] == [1, 2, 3]
    assert steps["svb_B20_K100_eta0.1"] == [1, 1, 2]
    assert steps["stream_TR_K100"][-1] == 9 * (50 - 10) // 50
    assert steps["full_TR_K100"] == [3]
    words = {run.series: run.points[-1]["n_words"] for run in text.runs if run.points}
    # Streaming VB has whole articles.
    assert words["svb_B20_K100_eta0.1"] == words["full_TR_K100"] > words["stream_TR_K100"]


def test_scores_are_log_likelihoods_of_articles_that_were_not_streamed(text: Result) -> None:
    for run in text.runs:
        for point in run.points:
            # Forty words, of which an article has twenty.
            assert -np.log(40) - 0.5 < point["score"] < -np.log(20) + 0.3


def test_the_figure_has_our_lines_and_the_papers(text: Result) -> None:
    names = {line.get_gid() for line in plots.curves(stream_text.draw(text))}
    ours = {"stream_TR", "stream_NG", "batch", "full_TR", "full_NG"}
    assert names == {f"ours-{n}" for n in ours} | {f"paper-{n}" for n in (*ours, "svb_B1000")}


def test_the_summary_says_how_far_streams_stay_behind(text: Result) -> None:
    rows = {what: (paper, ours) for what, paper, ours in stream_text.summarise(text).rows}
    what = "K = 100, streaming TR minus TR on the whole data, nat/word"
    last = {name: [r.points[-1]["score"] for r in text.of(f"{name}_TR_K100")] for name in
            ("stream", "full")}  # fmt: skip
    gap = np.mean(last["stream"]) - np.mean(last["full"])
    assert rows[what][0] == "-0.006"  # -6.789 and -6.783
    assert float(rows[what][1].split()[0]) == pytest.approx(gap, abs=6e-4)


def test_what_is_chosen_is_best_on_the_validation_part() -> None:
    def record(eta: float, validation: float, test: float) -> Record:
        points = [{"n_documents": 1, "score": test}]
        settings = {"eta": eta}
        return Record(
            f"svb_B1000_K5_eta{eta}", 0, settings, points, 0.0, {"validation": validation}
        )

    runs = [record(0.1, -2.0, -1.0), record(0.2, -1.0, -2.0), record(0.3, -3.0, -3.0)]
    result = Result("stream-text", "quick", {}, Source("", [], "", False), {}, {}, runs)
    assert stream_lines.chosen(result, "svb_B1000", 5) == [runs[1]]
    (note,) = stream_lines.choices(result, 5, "")
    assert "eta = 0.2, best of 3" in note


def test_the_papers_lines_are_all_there() -> None:
    ours = {"product", "full_TR_N", "full_NG_N", "PF"}
    known = set(stream_lines.LINES) - {"svb_B50000", "popularity", *ours}
    figure = ("fig5_netflix_stream", "thousand_users", "recall_pct")
    assert set(stream_lines.published_lines(*figure)) == known
    columns = ("thousand_articles", "loglik_nat_per_word")
    for topics in (100, 400):
        lines = stream_lines.published_lines("fig4_wikipedia_stream", *columns, topics=topics)
        assert set(lines) == known - {"HPF", "PMF", "NMF"}
    assert lines["full_TR"][1].tolist() == [-6.685097] * 2


def test_planted_likes_are_found_in_a_stream(rated: Result) -> None:
    last = {run.series: run.points[-1] for run in rated.runs}
    # Two likes of ten movies were held out, of six; lists have five, chance is one half.
    assert last["full_TR_K2"]["recall"] > 95
    assert last["stream_TR_K2"]["recall"] > 95
    assert last["stream_TR_K2"]["n_documents"] == 40
    assert last["PF_K2_f2"]["recall"] > 95
    assert last["popularity_K2"]["recall"] < 80


def test_a_package_that_is_missing_leaves_its_lines_out(rated: Result) -> None:
    lines = {line.get_gid() for line in plots.curves(stream_ratings.draw(rated))}
    assert {"ours-NMF", "ours-PF", "paper-HPF", "ours-popularity"} <= lines
    assert "ours-HPF" not in lines
    notes = " ".join(stream_ratings.summarise(rated).notes)
    assert "cornac is not installed: HPF." in notes
    assert "NMF: factors = " in notes


def test_full_scale_has_our_own_stream_the_papers_n_and_few_seeds_of_the_rest() -> None:
    experiment = stream_text.EXPERIMENT
    runs = streams.plan(experiment.settings["full"], experiment.n_seeds["full"])
    names = [run.name for run in runs]
    assert names[:4] == ["stream_TR_K100-0", "full_TR_K100-0", "stream_NG_K100-0", "full_NG_K100-0"]
    for series in ("stream_TR_K100", "product_K100"):
        assert [run.seed for run in runs if run.series == series] == [0, 1, 2, 3, 4]
    for series in ("stream_NG_K100", "batch_K100", "full_TR_N_K100", "stream_TR_K400"):
        assert [run.seed for run in runs if run.series == series] == [0]
    # Fewer topics first: whole claims are done before time runs out.
    first = names.index("stream_TR_K400-0")
    assert all("K100" in name for name in names[:first])
    assert all("K400" in name for name in names[first:])


def test_our_own_stream_and_the_papers_n_learn(tmp_path: Path) -> None:
    experiment = tiny.small(TEXT, n_seeds=1, product=True, populations=[5000], svb_batch_sizes=[])
    result = tiny.result_of(experiment, tiny.articles(tmp_path))
    ends = {run.series: run.points[-1] for run in result.runs}
    for series in ("product_K100", "full_TR_N_K100", "full_NG_N_K100"):
        # Forty words, of which an article has twenty.
        assert -np.log(40) - 0.3 < ends[series]["score"] < -np.log(20) + 0.3
    assert ends["full_TR_N_K100"]["score"] != ends["full_TR_K100"]["score"]
    notes = " ".join(stream_text.summarise(result).notes)
    assert "N = 5,000" in notes
    assert "trustream's defaults" in notes
