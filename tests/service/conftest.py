"""Services on loopback, over real stores with a trained model, on both databases."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.pets_and_money import records
from tests.service.clients import until
from trustream.service import ServiceSettings, serving
from trustream.store import Record, open_store
from trustream.streaming.setup import init_store
from trustream.streaming.training_run import prepared_trainer, train
from trustream.text import Tokeniser

_NUMBERS = itertools.count()
N_DOCUMENTS = 60


def fill(address: str) -> None:
    """A store that keeps texts, with two topics learned."""
    init_store(address, 2, batch_size=20, min_documents=1, keep_text=True)
    with open_store(address) as store:
        store.set_tokeniser(Tokeniser())
        store.append(
            Record(r.key, r.words, 86400.0 * r.time, text=" ".join(r.words), title=f"Title {r.key}")
            for r in records(N_DOCUMENTS)
        )
        with prepared_trainer(store, n_jobs=1) as trainer:
            train(trainer, steps=15)


@pytest.fixture(scope="session")
def filled_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("service") / "filled.db"
    fill(str(path))
    return path


@pytest.fixture
def path(filled_file: Path, tmp_path: Path) -> str:
    """A SQLite store of its own."""
    return str(shutil.copy(filled_file, tmp_path / "topics.db"))


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A filled store on either database."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("path"))
    server = request.getfixturevalue("server")
    found = f"{server.url}&schema=service_{next(_NUMBERS)}"
    fill(found)
    return found


@pytest.fixture
def client_of() -> Iterator[Callable[..., httpx.Client]]:
    """Start services; each has a client, which waits until there is a report."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(store: str, *, token: str | None = None, **settings: Any) -> httpx.Client:
            options: dict[str, Any] = {"report_every": 0.1, "poll": 0.05, **settings}
            address = stack.enter_context(serving(ServiceSettings(store, **options)))
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            client = stack.enter_context(
                httpx.Client(base_url=address, headers=headers, timeout=300, trust_env=False)
            )
            if token is not None or not settings.get("requires_token"):
                until(lambda: client.get("/api/v1/report").status_code != 503)
            return client

        yield start


@pytest.fixture
def client(path: str, client_of: Callable[..., httpx.Client]) -> httpx.Client:
    """A client of a service on SQLite."""
    return client_of(path)
