"""Keep results on disk, so that finished runs are not repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness import machine


class Results:
    """`workloads[workload]["methods"][method]` and `measurements[name]`, as JSON."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = {"workloads": {}, "measurements": {}}
        if path.is_file():
            self.content |= json.loads(path.read_text())

    def methods(self, workload: str) -> dict[str, Any]:
        """Stored runs of a workload by method."""
        return dict(self.content["workloads"].get(workload, {}).get("methods", {}))

    def put(self, workload: str, facts: dict[str, Any], method: str, entry: dict[str, Any]) -> None:
        """Store one run."""
        stored = self.content["workloads"].setdefault(workload, {"methods": {}})
        stored |= facts
        stored["methods"][method] = entry
        self._write()

    def put_rows(self, measurement: str, rows: list[dict[str, Any]]) -> None:
        """Store the rows of one measurement."""
        self.content["measurements"][measurement] = rows
        self._write()

    def _write(self) -> None:
        self.content["machine"] = machine.facts()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.content, indent=1) + "\n")
