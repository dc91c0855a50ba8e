"""Run pieces of work in two versions in turn, and compare."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.against import PIECES
from benchmarks.harness import machine, report
from benchmarks.harness.rows import Row, information

_HERE = Path(__file__).resolve().parents[2]
# Pairs of processes that share the rounds: where things lie in memory makes one process of the same
# code up to 5 % slower than another, for as long as it lives.
_STARTS = 6


class Version:
    """A process that works with the code of one tree."""

    def __init__(self, tree: Path, data: Path) -> None:
        # Its own package first, and from here only the pieces of work.
        path = os.pathsep.join([str(tree / "src"), str(_HERE)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.against.work", str(data.resolve())],
            env={**os.environ, "PYTHONPATH": path},
            cwd=tempfile.gettempdir(),  # where no other package lies in the way
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def seconds(self, piece: str) -> float:
        """Do a piece of work; how long it took."""
        assert self._process.stdin is not None
        self._process.stdin.write(piece + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that works has ended; see its messages above")
        return line


def compared(now: list[float], then: list[float]) -> tuple[float, float, float]:
    """Median of the ratios, round by round, and an interval that holds it with 95 %.

    >>> compared([2.0, 1.0, 4.0], [1.0, 1.0, 2.0])
    (2.0, 1.0, 2.0)
    """
    ratios = np.sort(np.array(now) / np.array(then))
    reach, middle = np.sqrt(ratios.size), ratios.size / 2
    low, high = int(max(middle - reach, 0)), int(min(middle + reach, ratios.size - 1))
    return float(np.median(ratios)), float(ratios[low]), float(ratios[high])


@contextmanager
def worktree(revision: str) -> Iterator[Path]:
    """The files of another revision, in a folder that goes away afterwards."""
    git = ["git", "-C", str(_HERE), "worktree"]
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run([*git, "add", "--detach", str(tree), revision], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def run(
    data: Path, out: Path, quick: bool, revision: str, rounds: int, only: Iterable[str]
) -> None:
    """Print and write how much longer each piece of work takes now than in another revision."""
    rounds = 3 if quick else rounds
    with worktree(revision) as tree:
        rows = _measured(data, tree, rounds, list(only) or list(PIECES))
    report.print_table(report.console(), rows)
    report.write_json(out, machine.facts(), rows, quick=quick, revision=revision)


def _measured(data: Path, tree: Path, rounds: int, pieces: list[str]) -> list[Row]:
    times: dict[str, list[list[float]]] = {piece: [[], []] for piece in pieces}
    for part in np.array_split(np.arange(rounds), min(_STARTS, rounds)):
        _measure_part(data, tree, part, times)
    rows = []
    for piece, (now, then) in times.items():
        ratio, low, high = compared(now, then)
        name = f"{PIECES[piece]} ({low:.3f} to {high:.3f})"
        rows.append(information(name, ratio, "x time", now=now, then=then))
    return rows


def _measure_part(
    data: Path, tree: Path, rounds: Iterable[int], times: dict[str, list[list[float]]]
) -> None:
    """Add the times of some rounds, by two processes of their own."""
    versions = [Version(_HERE, data), Version(tree, data)]
    try:
        for piece, (now, then) in times.items():
            for version in versions:
                version.seconds(piece)  # compiled, and everything in memory
            for number in rounds:
                # Who is first changes from round to round.
                for which in (0, 1) if number % 2 else (1, 0):
                    (now, then)[which].append(versions[which].seconds(piece))
    finally:
        for version in versions:
            version.close()
