"""Many clients at once, while a trainer runs and processes are killed: nothing lost or doubled.

Clients keep a ledger: what was acknowledged is in the store once, with all its words.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.service.clients import Ledger, check, load, prepared
from benchmarks.service.processes import ServiceProcess, kill, until
from trustream.store import open_store
from trustream.streaming.setup import init_store

OPTIONS = "--train", "--jobs", "1", "--checkpoint-every", "1", "--sample", "1000"


@pytest.fixture
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ServiceProcess]:
    path = str(tmp_path / "loaded.db")
    if getattr(request, "param", "sqlite") == "postgres":
        path = f"{request.getfixturevalue('server').url}&schema=load_{tmp_path.name}"
    init_store(path, 5, batch_size=100, min_documents=1)
    found = ServiceProcess(path, tmp_path / "log", *OPTIONS)
    found.start()
    yield found
    if found.process is not None and found.process.poll() is None:
        some = found.children()
        found.kill()
        kill(some)


def killing(service: ServiceProcess, n: int) -> Callable[..., None]:
    """Kill a trainer that learns n times, and the service n times; it is started again each time.

    A trainer that was killed is started again by the service, and that is killed while the new one
    begins, or after a while, when it has done some steps of its own.
    """

    def during(over: Callable[[], bool]) -> None:
        rng = random.Random(0)
        for _ in range(n):
            trainer = until(lambda: learning(service))
            time.sleep(0.5 * rng.random())
            kill([trainer])
            until(lambda old=trainer: service.children() not in ([], [old]))  # type: ignore[misc]
            if rng.random() < 0.2:
                until(lambda: learning(service))
            time.sleep(0.5 * rng.random())
            # The new trainer finds out by itself that its service is gone.
            service.kill()
            service.start()

    return during


def learning(service: ServiceProcess) -> int | None:
    """The service's trainer, if it has done steps since it was started."""
    found = read_status(service)["training"]
    return found["pid"] if found["state"] == "running" else None


def finished(service: ServiceProcess, ledger: Ledger) -> None:
    assert service.stop() == 0, service.log.read_text()[-2000:]
    check(service.store, ledger)
    with open_store(service.store) as store:
        assert store.totals().documents == len(ledger.acknowledged)


def test_clients_under_load(service: ServiceProcess) -> None:
    ledger = prepared(service)
    calm = load(service, seconds=2, n_writers=6, n_readers=2, bulk=20, rate=None, name="a")
    assert not calm.errors and calm.acknowledged and calm.reads
    # Killed under load: what was acknowledged stays, what was not is sent again.
    during = killing(service, 1)
    killed = load(
        service, seconds=None, n_writers=4, n_readers=1, bulk=20, rate=400, name="b", during=during
    )
    assert killed.errors
    ledger.acknowledged |= calm.acknowledged | killed.acknowledged
    finished(service, ledger)


BOTH = pytest.mark.parametrize("service", ["sqlite", "postgres"], indirect=True)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@BOTH
def test_full_load(service: ServiceProcess, tmp_path: Path) -> None:
    """32 clients append 3,000 documents per second together, 8 read, and a trainer learns."""
    before = prepared(service)
    ledger = load(service, seconds=60, n_writers=32, n_readers=8, bulk=100, rate=3000)
    p50, p99 = (1000 * ledger.quantile(q) for q in (0.5, 0.99))
    print(
        f"{ledger.rate:,.0f} documents/s; {len(ledger.reads)} reads, p50 {p50:.0f} ms, p99 "
        f"{p99:.0f} ms"
    )
    assert not ledger.errors
    ledger.acknowledged |= before.acknowledged
    status = read_status(service)
    assert status["training"]["n_restarts"] == 0 and status["model"]["n_steps"] > 0
    finished(service, ledger)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@BOTH
def test_fifty_kills_under_load(service: ServiceProcess) -> None:
    """Fifty of the service and fifty of the trainer, while all clients go on."""
    before = prepared(service)
    ledger = load(
        service, seconds=None, n_writers=32, n_readers=8, bulk=50, rate=3000,
        during=killing(service, 50),
    )  # fmt: skip
    n = len(ledger.acknowledged)
    print(
        f"50 kills of each: {ledger.seconds:.0f} s, {n:,} documents, {len(ledger.errors)} retries"
    )
    ledger.acknowledged |= before.acknowledged
    until(lambda: read_status(service))
    finished(service, ledger)


def read_status(service: ServiceProcess) -> dict[str, dict[str, Any]]:
    with closing(service.connection()) as connection:
        connection.request("GET", "/api/v1/status")
        found: dict[str, dict[str, Any]] = json.loads(connection.getresponse().read())
    return found
