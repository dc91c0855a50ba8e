"""Lines that are stored in parts while they come: any number of them, in little memory."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.service.idle import memory
from benchmarks.service.processes import ServiceProcess
from tests.service.clients import problem, until
from trustream.service import line_parts
from trustream.store import open_store

LINES = {"Content-Type": "application/x-ndjson"}
ROUTE = "/api/v1/documents?in_parts=true"
TEXT = " ".join(f"word{chr(97 + i % 26)}" for i in range(200))


def line(number: int, **more: Any) -> bytes:
    return json.dumps({"id": f"n{number}", "text": TEXT, **more}).encode() + b"\n"


def totals(address: str) -> int:
    with open_store(address) as store:
        return store.totals().documents


@pytest.fixture
def empty(tmp_path: Path) -> str:
    found = str(tmp_path / "lines.db")
    open_store(found, min_documents=1).close()
    return found


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of 40 kB and lines of 100 kB."""
    defaults = line_parts.line_parts.__defaults__
    assert defaults is not None
    monkeypatch.setattr(line_parts.line_parts, "__defaults__", (40_000,))
    monkeypatch.setattr(line_parts, "LONGEST", 100_000)


@pytest.mark.usefixtures("small_parts")
def test_what_was_added_is_told(empty: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(empty, max_body=100_000)
    body = b"".join(map(line, range(500)))
    assert len(body) > 500_000
    refused = problem(
        client.post("/api/v1/documents", content=body, headers=LINES), 413, "too-large"
    )
    assert "in_parts" in refused["detail"] and totals(empty) == 0
    found = client.post(ROUTE, content=body, headers=LINES).json()
    assert (found["n_records"], found["n_documents"], found["n_tokens"]) == (500, 500, 100_000)
    # Nothing is lost at the ends of parts.
    with open_store(empty) as store:
        assert store.totals().tokens == 100_000


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    "wrong", [b"not json\n", line(7, time=1e30), line(7, replace="x"), b"[]\n"]
)
def test_a_wrong_line(empty: str, client_of: Callable[..., httpx.Client], wrong: bytes) -> None:
    """What stands before its part is stored, and told; with the same key all can be sent again."""
    client = client_of(empty)
    lines = [*map(line, range(300)), wrong, *map(line, range(300, 400))]
    headers = {**LINES, "Idempotency-Key": "import-1"}

    def chunks() -> Iterator[bytes]:
        yield b"".join(lines[:200])
        until(lambda: totals(empty))
        yield b"".join(lines[200:])

    found = problem(client.post(ROUTE, content=chunks(), headers=headers), 422, "invalid-document")
    (fault,) = found["errors"]
    assert fault.get("line") == 301 or fault["index"] == 300
    added = found["added"]["n_records"]
    assert 0 < added <= 300 and totals(empty) == added
    assert f"{added:,} lines before were added" in found["detail"]
    lines.remove(wrong)
    again = client.post(ROUTE, content=b"".join(lines), headers=headers).json()
    assert (again["n_repeated"], again["n_records"]) == (added, 400 - added)
    assert totals(empty) == 400


@pytest.mark.usefixtures("small_parts")
def test_a_line_that_never_ends(empty: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(empty)

    def chunks() -> Iterator[bytes]:
        yield b"".join(map(line, range(100)))
        for _ in range(20):
            yield b"x" * 10_000

    found = problem(client.post(ROUTE, content=chunks(), headers=LINES), 413, "too-large")
    assert found["added"]["n_records"] == totals(empty) == 100


def test_lines_that_do_not_come(empty: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(empty, body_seconds=0.3)

    def chunks() -> Iterator[bytes]:
        yield line(0)
        time.sleep(2)
        yield line(1)

    found = problem(client.post(ROUTE, content=chunks(), headers=LINES), 408, "too-slow")
    assert found["added"]["n_records"] == 0 and totals(empty) == 0


def test_only_lines(empty: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(empty)
    problem(client.post(ROUTE, json={"id": "a", "text": "cat"}), 415, "unsupported-type")
    problem(client.post("/api/v1/documents?in_parts=x", json={}), 422, "invalid-request")
    assert client.post(ROUTE, content=b"", headers=LINES).json()["n_records"] == 0
    assert client.post(ROUTE, content=line(0)[:-1], headers=LINES).json()["n_records"] == 1


@pytest.mark.parametrize(
    "size", [20, pytest.param(300, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
def test_memory_stays_bounded(empty: str, tmp_path: Path, size: int) -> None:
    """Megabytes of lines in one request, by a service with a limit of eight."""
    service = ServiceProcess(empty, tmp_path / "log", "--max-body", "8")
    service.start()
    try:
        n = size * 2**20 // len(line(10**6))
        assert service.process is not None
        status = Path(f"/proc/{service.process.pid}/status")
        most = 0.0

        def chunks() -> Iterator[bytes]:
            nonlocal most
            for first in range(0, n, 500):
                yield b"".join(map(line, range(first, min(first + 500, n))))
                most = max(most, memory(status.read_text()))

        with httpx.Client(base_url=service.address, timeout=600, trust_env=False) as client:
            found = client.post(ROUTE, content=chunks(), headers=LINES).json()
        assert found["n_documents"] == n == totals(empty)
        print(f"{n:,} documents, {size} MiB: {most:.0f} MB")
        assert most < 250
    finally:
        service.stop()
