"""Runs are done once, whole, and again only where something that decides them has changed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from experiments import files
from experiments.experiment import Experiment, Result, Run, Source, Summary
from experiments.progress import progress
from experiments.runner import Setup, complete


def quiet() -> Console:
    return Console(file=io.StringIO(), force_terminal=False)


class Work:
    """An experiment that notes what it does and can be stopped in the middle of a run."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.stop_at: str | None = None
        self.sha256 = "0"

    def experiment(self, **settings: Any) -> Experiment:
        return Experiment(
            name="work",
            title="Figure 0",
            settings={"quick": settings, "paper": settings},
            n_seeds={"quick": 2, "paper": 3},
            load=lambda data, settings: (None, Source("made up", [], self.sha256, False)),
            plan=lambda settings, n: [Run(s, i) for i in range(n) for s in ("A", "B")],
            perform=self.perform,
            draw=self.draw,
            summarise=lambda result: Summary([], []),
        )

    def perform(self, data: Any, run: Run, settings: Any, tick: Callable[[float], None]) -> Any:
        tick(0.5)
        if run.name == self.stop_at:
            raise KeyboardInterrupt
        self.done.append(run.name)
        return [{"x": run.seed}], {}

    def draw(self, result: Result) -> Any:
        from experiments import plots

        return plots.figure(1, 1)


def test_an_interrupted_experiment_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    work, setup = Work(), Setup(tmp_path, tmp_path / "out")
    work.stop_at = "A-1"
    with pytest.raises(KeyboardInterrupt):
        complete(work.experiment(), setup, quiet())
    assert work.done == ["A-0", "B-0"]
    assert not (setup.folder / "work.json").exists()
    work.stop_at = None
    result = complete(work.experiment(), setup, quiet())
    assert work.done == ["A-0", "B-0", "A-1", "B-1"]
    assert [run.points for run in result.runs] == [[{"x": 0}]] * 2 + [[{"x": 1}]] * 2
    complete(work.experiment(), setup, quiet())
    assert len(work.done) == 4


def test_more_seeds_add_to_those_there_are(tmp_path: Path) -> None:
    work, setup = Work(), Setup(tmp_path, tmp_path, n_seeds=1)
    complete(work.experiment(), setup, quiet())
    result = complete(work.experiment(), replace(setup, n_seeds=2), quiet())
    assert work.done == ["A-0", "B-0", "A-1", "B-1"]
    assert result.seeds == [0, 1]


@pytest.mark.parametrize("change", ["settings", "data", "version", "damage", "scale"])
def test_what_was_made_otherwise_is_done_again(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, setup = Work(), Setup(tmp_path, tmp_path, n_seeds=1)
    complete(work.experiment(tau=1), setup, quiet())
    tau = 1
    if change == "settings":
        tau = 2
    elif change == "data":
        work.sha256 = "1"
    elif change == "version":
        monkeypatch.setattr("trustream.__version__", "another")
    elif change == "scale":
        setup = replace(setup, scale="paper")
    else:
        path = setup.log("work")
        path.write_text("\n".join(line[:20] for line in path.read_text().splitlines()))
    complete(work.experiment(tau=tau), setup, quiet())
    assert work.done == ["A-0", "B-0"] * 2


def test_the_file_has_all_that_is_needed_to_repeat_it(tmp_path: Path) -> None:
    result = complete(Work().experiment(tau=1), Setup(tmp_path, tmp_path), quiet())
    path = tmp_path / "quick/work.json"
    content = json.loads(path.read_text())
    assert content["settings"] == {"tau": 1}
    assert content["seeds"] == [0, 1]
    assert content["source"]["sha256"] == "0"
    assert {"trustream", "numpy", "numba", "python"} <= set(content["versions"])
    assert [run["points"] for run in content["runs"]] == [r.points for r in result.runs]
    assert Result.read(path) == result


def test_a_file_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")

    def write(place: Path) -> None:
        place.write_text("half")
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        files.write_atomically(path, write)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_lines_say_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the rest took 30 s, so 30 s are left, whatever was done before."""
    now = 0.0
    monkeypatch.setattr("experiments.progress.time.monotonic", lambda: now)
    console = quiet()
    with progress(console, "work", total=10.0, done=6.0) as report:
        report("A-0", 6.0)
        now = 1.0
        report("A-0", 6.1)  # too soon for a line
        now = 30.0
        report("B-0", 8.0)
        now = 60.0
        report("B-0", 10.0)
    assert console.file.getvalue().splitlines() == [  # type: ignore[attr-defined]
        "work: A-0, 60 % done",
        "work: B-0, 80 % done, about 30 s left",
        "work: B-0, 100 % done",
    ]


def test_a_bar_on_a_terminal() -> None:
    console = Console(file=io.StringIO(), force_terminal=True)
    with progress(console, "work", total=2.0, done=0.0) as report:
        report("A-0", 2.0)
    assert "100%" in console.file.getvalue()  # type: ignore[attr-defined]
