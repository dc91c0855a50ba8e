"""A process of its own that computes: the same answers, ended when idle, killed without harm."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.service.idle import memory
from benchmarks.service.processes import ServiceProcess, kill, lives, until
from tests.service.clients import TEXTS, computing, events, problem
from trustream.store import open_store

ROUTES = (
    "report", "topics", "topics/0", "topics/1/documents?limit=3", "topics/99", "topics/nothing",
    "trends", "map", "search?word=ba", "documents/d3", "documents/none", "nearest?id=d3",
    "nearest?id=none", "documents?limit=3",
)  # fmt: skip


def answers(client: httpx.Client) -> dict[str, Any]:
    found = {route: client.get(f"/api/v1/{route}").json() for route in ROUTES}
    found["infer"] = client.post("/api/v1/infer", json=TEXTS).json()
    found["near"] = client.post("/api/v1/nearest", json={"text": "bank coin"}).json()
    found["report"].pop("computed")
    return found


def bulk(first: str, n: int = 600) -> list[dict[str, Any]]:
    odd = {1: "two\nlines", 2: "\u2028", 3: "\u00e9"}
    return [
        {"id": f"{first}{i}{odd.get(i, '')}", "text": f"Cats word{i % 7} \u00e9clair", "time": i}
        for i in range(n)
    ]


def lines(documents: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "content": "\n".join(map(json.dumps, documents)).encode(),
        "headers": {"Content-Type": "application/x-ndjson"},
    }


def contents(path: str) -> dict[str, Any]:
    """What a store holds of each document."""
    with open_store(path) as store:
        names = store.vocabulary().words
        return {
            key: (
                sorted(
                    (names[i], n)
                    for i, n in zip(
                        found.indices[found.indptr[at] : found.indptr[at + 1]].tolist(),
                        found.counts[found.indptr[at] : found.indptr[at + 1]].tolist(),
                        strict=True,
                    )
                ),
                float(found.times[at]),
                store.texts([key]).get(key),
            )
            for found in store.scan()
            for at, key in enumerate(found.keys)
            if found.times is not None and key[0] in "ljk"
        }


def test_the_same_answers_as_without(path: str, client_of: Callable[..., httpx.Client]) -> None:
    here, apart = client_of(path), client_of(path, compute_apart=True)
    assert len(computing()) == 1
    assert answers(here) == answers(apart)


@pytest.mark.parametrize("keep_text", [True, False])
def test_large_bodies_are_stored_the_same(
    tmp_path: Path, client_of: Callable[..., httpx.Client], keep_text: bool
) -> None:
    found = []
    for apart in (False, True):
        address = str(tmp_path / f"{apart}.db")
        open_store(address, min_documents=1, keep_text=keep_text).close()
        client = client_of(address, compute_apart=apart)
        wrong = client.post("/api/v1/documents", **lines([*bulk("w"), {"id": "x", "text": 7}]))
        assert problem(wrong, 422, "invalid-document")["errors"][0]["line"] == 601
        for first in "lk":
            assert client.post("/api/v1/documents", **lines(bulk(first))).json()["n_records"] == 600
        assert client.post("/api/v1/documents", json=bulk("j")).json()["n_records"] == 600
        replaced = [one | {"text": "new", "replace": True} for one in bulk("j")]
        assert client.post("/api/v1/documents", json=replaced).json()["n_replaced"] == 600
        found.append(contents(address))
    assert found[0] == found[1] and len(found[0]) == 1800
    assert found[0]["l1two\nlines"][0] == [("cats", 1), ("word", 1), ("\u00e9clair", 1)]


def test_it_ends_when_nobody_needs_it(path: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(path, compute_apart=True, idle_seconds=0.3)
    before = answers(client)
    until(lambda: not computing())
    # What was computed is answered without it.
    assert client.get("/api/v1/topics/0").json() == before["topics/0"] and not computing()
    assert answers(client) == before
    # A page that follows events gets it back, and keeps it.
    until(lambda: not computing())
    following = events(client)
    next(following)
    (pid,) = until(computing)
    with pytest.raises(TimeoutError):
        until(lambda: not lives(pid), 1.5)
    following.close()
    until(lambda: not lives(pid))


def test_it_is_killed(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """What it was at is done again; what it knew of words before is sent again."""
    client = client_of(path, compute_apart=True)
    before = client.post("/api/v1/infer", json=TEXTS).json()
    assert client.post("/api/v1/documents", **lines(bulk("k"))).status_code == 200
    (pid,) = computing()
    os.kill(pid, signal.SIGSTOP)
    found: list[Any] = []
    asking = [
        threading.Thread(target=lambda: found.append(client.post("/api/v1/infer", json=TEXTS))),
        threading.Thread(
            target=lambda: found.append(client.post("/api/v1/documents", **lines(bulk("l"))))
        ),
    ]
    for thread in asking:
        thread.start()
    until(lambda: client.get("/healthz").is_success)
    kill([pid])
    for thread in asking:
        thread.join()
    assert [answer.status_code for answer in found] == [200, 200]
    assert before in [answer.json() for answer in found]
    both = contents(path)
    assert len(both) == 1200 and both["l5"][0] == both["k5"][0]


def test_it_cannot_be_kept_alive(
    path: str,
    client_of: Callable[..., httpx.Client],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is tried twice; then the request is refused, and the service goes on."""
    client = client_of(path, compute_apart=True)
    assert client.get("/api/v1/topics").is_success
    dying, started = tmp_path / "dying", tmp_path / "started"
    dying.write_text(f"#!/bin/sh\nhead -c 1 >/dev/null\necho >>'{started}'\nkill -9 $$\n")
    dying.chmod(0o700)
    with monkeypatch.context() as context:
        # Whoever is started from here on is killed as soon as it is told anything.
        context.setattr(sys, "executable", str(dying))
        kill(computing())
        problem(client.post("/api/v1/infer", json=TEXTS), 503, "store-unavailable")
        # The one that lived before may have been the first of the two.
        assert len(started.read_text().splitlines()) in (1, 2)
        assert client.get("/api/v1/topics").is_success
    assert client.post("/api/v1/infer", json=TEXTS).is_success


