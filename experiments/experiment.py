"""Define experiments, their runs and their results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import probes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES = ("quick", "full", "paper")

Settings = Mapping[str, Any]
Point = dict[str, Any]
# Called with the part of a run's cost that is done.
Tick = Callable[[float], None]


@dataclass(frozen=True)
class Source:
    """The data that an experiment read.

    Attributes:
        name: for people.
        files: names of the files, without their directory.
        sha256: of their bytes, one file after the other.
        same_as_paper: whether the paper used these data.
        note: what was done to them, and what they stand for.
    """

    name: str
    files: list[str]
    sha256: str
    same_as_paper: bool
    note: str = ""


@dataclass(frozen=True)
class Run:
    """One piece of work, which is done as a whole or not at all.

    Attributes:
        series: the line or cloud of the figure that it belongs to.
        seed: of the run, or the number of the random draw that its settings are.
        settings: what it has beyond those of the experiment.
        cost: its time relative to the other runs', for the time left.
    """

    series: str
    seed: int
    settings: dict[str, Any] = field(default_factory=dict)
    cost: float = 1.0

    @property
    def name(self) -> str:
        """Unique in an experiment.

        >>> Run("TR", 3).name
        'TR-3'
        """
        return f"{self.series}-{self.seed}"


@dataclass(frozen=True)
class Record:
    """A finished run: its points, and `extra` for what is not a point (pictures, memory).

    `commit` is that of the code, if it is known.
    """

    series: str
    seed: int
    settings: dict[str, Any]
    points: list[Point]
    seconds: float
    extra: dict[str, Any] = field(default_factory=dict)
    commit: str = ""

    @property
    def name(self) -> str:
        """That of the run."""
        return f"{self.series}-{self.seed}"


@dataclass(frozen=True)
class Result:
    """All that a figure is drawn from, and all that its JSON file has.

    `n_planned` runs make it complete; `runs` are those that are done.
    """

    experiment: str
    scale: str
    settings: dict[str, Any]
    source: Source
    versions: dict[str, str]
    machine: dict[str, Any]
    runs: list[Record]
    n_planned: int = 0

    def of(self, series: str) -> list[Record]:
        """The runs of a series, by seed."""
        return sorted((r for r in self.runs if r.series == series), key=lambda r: r.seed)

    @property
    def seeds(self) -> list[int]:
        """Of all runs, each once."""
        return sorted({run.seed for run in self.runs})

    @property
    def n_seeds(self) -> int:
        """Runs of the series that has most."""
        return max(Counter(run.series for run in self.runs).values(), default=0)

    def to_json(self) -> str:
        """As text; numbers keep all their digits."""
        return json.dumps({**asdict(self), "seeds": self.seeds}, indent=1, allow_nan=False) + "\n"

    @classmethod
    def read(cls, path: Path) -> Result:
        """From a figure's JSON file."""
        content = json.loads(path.read_text(encoding="utf-8"))
        del content["seeds"]
        content["source"] = Source(**content["source"])
        content["runs"] = [Record(**run) for run in content["runs"]]
        return cls(**content)


@dataclass(frozen=True)
class Summary:
    """What the report says: a table of (what, paper, ours), and sentences after it."""

    rows: list[tuple[str, str, str]]
    notes: list[str]


@dataclass(frozen=True)
class Experiment:
    """How one figure comes about.

    Attributes:
        name: of the command and of all files.
        title: which figure of the paper, for people.
        settings: for each scale that it has.
        n_seeds: runs a series (or random draws) for each scale, unless the user says.
        load: (directory, settings) -> (data, source).
        plan: (settings, seeds) -> the runs.
        perform: (data, run, settings, tick) -> (points, extra).
        draw: the figure, from the runs that are done.
        summarise: its part of the report, from the runs that are done.
        plan_only: settings that only say which runs there are.
        probe: values that change when the library computes something else (`probes`).
        is_foreign: whether a run learns by another library, so that what this one computes does
            not void it.
    """

    name: str
    title: str
    settings: Mapping[str, Settings]
    n_seeds: Mapping[str, int]
    load: Callable[[Path, Settings], tuple[Any, Source]]
    plan: Callable[[Settings, int], list[Run]]
    perform: Callable[[Any, Run, Settings, Tick], tuple[list[Point], dict[str, Any]]]
    draw: Callable[[Result], Figure]
    summarise: Callable[[Result], Summary]
    plan_only: frozenset[str] = frozenset()
    probe: Callable[[], Sequence[Any]] = probes.version
    is_foreign: Callable[[Run], bool] = lambda run: False


def mean_and_sem(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error of the mean; one value has no error (NaN).

    >>> mean_and_sem([1.0, 3.0])
    (2.0, 1.0)
    """
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
    return float(np.mean(values)), error


def or_nothing(value: float, digits: int = 1) -> str:
    """A number of the paper, or nothing where it has none (NaN).

    >>> or_nothing(-150.19), or_nothing(float("nan"))
    ('-150.2', '')
    """
    return "" if np.isnan(value) else f"{value:.{digits}f}"


def with_error(values: Sequence[float], digits: int = 1) -> str:
    """The mean and, if there is one, two standard errors.

    >>> with_error([1.0, 3.0]), with_error([1.0])
    ('2.0 ± 2.0', '1.0')
    """
    mean, error = mean_and_sem(values)
    text = f"{mean:.{digits}f}"
    return text if np.isnan(error) else f"{text} ± {2 * error:.{digits}f}"
