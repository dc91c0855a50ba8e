"""Seconds of whole fits with exact and with local steps, by two workers and by one process.

What is learned with each is compared by `scripts/experiments local-steps`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator

import scipy.sparse as sp

from benchmarks import corpora
from benchmarks.cluster.kept import keep
from benchmarks.harness.rows import Row, Setup, information
from trustream import LatentDirichletAllocation
from trustream.cluster import fit, write_counts
from trustream.cluster.connection import connected
from trustream.learning.defaults import EXACT_STEPS

FILES = ("wiki_en.npz",)
MODES = {"exact": None, "local": EXACT_STEPS}
N_WORKERS, N_REPEATS = 2, 2


def measure(setup: Setup) -> Iterator[Row]:
    """The shortest of some fits of each kind, which take turns."""
    n_documents, n_topics = setup.choose(5_000, 500), setup.choose(100, 10)
    counts = sp.csr_array(corpora.wiki(setup.data, "wiki_en")[:n_documents])
    taken: dict[str, list[float]] = {mode: [] for mode in ("one process", *MODES)}
    with tempfile.TemporaryDirectory() as folder, connected("local", n_cpus=3):
        path = f"{folder}/wiki.parquet"
        write_counts(path, counts, group_size=500)
        for _ in range(setup.choose(N_REPEATS, 1)):
            for mode, seconds in taken.items():
                lda = LatentDirichletAllocation(n_topics, random_state=0, n_jobs=N_WORKERS)
                start = time.perf_counter()
                if mode == "one process":
                    lda.fit(counts)
                else:
                    fit(lda, path, workers=N_WORKERS, exact_steps=MODES[mode])
                seconds.append(time.perf_counter() - start)
    for mode, seconds in taken.items():
        name = f"fit of {n_documents:,} articles, K = {n_topics}, {mode}"
        yield information(name, min(seconds), "s", seconds=seconds)
    if not setup.quick:
        best = {mode: min(seconds) for mode, seconds in taken.items()}
        keep("fits", {"n_documents": n_documents, "n_topics": n_topics, "seconds": best})
