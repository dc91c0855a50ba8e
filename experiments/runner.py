"""Run an experiment, or continue one that was stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from experiments import provenance
from experiments.experiment import Experiment, Record, Result, Run, Settings
from experiments.files import write_atomically, write_text
from experiments.progress import progress
from experiments.run_log import RunLog

# Runs of this scale take hours and are committed, so that anybody can go on from them.
KEPT_SCALE = "full"
KEPT = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Setup:
    """The options of a run.

    Attributes:
        data: directory with the data sets.
        out: directory for results.
        scale: one of `SCALES`.
        n_seeds: None is the default of the experiment at its scale.
        kept: directory for finished runs of scale "full".
        until: time (of `time.monotonic`) after which no further run is begun.
    """

    data: Path
    out: Path
    scale: str = "quick"
    n_seeds: int | None = None
    kept: Path = KEPT
    until: float = float("inf")

    @property
    def folder(self) -> Path:
        """The folder of the results, a different one for each scale."""
        return self.out / self.scale

    def log(self, name: str) -> Path:
        """The file of the finished runs of an experiment."""
        return log_path(self.out, self.kept, self.scale, name)


def log_path(out: Path, kept: Path, scale: str, name: str) -> Path:
    """The file of the finished runs of an experiment at a scale."""
    return (kept if scale == KEPT_SCALE else out) / scale / f"{name}.jsonl"


def complete(experiment: Experiment, setup: Setup, console: Console) -> Result:
    """Do all runs that are not done yet, and write JSON, PNG and SVG.

    A run counts as done if the log has it with the same key (`keys`). One that was interrupted is
    not in the log and is repeated. If the time is up before all are done, the result has those that
    are.
    """
    settings = dict(experiment.settings[setup.scale])
    n_seeds = setup.n_seeds or experiment.n_seeds[setup.scale]
    data, source = experiment.load(setup.data, settings)
    runs = experiment.plan(settings, n_seeds)
    log = RunLog.begun(setup.log(experiment.name), experiment, setup.scale, settings, source, runs)
    if log.records:
        # What is planned may be another by now, though nothing is left to do.
        log.write()
    left = [run for run in runs if log.of(run) is None]
    total = sum(run.cost for run in runs)
    done = total - sum(run.cost for run in left)
    with progress(console, experiment.name, total, done) as report:
        for run in left:
            if time.monotonic() >= setup.until:
                break
            record = _perform(experiment, data, run, settings, report, done)
            log = log.with_(run, record)
            log.write()
            done += run.cost
    result = log.result(provenance.versions(), provenance.machine())
    if result.runs:
        _write(experiment, result, setup.folder)
    return result


def _perform(
    experiment: Experiment,
    data: Any,
    run: Run,
    settings: Settings,
    report: Callable[[str, float], None],
    before: float,
) -> Record:
    report(run.name, before)
    start = time.perf_counter()
    points, extra = experiment.perform(
        data, run, settings, lambda cost: report(run.name, before + min(cost, run.cost))
    )
    seconds = time.perf_counter() - start
    report(run.name, before + run.cost)
    commit = provenance.commit()
    return Record(run.series, run.seed, run.settings, points, seconds, extra, commit)


def _write(experiment: Experiment, result: Result, folder: Path) -> None:
    write_text(folder / f"{result.experiment}.json", result.to_json())
    draw(experiment, result, folder / result.experiment)


def draw(
    experiment: Experiment, result: Result, path: Path, endings: tuple[str, ...] = (".png", ".svg")
) -> None:
    """Write the figure to a path that lacks its ending."""
    # Loaded here: runs need no plotting, and it takes a second.
    from experiments import plots

    with plots.look():
        figure = experiment.draw(result)
    for ending in endings:
        write_atomically(
            path.with_name(path.name + ending), lambda place: plots.save(figure, place)
        )
