"""Run an experiment, or continue one that was stopped."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from experiments import provenance
from experiments.experiment import Experiment, Record, Result, Run, Settings, Source
from experiments.progress import progress


@dataclass(frozen=True)
class Setup:
    """The options of a run; `n_seeds` None is the default of the experiment at its scale."""

    data: Path
    out: Path
    scale: str = "quick"
    n_seeds: int | None = None

    @property
    def folder(self) -> Path:
        """The folder of the results, a different one for each scale."""
        return self.out / self.scale


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` create a temporary file, then rename it to `path`, so that it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        # A temporary file is readable by its owner only; a result has the usual permissions.
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text as `write_atomically` does."""
    write_atomically(path, lambda place: place.write_text(text, encoding="utf-8"))


def complete(experiment: Experiment, setup: Setup, console: Console) -> Result:
    """Do all runs that are not done yet, and write JSON, PNG and SVG.

    A run counts as done if its file was written with the same settings, data and version. One that
    was interrupted has no file and is repeated.
    """
    settings = dict(experiment.settings[setup.scale])
    n_seeds = setup.n_seeds or experiment.n_seeds[setup.scale]
    data, source = experiment.load(setup.data, settings)
    runs = experiment.plan(settings, n_seeds)
    versions = provenance.versions()
    folder = setup.folder / "runs" / experiment.name
    keys = {run.name: _key(experiment, run, settings, source, versions) for run in runs}
    records = {run.name: _read(folder / f"{run.name}.json", keys[run.name]) for run in runs}
    total = sum(run.cost for run in runs)
    done = sum(run.cost for run in runs if records[run.name] is not None)
    with progress(console, experiment.name, total, done) as report:
        for run in runs:
            if records[run.name] is not None:
                continue
            record = _perform(experiment, data, run, settings, report, done)
            content = json.dumps({"key": keys[run.name], **asdict(record)}, allow_nan=False)
            write_text(folder / f"{run.name}.json", content + "\n")
            records[run.name] = record
            done += run.cost
    finished = [record for record in records.values() if record is not None]
    result = Result(
        experiment.name, setup.scale, settings, source, versions, provenance.machine(), finished
    )
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
    return Record(run.series, run.seed, run.settings, points, seconds, extra)


def _key(
    experiment: Experiment, run: Run, settings: Settings, source: Source, versions: dict[str, str]
) -> str:
    """The hash of everything that determines the result of a run."""
    parts = [
        experiment.name,
        dict(settings),
        run.series,
        run.seed,
        run.settings,
        source.sha256,
        versions["trustream"],
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _read(path: Path, key: str) -> Record | None:
    """A finished run; None if there is none, or if its key is different."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return Record(**content) if content.pop("key", None) == key else None


def _write(experiment: Experiment, result: Result, folder: Path) -> None:
    write_text(folder / f"{result.experiment}.json", result.to_json())
    # Loaded here: runs need no plotting, and it takes a second.
    from experiments import plots

    with plots.look():
        figure = experiment.draw(result)
    for ending in ("png", "svg"):
        write_atomically(
            folder / f"{result.experiment}.{ending}", lambda path: plots.save(figure, path)
        )
