"""Vowpal Wabbit's online variational Bayes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.recorder import Recorder, Stopwatch, milestones, passes_label

PACKAGE = "vowpalwabbit"
ABOUT = "vw --lda, fixed priors; it learns in one thread while another reads the text"
BASE: dict[str, Any] = {
    "minibatch": 256,
    "power_t": 0.5,
    "initial_t": 1,
    "lda_alpha": 0.1,
    "lda_rho": 0.1,
}
GRID: dict[str, list[Any]] = {
    "minibatch": [256, 1024, 64],
    "power_t": [0.5, 0.7],
    "initial_t": [1, 10],
    "lda_alpha": [0.1, 0.01],
    "lda_rho": [0.1, 0.01],
}
EFFORT, REFERENCE = 2.0, "1 pass"
# Its model is available only at the end of a run, so each point is a run of its own.
_LEAST_PASSES = 0.25
# The driver runs in the constructor.
_PROGRAM = """
import sys, time, vowpalwabbit
start, cpu = time.perf_counter(), time.process_time()
vw = vowpalwabbit.Workspace(sys.argv[1], quiet=True)
print(time.perf_counter() - start, time.process_time() - cpu, flush=True)
vw.finish()
"""


def run(
    counts: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    effort: float,
    recorder: Recorder,
) -> None:
    """Complete runs of up to `effort` passes, each from the start; their sum keeps the limit."""
    spent = 0.0
    marks = milestones(effort, recorder.only_last)
    marks = [mark for mark in marks if mark >= _LEAST_PASSES or mark == effort]
    with tempfile.TemporaryDirectory() as folder:
        for passes in marks:
            part = counts[: round(counts.shape[0] * min(1.0, passes))]
            watch, topics = _train(part, n_topics, settings, int(max(1, passes)), Path(folder))
            spent += watch.seconds
            # A pass more would take the time of all so far again.
            last = passes == marks[-1] or spent + 2 * watch.seconds > recorder.limit
            recorder.add(passes_label(passes), watch, topics, settings["lda_alpha"], last)
            if last:
                break


def _train(
    counts: sp.csr_matrix, n_topics: int, settings: dict[str, Any], passes: int, folder: Path
) -> tuple[Stopwatch, np.ndarray]:
    """Time, and lambda (K, V)."""
    text, model = folder / "text", folder / "model"
    text.write_text("\n".join(_lines(counts)) + "\n")
    options = {
        "data": text,
        "readable_model": model,
        "lda": n_topics,
        "lda_D": counts.shape[0],
        # eta = learning_rate (initial_t + batches)^-power_t, like the others' rho.
        "learning_rate": 1,
        "bit_precision": max(1, int(counts.shape[1] - 1).bit_length()),
        "random_seed": 1,
        **settings,
    }
    if passes > 1:
        options |= {"passes": passes, "cache_file": folder / "cache"}
    arguments = " ".join(f"--{key} {value}" for key, value in options.items())
    arguments += " --holdout_off --kill_cache" if passes > 1 else ""
    watch = Stopwatch()
    # In a process of its own: with some settings it ends with a segmentation fault.
    command = [sys.executable, "-c", _PROGRAM, arguments]
    with watch:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    # Start and import are not counted.
    seconds, cpu = (float(word) for word in done.stdout.split()[-2:])
    watch.seconds, watch.cpu = seconds, cpu
    return watch, _read(model, counts.shape[1])


def _lines(counts: sp.csr_matrix) -> Iterator[str]:
    for a, b in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        if b > a:
            pairs = zip(counts.indices[a:b].tolist(), counts.data[a:b].tolist(), strict=True)
            yield "| " + " ".join(f"{word}:{count}" for word, count in pairs)


def _read(path: Path, n_words: int) -> np.ndarray:
    """One line per word after the header: its number and a weight for each topic."""
    with path.open() as lines:
        for line in lines:
            if line.startswith("Checksum"):
                break
        table = np.loadtxt(lines, dtype=np.float64)
    return np.ascontiguousarray(table[:n_words, 1:].T)
