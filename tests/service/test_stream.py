"""Status, events, history and health."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import httpx

from tests.service.clients import events, until
from tests.service.conftest import N_DOCUMENTS
from trustream.service import ServiceSettings, history, schemas, serving
from trustream.store import Record, open_store
from trustream.streaming.training_run import prepared_trainer, train


def test_status(client: httpx.Client) -> None:
    found = client.get("/api/v1/status").json()
    schemas.Status.model_validate(found)
    assert found["totals"]["documents"] == N_DOCUMENTS
    assert found["model"]["n_steps"] == 15 and found["model"]["n_topics"] == 2
    assert found["store"]["name"] == "topics.db" and found["trainer"] is None
    assert found["training"]["state"] == "off"
    assert found["access"] == {"name": None, "scopes": ["read", "append", "admin"]}


def test_events_tell_what_others_do(address: str, client_of: Callable[..., httpx.Client]) -> None:
    """Documents that another handle appends, a trainer, and the model that it publishes."""
    client = client_of(address)
    seen: dict[str, dict[str, object]] = {}
    stream = events(client)
    name, hello = next(stream)
    assert name == "hello" and hello["interval"] > 0
    while not {"totals", "model", "topics"} <= seen.keys():
        name, data = next(stream)
        schemas.EVENTS[name].model_validate(data)
        seen[name] = data
    with open_store(address) as store:
        store.append([Record("new", ["cat", "dog"])])
        for name, data in stream:
            if name == "totals" and data["totals"]["documents"] == N_DOCUMENTS + 1:
                break
        with prepared_trainer(store, n_jobs=1) as trainer:
            for name, data in stream:
                if name == "trainer" and data["trainer"] is not None:
                    break
            train(trainer, steps=2)
    for name, data in stream:
        schemas.EVENTS[name].model_validate(data)
        if name == "model" and data["model"]["n_steps"] == 17:
            break
    for name, data in stream:
        if name == "topics" and data["report"]["n_documents"] == N_DOCUMENTS + 1:
            break
    assert client.get("/api/v1/status").json()["model"]["n_steps"] == 17
    stream.close()


def test_a_damaged_model_is_not_called_none(address: str) -> None:
    """It is said at once; the service goes on, and takes the next model that can be read."""
    with open_store(address) as store:
        good = store.load("model")
        assert good is not None
        store.save("model", good[:100])
        with (
            serving(ServiceSettings(address)) as service,
            httpx.Client(base_url=service, trust_env=False) as client,
        ):

            def topics() -> httpx.Response:
                return client.get("/api/v1/topics", timeout=60)

            def has_looked(answer: httpx.Response) -> bool:
                # Before it has looked at the store there is no model, and while it reads no report.
                is_reading = answer.status_code == 503 and "not-ready" in answer.json()["type"]
                return answer.status_code != 404 and not is_reading

            (answer,) = until(lambda: [found for found in [topics()] if has_looked(found)])
            assert answer.status_code == 503 and answer.json()["type"].endswith("model-unreadable")
            assert client.get("/api/v1/status").json()["totals"]["documents"] == N_DOCUMENTS
            store.save("model", good)
            until(lambda: topics().status_code == 200)


def test_history_and_changes(address: str, client_of: Callable[..., httpx.Client]) -> None:
    now = time.time()
    topics = [{"topic": 7, "label": "gone", "share": 0.4, "words": ["x"]},
              {"topic": 0, "label": "old", "share": 0.6, "words": ["x", "cat"]}]  # fmt: skip
    point = {
        "time": now - 90000, "documents": 5, "tokens": 50, "words": 3, "n_steps": 1, "n_topics": 2,
        "score": -3.5, "topics": topics,
    }  # fmt: skip
    with open_store(address) as store:
        for when in (now - 90000, now - 500 * 86400):
            content = json.dumps({**point, "time": when}).encode()
            store.note_history("model", content, when, every=(history.FINE, history.COARSE))
    client = client_of(address)
    # The point of 500 days ago expires.
    until(
        lambda: (
            [item["documents"] for item in client.get("/api/v1/history").json()["items"]]
            == [5, N_DOCUMENTS]
        )
    )
    changes = client.get("/api/v1/changes").json()
    assert changes["since"] == now - 90000 and changes["before"]["score"] == -3.5
    kinds = {entry["topic"]: entry["change"] for entry in changes["topics"]}
    assert kinds == {0: "shrunk", 1: "appeared", 7: "gone"}
    assert changes["topics_since"] == changes["since"]
    assert changes["retention"]["fine_days"] == 7 and changes["retention"]["coarse_days"] == 400
    shrunk = next(entry for entry in changes["topics"] if entry["topic"] == 0)
    assert "x" in shrunk["words_out"]
    recent = client.get("/api/v1/history", params={"since": now - 1000}).json()["items"]
    assert [item["documents"] for item in recent] == [N_DOCUMENTS]
    assert len(client.get("/api/v1/history?limit=1").json()["items"]) == 1


def test_changes_since_there_was_no_model(
    path: str, client_of: Callable[..., httpx.Client]
) -> None:
    """All else is compared with the first point, and topics with the first that has some."""
    now = time.time()
    point = {
        "documents": 0, "tokens": 0, "words": 0, "n_steps": None, "n_topics": None, "score": None,
    }  # fmt: skip
    topics = [{"topic": 7, "label": "gone", "share": 0.4, "words": ["x"]}]
    with open_store(path) as store:
        for age, found in ((9000, []), (6000, []), (3000, topics)):
            content = json.dumps({**point, "time": now - age, "topics": found}).encode()
            store.note_history("model", content, now - age, every=(history.FINE, history.COARSE))
    changes = client_of(path).get("/api/v1/changes").json()
    assert changes["since"] == now - 9000 and changes["topics_since"] == now - 3000
    assert {entry["topic"]: entry["change"] for entry in changes["topics"]}[7] == "gone"


def test_health_and_metrics(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}
    client.post("/api/v1/documents", json={"id": "secret-key", "text": "cat"})
    text = until(
        lambda: next(
            (
                t
                for t in [client.get("/metrics").text]
                if f"trustream_documents {N_DOCUMENTS + 1}.0" in t
            ),
            None,
        )
    )
    assert "trustream_appended_records_total 1.0" in text
    assert 'status="200"' in text and "secret-key" not in text
    assert "trustream_model_steps 15.0" in text
