"""Memory of a service that nobody asks anything."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness.rows import Row, Setup, at_most, information
from benchmarks.service.processes import ServiceProcess
from trustream.store import Record, open_store
from trustream.streaming.setup import init_store
from trustream.streaming.training_run import prepared_trainer, train

FILES: tuple[str, ...] = ()
_IMPORT = "import trustream; print(open('/proc/self/status').read())"


def memory(status: str) -> float:
    """MB that a process has in memory, of what /proc says."""
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024 / 1e6


def measure(setup: Setup) -> Iterator[Row]:
    """On a store without a model, and on one with a model that it shows."""
    done = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True)
    base = memory(done.stdout)
    yield information("import trustream", base, "MB")
    with tempfile.TemporaryDirectory() as folder:
        empty, shown = f"{folder}/empty.db", f"{folder}/shown.db"
        for path in (empty, shown):
            init_store(path, 10, min_documents=1)
        with open_store(shown) as store:
            store.append(Record(str(i), [f"w{i % 50}", f"w{i % 7}"] * 5) for i in range(1000))
            with prepared_trainer(store, n_jobs=1) as trainer:
                train(trainer, steps=5)
        found = {path: _service(path, Path(folder, "log")) for path in (empty, shown)}
    yield at_most("an idle service above that", found[empty] - base, 100, "MB")
    name = "an idle service that has shown a model of 10 topics above that"
    yield information(name, found[shown] - base, "MB")


def _service(path: str, log: Path) -> float:
    service = ServiceProcess(path, log)
    service.start()
    try:
        time.sleep(5)
        assert service.process is not None
        return memory(Path(f"/proc/{service.process.pid}/status").read_text())
    finally:
        service.stop()
