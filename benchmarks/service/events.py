"""How long it takes until a client hears of a step, and of an append."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.rows import Row, Setup, at_most
from benchmarks.service.clients import prepared
from benchmarks.service.processes import ServiceProcess
from trustream.streaming.setup import init_store

FILES: tuple[str, ...] = ()


def measure(setup: Setup) -> Iterator[Row]:
    """A listener notes when events come; they say when they were sent, and of what."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/topics.db"
        init_store(path, 5, batch_size=100, min_documents=1)
        service = ServiceProcess(path, Path(folder, "log"), "--train", "--jobs", "1")
        service.start()
        try:
            prepared(service)
            heard: list[tuple[float, str, dict[str, Any]]] = []
            stop = threading.Event()
            thread = threading.Thread(target=_listen, args=(service, heard, stop), daemon=True)
            thread.start()
            delays = []
            for i in range(setup.choose(20, 5)):
                time.sleep(0.5)
                connection = service.connection()
                body = json.dumps({"id": f"new{i}", "text": "balan bamer"})
                headers = {"Content-Type": "application/json"}
                connection.request("POST", "/api/v1/documents", body, headers)
                sequence = json.loads(connection.getresponse().read())["sequence"]
                answered = time.time()
                while not (found := [t for t, name, data in heard if name == "totals"
                                     and data["totals"]["sequence"] >= sequence]):  # fmt: skip
                    time.sleep(0.005)
                delays.append(max(found[0] - answered, 0.0))
            steps = [
                (t, data["time"], data["n_steps"]) for t, name, data in heard if name == "step"
            ]
            stop.set()
        finally:
            service.stop()
    # Steps are told of four times a second at most, by the next one: events say when theirs ended.
    late = 0.25 + max((t - ended for t, ended, _ in steps), default=0.0)
    yield at_most("an append until a client hears of it, longest", max(delays), 1, "s")
    yield at_most("a step until a client hears of it, longest", late, 1, "s", n=len(steps))


def _listen(service: ServiceProcess, heard: list[Any], stop: threading.Event) -> None:
    connection = service.connection()
    connection.request("GET", "/api/v1/events")
    name = ""
    for line in connection.getresponse():
        if stop.is_set():
            return
        if line.startswith(b"event: "):
            name = line[7:].decode().strip()
        elif line.startswith(b"data: "):
            heard.append((time.time(), name, json.loads(line[6:])))
