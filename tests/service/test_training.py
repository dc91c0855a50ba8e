"""A trainer beside the service: started again if it dies, ended with it, also by SIGKILL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from benchmarks.service.processes import ServiceProcess, kill, lives, until
from tests.service.clients import events
from trustream.store import open_store
from trustream.streaming.status import status
from trustream.streaming.trainer_status import trainer_status
from trustream.streaming.training_run import prepared_trainer

OPTIONS = "--train", "--jobs", "1", "--checkpoint-every", "0.2"


@pytest.fixture
def service(path: str, tmp_path: Path) -> Iterator[ServiceProcess]:
    found = ServiceProcess(path, tmp_path / "log", *OPTIONS)
    yield found
    if found.process is not None and found.process.poll() is None:
        some = found.children()
        found.kill()
        kill(some)


def client_of(service: ServiceProcess) -> httpx.Client:
    return httpx.Client(base_url=service.address, timeout=300, trust_env=False)


def training(client: httpx.Client) -> dict[str, object]:
    found: dict[str, object] = client.get("/api/v1/status").json()["training"]
    return found


def test_a_trainer_beside_the_service(service: ServiceProcess) -> None:
    """It learns, tells of its steps, is started again when it is killed, and ends."""
    service.start()
    with client_of(service) as client:
        client.post("/api/v1/documents", json={"id": "new", "text": "cat dog bird"})
        for name, data in events(client):
            if name == "step":
                assert data["n_steps"] > 15
                break
        # What trains is loaded where it trains: the service stays small, and is there at once.
        assert service.process is not None
        loaded = (Path("/proc") / str(service.process.pid) / "maps").read_text()
        assert "llvmlite" not in loaded and "scipy/" not in loaded
        first = until(lambda: training(client)["pid"])
        assert service.children() == [first]
        kill([int(str(first))])
        second = until(lambda: training(client)["n_restarts"] == 1 and training(client)["pid"])
        assert second != first and service.children() == [second]
        client.post("/api/v1/documents", json={"id": "newer", "text": "cat dog bird"})
        until(lambda: training(client)["state"] in ("running", "waiting"))
    # As Ctrl-C and a service manager end it: with a checkpoint, and without the lease.
    assert service.stop() == 0
    assert not lives(int(str(second)))
    with open_store(service.store) as store:
        assert trainer_status(store) is None
        found = status(store).model
        assert found is not None and found.n_steps > 15


def test_a_killed_service_leaves_no_trainer(service: ServiceProcess) -> None:
    service.start()
    (child,) = until(service.children)
    with open_store(service.store) as store:
        until(lambda: trainer_status(store))
        service.kill()
        until(lambda: not lives(child))
        until(lambda: trainer_status(store) is None)


def test_another_trainer_has_the_lease(service: ServiceProcess) -> None:
    """It is left alone, and said to be there; when it ends, the service's own one begins."""
    with open_store(service.store) as store:
        with prepared_trainer(store, n_jobs=1):
            service.start()
            with client_of(service) as client:
                found = until(lambda: training(client)["problem"])
                assert "is running" in str(found) or "trainer" in str(found)
                assert client.get("/api/v1/status").json()["trainer"] is not None
        with client_of(service) as client:
            until(lambda: training(client)["problem"] is None and training(client)["pid"])
    assert service.stop() == 0