@pytest.fixture
def service(path: str, tmp_path: Path) -> Iterator[ServiceProcess]:
    found = ServiceProcess(path, tmp_path / "log", "--idle-after", "1")
    found.start()
    yield found
    with contextlib.suppress(ProcessLookupError):
        found.kill()


def test_an_idle_service_is_small(service: ServiceProcess) -> None:
    """After everything was asked for, it has none of the large libraries."""
    with httpx.Client(base_url=service.address, timeout=300, trust_env=False) as client:
        until(lambda: client.get("/api/v1/report").status_code == 200)
        answers(client)
        assert client.post("/api/v1/documents", **lines(bulk("l"))).is_success
        assert client.post("/api/v1/documents", json={"id": "one", "text": "cat"}).is_success
        assert client.get("/metrics").is_success and client.get("/api/v1/changes").is_success
    assert service.process is not None
    pid = service.process.pid
    until(lambda: not service.children("compute_child"))
    proc = Path("/proc") / str(pid)
    until(lambda: "llvmlite" not in (proc / "maps").read_text())
    loaded = (proc / "maps").read_text()
    for library in ("llvmlite", "numba", "scipy/", "sklearn", "pandas"):
        assert library not in loaded, library
    statement = "import trustream; print(open('/proc/self/status').read())"
    alone = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True)
    assert memory((proc / "status").read_text()) - memory(alone.stdout) < 100
    assert service.stop() == 0


def test_a_killed_service_leaves_nothing(path: str, service: ServiceProcess) -> None:
    (child,) = until(lambda: service.children("compute_child"))
    service.kill()
    until(lambda: not lives(child))
