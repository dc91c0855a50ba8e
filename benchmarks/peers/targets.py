"""Compare results with their targets: ratios within one run on the main workload."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.rows import Row, at_least
from benchmarks.peers import MAIN
from benchmarks.peers.curves import curve, point, time_to
from benchmarks.peers.result_files import Results
from benchmarks.peers.trustream_curves import DEFAULT

# Peer, label of its point, how many times less time.
TIMES = (
    ("scikit-learn", "1 pass", 25.0),
    ("gensim", "1 pass", 12.0),
    ("tomotopy", "50 iterations", 10.0),
)
FINAL = ("tomotopy", "200 iterations")


def target_rows(results: Results) -> list[Row]:
    """A row a target, as far as both sides were run."""
    runs = results.methods(MAIN)
    ours = runs.get(DEFAULT, {})
    if "points" not in ours:
        return []
    rows = [_time(ours, runs, *target) for target in TIMES]
    return [row for row in [*rows, *_final(ours, runs)] if row is not None]


def _time(
    ours: dict[str, Any], runs: dict[str, Any], peer: str, label: str, target: float
) -> Row | None:
    theirs = point(runs.get(peer), label)
    if theirs is None:
        return None
    name = f"time to the score of {peer} after {label}"
    reached = time_to(curve(ours), theirs["completion"])
    details = {"theirs": theirs["seconds"], "score": theirs["completion"]}
    if reached is None:
        return Row(name, None, f">= {target:g}", "x less", False, details)
    ratio = theirs["seconds"] / reached.seconds
    details |= {"ours": reached.seconds, "whole": reached.whole}
    by_cpu = time_to(curve(ours, "cpu"), theirs["completion"])
    if by_cpu is not None:
        details["cpu_ratio"] = theirs["cpu"] / by_cpu.seconds
    return at_least(name, ratio, target, "x less", **details)


def _final(ours: dict[str, Any], runs: dict[str, Any]) -> list[Row]:
    """One call with everything as it comes against the peer's last point, by both scores."""
    peer, label = FINAL
    theirs, own = point(runs.get(peer), label), point(ours, ours["reference"])
    if theirs is None or own is None:
        return []
    rows = []
    for score in ("completion", "chib"):
        if theirs[score] is not None and own[score] is not None:
            name = f"score of one call against {peer} after {label}, {score}"
            details = {"theirs": theirs[score], "ours": own[score]}
            details["seconds"] = {"theirs": theirs["seconds"], "ours": own["seconds"]}
            rows.append(at_least(name, own[score] - theirs[score], 0.0, "nats per word", **details))
    return rows
