"""Attacks that are tried: the service refuses them, says so, and goes on answering others."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest

from tests.cli.commands import ok
from tests.service.clients import problem, until
from trustream.service.access import create_token
from trustream.store import Record, open_store
from trustream.topics.stored_topics import label_stored_topics

DOCUMENT = {"id": "evil", "text": "cat"}


def place(client: httpx.Client) -> tuple[str, int]:
    found = urlsplit(str(client.base_url))
    assert found.hostname and found.port
    return found.hostname, found.port


def raw(client: httpx.Client, request: bytes) -> bytes:
    """What the service answers to bytes."""
    with socket.create_connection(place(client), 60) as connection:
        connection.sendall(request)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(2**16):
                answer += part
        return answer


# --- other sites


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_requests_of_other_sites(client: httpx.Client, headers: dict[str, str]) -> None:
    """Also on loopback, where no token is asked for."""
    problem(client.post("/api/v1/documents", json=DOCUMENT, headers=headers), 403, "cross-site")
    problem(client.delete("/api/v1/documents/d0", headers=headers), 403, "cross-site")
    if "Sec-Fetch-Site" in headers:
        problem(client.get("/api/v1/status", headers=headers), 403, "cross-site")
    problem(client.get("/api/v1/documents/evil"), 404, "no-document")
    assert client.get("/api/v1/documents/d0").status_code == 200


def test_own_pages_may_write(client: httpx.Client) -> None:
    own = {"Origin": str(client.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/v1/documents", json=DOCUMENT, headers=own).status_code == 200


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_types_that_a_form_can_send(client: httpx.Client, kind: str) -> None:
    for route in ("documents", "infer", "nearest", "session"):
        answer = client.post(
            f"/api/v1/{route}", content=json.dumps(DOCUMENT), headers={"Content-Type": kind}
        )
        problem(answer, 415, "unsupported-type")


def test_no_other_origin_is_allowed(client: httpx.Client) -> None:
    asked = {
        "Origin": "http://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    answer = client.options("/api/v1/documents", headers=asked)
    assert answer.status_code == 405
    for found in (answer, client.get("/api/v1/status", headers={"Origin": "http://evil.example"})):
        assert not [name for name in found.headers if name.startswith("access-control")]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost.evil.example"])
def test_names_that_lead_here(client: httpx.Client, host: str) -> None:
    """DNS rebinding: a page of another site whose name was made to lead to this machine."""
    for path in ("/", "/api/v1/status", "/static/map.js", "/healthz"):
        problem(client.get(path, headers={"Host": host}), 421, "wrong-host")
    origin = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    problem(client.post("/api/v1/documents", json=DOCUMENT, headers=origin), 421, "wrong-host")


def test_hosts_that_are_ours(path: str, client_of: Callable[..., httpx.Client]) -> None:
    with open_store(path) as store:
        create_token(store, "mine", ["read"])
    client = client_of(path, hosts=("topics.example.org",), requires_token=True)
    for host in ("localhost", "localhost:8000", "[::1]:1", "127.0.0.1", "TOPICS.example.org:443"):
        assert client.get("/healthz", headers={"Host": host}).status_code == 200, host
    assert b" 421 " in raw(client, b"GET /healthz HTTP/1.0\r\n\r\n").partition(b"\r\n")[0]
    two = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"
    assert raw(client, two).split(b" ")[1] in (b"400", b"421")


def test_what_a_page_may_do(client: httpx.Client) -> None:
    for path in ("/", "/api/v1/status", "/nothing", "/static/map.js", "/static/none"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy and "default-src 'none'" in policy and "*" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


# --- paths


@pytest.mark.parametrize(
    "where",
    [
        "/static/../service/access.py", "/static/%2e%2e/service/access.py", "/static//etc/passwd",
        "/static/..%2f..%2fpyproject.toml", "/static/....//access.py", "/static/%00", "/static/",
        "/static/C:%5cwindows", "/..%2f..%2fetc/passwd", "/static/map.js%00.html",
    ],
)  # fmt: skip
def test_paths_lead_nowhere_else(client: httpx.Client, where: str) -> None:
    host = ":".join(map(str, place(client)))
    request = f"GET {where} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    answer = raw(client, request.encode())
    assert answer.split(b" ")[1] == b"404", answer[:200]
    assert b"import" not in answer and b"root:" not in answer


# --- sizes and times


def post_head(client: httpx.Client, *headers: str) -> bytes:
    host = ":".join(map(str, place(client)))
    lines = ["POST /api/v1/documents HTTP/1.1", f"Host: {host}",
             "Content-Type: application/x-ndjson", *headers]  # fmt: skip
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def memory() -> float:
    """MB of this process, in which the service runs."""
    return int(re.findall(r"VmRSS:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1000


def test_a_body_of_a_gigabyte(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """Said at once, or by and by: it is cut off, and takes no memory."""
    client = client_of(path, compute_apart=True)
    answer = raw(client, post_head(client, f"Content-Length: {10**9}"))
    assert answer.split(b" ")[1] == b"413"
    before = memory()
    piece = b"100000\r\n" + b"x" * 2**20 + b"\r\n"
    n_sent, answer = 0, b""
    with socket.create_connection(place(client), 60) as connection:
        connection.sendall(post_head(client, "Transfer-Encoding: chunked"))
        try:
            for _ in range(1000):
                connection.sendall(piece)
                n_sent += 1
        except OSError:
            pass
        with contextlib.suppress(OSError):
            answer = connection.recv(2**16)
    assert 60 <= n_sent < 200 and (not answer or b" 413 " in answer)
    assert memory() - before < 200
    problem(client.post("/api/v1/infer", json={"texts": ["x" * 9_000_000]}), 413, "too-large")
    problem(client.post("/api/v1/session", json={"token": "x" * 5000}), 413, "too-large")
    assert client.get("/api/v1/status").status_code == 200


def test_packed_bodies_are_not_unpacked(client: httpx.Client) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    answer = client.post("/api/v1/documents", content=b"\x1f\x8b", headers=headers)
    problem(answer, 415, "unsupported-type")


def test_a_slow_body(path: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(path, body_seconds=0.5)
    with socket.create_connection(place(client), 60) as connection:
        connection.sendall(post_head(client, "Content-Length: 1000") + b'{"id"')
        # Drop by drop it does not get more time.
        stop = threading.Event()

        def drip() -> None:
            with contextlib.suppress(OSError):
                while not stop.wait(0.1):
                    connection.sendall(b" ")

        thread = threading.Thread(target=drip)
        thread.start()
        answer = connection.recv(2**16)
        stop.set()
        thread.join()
    assert b" 408 " in answer.partition(b"\r\n")[0] and b"connection: close" in answer.lower()


def test_headers_that_never_end(path: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(path, header_seconds=1.0)
    for start in (b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "):
        with socket.create_connection(place(client), 60) as connection:
            connection.sendall(start)
            with contextlib.suppress(ConnectionResetError):
                assert connection.recv(100) == b""
    huge = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Huge: " + b"x" * 200_000 + b"\r\n\r\n"
    assert raw(client, huge)[:12] in (b"HTTP/1.1 400", b"")
    assert client.get("/healthz").status_code == 200


@contextlib.contextmanager
def held_open(client: httpx.Client, n: int) -> Iterator[list[socket.socket]]:
    """n connections that send half of a request."""
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(n):
            one = stack.enter_context(socket.create_connection(place(client), 60))
            one.sendall(b"GET /healthz HTTP/1.1\r\n")
            found.append(one)
        yield found


def test_connections_that_are_held_open(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """More than a thousand: others are answered, and at the limit the oldest make room."""
    resource = pytest.importorskip("resource")
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4096:
        pytest.skip(f"only {hard} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(4096, resource.getrlimit(
        resource.RLIMIT_NOFILE)[0]), hard))  # fmt: skip
    client = client_of(path, max_connections=1100, compute_apart=True)
    with held_open(client, 1000):
        assert client.get("/api/v1/status").status_code == 200
        with httpx.Client(base_url=client.base_url, timeout=300, trust_env=False) as other:
            assert other.post("/api/v1/documents", json=DOCUMENT).status_code == 200
        with held_open(client, 150) as newest:
            with httpx.Client(base_url=client.base_url, timeout=300, trust_env=False) as other:
                assert other.get("/api/v1/status").status_code == 200
            newest[-1].sendall(b"Host: localhost\r\n\r\n")
            assert newest[-1].recv(100).startswith(b"HTTP/1.1 200")
    assert client.get("/api/v1/status").status_code == 200


def test_too_many_requests(path: str, client_of: Callable[..., httpx.Client]) -> None:
    client = client_of(path, requests_per_second=0.5, burst=10)
    answers = until(lambda: [one for one in [client.get("/healthz")] if one.status_code == 429])
    problem(answers[0], 429, "too-many-requests")
    assert int(answers[0].headers["retry-after"]) >= 1


# --- what documents, keys and labels hold


EVIL = "<script>alert(1)</script>\x1b[31m\x1b]0;title\x07\u202e"


def test_scripts_and_escapes_are_text(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """JSON that no browser takes for a page; escaped wherever a terminal may show it."""
    with open_store(path) as store:
        store.append([Record(EVIL, ["cat", EVIL[:9]], text=EVIL, title=EVIL)])
        label_stored_topics(store, {1: "<img src=x onerror=alert(1)>"})
    client = client_of(path)
    routes = [
        "documents?limit=1", "report", "topics", "topics/1", "topics/1/documents", "trends", "map",
        "status", "changes", "search?word=" + "%3Cscript%3E", f"nearest?id={quote(EVIL)}",
    ]  # fmt: skip
    for route in routes:
        answer = client.get(f"/api/v1/{route}")
        assert answer.status_code == 200, (route, answer.text)
        assert answer.headers["content-type"] == "application/json"
        assert "\x1b" not in answer.text and "\u202e" not in answer.text
    found = client.get(f"/api/v1/documents/{quote(EVIL, safe='')}")
    # The key and the text are what they are: JSON says them in ASCII.
    assert found.json()["id"] == EVIL and found.json()["text"] == EVIL
    assert found.content.isascii() and b"\x1b" not in found.content
    shown = client.get(f"/api/v1/topics/{quote(EVIL[26:])}")
    assert "\x1b" not in problem(shown, 404, "no-topic")["detail"] and shown.content.isascii()
    missing = client.get("/api/v1/document", params={"id": "\u00e9" + EVIL})
    assert problem(missing, 404, "no-document") and missing.content.isascii()
    with open_store(path) as store:
        with pytest.raises(ValueError, match="can be printed"):
            create_token(store, EVIL, ["read"])
        create_token(store, "<script>", ["read"])
    assert "\x1b" not in ok("token", "list", path)
