"""A service as a process: its password is nowhere, signals end it, damage is said in one line."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from benchmarks.service.processes import ServiceProcess, children, command_of, kill, until
from tests.service.conftest import fill
from tests.store.server import Server
from trustream.store import open_store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and processes of POSIX")
OPTIONS = "--train", "--jobs", "1", "--checkpoint-every", "0.2"
PAGES = (
    "/", "/healthz", "/readyz", "/metrics", "/api/v1/status", "/api/v1/topics", "/api/v1/report",
    "/api/v1/documents?limit=5", "/api/v1/nothing",
)  # fmt: skip


@pytest.fixture
def guarded() -> Iterator[tuple[Server, str]]:
    """A server that can be stopped, and an address with a password."""
    server = Server()
    address = f"{server.url.replace('postgres:@', 'postgres:s3cret@')}&schema=guarded"
    fill(address)
    yield server, address
    server.end()


def ended(service: ServiceProcess) -> None:
    if service.process is not None and service.process.poll() is None:
        some = children(service.process.pid)
        service.kill()
        kill(some)


# A minute passes until an append to a server that was stopped fails.
@pytest.mark.parametrize("is_stopped", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_password_is_nowhere(
    guarded: tuple[Server, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_stopped: bool
) -> None:
    """Not in the list of processes, not in answers and not in the log, also when all fails."""
    server, address = guarded
    monkeypatch.setenv("GUARDED_STORE", address)
    service = ServiceProcess("env:GUARDED_STORE", tmp_path / "log", *OPTIONS)
    service.start()
    try:
        with httpx.Client(base_url=service.address, timeout=300, trust_env=False) as client:
            until(lambda: client.get("/api/v1/report").status_code == 200)
            until(service.children)
            assert service.process is not None
            processes = [service.process.pid, *children(service.process.pid)]
            assert len(processes) > 2
            for pid in processes:
                assert "s3cret" not in command_of(pid)
            answers = [client.get(page) for page in PAGES]
            if is_stopped:
                server.stop()
                try:
                    posted = client.post("/api/v1/documents", json={"id": "a", "text": "cat dog"})
                    assert posted.status_code == 503, posted.text
                    answers += [posted, client.get("/readyz"), client.get("/api/v1/status")]
                finally:
                    server.start()
            for answer in answers:
                assert "s3cret" not in answer.text + repr(answer.headers), answer.url
        service.stop()
    finally:
        ended(service)
    log = service.log.read_text()
    assert "s3cret" not in log and "Traceback" not in log


def test_a_damaged_checkpoint_is_said_in_one_line(filled_file: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(filled_file, tmp_path / "topics.db"))
    with open_store(path) as store:
        content = bytearray(store.load("model") or b"")
        content[len(content) // 2] ^= 0xFF
        store.save("model", bytes(content))
    service = ServiceProcess(str(path), tmp_path / "log", *OPTIONS)
    service.start()
    try:
        with httpx.Client(base_url=service.address, timeout=300, trust_env=False) as client:
            found = until(
                lambda: client.get("/api/v1/status").json()["training"].get("problem"), 300
            )
            assert "checksum" in found or "damaged" in found, found
        assert service.stop() == 0
    finally:
        ended(service)
    assert "Traceback" not in service.log.read_text()


@pytest.mark.parametrize("n", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_signal_while_it_starts(filled_file: Path, tmp_path: Path, n: int) -> None:
    path, rng = shutil.copy(filled_file, tmp_path / "topics.db"), np.random.default_rng(4)
    start = 'import sys\nfrom trustream.__main__ import main\nprint("ready", flush=True)\nmain()'
    command = [sys.executable, "-c", start, "serve", str(path), "--port", "0", *OPTIONS]
    whole = 0.0
    for i in range(n + 1):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        begin, number = time.monotonic(), [signal.SIGINT, signal.SIGTERM][i % 2]
        if i == 0:  # how long it takes on this machine
            assert process.stderr is not None and b"serving at" in process.stderr.readline()
            whole = time.monotonic() - begin
        else:
            time.sleep(rng.uniform(0, 1.5 * whole))
        process.send_signal(number)
        try:
            _, err = process.communicate(timeout=120)
        finally:
            process.kill()
        assert process.returncode in (0, -number), (i, err.decode())
        assert b"Traceback" not in err and b"Exception ignored" not in err, (i, err.decode())
    with open_store(path) as store:
        assert not store.check().damage
