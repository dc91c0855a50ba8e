"""Requests that take long: tokens revoked meanwhile, too many listeners, computing that hangs."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from benchmarks.service.processes import lives
from tests.service.clients import TEXTS, computing, events, problem, until
from trustream.service import access, line_parts
from trustream.service.compute_process import ComputeProcess
from trustream.service.events import Events
from trustream.store import Record, open_store


def revoke(path: str, name: str) -> None:
    with open_store(path) as store:
        assert access.revoke_token(store, name)


def created(path: str, name: str, *scopes: str) -> str:
    with open_store(path) as store:
        return access.create_token(store, name, scopes)[0]


@pytest.mark.parametrize("by", ["header", "cookie"])
def test_a_revoked_token_ends_its_streams(
    path: str, client_of: Callable[..., httpx.Client], by: str
) -> None:
    """Those of others go on."""
    mine, other = created(path, "mine", "read"), created(path, "other", "read")
    client, others = (
        client_of(path, requires_token=True), client_of(path, requires_token=True, token=other),
    )  # fmt: skip
    if by == "cookie":
        client.post("/api/v1/session", json={"token": mine})
    else:
        client.headers["Authorization"] = f"Bearer {mine}"
    streams = events(client), events(others)
    for stream in streams:
        assert next(stream)[0] == "hello"
    revoke(path, "mine")
    # It ends by itself: else this would go on for ever.
    assert [name for name, _ in streams[0]]
    client.headers.pop("Authorization", None)
    problem(client.get("/api/v1/events"), 401, "no-token")
    with open_store(path) as store:
        store.append([Record("new", ["cat"])])
    for name, data in streams[1]:
        if name == "totals" and data["totals"]["documents"] == 61:
            break
    streams[1].close()


def test_lines_of_a_revoked_token(
    path: str, client_of: Callable[..., httpx.Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines may come for hours: what came before is stored, and told."""
    monkeypatch.setattr(line_parts.line_parts, "__defaults__", (1000,))
    client = client_of(path, requires_token=True, token=created(path, "mine", "append"))

    def lines() -> Iterator[bytes]:
        def some(first: int) -> bytes:
            each = ({"id": f"n{first + i}", "tokens": ["cat"] * 20} for i in range(20))
            return b"".join(json.dumps(one).encode() + b"\n" for one in each)

        yield some(0)
        with open_store(path) as store:
            until(lambda: store.totals().documents == 80)
        revoke(path, "mine")
        yield some(20)

    answer = client.post(
        "/api/v1/documents?in_parts=true",
        content=lines(),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert problem(answer, 401, "no-token")["added"]["n_documents"] == 20
    with open_store(path) as store:
        assert store.totals().documents == 80


def test_nobody_can_shut_others_out() -> None:
    """At the limit the oldest of who has most makes room; who has as many as others is refused."""

    async def listeners() -> None:
        found, streams = Events(4), []

        async def join(owner: str) -> AsyncIterator[bytes]:
            stream = found.listen({}, owner)
            assert (await anext(stream)).startswith(b"retry")
            streams.append(stream)
            return stream

        for _ in range(4):
            assert found.makes_room("greedy")
            await join("greedy")
        assert not found.makes_room("greedy")
        assert found.makes_room("other") and found.n_listeners == 3
        with pytest.raises(StopAsyncIteration):
            await anext(streams[0])
        await join("other")
        assert found.makes_room("other")
        await join("other")
        # Two and two.
        assert not found.makes_room("greedy") and not found.makes_room("other")
        assert found.n_listeners == 4
        # Who has none comes in, as long as somebody has more than one.
        assert found.makes_room("third") and found.n_listeners == 3
        for stream in streams:
            await stream.aclose()  # type: ignore[attr-defined]
        assert found.n_listeners == 0

    asyncio.run(listeners())


def test_a_process_that_hangs_is_replaced(
    path: str, client_of: Callable[..., httpx.Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ComputeProcess] = []
    init = ComputeProcess.__init__

    def noted(self: ComputeProcess, *arguments: Any, **options: Any) -> None:
        init(self, *arguments, **options)
        made.append(self)

    monkeypatch.setattr(ComputeProcess, "__init__", noted)
    client = client_of(path, compute_apart=True, silent_seconds=50.0)
    before = client.post("/api/v1/infer", json=TEXTS).json()
    (pid,), (process,) = computing(), made
    assert process._silent_seconds == 50.0
    # Less for the one that hangs; one that starts on a busy machine may need longer.
    process._silent_seconds = 1.0
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(client.post, "/api/v1/infer", json=TEXTS)
        until(lambda: not lives(pid))
        process._silent_seconds = 50.0
        assert answer.result().json() == before
    assert computing() and computing() != [pid]


def test_an_answer_that_does_not_come(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """The request is refused in time, nothing of it is stored, and others are answered."""
    client = client_of(path, compute_apart=True, answer_seconds=0.5, silent_seconds=600.0)
    until(lambda: client.post("/api/v1/infer", json=TEXTS).is_success)
    (pid,) = computing()
    os.kill(pid, signal.SIGSTOP)
    try:
        refused = client.post("/api/v1/infer", json=TEXTS)
        problem(refused, 503, "busy")
        assert int(refused.headers["retry-after"]) >= 1
        many = [{"id": f"m{i}", "text": "cat " * 50} for i in range(300)]
        problem(client.post("/api/v1/documents", json=many), 503, "busy")
        assert client.get("/api/v1/status").json()["totals"]["documents"] == 60
        assert client.get("/api/v1/topics/0").is_success
    finally:
        os.kill(pid, signal.SIGCONT)
    until(lambda: client.post("/api/v1/infer", json=TEXTS).is_success)


def test_questions_that_have_huge_answers(client: httpx.Client) -> None:
    """Words of a text are told with topics each: a short request must not fill the memory."""
    for asked in (
        {"texts": ["a " * 600_000], "words": True},
        {"texts": ["cat"] * 1000, "top": 1000},
    ):
        found = problem(client.post("/api/v1/infer", json=asked), 422, "invalid-request")
        assert "several requests" in found["detail"]
    long = {"texts": ["cat " * 240_000], "words": True}
    answer = client.post("/api/v1/infer", json=long)
    assert answer.json()["documents"][0]["n_known"] == 240_000


def test_guessing_by_logging_in_is_slowed_down(
    path: str, client_of: Callable[..., httpx.Client]
) -> None:
    secret = created(path, "mine", "read")
    client = client_of(path, requires_token=True)

    def log_in(token: str) -> int:
        return client.post("/api/v1/session", json={"token": token}).status_code

    statuses = [log_in(f"wrong {i}") for i in range(60)]
    assert statuses[0] == 401 and statuses[-1] == 429
    assert log_in(secret) == 200


def test_each_client_has_keys_of_its_own(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """Two who do not know of each other call a request alike: neither loses documents."""
    clients = [
        client_of(path, requires_token=True, token=created(path, name, "admin"))
        for name in ("first", "second")
    ]
    key = {"Idempotency-Key": "import-1"}
    for i, client in enumerate(clients):
        for repeated in (0, 1):
            document = {"id": f"of {i}", "text": "cat"}
            answer = client.post("/api/v1/documents", json=document, headers=key).json()
            assert (answer["n_records"], answer["n_repeated"]) == (1 - repeated, repeated)
    # A token of the same name that takes the place of another goes on with its keys.
    revoke(path, "first")
    renewed = client_of(path, requires_token=True, token=created(path, "first", "append"))
    again = renewed.post("/api/v1/documents", json={"id": "of 0", "text": "cat"}, headers=key)
    assert again.json()["n_repeated"] == 1


def test_listeners_are_counted_apart(path: str, client_of: Callable[..., httpx.Client]) -> None:
    """One token takes all streams: another one gets in, and the first is refused more."""
    token, secret = created(path, "greedy", "read"), created(path, "modest", "read")
    greedy = client_of(path, requires_token=True, token=token, max_events=3)
    modest = httpx.Client(
        base_url=greedy.base_url, headers={"Authorization": f"Bearer {secret}"}, timeout=300,
        trust_env=False,
    )  # fmt: skip
    streams = [events(greedy) for _ in range(3)]
    for stream in streams:
        next(stream)
    refused = greedy.get("/api/v1/events")
    problem(refused, 503, "too-many-listeners")
    assert "retry-after" in refused.headers
    with modest:
        mine = events(modest)
        assert next(mine)[0] == "hello"
        ended = threading.Event()

        def to_the_end() -> None:
            for _ in streams[0]:
                pass
            ended.set()

        threading.Thread(target=to_the_end, daemon=True).start()
        assert ended.wait(60)
        mine.close()
    for stream in streams[1:]:
        stream.close()
