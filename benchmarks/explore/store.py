"""Table of topics, representative documents and trends of a store, in one pass, and a report.

The store has a million documents of 50 words and 100 planted topics. Set $TRUSTREAM_BENCH_STORE to
a path to keep it there and use it again: to make it takes a minute or two.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.explore import planted_store
from benchmarks.harness.rows import Row, Setup, at_most, information
from benchmarks.harness.timing import seconds
from trustream import open_store

FILES: tuple[str, ...] = ()
# Documents that a report is written about.
_REPORTED = 20_000

_CHILD = """
import json, sys, time
from itertools import islice
from pathlib import Path
from trustream import open_store
from trustream import topics as package
from trustream.topics import exploring, stored_batches
from trustream.topics.documents import gather

def memory(name):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024

before = memory("VmRSS")
from benchmarks.explore import planted_store
path, n_threads, reported, page = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
topics = planted_store.topics(n_threads)
with open_store(path, create=False) as store:
    # Compiled code is loaded once for a process.
    some = list(islice(stored_batches(store, topics.words), 1))
    gather(topics, some)
    start, busy = time.perf_counter(), time.process_time()
    found = exploring.explore(store, topics)
    elapsed, busy = time.perf_counter() - start, time.process_time() - busy
    result = {"explore": elapsed, "cpu": busy, "n_documents": found.n_documents,
              "mb": (memory("VmHWM") - before) / 1e6,
              "trends": sum(t.kind != "steady" for t in found.over_time.trends)}
    if hasattr(package, "write_report"):
        batches = islice(stored_batches(store, topics.words), reported // 1000)
        start = time.perf_counter()
        package.write_report(page, topics, batches)
        result["report"] = time.perf_counter() - start
        result["report_mb"] = Path(page).stat().st_size / 1e6
print(json.dumps(result))
"""


def measure(setup: Setup) -> Iterator[Row]:
    """Time and memory, and how long the store took to make."""
    n = setup.choose(1_000_000, 50_000)
    with tempfile.TemporaryDirectory() as folder:
        kept = os.environ.get("TRUSTREAM_BENCH_STORE")
        path = Path(kept) if kept else Path(folder, "planted.db")
        if not path.exists():
            made = seconds(lambda: planted_store.make(path, n))
            yield information(f"a store of {n:,} documents is made", made, "s")
        with open_store(path, create=False) as store:
            if (there := store.totals().documents) != n:
                raise ValueError(f"{path} has {there:,} documents instead of {n:,}: remove it")
        found = _explore(path, setup.n_threads, Path(folder, "report.html"))
    name = f"{planted_store.N_TOPICS} topics of {n:,} documents"
    yield at_most(f"table, documents and trends, {name}", found["explore"], 60, "s", **found)
    yield information("processor time of it, all cores together", found["cpu"], "s")
    yield at_most("memory for it above that after import", found["mb"], 300, "MB")
    if "report" in found:
        title = f"report of {planted_store.N_TOPICS} topics, {_REPORTED:,} documents"
        yield at_most(title, found["report"], 10, "s")
        yield at_most("size of that report", found["report_mb"], 1, "MB")


def _explore(path: Path, n_threads: int, page: Path) -> dict[str, float]:
    """In a process of its own, so that its memory is told apart."""
    command = [sys.executable, "-c", _CHILD, str(path), str(n_threads), str(_REPORTED), str(page)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"exploring the store failed: {done.stderr.strip()[-500:]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found
