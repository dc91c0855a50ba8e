"""The settings of each peer: a small grid, searched one parameter at a time.

From the module's `BASE`, each parameter in turn takes the values of `GRID` with the others at the
best so far. The best has the highest score at the module's REFERENCE; of those within TOLERANCE of
it, the one with the least processor time a worker: that does not depend on what else runs, so the
grid may be run on a busy machine. The chosen settings and every score are in `grid.json`.
"""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.harness import machine
from benchmarks.peers import methods
from benchmarks.peers.recorder import Recorder, Scorer
from benchmarks.peers.workloads import Workload

PATH = Path(__file__).with_name("grid.json")
WORKLOAD = Workload("grid", "5,000 English articles, K = 50", "wiki_en", 5000, 50)
TOLERANCE = 0.003
# More of them give the same model sooner, up to noise.
_WORKERS = ("workers", "n_jobs")


def settings(name: str) -> dict[str, Any]:
    """Best settings of a peer, its BASE where no grid was run."""
    stored = _read()["methods"].get(name, {})
    return dict(stored.get("best", methods.module(name).BASE))


def tried(name: str) -> list[dict[str, Any]]:
    """Every setting of the grid and its score."""
    return list(_read()["methods"].get(name, {}).get("tried", []))


def finished(name: str) -> bool:
    """Whether the whole grid was tried."""
    return bool(_read()["methods"].get(name, {}).get("finished", False))


def search(name: str, data: Path, n_jobs: int, fresh: bool = False, most: float = math.inf) -> None:
    """Run the grid of one peer, at most so many settings; goes on where it was interrupted."""
    peer = methods.module(name)
    train, held_out = WORKLOAD.load(data)
    scorer = Scorer(held_out, WORKLOAD.n_chib, n_jobs)
    known = [] if fresh else tried(name)
    best = dict(peer.BASE)
    for key, values in peer.GRID.items():
        candidates = []
        for value in values:
            chosen = {**best, key: value}
            done = next((entry for entry in known if entry["settings"] == chosen), None)
            if done is None:
                if most <= 0:
                    found = _best(candidates, key)["settings"] if candidates else best
                    _write(name, found, known)
                    return
                most -= 1
                done = _try(name, chosen, train, scorer)
                known.append(done)
                _write(name, best, known)
            if "error" not in done:
                candidates.append(done)
        best = _best(candidates, key)["settings"]
    _write(name, best, known, finished=True)


def _best(candidates: list[dict[str, Any]], key: str) -> dict[str, Any]:
    """The cheapest of those that are nearly the best; of numbers of workers the cheapest."""
    top = max(entry["completion"] for entry in candidates)
    if key not in _WORKERS:
        candidates = [entry for entry in candidates if entry["completion"] >= top - TOLERANCE]
    return min(candidates, key=_cost)


def _cost(entry: dict[str, Any]) -> float:
    workers = [entry["settings"][key] for key in _WORKERS if key in entry["settings"]]
    return float(entry["cpu"] / (workers[0] if workers else 1))


def _try(name: str, chosen: dict[str, Any], train: Any, scorer: Scorer) -> dict[str, Any]:
    peer = methods.module(name)
    recorder = Recorder(scorer, name=f"{name} {list(chosen.values())}", only_last=True)
    effort = float(peer.REFERENCE.split()[0])
    try:
        peer.run(train, WORKLOAD.n_topics, chosen, effort, recorder)
    except subprocess.CalledProcessError as error:
        return {"settings": chosen, "error": f"ended with {error.returncode}"}
    last = recorder.points[-1]
    return {
        "settings": chosen,
        "completion": round(last.completion, 5),
        "seconds": round(last.seconds, 2),
        "cpu": round(last.cpu, 2),
    }


def _read() -> dict[str, Any]:
    if not PATH.is_file():
        return {"workload": WORKLOAD.about, "methods": {}}
    return dict(json.loads(PATH.read_text()))


def _write(
    name: str, best: dict[str, Any], known: list[dict[str, Any]], finished: bool = False
) -> None:
    content = _read()
    content["cpu"] = machine.cpu_model()
    content["methods"][name] = {
        "version": methods.version(name),
        "finished": finished,
        "best": best,
        "tried": known,
    }
    PATH.write_text(json.dumps(content, indent=1) + "\n")
