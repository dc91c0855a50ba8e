"""Measure processor time of this program and of all others, to see how idle the machine was."""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")


def own() -> float:
    """Processor seconds of this process and those that it started, dead or alive."""
    total = sum(os.times()[:4])
    times, parents = _table()
    for pid in times:
        ancestor = parents.get(pid)
        while ancestor in parents and ancestor != os.getpid():
            ancestor = parents[ancestor]
        if ancestor == os.getpid():
            total += times[pid]
    return float(total)


def everyone() -> float | None:
    """Processor seconds of all programs since the start; None where the system does not tell."""
    try:
        fields = _PROC.joinpath("stat").read_text().split(maxsplit=9)
    except OSError:
        return None
    # user, nice, system; then idle and waiting; then interrupts.
    user, nice, system, _, _, hard, soft = (int(field) for field in fields[1:8])
    return (user + nice + system + hard + soft) / os.sysconf("SC_CLK_TCK")


def _table() -> tuple[dict[int, float], dict[int, int]]:
    """Processor seconds and parent of each process, their own dead children included."""
    times, parents = {}, {}
    for folder in _PROC.glob("[0-9]*"):
        try:
            # The name in brackets may hold anything.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        times[int(folder.name)] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        parents[int(folder.name)] = int(fields[1])
    return times, parents
