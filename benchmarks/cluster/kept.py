"""What one measurement keeps for another: files in `bench-results`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_FOLDER = Path("bench-results")


def keep(name: str, value: Any) -> None:
    """Write what a measurement has found, in the place of what it found before."""
    path = _path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")


def kept(name: str) -> Any:
    """What a measurement has found.

    Raises:
        FileNotFoundError: it was not run.
    """
    path = _path(name)
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there: run `scripts/bench cluster --only {name}`")
    return json.loads(path.read_text())


def _path(name: str) -> Path:
    return _FOLDER / f"cluster-{name}.json"
