"""Streams against `fit`, on data that take a moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments import gap_lines, growing_stores, plots, stream_gap
from experiments.experiment import Record, Result, Source
from tests.experiments import tiny
from trustream import open_store

GAP = tiny.small(
    stream_gap.EXPERIMENT,
    n_seeds=2,
    corpora=["wiki_en"],
    sizes=[{"n_components": 2, "marks": [25]}],
    n_documents=60,
    n_test=10,
    chunk=10,
)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return tiny.result_of(GAP, tiny.articles(tmp_path_factory.mktemp("articles")))


@pytest.fixture
def counts(tmp_path: Path) -> Any:
    settings = GAP.settings["quick"]
    data, _ = stream_gap.load(tiny.articles(tmp_path), settings)
    return stream_gap.split(data["wiki_en"], 0, settings)[0]


def test_every_method_has_its_points(result: Result) -> None:
    ends = {(run.series, run.seed): [p["n_documents"] for p in run.points] for run in result.runs}
    assert len(ends) == 2 * len(gap_lines.METHODS)
    for (series, _), marks in ends.items():
        assert marks == ([60] if series.endswith("words") else [25, 60])


def test_long_runs_of_other_methods_are_left_out() -> None:
    settings = stream_gap.EXPERIMENT.settings["full"]
    runs = stream_gap.plan(settings, 2)
    names = {run.name for run in runs}
    for corpus in settings["corpora"]:
        assert {f"{corpus}_K400_{name}-1" for name in ("fit", "stream")} <= names
    assert {"wiki_en_K100_words-0", "wiki_en_K400_quiet-0"} <= names
    assert not {"wiki_en_K100_words-1", "wiki_en_K400_batch-0"} & names
    unlimited = stream_gap.plan({**settings, "most_cost": float("inf")}, 2)
    assert [run for run in unlimited if run in runs] == runs


def test_scores_are_those_of_planted_topics(result: Result) -> None:
    for run in result.runs:
        last = run.points[-1]
        # Forty words, of which an article has twenty.
        assert -np.log(40) - 0.5 < last["chib"] < -np.log(20) + 0.3
        assert 1 <= last["n_used"] <= 2
    for name in ("fit", "stream", "quiet", "words"):
        for run in result.of(f"wiki_en_K2_{name}"):
            assert run.points[-1]["completion"] > -np.log(20) - 0.1
            assert run.points[-1]["npmi"] > 0.2


def test_the_summary_has_paired_differences(result: Result) -> None:
    rows = {what: ours for what, _, ours in stream_gap.summarise(result).rows}
    assert len(rows) == 2 * len(gap_lines.METHODS) - 1
    last = {
        name: np.array([run.points[-1]["completion"] for run in result.of(f"wiki_en_K2_{name}")])
        for name in ("fit", "stream", "words")
    }
    gap = (last["stream"] - last["fit"]).mean()
    text = rows["wiki_en, K = 2, 60 documents, stream, minus fit"]
    assert text.startswith("completion ") and text.endswith("; 2 topics")
    assert float(text.split()[1]) == pytest.approx(gap, abs=6e-4)
    text = rows["wiki_en, K = 2, 60 documents, stream, word by word, minus stream"]
    assert float(text.split()[1]) == pytest.approx(
        (last["words"] - last["stream"]).mean(), abs=6e-4
    )


def test_differences_are_of_the_same_seeds_only() -> None:
    def record(method: str, seed: int, score: float) -> Record:
        point = {"n_documents": 9, "n_used": 5, **dict.fromkeys(gap_lines.MEASURES, score)}
        return Record(f"wiki_en_K5_{method}", seed, {"corpus": "wiki_en"}, [point], 0.0)

    runs = [record("fit", 0, -2.0), record("fit", 1, -9.0), record("stream", 0, -1.5)]
    settings = {
        **GAP.settings["quick"],
        "methods": ["stream"],
        "sizes": [{"n_components": 5, "marks": []}],
    }
    result = Result("stream-gap", "quick", settings, Source("", [], "", False), {}, {}, runs)
    ((_, _, ours),) = stream_gap.summarise(result).rows
    assert ours == "completion 0.500; Chib 0.500; NPMI 0.500; 5 topics"


def test_the_figure_has_stream_and_fit(result: Result) -> None:
    names = {line.get_gid() for line in plots.curves(stream_gap.draw(result))}
    assert names == {"ours-wiki_en-fit-2", "ours-wiki_en-stream-2"}


def test_words_that_come_one_at_a_time_make_up_the_same_documents(
    counts: Any, tmp_path: Path
) -> None:
    words = [f"word-{column}" for column in range(counts.shape[1])]
    stream = growing_stores.single_words(counts, 10, rate=1.0, p=0.5, rng=np.random.default_rng(0))
    whole = growing_stores.whole_documents(counts, [25, 60], 10)
    totals = []
    for name, arrivals in (("words", stream), ("whole", whole)):
        with open_store(tmp_path / f"{name}.db", held_out=0.0, vocabulary=words) as store:
            for arrival in arrivals:
                store.append(arrival.records)
            assert arrival.n_documents == 60
            totals.append((store.totals().documents, store.totals().tokens))
    assert totals[0] == totals[1] == (60, counts.sum())


def test_trainers_look_at_each_document_as_often_as_is_said(counts: Any) -> None:
    looked_at = []
    for looks in (1, 5):
        arrivals = growing_stores.whole_documents(counts, [60], 10)
        models = growing_stores.followed(arrivals, counts.shape[1], 2, 0, [60], {}, looks)
        ((_, model),) = models
        looked_at.append(model._state.n_seen)
    assert 60 <= looked_at[0] < 70 and 300 <= looked_at[1] < 310


def test_a_missing_corpus_is_an_error_in_plain_words(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no wiki_en\.npz in "):
        stream_gap.load(tmp_path, GAP.settings["quick"])
