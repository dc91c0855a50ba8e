"""The page is written from the runs that are there, and keeps what was made elsewhere."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from experiments import claims, report, search
from experiments.experiment import Record, Result, Run, Settings, Source
from experiments.runner import KEPT, Setup, complete
from tests.experiments import tiny

NAMES = ["mnist", "search-text"]
FULL = {
    **tiny.SEARCH.settings["quick"],
    "n_components": [2],
    "populations": [None, 5000],
    "passes": {"TR": 1, "NG": 2},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three of four draws of a search, and a page with a section that was made elsewhere."""
    tiny.articles(tmp_path)
    experiment = replace(tiny.SEARCH, settings={"full": FULL}, n_seeds={"full": 4})
    monkeypatch.setattr(report, "experiment_of", lambda name: experiment)
    asked = 0

    def plan(settings: Settings, n: int) -> list[Run]:
        return search.plan(settings, n, "wikipedia")

    def perform(*arguments: object) -> object:
        nonlocal asked
        asked += 1
        if asked > 13:  # three draws of four runs, and one run of the last draw
            raise KeyboardInterrupt
        return tiny.SEARCH.perform(*arguments)  # type: ignore[arg-type]

    cut = replace(experiment, plan=plan, perform=perform)
    with pytest.raises(KeyboardInterrupt):
        complete(
            cut,
            Setup(tmp_path, tmp_path / "out", "full", kept=tmp_path / "kept"),
            Console(file=io.StringIO()),
        )
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "reproduction.md").write_text(
        "# Old\n\n| | claim |\n|---|---|\n| <!-- mnist quick --> 2A | all | yes |\n\n"
        "<!-- mnist quick -->\n\n## Figure 2A\n\nMade elsewhere.\n\n"
        "<!-- search-text quick -->\n\n## Figure 3A, quick\n\nFew articles.\n\n"
        "<!-- rest all -->\n\n## Not run yet\n"
    )
    return tmp_path


def page(folder: Path) -> str:
    path = report.write(folder / "out", folder / "kept", folder / "docs", NAMES)
    return path.read_text()


def test_a_page_of_an_unfinished_experiment_says_so_and_keeps_the_smaller_scale(
    folder: Path,
) -> None:
    text = page(folder)
    assert "**13 of 16 planned runs are done.**" in " ".join(text.split())
    assert text.index("(full scale)") < text.index("## Figure 3A, quick")
    assert text.count("Made elsewhere.") == 1
    assert "Old" not in text
    assert (folder / "docs/reproduction/search-text-full.png").stat().st_size > 5000


def test_only_whole_pairs_count(folder: Path) -> None:
    rows = [line for line in page(folder).splitlines() if "pairs in which trust region" in line]
    assert [row.split(" of ")[-1] for row in rows] == ["3 |", "3 |"]
    assert "N = 5,000" in rows[1]


def test_claims_of_all_sections_are_at_the_top_each_once(folder: Path) -> None:
    page(folder)
    text = page(folder)
    table = text.partition("## The paper's claims")[2].partition("<!-- mnist quick -->\n")[0]
    assert table.count("<!-- mnist quick --> 2A | all | yes |") == 1
    assert table.count("<!-- search-text full --> 3A") == 4


def test_a_page_is_the_same_when_it_is_written_again(folder: Path) -> None:
    first = page(folder)
    assert page(folder) == first


def test_sections_that_are_complete_hide_smaller_scales() -> None:
    complete_, part = "all\n", "13 of 16 planned runs are done\n"
    parts = {("a", "quick"): complete_, ("a", "full"): complete_, ("b", "quick"): complete_}
    page = report._Page({**parts, ("b", "full"): part})
    assert report._shown(page, "a") == ["full"]
    assert report._shown(page, "b") == ["full", "quick"]
    assert report._shown(page, "c") == []


def test_draws_are_paired_by_their_numbers() -> None:
    runs = [
        Record(f"{series}_K2", seed, {}, [{"score": float(seed)}], 1.0)
        for series, seed in (("TR", 0), ("NG", 0), ("TR", 1), ("NG", 2), ("TR", 2))
    ]
    result = Result("search-text", "full", {}, Source("", [], "", False), {}, {}, runs)
    ng, tr = search.pairs(result, 2)
    assert ng.tolist() == tr.tolist() == [0.0, 2.0]


def test_the_page_has_all_runs_that_are_kept() -> None:
    """Lines of claims and numbers of runs, so that nobody commits runs without the page."""
    root = Path(report.__file__).parents[1]
    text = (root / "docs/reproduction.md").read_text()
    page = report._Page.read(root / "docs/reproduction.md")
    names = [path.stem for path in (KEPT / "full").glob("*.jsonl")]
    assert "search-text" in names
    for name in names:
        result = report._result(KEPT / "full" / f"{name}.jsonl")
        assert result is not None
        section = " ".join(page.sections[name, "full"].split())
        done = f"{len(result.runs)} of {result.n_planned} planned runs are done"
        assert (done in section) == (len(result.runs) < result.n_planned), f"report {name} again"
        for line in claims.lines(result):
            assert line in text, f"scripts/experiments report: {line}"


@pytest.mark.parametrize(
    ("gap", "verdict"), [(-0.3, "no; the"), (0.1, "above, by 34%"), (2, "yes")]
)
def test_streams_are_compared_with_the_paper(gap: float, verdict: str) -> None:
    """Ends of lines; a difference that is 0.292 in the paper."""
    settings = {"kind": "stream", "n_components": 100}

    def record(series: str, *scores: float) -> Record:
        points = [{"n_documents": 1000.0 * n, "score": s} for n, s in enumerate(scores, start=1)]
        return Record(f"{series}_K100", 0, settings, points, 1.0)

    runs = [record("stream_TR", -7.5, -7.0 + gap), record("stream_NG", -7.5, -7.0)]
    streams = {"streams": [{"n_components": 100}]}
    result = Result("stream-text", "full", streams, Source("", [], "", False), {}, {}, runs)
    (found,) = claims._stream_text(result)
    assert found.ours == f"{gap:+.3f}" and found.verdict.startswith(verdict)
