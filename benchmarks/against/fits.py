"""How good `fit` with its defaults is, next to another revision: cell by cell, paired seeds.

Both versions fit the same documents with the same seeds, each in a process of its own. Their
topics predict the same documents, and are compared with the same reference, by the code of this
version. A cell is worse if the mean of the paired differences is below zero by two of its standard
errors and by a margin.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks import corpora
from benchmarks.against.command import worktree
from benchmarks.harness import machine, report
from benchmarks.harness.rows import Row
from trustream.evaluation import coherence, completion

_HERE = Path(__file__).resolve().parents[2]
SIZES, TOPICS = (500, 1000, 2000, 5000, 20_000), (10, 50, 100, 400)
# With fewer documents, so many topics are not asked for.
_FEWEST = {400: 5000}
# Mean tokens of a document, by which the cells are put in order, the cheap ones first.
_TOKENS = {"wiki_en": 422, "wiki_simple": 52, "newsgroups20": 101}
_HELD_OUT, _REFERENCE = 1000, 20_000
# What counts as worse, beside two standard errors.
MARGINS = {"completion": 0.005, "npmi": 0.01}


class Cell(NamedTuple):
    """What is fitted: a corpus, a number of its documents, a number of topics."""

    corpus: str
    n_documents: int
    n_components: int

    @property
    def cost(self) -> float:
        """Time of a fit relative to those of other cells, roughly."""
        return self.n_documents * _TOKENS[self.corpus] * (50 + self.n_components)


class Compared(NamedTuple):
    """Now minus then, over seeds."""

    mean: float
    error: float

    def is_worse(self, margin: float) -> bool:
        """By two standard errors and the margin.

        >>> Compared(-0.02, 0.005).is_worse(0.01), Compared(-0.02, 0.015).is_worse(0.01)
        (True, False)
        """
        return self.mean < -margin and self.mean < -2 * self.error


def compared(now: list[float], then: list[float]) -> Compared:
    """The mean of paired differences, and its standard error; infinite of a single pair.

    >>> compared([1.0, 3.0], [1.0, 1.0])
    Compared(mean=1.0, error=1.0)
    """
    differences = np.array(now) - np.array(then)
    n = differences.size
    error = float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else np.inf
    return Compared(float(differences.mean()), error)


def cells(names: Iterable[str], sizes: Iterable[int], topics: Iterable[int]) -> list[Cell]:
    """All that are asked for, the cheap ones first.

    >>> cells(["wiki_simple"], [500, 5000], [10, 400])[-2:]
    [Cell('wiki_simple', 5000, 10), Cell('wiki_simple', 5000, 400)]
    """
    sizes, topics = list(sizes), list(topics)
    found = [
        Cell(name, n, k) for name in names for n in sizes for k in topics if n >= _FEWEST.get(k, 0)
    ]
    return sorted(found, key=lambda cell: cell.cost)


class Fits:
    """A process that fits with the code of one tree."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self._topics = folder / f"{tree.name}-topics.npz"
        # Its own package first, and from here only the work.
        path = os.pathsep.join([str(tree / "src"), str(_HERE)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.against.fit_work"],
            env={**os.environ, "PYTHONPATH": path},
            cwd=folder,  # where no other package lies in the way
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def fitted(self, counts: Path, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Topics (K, V) whose rows sum to one, alpha, and processor seconds."""
        asked = {"counts": str(counts), "n_components": k, "seed": seed, "out": str(self._topics)}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        seconds = float(self._answer())
        with np.load(self._topics) as found:
            topics, alpha = found["topics"], found["alpha"]
        return topics / topics.sum(axis=1, keepdims=True), alpha, seconds

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that fits has ended; see its messages above")
        return line


def run(
    data: Path,
    out: Path,
    quick: bool,
    revision: str,
    seeds: Iterable[int],
    names: Iterable[str],
    sizes: Iterable[int],
    topics: Iterable[int],
) -> None:
    """Print and write how much better each cell is now than in another revision."""
    chosen = cells(names or list(_TOKENS), sizes or SIZES, topics or TOPICS)
    chosen, numbers = (chosen[:2], [0, 1]) if quick else (chosen, list(seeds))
    loaded = {name: _shuffled(corpora.load(data, name)) for name in {c.corpus for c in chosen}}
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, worktree(revision) as tree:
        versions = {"now": Fits(_HERE, Path(folder)), "then": Fits(tree, Path(folder))}
        try:
            for cell in chosen:
                rows += _rows(cell, _scores(cell, loaded[cell.corpus], numbers, versions, folder))
                report.write_json(out, machine.facts(), rows, quick=quick, revision=revision)
        finally:
            for version in versions.values():
                version.close()
    report.print_table(report.console(), rows)


def _shuffled(counts: sparse.csr_matrix) -> sparse.csr_matrix:
    """Documents with words, in an order that is the same for all seeds."""
    counts = counts[np.diff(counts.indptr) > 0]
    return counts[np.random.default_rng(0).permutation(counts.shape[0])]


def _scores(
    cell: Cell, counts: Any, seeds: list[int], versions: dict[str, Fits], folder: str
) -> dict[str, dict[str, list[float]]]:
    """Of each version, measure by measure, seed by seed; no seed learns from what is predicted."""
    held_out = min(_HELD_OUT, counts.shape[0] // 5)
    found: dict[str, dict[str, list[float]]] = {version: {} for version in versions}
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(counts.shape[0] - held_out)
        path = Path(folder) / "counts.npz"
        sparse.save_npz(path, counts[held_out + order[: cell.n_documents]])
        for version, fits in versions.items():
            topics, alpha, seconds = fits.fitted(path, cell.n_components, seed)
            values = {
                "completion": completion(counts[:held_out], topics, alpha, random_state=0).per_word,
                "npmi": coherence(topics, counts[:_REFERENCE], "npmi", n_words=10).mean,
                "seconds": seconds,
            }
            for measure, value in values.items():
                found[version].setdefault(measure, []).append(value)
    return found


def _rows(cell: Cell, scores: dict[str, dict[str, list[float]]]) -> list[Row]:
    now, then = scores["now"], scores["then"]
    ratio = float(np.mean(now["seconds"]) / np.mean(then["seconds"]))
    rows = []
    for measure, margin in MARGINS.items():
        difference = compared(now[measure], then[measure])
        what = f"{cell.corpus}, {cell.n_documents:,} documents, K={cell.n_components}, {measure}"
        error = "" if np.isinf(difference.error) else f" ± {difference.error:.3f}"
        rows.append(
            Row(
                f"{what}, {difference.mean:+.3f}{error}, {ratio:.1f} x time",
                difference.mean,
                f"not < -{margin:g} - 2 se",
                "nats" if measure == "completion" else "",
                not difference.is_worse(margin),
                {"now": now, "then": then},
            )
        )
    return rows
