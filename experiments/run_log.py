"""Keep finished runs in a small text file, from which an experiment goes on and a page is written.

The first line says what was planned: experiment, scale, settings, data, and the key of each run.
Each further line is a finished run with its key. Numbers have seven digits, so that some hundred
runs take some ten kilobytes and can be committed; differences of two such files can be read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from experiments.experiment import Experiment, Record, Result, Run, Settings, Source
from experiments.files import write_text
from experiments.keys import keys_of

_DIGITS = 7


@dataclass(frozen=True)
class RunLog:
    """The file of an experiment at a scale.

    Attributes:
        path: of the file, which need not exist.
        plan: what its first line says.
        keys: of all planned runs, by their names and in their order.
        records: finished runs by their keys, also of runs that are not planned any more.
    """

    path: Path
    plan: dict[str, Any]
    keys: dict[str, str]
    records: dict[str, Record]

    @classmethod
    def begun(
        cls,
        path: Path,
        experiment: Experiment,
        scale: str,
        settings: Settings,
        source: Source,
        runs: Sequence[Run],
    ) -> RunLog:
        """The log of planned runs, with those of its file that are done.

        A run is done if its key is there: what decides its result has not changed. Other runs of
        the file are kept only if they are of another plan, such as one with more seeds.
        """
        keys = keys_of(experiment, runs, settings, source)
        plan = {
            "experiment": experiment.name,
            "scale": scale,
            "settings": dict(settings),
            "source": asdict(source),
        }
        try:
            before = cls.read(path).records
        except (FileNotFoundError, ValueError):
            before = {}
        wanted = set(keys.values())
        records = {
            key: record
            for key, record in before.items()
            if key in wanted or record.name not in keys
        }
        return cls(path, plan, keys, records)

    @classmethod
    def read(cls, path: Path) -> RunLog:
        """The log of a file; lines that were cut off are left out.

        Raises:
            FileNotFoundError: there is none.
            ValueError: its first line is not whole.
        """
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        plan = json.loads(first)
        keys = plan.pop("runs")
        records = {}
        for line in lines:
            try:
                content = json.loads(line)
            except json.JSONDecodeError:
                continue
            key = content.pop("key")
            records[key] = Record(**content)
        return cls(path, plan, keys, records)

    def of(self, run: Run) -> Record | None:
        """What came of a planned run; None if it is not done."""
        return self.records.get(self.keys[run.name])

    def with_(self, run: Run, record: Record) -> RunLog:
        """The log with one more run."""
        return replace(self, records={**self.records, self.keys[run.name]: record})

    @property
    def n_planned(self) -> int:
        """Runs that the experiment has at this scale."""
        return len(self.keys)

    def result(self, versions: dict[str, str], machine: dict[str, Any]) -> Result:
        """All planned runs that are done."""
        done = [self.records[key] for key in self.keys.values() if key in self.records]
        source = Source(**self.plan["source"])
        return Result(
            self.plan["experiment"],
            self.plan["scale"],
            self.plan["settings"],
            source,
            versions,
            machine,
            done,
            self.n_planned,
        )

    def write(self) -> None:
        """Replace the file: planned runs in their order, then others."""
        planned = [key for key in self.keys.values() if key in self.records]
        others = [key for key in self.records if key not in set(planned)]
        lines = [_compact({**self.plan, "runs": self.keys})]
        for key in (*planned, *others):
            lines.append(_compact({"key": key, **asdict(self.records[key])}))
        write_text(self.path, "\n".join(lines) + "\n")


def _compact(value: Any) -> str:
    return json.dumps(rounded(value), allow_nan=False, separators=(",", ":"))


def rounded(value: Any) -> Any:
    """The same with numbers of seven digits.

    >>> rounded({"score": [-7.123456789, 3]})
    {'score': [-7.123457, 3]}
    """
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return value
