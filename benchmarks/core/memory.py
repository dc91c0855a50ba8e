"""Measure the memory of a fit beyond that of the process after its imports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.core import articles
from benchmarks.harness.rows import Row, Setup, at_most
from trustream import LatentDirichletAllocation

FILES = articles.FILES
N_TOPICS = 100
METHODS = ("trust-region", "natural-gradient", "batch")
_SLACK = 100e6
_PARTS = ("data", "indices", "indptr")
_ROOT = Path(__file__).parents[2]


def measure(setup: Setup) -> Iterator[Row]:
    """Peak less start, by corpus and method; the target is in MB too."""
    # Kernels that are compiled and kept before: compilation takes memory as well, once.
    LatentDirichletAllocation(2, max_iter=1).fit(np.eye(3))
    corpora = {
        "wiki_en": articles.load(setup)[: setup.choose(60_000, 15_000)],
        "200,000 words": wide(setup.choose(40_000, 10_000), 200_000),
    }
    for name, counts in corpora.items():
        for method in METHODS:
            yield _row(name, counts, method, setup.n_threads)


def resident(counts: sp.csr_matrix, n_topics: int, method: str, n_threads: int) -> dict[str, int]:
    """Bytes of a process of its own: at its `start`, with `kernels`, data `loaded`, at `peak`."""
    with tempfile.TemporaryDirectory() as folder:
        for part in _PARTS:
            np.save(Path(folder) / f"{part}.npy", getattr(counts, part))
        command = [sys.executable, "-m", "benchmarks.core.memory_child", folder, method]
        command += [str(counts.shape[1]), str(n_topics), str(n_threads)]
        path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        result = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
        )
    if result.returncode != 0:
        raise RuntimeError(f"the fit failed: {result.stderr.strip()[-500:]}")
    used: dict[str, int] = json.loads(result.stdout)
    return used


def csr_bytes(counts: sp.csr_matrix) -> int:
    """Of the three arrays."""
    return sum(getattr(counts, part).nbytes for part in _PARTS)


def _row(name: str, counts: sp.csr_matrix, method: str, n_threads: int) -> Row:
    used = resident(counts, N_TOPICS, method, n_threads)
    csr, lambda_ = csr_bytes(counts), counts.shape[1] * N_TOPICS * 4
    beliefs = counts.shape[0] * N_TOPICS * 4 if method == "batch" else 0
    return at_most(
        f"memory of a fit, {name}, {method}",
        (used["peak"] - used["start"]) / 1e6,
        round((csr + 2 * lambda_ + beliefs + _SLACK) / 1e6),
        "MB",
        csr_mb=csr / 1e6,
        lambda_mb=lambda_ / 1e6,
        beliefs_mb=beliefs / 1e6,
        resident_mb={stage: n / 1e6 for stage, n in used.items()},
    )


def wide(n_documents: int, n_words: int) -> sp.csr_matrix:
    """Documents of 100 words each, drawn about as often as words of a language are."""
    rng = np.random.default_rng(0)
    draws = n_words ** rng.random((n_documents, 100))
    words = np.sort(draws.astype(np.int32) - 1, axis=1)
    indptr = np.arange(0, words.size + 1, words.shape[1], dtype=np.int32)
    counts = sp.csr_matrix(
        (np.ones(words.size, np.uint16), words.reshape(-1), indptr), shape=(n_documents, n_words)
    )
    counts.sum_duplicates()
    return counts
