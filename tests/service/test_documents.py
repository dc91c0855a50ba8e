"""Documents by HTTP: what is answered is durable, once, and the same as by the library."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

import httpx
import pytest

from tests.service.clients import problem, until
from tests.service.conftest import N_DOCUMENTS
from trustream.service.documents_in import record_problem
from trustream.store import Record, RecordError, open_store
from trustream.tokenisers import CustomTokeniser

LINES = {"Content-Type": "application/x-ndjson"}


def words_of(address: str, key: str) -> dict[str, float]:
    with open_store(address) as store:
        found, names = store.read([key]), store.vocabulary().words
        return {str(names[i]): n for i, n in zip(found.indices, found.counts, strict=True)}


def test_appended_documents_are_in_the_store(
    address: str, client_of: Callable[..., httpx.Client]
) -> None:
    client = client_of(address)
    one = client.post("/api/v1/documents", json={"id": "one", "text": "Cats and a DOG"})
    assert one.json() == {
        "n_records": 1, "n_documents": 1, "n_tokens": 2, "n_repeated": 0, "n_replaced": 0,
        "sequence": one.json()["sequence"],
    }  # fmt: skip
    assert words_of(address, "one") == {"cats": 1, "dog": 1}
    several = [
        {"id": 2, "tokens": ["cat", "cat"], "time": "2024-05-01"},
        {"id": "one", "counts": {"bank": 3}},
    ]
    assert client.post("/api/v1/documents", json=several).json()["n_documents"] == 1
    assert words_of(address, "2") == {"cat": 2}
    assert words_of(address, "one") == {"cats": 1, "dog": 1, "bank": 3}
    body = b'{"id": "x/y", "text": "fish"}\n\n{"id": "one", "text": "bird", "replace": true}\n'
    done = client.post("/api/v1/documents", content=body, headers=LINES).json()
    assert (done["n_records"], done["n_documents"], done["n_replaced"]) == (2, 1, 1)
    assert words_of(address, "one") == {"bird": 1}
    found = client.get("/api/v1/documents/x%2Fy").json()
    assert found["id"] == "x/y" and [word["word"] for word in found["words"]] == ["fish"]
    deleted = client.delete("/api/v1/documents/x/y").json()
    assert deleted == {"n_deleted": 1, "overwritten": "://" not in address}
    problem(client.delete("/api/v1/documents/x/y"), 404, "no-document")
    problem(client.get("/api/v1/documents/x%2Fy"), 404, "no-document")


def test_many_lines_are_read_as_few(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """By the compiled reader, which takes large bodies of stores without texts."""
    small = path + "small"
    with open_store(small, min_documents=1):
        pass
    client = client_of(small)
    lines = [
        {"id": f"n{i}", "text": f"Cats word{i % 7} \u00e9clair", "time": i} for i in range(600)
    ]
    body = "\n".join(map(json.dumps, lines)).encode()
    assert len(body) > 20_000
    done = client.post(
        "/api/v1/documents", content=body, headers={**LINES, "Idempotency-Key": "k"}
    ).json()
    assert done["n_documents"] == 600
    assert words_of(small, "n5") == {"cats": 1, "word": 1, "\u00e9clair": 1}
    again = client.post(
        "/api/v1/documents", content=body, headers={**LINES, "Idempotency-Key": "k"}
    ).json()
    assert (again["n_records"], again["n_repeated"]) == (0, 600)
    wrong = body + b'\n{"id": "a", "text": 7}'
    found = problem(client.post("/api/v1/documents", content=wrong, headers=LINES), 422,
                    "invalid-document")  # fmt: skip
    assert found["errors"][0]["line"] == 601 and found["errors"][0]["field"] == "text"
    # A field that only the other reader knows, with one of its letters escaped.
    replaced = body.replace(b'"n5", "text"', b'"n5", "repl\\u0061ce": true, "text"')
    assert client.post("/api/v1/documents", content=replaced, headers=LINES).status_code == 200
    assert words_of(small, "n5") == {"cats": 1, "word": 1, "\u00e9clair": 1}
    assert words_of(small, "n6") == {"cats": 2, "word": 2, "\u00e9clair": 2}


def test_a_repeated_request_adds_nothing(client: httpx.Client, path: str) -> None:
    several = [{"id": "a", "text": "cat"}, {"id": "b", "text": "dog"}]
    keyed = {"Idempotency-Key": "request 7"}
    first = client.post("/api/v1/documents", json=several, headers=keyed).json()
    second = client.post("/api/v1/documents", json=several, headers=keyed).json()
    assert (first["n_records"], first["n_repeated"]) == (2, 0)
    assert (second["n_records"], second["n_repeated"]) == (0, 2)
    single = {"id": "a", "text": "cat", "append_id": "mine"}
    repeats = [client.post("/api/v1/documents", json=single).json() for _ in range(2)]
    assert [done["n_repeated"] for done in repeats] == [0, 1]
    assert words_of(path, "a") == {"cat": 2}
    problem(
        client.post("/api/v1/documents", json=single, headers={"Idempotency-Key": "x" * 500}),
        422,
        "invalid-request",
    )


@pytest.mark.parametrize(
    ("value", "field", "says"),
    [
        ({"text": "cat"}, "id", "has no id"),
        ({"id": "a"}, None, "none of text, tokens and counts"),
        ({"id": "a", "text": "x", "tokens": []}, None, "has text and tokens"),
        ({"id": "a", "text": 7}, "text", "expected a string"),
        ({"id": True, "text": "x"}, "id", "a string or a whole number"),
        ({"id": "x" * 501, "text": "x"}, "id", "give it 1 to 500"),
        ({"id": "a\0", "text": "x"}, "id", "NUL"),
        ({"id": "a", "tokens": ["cat", 7]}, "tokens", "expected a string"),
        ({"id": "a", "tokens": "cat"}, "tokens", "expected a list"),
        ({"id": "a", "tokens": ["x" * 501]}, "tokens", "has 501 characters"),
        ({"id": "a", "counts": ["cat"]}, "counts", "expected an object"),
        ({"id": "a", "counts": {"": 1}}, "counts", "has 0 characters"),
        ({"id": "a", "counts": {"cat": 0}}, "counts", "whole number from 1 on"),
        ({"id": "a", "counts": {"cat": 2**31}}, "counts", "at most"),
        ({"id": "a", "text": "x", "time": "soon"}, "time", "ISO date"),
        ({"id": "a", "text": "x", "time": 1.7e13}, "time", "divide milliseconds by 1000"),
        ({"id": "a", "text": "x", "append_id": []}, "append_id", "a string"),
        ({"id": "a", "text": "x", "replace": "yes"}, "replace", "true or false"),
        ({"id": "a", "text": "x", "title": 7}, "title", "a string"),
        ("cat", None, "a JSON str"),
    ],
)
def test_a_wrong_document_is_refused_by_its_field(
    client: httpx.Client, value: object, field: str | None, says: str
) -> None:
    """And nothing of the request is added."""
    good = {"id": "good", "text": "cat"}
    found = problem(client.post("/api/v1/documents", json=[good, value]), 422, "invalid-document")
    (fault,) = found["errors"]
    assert fault["field"] == field and fault["index"] == 1 and says in fault["message"]
    body = (json.dumps(good) + "\n" + json.dumps(value)).encode()
    if field not in ("replace", "title"):
        found = problem(
            client.post("/api/v1/documents", content=body, headers=LINES), 422, "invalid-document"
        )
        fault = found["errors"][0]
        assert fault.get("line", 2) == 2 and fault.get("index", 1) == 1
        assert says in fault["message"] and fault["field"] == field
    problem(client.get("/api/v1/documents/good"), 404, "no-document")


@pytest.mark.parametrize("kind", [None, LINES])
def test_what_the_store_refuses_is_told_by_its_field(
    client: httpx.Client, kind: dict[str, str] | None
) -> None:
    """A count that is too large together with what the document has already."""
    most = json.dumps({"id": "a", "counts": {"cat": 2**31 - 1}}).encode()
    headers = kind or {"Content-Type": "application/json"}
    assert client.post("/api/v1/documents", content=most, headers=headers).is_success
    answer = client.post("/api/v1/documents", content=most, headers=headers)
    (fault,) = problem(answer, 422, "invalid-document")["errors"]
    assert (fault["field"], fault["index"]) == ("counts", 0)
    assert "would occur 4294967294 times" in fault["message"]


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (Record("", ["a"]), "id"),
        (Record("a", [""]), None),
        (Record("a", [""], text="A text"), "text"),
        (Record("a", {"": 1}), "counts"),
        (Record("a", {"b": 0}), "counts"),
        (Record("a", ["b"], float("nan")), "time"),
        (Record("a", ["b"], append_id=""), "append_id"),
        (Record("a", ["b"], replace=1), "replace"),  # type: ignore[arg-type]
        (Record("a", ["b"], title=7), "title"),  # type: ignore[arg-type]
    ],
)
def test_fields_of_records_that_the_store_refuses(
    path: str, record: Record, field: str | None
) -> None:
    good = Record("good", ["cat"])
    with open_store(path) as store, pytest.raises(RecordError) as caught:
        store.append([good, record])
    (fault,) = record_problem(caught.value, [good, record]).errors
    assert fault == {"field": field, "message": caught.value.problem, "index": 1}


def test_malformed_bodies(client: httpx.Client) -> None:
    json_type = {"Content-Type": "application/json"}
    for body in (b"", b"{", b"\xff", b"[" * 100_000):
        problem(
            client.post("/api/v1/documents", content=body, headers=json_type),
            400,
            "malformed-body",
        )
    assert client.post("/api/v1/documents", content=b"[]", headers=json_type).json()[
        "n_records"
    ] == 0  # fmt: skip


def test_documents_come_in_pages(client: httpx.Client) -> None:
    seen, following = [], "/api/v1/documents?limit=25"
    while following:
        page = client.get(following).json()
        assert page["total"] == N_DOCUMENTS
        seen += [item["id"] for item in page["items"]]
        following = page["next"]
    assert seen == [f"d{i}" for i in reversed(range(N_DOCUMENTS))]
    first = client.get("/api/v1/documents?limit=1").json()["items"][0]
    assert first["title"] == "Title d59" and first["n_tokens"] == 12
    assert first["time"] == 59 * 86400.0


def test_a_document_with_words_by_topic(client: httpx.Client) -> None:
    found = client.get("/api/v1/documents/d0").json()
    assert "".join(piece["text"] for piece in found["segments"]) == found["text"]
    coloured = {piece["word"]: piece["topic"] for piece in found["segments"] if piece["word"]}
    assert coloured == {word["word"]: word["topic"] for word in found["words"]}
    assert set(coloured.values()) == {found["topics"][0]["topic"]}
    assert found["n_tokens"] == 12 and found["title"] == "Title d0"
    assert sum(topic["proportion"] for topic in found["topics"]) == pytest.approx(1)
    other = client.get("/api/v1/documents/d1").json()
    assert other["topics"][0]["topic"] != found["topics"][0]["topic"]


def test_texts_that_only_their_writer_can_split(
    path: str, client_of: Callable[..., httpx.Client]
) -> None:
    """Words are taken, texts refused; nobody guesses."""
    with open_store(path) as store:
        store.set_tokeniser(CustomTokeniser("spelling.split"))
    client = client_of(path)
    answer = client.post("/api/v1/documents", json={"id": "a", "text": "cat"})
    (fault,) = problem(answer, 422, "invalid-document")["errors"]
    assert fault["field"] == "text" and "trustream tokeniser STORE" in fault["message"]
    assert client.post("/api/v1/documents", json={"id": "a", "tokens": ["cat"]}).status_code == 200
    asked = client.post("/api/v1/infer", json={"texts": ["cat"]})
    problem(asked, 409, "unknown-tokeniser")
    problem(client.post("/api/v1/nearest", json={"text": "cat"}), 409, "unknown-tokeniser")
    assert client.get("/api/v1/documents/d0").json()["segments"] is None


def test_a_store_that_goes_away(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """It is said so, without where it was; when it is back, so is the service."""
    client = client_of(path)
    with sqlite3.connect(path) as other:
        other.execute("ALTER TABLE state RENAME TO away")
    found = problem(client.get("/api/v1/status"), 503, "store-unavailable")
    assert path not in json.dumps(found)
    problem(client.post("/api/v1/documents", json={"id": "a", "text": "cat"}), 503,
            "store-unavailable")  # fmt: skip
    until(lambda: client.get("/readyz").status_code == 503)
    with sqlite3.connect(path) as other:
        other.execute("ALTER TABLE away RENAME TO state")
    until(lambda: client.get("/readyz").status_code == 200)
    assert client.post("/api/v1/documents", json={"id": "a", "text": "cat"}).status_code == 200
