"""What the service says of topics is what the library says."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from tests.pets_and_money import MONEY, PETS
from tests.service.clients import problem, until
from tests.service.conftest import N_DOCUMENTS
from trustream.store import open_store
from trustream.streaming.published import load_model
from trustream.topics.inference import infer
from trustream.topics.stored_report import stored_report_data
from trustream.topics.stored_topics import label_stored_topics


def test_the_report_is_the_library_s(address: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(address)
    found = client.get("/api/v1/report").json()
    with open_store(address) as store:
        expected = stored_report_data(store, title=found["title"])
    assert {name: found[name] for name in expected} == expected
    assert (found["is_sample"], found["n_stored"]) == (False, N_DOCUMENTS)
    for entry in client.get("/api/v1/topics").json()["items"]:
        same = next(topic for topic in expected["topics"] if topic["topic"] == entry["topic"])
        assert entry["share"] == same["share"] and entry["trend"] == same["trend"]
        assert {word["word"] for word in entry["words"][:5]} in ({*PETS}, {*MONEY})
    shown = client.get("/api/v1/map").json()
    assert shown["hierarchy"] == expected["hierarchy"]
    trends = client.get("/api/v1/trends").json()
    assert trends["time"] == expected["time"] and len(trends["topics"]) == 2


def test_pages_of_topics(client: httpx.Client) -> None:
    first = client.get("/api/v1/topics?limit=1").json()
    second = client.get(first["next"]).json()
    assert first["total"] == 2 and second["next"] is None
    assert {page["items"][0]["topic"] for page in (first, second)} == {0, 1}
    assert problem(client.get("/api/v1/topics?limit=0"), 422, "invalid-request")["errors"][0][
        "field"
    ] == "limit"  # fmt: skip


def test_one_topic_and_its_documents(client: httpx.Client) -> None:
    topic = client.get("/api/v1/topics/1").json()
    assert topic["topic"] == 1 and len(topic["position"]) == 2
    page = client.get("/api/v1/topics/1/documents?limit=10").json()
    assert page["total"] == 50 and len(page["items"]) == 10
    rest = client.get("/api/v1/topics/1/documents?limit=500&offset=10").json()
    keys = [item["key"] for item in (*page["items"], *rest["items"])]
    about = {int(key[1:]) % 2 for key in keys[: N_DOCUMENTS // 2]}
    assert len(about) == 1 and len(set(keys)) == 50
    problem(client.get("/api/v1/topics/99"), 404, "no-topic")
    problem(client.get("/api/v1/topics/nothing"), 404, "no-topic")


def test_search_by_word(client: httpx.Client) -> None:
    found = client.get("/api/v1/search?word=Ban").json()
    assert found["words"] == ["bank"]
    best, other = found["items"]
    assert best["topic_given_word"] > 0.9 and best["rank"] <= 5 < other["rank"]
    assert best["topic_given_word"] + other["topic_given_word"] == pytest.approx(1)
    assert client.get("/api/v1/search?word=zzz").json()["items"] == []


def test_inference_is_the_library_s(client: httpx.Client, path: str) -> None:
    texts = ["A cat, a dog and a bank.", "", "unknown words"]
    found = client.post("/api/v1/infer", json={"texts": texts, "top": 2, "words": True}).json()
    with open_store(path) as store:
        model = load_model(store)
        words = [store.tokeniser()(text) for text in texts]
        expected = list(infer(model, words, top=2))
    for answer, document, text in zip(found["documents"], expected, texts, strict=True):
        assert answer["n_known"] == document.n_known and answer["n_tokens"] == document.n_tokens
        assert [t["topic"] for t in answer["topics"]] == [t.topic for t in document.topics]
        assert [t["proportion"] for t in answer["topics"]] == pytest.approx(
            [t.proportion for t in document.topics], abs=1e-6
        )
        assert "".join(piece["text"] for piece in answer["segments"]) == text
    for wrong in ({}, {"texts": []}, {"texts": [7]}, {"texts": ["x"], "what": 1}):
        problem(client.post("/api/v1/infer", json=wrong), 422, "invalid-request")


def test_nearest_documents(client: httpx.Client) -> None:
    found = client.get("/api/v1/nearest?id=d4&limit=29").json()
    assert {int(item["id"][1:]) % 2 for item in found["items"]} == {0}
    assert "d4" not in [item["id"] for item in found["items"]]
    similar = [item["similarity"] for item in found["items"]]
    assert similar == sorted(similar, reverse=True) and found["n_searched"] == N_DOCUMENTS
    near = client.post("/api/v1/nearest", json={"text": "bank bank coin", "limit": 3}).json()
    assert {int(item["id"][1:]) % 2 for item in near["items"]} == {1}
    problem(client.get("/api/v1/nearest?id=none"), 404, "no-document")


def test_answers_are_compressed_and_tagged(client: httpx.Client) -> None:
    plain = client.get("/api/v1/report", headers={"Accept-Encoding": "identity"})
    packed = client.get("/api/v1/report", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert plain.json() == packed.json()
    tag = plain.headers["etag"]
    known = client.get("/api/v1/report", headers={"If-None-Match": tag})
    assert known.status_code == 304 and not known.content and known.headers["etag"] == tag


def test_a_new_label_is_shown_at_once(client: httpx.Client, path: str) -> None:
    """Whatever characters it has: a page is given text, and a terminal nothing that it obeys."""
    with open_store(path) as store:
        label_stored_topics(store, {0: "<script>alert(1)</script>"})
    until(lambda: client.get("/api/v1/topics/0").json()["label"].startswith("<script>"))
    answer = client.get("/api/v1/topics/0")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_without_a_model(tmp_path: object, client_of: Callable[..., httpx.Client]) -> None:
    path = f"{tmp_path}/empty.db"
    open_store(path).close()
    client = client_of(path)
    status = client.get("/api/v1/status").json()
    assert status["model"] is None and status["totals"]["documents"] == 0
    for route in ("report", "topics", "topics/0", "trends", "map", "search?word=x"):
        problem(client.get(f"/api/v1/{route}"), 404, "no-model")
    assert client.get("/api/v1/documents").json()["items"] == []
    assert client.get("/api/v1/changes").json()["topics"] == []
