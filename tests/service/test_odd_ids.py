"""Documents are reached by any id that a store takes, through the API and the dashboard."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.browser import open_browser
from tests.service.clients import problem
from tests.service.dashboards import Dashboard, served
from trustream.store import open_store

ODD = [
    ".", "..", "../..", "../../etc/passwd", "/", "//", "/x/", "a/../b", "%2e", "%2E%2E", "%", "%zz",
    "?", "#", "a?b=c#d", "a&id=b", "two\nlines", "end\n", "\r\n", "\t", " ", " both ", "\\", '"',
    "\u00e9\u65e5", "\u202eturned", "\ufeff", "\U0001f600", "x" * 500, "\u65e5" * 500, "<b>",
    "\x1b[31m", "0", "None", "documents", ";", "+", "a+b", ":", "@", "*", "\x7f", "\u2028",
]  # fmt: skip


def ids_of(address: str) -> set[str]:
    with open_store(address) as store:
        return {key for documents in store.scan() for key in documents.keys}


@pytest.mark.parametrize(
    ("by", "compute"), [("parameter", "here"), ("path", "here"), ("parameter", "apart")]
)
def test_through_the_api(
    path: str, client_of: Callable[..., httpx.Client], by: str, compute: str
) -> None:
    client = client_of(path, compute_apart=compute == "apart")
    before = ids_of(path)
    documents = [{"id": id, "text": f"cat bank word{i}"} for i, id in enumerate(ODD)]
    assert client.post("/api/v1/documents", json=documents).json()["n_documents"] == len(ODD)
    for id in ODD:
        if by == "parameter":
            found = client.get("/api/v1/document", params={"id": id})
        else:
            found = _raw(client, "GET", id)
        assert found.status_code == 200 and found.json()["id"] == id, id
        near = client.get("/api/v1/nearest", params={"id": id, "limit": 1})
        assert near.status_code == 200 and near.json()["items"][0]["id"] != id
    for id in ODD:
        if by == "parameter":
            found = client.delete("/api/v1/document", params={"id": id})
        else:
            found = _raw(client, "DELETE", id)
        assert found.json() == {"n_deleted": 1, "overwritten": True}, id
    assert ids_of(path) == before


class _Answer:
    """Of a path that is sent as it is; clients change some of them."""

    def __init__(self, content: bytes) -> None:
        head, _, self._body = content.partition(b"\r\n\r\n")
        self.status_code = int(head.split()[1])

    def json(self) -> Any:
        return json.loads(self._body)


def _raw(client: httpx.Client, method: str, id: str) -> _Answer:
    address = client.base_url
    asked = f"/api/v1/documents/{quote(id, safe='')}"
    request = f"{method} {asked} HTTP/1.1\r\nHost: {address.host}\r\nConnection: close\r\n\r\n"
    with socket.create_connection((address.host, address.port or 80)) as connection:
        connection.sendall(request.encode())
        return _Answer(b"".join(iter(lambda: connection.recv(65536), b"")))


def test_ids_that_no_store_takes(client: httpx.Client) -> None:
    for id in ("", "x" * 501, "\0"):
        wrong = client.post("/api/v1/documents", json={"id": id, "text": "cat"})
        assert problem(wrong, 422, "invalid-document")["errors"][0]["field"] == "id", id
    problem(client.get("/api/v1/document"), 422, "invalid-request")
    problem(client.get("/api/v1/document?id="), 422, "invalid-request")
    problem(client.get("/api/v1/document", params={"id": "x" * 501}), 422, "invalid-request")
    for method in ("GET", "DELETE"):
        problem(client.request(method, "/api/v1/document?id=%00"), 404, "no-document")
        problem(client.request(method, "/api/v1/documents/%00"), 404, "no-document")
        problem(client.request(method, "/api/v1/documents/" + "x" * 501), 404, "no-document")
        problem(client.request(method, "/api/v1/documents/"), 404, "no-document")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as found:
        yield found


def test_through_the_dashboard(browser: Any, filled_file: Path, tmp_path: Path) -> None:
    """From the list of arrivals to the page of a document, and there deleted."""
    path = Path(shutil.copy(filled_file, tmp_path / "odd.db"))
    chosen = ["..", ".", "/", "%2e", "two\nlines", "a?b=c#d", "x" * 500, "\U0001f600"]
    before = ids_of(str(path))
    with served(path) as address:
        httpx.post(
            f"{address}/api/v1/documents",
            json=[
                {"id": id, "text": f"Cat number{i}", "title": f"Odd {i}"}
                for i, id in enumerate(chosen)
            ],
            trust_env=False,
        ).raise_for_status()
        opened = Dashboard(browser, address)
        for i in reversed(range(len(chosen))):
            opened.wait(".arrivals .title", f"Odd {i}").click()
            opened.wait("h1", f"Odd {i}")
            assert opened.text(".of-text .text").startswith("Cat number")
            opened.wait(".of-deletion button", "Delete this document").click()
            # The focus is on what does no harm.
            assert opened.page.evaluate("document.activeElement.textContent") == "Keep it"
            if i == 0:
                opened.page.keyboard.press("Enter")
                assert ids_of(str(path)) == before | {".."}
                opened.page.keyboard.press("Enter")
            opened.wait(".of-deletion .danger").click()
            opened.wait(".of-deletion [role=status]", "was deleted")
            opened.open("#/")
        assert ids_of(str(path)) == before
        opened.close()
