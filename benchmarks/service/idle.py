"""Memory of a service that nobody asks anything."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness.rows import Row, Setup, at_most, information
from benchmarks.service.calls import bodies
from benchmarks.service.processes import ServiceProcess, children, until
from trustream.feeds import ingest
from trustream.store import open_store
from trustream.streaming.setup import init_store
from trustream.streaming.trainer_status import trainer_status
from trustream.streaming.training_run import prepared_trainer, train

FILES: tuple[str, ...] = ()
_OPTIONS = "--idle-after", "5"
_IMPORT = "import trustream; print(open('/proc/self/status').read())"


def memory(status: str) -> float:
    """MB that a process has in memory, of what /proc says."""
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024 / 1e6


def measure(setup: Setup) -> Iterator[Row]:
    """On a store without a model, and on one with a model, before and after it was used."""
    done = subprocess.run([sys.executable, "-c", _IMPORT], capture_output=True, text=True)
    base = memory(done.stdout)
    yield information("import trustream", base, "MB")
    with tempfile.TemporaryDirectory() as folder:
        empty, shown = f"{folder}/empty.db", f"{folder}/shown.db"
        for path in (empty, shown):
            init_store(path, 20, min_documents=2)
        with open_store(shown) as store:
            ingest(store, io.BytesIO(b"\n".join(bodies(6, "first"))), format="jsonl", workers=0)
            with prepared_trainer(store, n_jobs=1) as trainer:
                train(trainer, steps=20)
        unused = _idle(ServiceProcess(empty, Path(folder, "log"), *_OPTIONS))
        yield at_most("idle, without a model: above that", unused[0] - base, 100, "MB")
        beside = _beside_trainer(ServiceProcess(empty, Path(folder, "log"), *_OPTIONS, "--train"))
        yield at_most("idle, with --train, itself alone: above that", beside - base, 100, "MB")
        service = ServiceProcess(shown, Path(folder, "log"), *_OPTIONS)
        idle, busy = _idle(service, use=True)
    yield at_most("idle, after all was asked of a model: above that", idle - base, 100, "MB")
    yield information("while it is used, with the process that computes", busy, "MB")


def _idle(service: ServiceProcess, *, use: bool = False) -> tuple[float, float]:
    """MB of a service and its processes when nobody needs it, and before that."""
    service.start()
    try:
        if use:
            _use(service)
        busy = _all(service)
        until(lambda: not service.children("compute_child"))
        time.sleep(3)
        return _all(service), busy
    finally:
        service.stop()


def _beside_trainer(service: ServiceProcess) -> float:
    """MB of a service alone, when its trainer waits for documents."""
    service.start()
    try:
        with open_store(service.store) as store:
            until(lambda: trainer_status(store))
        time.sleep(3)
        assert service.process is not None
        return _of(service.process.pid)
    finally:
        service.stop()


def _all(service: ServiceProcess) -> float:
    assert service.process is not None
    return sum(map(_of, [service.process.pid, *children(service.process.pid)]))


def _of(pid: int) -> float:
    return memory(Path(f"/proc/{pid}/status").read_text())


def _use(service: ServiceProcess) -> None:
    """Ask for all that there is, and append in bulk."""
    connection = service.connection()

    def ask(method: str, path: str, body: bytes | None = None, kind: str = "json") -> int:
        headers = {"Content-Type": f"application/{kind}"}
        connection.request(method, f"/api/v1/{path}", body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    until(lambda: ask("GET", "report") == 200)
    for path in ("topics", "topics/0", "documents", "documents/first0-0", "nearest?id=first0-0",
                 "search?word=a", "trends", "map", "changes", "history"):  # fmt: skip
        if ask("GET", path) != 200:
            raise RuntimeError(path)
    ask("POST", "infer", json.dumps({"texts": ["some text"]}).encode())
    for body in bodies(5, "more"):
        if ask("POST", "documents", body, "x-ndjson") != 200:
            raise RuntimeError("append")
