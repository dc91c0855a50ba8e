"""Resident memory of a trainer on a large store, next to that on a small one.

The large store has a million documents, or as many as $TRUSTREAM_BENCH_DOCUMENTS says: ten million
take some ten minutes and a few gigabytes of disk to build.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.harness.rows import Row, Setup, at_most
from trustream import open_store
from trustream.store.records import Record

FILES: tuple[str, ...] = ()
SMALL, N_WORDS, N_TOKENS = 10_000, 20_000, 30

_CHILD = """
import sys
from pathlib import Path
from trustream import StreamTrainer, open_store
with open_store(sys.argv[1], create=False) as store:
    with StreamTrainer(store, 100, batch_size=500, n_jobs=int(sys.argv[2])) as trainer:
        trainer.run(steps=60)
for line in Path("/proc/self/status").read_text().splitlines():
    if line.startswith("VmHWM:"):
        print(int(line.split()[1]) * 1024)
"""


def measure(setup: Setup) -> Iterator[Row]:
    """What a trainer holds more on the large store, in MB."""
    asked = os.environ.get("TRUSTREAM_BENCH_DOCUMENTS")
    large = int(asked) if asked else setup.choose(1_000_000, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        peaks = {n: _peak(Path(folder, f"{n}.db"), n, setup.n_threads) for n in (SMALL, large)}
    yield at_most(
        f"memory of a trainer on {large:,} documents above that on {SMALL:,}",
        (peaks[large] - peaks[SMALL]) / 1e6,
        300,
        "MB",
        peak_mb={str(n): peak / 1e6 for n, peak in peaks.items()},
    )


def _peak(path: Path, n_documents: int, n_threads: int) -> int:
    rng = np.random.default_rng(0)
    words = np.array([f"word{v}" for v in range(N_WORDS)], object)
    with open_store(path, min_documents=1) as store:
        for first in range(0, n_documents, 10_000):
            size = min(10_000, n_documents - first)
            # About as often as words of a language are.
            draws = (N_WORDS ** rng.random((size, N_TOKENS))).astype(np.int64) - 1
            rows = words[draws].tolist()
            store.append(Record(f"d{first + i}", row, 0.0) for i, row in enumerate(rows))
    command = [sys.executable, "-c", _CHILD, str(path), str(n_threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the trainer failed: {done.stderr.strip()[-500:]}")
    return int(done.stdout)
