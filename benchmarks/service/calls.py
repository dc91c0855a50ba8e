"""Appends and inferences by HTTP, against the same functions called in one process."""

from __future__ import annotations

import io
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.rows import Row, Setup, at_least, at_most, information
from benchmarks.service.processes import ServiceProcess, until
from trustream.feeds import ingest
from trustream.store import open_store
from trustream.streaming.published import load_model
from trustream.streaming.setup import init_store
from trustream.streaming.training_run import prepared_trainer, train
from trustream.topics.inference import infer

FILES: tuple[str, ...] = ()
# Documents of a request, and words of a document.
_BULK, _N_WORDS = 1000, 200
_LINES = {"Content-Type": "application/x-ndjson"}


def words(n: int = 20_000) -> list[str]:
    """Words of letters, the first of them the most frequent."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    rng = random.Random(0)
    return ["".join(rng.choices(letters, k=rng.randint(4, 9))) for _ in range(n)]


def text(rng: random.Random, known: list[str]) -> str:
    """A text of words by Zipf's law."""
    n = len(known)
    return " ".join(known[int(n ** rng.random()) - 1] for _ in range(_N_WORDS))


def bodies(n: int, first: str) -> list[bytes]:
    """n requests of documents."""
    rng, known = random.Random(first), words()
    return [
        "\n".join(
            json.dumps({"id": f"{first}{i}-{j}", "text": text(rng, known)}) for j in range(_BULK)
        ).encode()
        for i in range(n)
    ]


def measure(setup: Setup) -> Iterator[Row]:
    """Both on SQLite, with the same documents."""
    n = setup.choose(20, 5)
    with tempfile.TemporaryDirectory() as folder:
        direct = _appended_directly(f"{folder}/direct.db", n)
        path = f"{folder}/served.db"
        init_store(path, 20, min_documents=2)
        service = ServiceProcess(path, Path(folder, "log"))
        service.start()
        try:
            served = _appended_by_http(service, n)
            with open_store(path) as store, prepared_trainer(store, n_jobs=1) as trainer:
                train(trainer, steps=20)
                own = _inferred_directly(store, setup.choose(300, 50))
            http = _inferred_by_http(service, setup.choose(300, 50))
        finally:
            service.stop()
    what = f"documents of {_N_WORDS} words, {_BULK:,} in a request"
    yield information(f"library: {what}", direct, "documents/s")
    yield information(f"service: {what}", served, "documents/s")
    yield at_least("bulk appends: service to library", served / direct, 0.5, "x")
    yield information(f"library: infer a text of {_N_WORDS} words, p50", 1000 * own, "ms")
    yield information("service: the same, p50", 1000 * http, "ms")
    yield at_most("infer: service above library, p50", 1000 * (http - own), 5, "ms")


def _appended_directly(path: str, n: int) -> float:
    """Documents per second of `ingest`, in this process, transactions as large as a request."""
    given = b"\n".join(bodies(n, "d"))
    with open_store(path, min_documents=2) as store:
        warm = b"\n".join(bodies(6, "warm"))
        ingest(store, io.BytesIO(warm), format="jsonl", batch=_BULK, workers=0)
        began = time.perf_counter()
        ingest(store, io.BytesIO(given), format="jsonl", batch=_BULK, workers=0)
        return n * _BULK / (time.perf_counter() - began)


def _appended_by_http(service: ServiceProcess, n: int) -> float:
    given = bodies(n, "d")
    connection = service.connection()

    def append(body: bytes) -> None:
        connection.request("POST", "/api/v1/documents", body, _LINES)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(content.decode())

    for body in bodies(6, "warm"):
        append(body)
    began = time.perf_counter()
    for body in given:
        append(body)
    return n * _BULK / (time.perf_counter() - began)


def _texts(n: int) -> list[str]:
    rng, known = random.Random("infer"), words()
    return [text(rng, known) for _ in range(n)]


def _inferred_directly(store: Any, n: int) -> float:
    model, tokenise = load_model(store), store.tokeniser()
    times = []
    for one in _texts(n + 20):
        began = time.perf_counter()
        list(infer(model, [tokenise(one)]))
        times.append(time.perf_counter() - began)
    return statistics.median(times[20:])


def _inferred_by_http(service: ServiceProcess, n: int) -> float:
    connection = service.connection()

    def ask(method: str, path: str, body: Any = None) -> tuple[int, Any]:
        content = None if body is None else json.dumps(body).encode()
        connection.request(method, path, content, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    until(lambda: ask("GET", "/api/v1/report")[0] == 200)
    times = []
    for one in _texts(n + 20):
        began = time.perf_counter()
        status, answer = ask("POST", "/api/v1/infer", {"texts": [one]})
        times.append(time.perf_counter() - began)
        if status != 200:
            raise RuntimeError(str(answer))
    return statistics.median(times[20:])
