"""A store that is deleted or full, and a trainer that cannot live: said without secrets, mended."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.service.processes import ServiceProcess
from tests.service.clients import events, problem, until
from tests.service.conftest import N_DOCUMENTS
from trustream.service import store_handle
from trustream.store import open_store
from trustream.streaming.saved_names import SETTINGS

DOCUMENT = {"id": "new", "text": "cat dog"}
FILES = "", "-wal", "-shm"


def move(path: str, to: Path) -> None:
    to.mkdir(exist_ok=True)
    for end in FILES:
        if Path(path + end).exists():
            shutil.move(path + end, to / (Path(path).name + end))


def test_a_store_that_is_deleted(
    path: str, tmp_path: Path, client_of: Callable[..., httpx.Client]
) -> None:
    """Nothing is acknowledged that would be lost; a store that is put back is used at once."""
    copy = shutil.copy(path, tmp_path / "copy.db")
    client = client_of(path)
    assert client.post("/api/v1/documents", json=DOCUMENT).is_success
    move(path, tmp_path / "away")
    refused = client.post("/api/v1/documents", json={"id": "lost", "text": "cat"})
    found = problem(refused, 503, "store-unavailable")
    assert int(refused.headers["retry-after"]) >= 1
    assert str(tmp_path) not in json.dumps(found) and "copy" not in json.dumps(found)
    until(lambda: client.get("/readyz").status_code == 503)
    assert client.get("/healthz").is_success
    # Another store in its place, as one restored from a copy: without what came after the copy.
    shutil.copy(copy, path)
    until(lambda: client.get("/readyz").is_success)
    until(lambda: client.get("/api/v1/status").json()["totals"]["documents"] == N_DOCUMENTS)
    # Who writes finds out by a refusal, and opens the store again.
    until(lambda: client.post("/api/v1/documents", json=DOCUMENT).is_success)
    with open_store(path) as store:
        assert store.totals().documents == N_DOCUMENTS + 1 and store.check().ok


def test_a_full_disk(
    path: str, client_of: Callable[..., httpx.Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Appends are refused until there is space; reading goes on, and nothing is lost."""
    full, opened = True, open_store

    def opened_on_a_full_disk(*given: Any, **named: Any) -> Any:
        store: Any = opened(*given, **named)
        execute = store._database._connection.execute
        (pages,) = execute("PRAGMA page_count").fetchone()
        execute(f"PRAGMA max_page_count={pages + 20 if full else 10**6}").fetchone()
        return store

    monkeypatch.setattr(store_handle, "open_store", opened_on_a_full_disk)
    client = client_of(path)
    acknowledged, answer = 0, None
    for i in range(1000):
        words = [f"w{i}x{k}" for k in range(200)]
        many = [{"id": f"{i}-{j}", "tokens": words[j::9]} for j in range(9)]
        answer = client.post("/api/v1/documents", json=many)
        if not answer.is_success:
            break
        acknowledged += 9
    assert answer is not None and acknowledged
    problem(answer, 503, "store-unavailable")
    assert client.get("/api/v1/documents?limit=1").json()["total"] == N_DOCUMENTS + acknowledged
    full = False
    assert client.post("/api/v1/documents", json=DOCUMENT).is_success
    with open_store(path) as store:
        assert store.totals().documents == N_DOCUMENTS + acknowledged + 1 and store.check().ok


def test_logs_have_lines_of_the_service_only(
    path: str, client_of: Callable[..., httpx.Client], caplog: pytest.LogCaptureFixture
) -> None:
    """What is asked for may have line breaks and escapes, and is no business of a log."""
    client = client_of(path)
    move(path, Path(path).parent / "away")
    with caplog.at_level(logging.DEBUG, logger="trustream.service"):
        asked = "/api/v1/documents/a%0d%0aWARNING%20forged%1b%5b31m?x=%0aforged"
        # A file that is gone is noticed a moment later.
        until(lambda: client.get(asked).status_code != 404)
        problem(client.get(asked), 503, "store-unavailable")
    assert "store" in caplog.text or "cannot" in caplog.text
    assert "forged" not in caplog.text and "\x1b" not in caplog.text


@pytest.fixture
def service(path: str, tmp_path: Path) -> Iterator[ServiceProcess]:
    found = ServiceProcess(path, tmp_path / "log", "--train", "--jobs", "1")
    yield found
    if found.process is not None and found.process.poll() is None:
        found.kill()


def test_a_trainer_that_cannot_live(service: ServiceProcess, path: str) -> None:
    """It is tried again after longer and longer pauses; the status and events say so."""
    with open_store(path) as store:
        good = store.load("model" + SETTINGS)
        assert good is not None
        store.save("model" + SETTINGS, b"{")
    service.start()
    with httpx.Client(base_url=service.address, timeout=300, trust_env=False) as client:

        def training() -> dict[str, Any]:
            found: dict[str, Any] = client.get("/api/v1/status").json()["training"]
            return found

        for name, data in events(client):
            if name == "trainer" and data["training"]["problem"]:
                break
        until(lambda: training()["n_restarts"] >= 2 and training()["state"] == "restarting")
        problem_told = training()["problem"]
        assert "settings of the model 'model'" in problem_told and path not in problem_told
        assert "settings of the model 'model'" in service.log.read_text()
        # All else goes on, and when the cause is gone so does the trainer.
        assert client.post("/api/v1/documents", json=DOCUMENT).is_success
        with open_store(path) as store:
            store.save("model" + SETTINGS, good)
        until(lambda: training()["state"] in ("running", "waiting"))
        assert training()["problem"] is None
    pauses = [
        float(line.rpartition(" in ")[2].split()[0])
        for line in service.log.read_text().splitlines()
        if "started again in" in line
    ]
    assert pauses[:2] == [0.5, 1.0] and pauses == sorted(pauses)
    assert service.stop() == 0
