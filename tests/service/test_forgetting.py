"""Documents that are deleted by HTTP leave neither words in models nor texts in files."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.service.clients import computing, problem, until
from tests.store.test_erasing import traces
from trustream.service.forgetting import Forgetter
from trustream.store import Record, open_store
from trustream.store.errors import StoreError
from trustream.streaming.lost_words import lost_words
from trustream.streaming.published import load_checkpoint
from trustream.streaming.setup import init_store
from trustream.streaming.training_run import prepared_trainer, train

SECRET = "zanzibarsecret"


@pytest.fixture
def secret(tmp_path: Path) -> str:
    """A store with a model that knows a word that one document has."""
    path = str(tmp_path / "secret.db")
    init_store(path, 2, batch_size=20, min_documents=1, keep_text=True)
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(100)]
    with open_store(path) as store:
        store.append(Record(f"d{i}", rng.choice(words, 30).tolist()) for i in range(60))
        store.append([Record("person", [SECRET, "w1"], text=f"The {SECRET} of W1")])
        with prepared_trainer(store, n_jobs=1) as trainer:
            train(trainer, steps=5)
    assert SECRET in words_of_model(path)
    return path


def words_of_model(path: str) -> list[str | None]:
    with open_store(path) as store:
        checkpoint = load_checkpoint(store)
    assert checkpoint is not None
    return list(checkpoint.words)


@pytest.mark.parametrize("apart", [False, True])
def test_nothing_is_left(secret: str, client_of: Callable[..., httpx.Client], apart: bool) -> None:
    client = client_of(secret, compute_apart=apart)
    assert SECRET in client.get("/api/v1/documents/person").json()["text"]
    before = client.get("/api/v1/status").json()["model"]["version"]
    # So that the word is in the log, too.
    assert client.post("/api/v1/documents", json={"id": "person", "text": SECRET}).is_success
    deleted = client.delete("/api/v1/documents/person").json()
    assert deleted == {"n_deleted": 1, "overwritten": True}
    assert SECRET not in words_of_model(secret)
    assert traces(Path(secret), SECRET) == []
    # What is shown follows, and the model goes on.
    until(lambda: client.get("/api/v1/report").json()["version"] > before)
    assert SECRET not in client.get("/api/v1/report").text
    assert client.post("/api/v1/infer", json={"texts": ["w1 w2"]}).is_success
    problem(client.delete("/api/v1/documents/person"), 404, "no-document")
    with open_store(secret) as store:
        assert store.check().ok


def test_a_word_of_others_stays(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """Nothing is changed, and nothing is started for it."""
    client = client_of(path, compute_apart=True, idle_seconds=0.2)
    words = words_of_model(path)
    with open_store(path) as store:
        version = store.saved_version("model")
    until(lambda: not computing())
    client.delete("/api/v1/documents/nobody")
    assert not computing()
    assert client.delete("/api/v1/documents/d3").json()["n_deleted"] == 1
    with open_store(path) as store:
        assert store.saved_version("model") == version
    assert words_of_model(path) == words


def test_on_both_databases(address: str, client_of: Callable[..., httpx.Client]) -> None:
    with open_store(address) as store:
        store.append([Record("person", [SECRET, "cat"])])
        with prepared_trainer(store, n_jobs=1) as trainer:
            train(trainer, steps=2)
    assert SECRET in words_of_model(address)
    client = client_of(address)
    deleted = client.delete("/api/v1/documents/person").json()
    assert deleted == {"n_deleted": 1, "overwritten": "://" not in address}
    assert SECRET not in words_of_model(address)


def test_with_a_trainer(secret: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(secret, train=True, checkpoint_every=0.1, n_jobs=1)

    def n_steps() -> int:
        found: int = client.get("/api/v1/status").json()["model"]["n_steps"]
        return found

    until(lambda: n_steps() > 10)
    assert client.delete("/api/v1/documents/person").json()["n_deleted"] == 1
    reached = n_steps()
    until(lambda: n_steps() > reached + 5)
    assert SECRET not in words_of_model(secret)


def test_a_trainer_that_was_about_to_save(
    secret: str, client_of: Callable[..., httpx.Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it saves as it was just before the deletion is changed as well."""
    monkeypatch.setattr("trustream.service.forgetting._PAUSE", 0.5)
    client = client_of(secret)
    with open_store(secret) as store:
        before = store.load("model")
        assert before is not None
        assert client.delete("/api/v1/documents/person").json()["n_deleted"] == 1
        store.save("model", before)
    assert SECRET in words_of_model(secret)
    until(lambda: SECRET not in words_of_model(secret))
    until(lambda: traces(Path(secret), SECRET) == [])


def test_a_reader_in_the_way(
    secret: str, client_of: Callable[..., httpx.Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others append meanwhile, the answer says what is left, and it is done later."""
    monkeypatch.setattr("trustream.store.document_store._TO_ERASE", 2.0)
    monkeypatch.setattr("trustream.service.forgetting._PAUSE", 0.2)
    client = client_of(secret)
    answers: list[httpx.Response] = []
    with open_store(secret) as reader:

        def while_reading() -> float:
            list(reader._database.stream("SELECT count(*) FROM document"))
            deleting = threading.Thread(
                target=lambda: answers.append(client.delete("/api/v1/documents/person"))
            )
            deleting.start()
            slowest, n = 0.0, 0
            while deleting.is_alive():
                began = time.monotonic()
                body = {"id": f"n{n}", "text": "w1"}
                assert client.post("/api/v1/documents", json=body).is_success
                slowest, n = max(slowest, time.monotonic() - began), n + 1
            return slowest

        slowest = reader._database.run(while_reading, write=False)
    assert answers[0].json() == {"n_deleted": 1, "overwritten": False}
    assert slowest < 2.0
    until(lambda: traces(Path(secret), SECRET) == [])


def test_what_fails_is_done_again(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trustream.service.forgetting._PAUSE", 0.05)
    calls: list[str] = []

    async def compute(name: str) -> int:
        calls.append(name)
        if len(calls) < 3:
            raise StoreError("not now")
        with open_store(secret) as store:
            store.append([Record("other", [SECRET])])
        return 0

    async def run() -> None:
        forgetter = Forgetter(secret, compute)
        with open_store(secret) as store:
            store.delete(["person"])
            assert lost_words(store) == {"model": {SECRET}}
        found = await asyncio.gather(
            *(forgetter.forget() for _ in range(5)), return_exceptions=True
        )
        assert [str(one) for one in found] == ["not now"] * 5
        assert calls == ["forget"], "they share one pass"
        async with asyncio.timeout(30):
            while len(calls) < 3:
                await asyncio.sleep(0.01)
        assert await forgetter.forget()
        forgetter.stop()
        await asyncio.to_thread(forgetter.close)

    asyncio.run(run())
    assert len(calls) == 3, "nothing is left to be done"
