"""Clients that append and read at once, and keep a ledger of what was acknowledged."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.service.processes import ServiceProcess, until
from trustream.store import open_store

# Words of the documents, and how many each has.
_WORDS = [
    f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("lan", "mer", "tok", "vis")
]
N_TOKENS = 30
_READS = (
    "/api/v1/status", "/api/v1/report", "/api/v1/topics?limit=10", "/api/v1/documents?limit=20",
    "/api/v1/trends", "/api/v1/search?word=ba", "/api/v1/history",
)  # fmt: skip


@dataclass
class Ledger:
    """What clients sent and were told.

    Attributes:
        acknowledged: documents that an answer said are stored.
        reads: seconds of each read.
        errors: what was answered otherwise than expected, or not at all.
        seconds: how long it took.
        writes: seconds of each append that was answered.
    """

    acknowledged: set[str] = field(default_factory=set)
    reads: list[float] = field(default_factory=list)
    writes: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Documents per second."""
        return len(self.acknowledged) / self.seconds

    def quantile(self, q: float) -> float:
        """A quantile of the seconds of reads."""
        ordered = sorted(self.reads)
        return ordered[min(int(q * len(ordered)), len(ordered) - 1)]


def load(
    service: ServiceProcess,
    *,
    seconds: float | None,
    n_writers: int,
    n_readers: int,
    bulk: int,
    rate: float | None,
    during: Callable[[Callable[[], bool]], None] | None = None,
    name: str = "c",
) -> Ledger:
    """Let clients append documents in bulk, and others read; all of them until the time is over.

    A writer sends a request that was not answered again, with the same key, until it is; a reader
    goes on with the next.

    Args:
        service: is running.
        seconds: for so long; None is until `during` returns.
        n_writers, n_readers: clients.
        bulk: documents of a request.
        rate: documents per second of all writers together; None is as many as they can.
        during: called meanwhile with a function that says whether it is over.
        name: begins the keys of documents, so that another load has others.
    """
    ledger, lock, done = Ledger(), threading.Lock(), threading.Event()
    began = time.monotonic()

    def over() -> bool:
        return done.is_set() or (seconds is not None and time.monotonic() >= began + seconds)

    def write(number: int) -> None:
        rng, client = random.Random(number), _Client(service)
        every = None if rate is None else n_writers * bulk / rate
        due = began + (rng.random() * every if every else 0.0)
        batch = 0
        while not over():
            time.sleep(max(due - time.monotonic(), 0.0))
            keys = [f"{name}{number}-{batch}-{i}" for i in range(bulk)]
            lines = [
                json.dumps({"id": key, "text": " ".join(rng.choices(_WORDS, k=N_TOKENS))})
                for key in keys
            ]
            body = "\n".join(lines).encode()
            headers = {
                "Content-Type": "application/x-ndjson",
                "Idempotency-Key": f"{name}{number}-{batch}",
            }
            sent = time.monotonic()
            answered = False
            while not answered:
                status, answer = client.ask("POST", "/api/v1/documents", body, headers)
                # 0 is no answer, 503 "try again": whether it was stored is not known.
                answered = status not in (0, 503)
                if not answered:
                    with lock:
                        ledger.errors.append(f"append: {status} {answer[:200]!r}")
                    time.sleep(0.2)
            counts = json.loads(answer)
            with lock:
                if status == 200 and counts["n_records"] + counts["n_repeated"] == bulk:
                    ledger.acknowledged.update(keys)
                    ledger.writes.append(time.monotonic() - sent)
                else:
                    ledger.errors.append(f"append: {status} {answer[:200]!r}")
            batch += 1
            due = time.monotonic() if every is None else max(due + every, time.monotonic() - every)

    def read(number: int) -> None:
        rng, client = random.Random(-number), _Client(service)
        while not over():
            began = time.monotonic()
            status, answer = client.ask("GET", rng.choice(_READS), None, {})
            with lock:
                if status == 200:
                    ledger.reads.append(time.monotonic() - began)
                else:
                    ledger.errors.append(f"read: {status} {answer[:200]!r}")
            time.sleep(0.02 if status == 200 else 0.1)

    threads = [threading.Thread(target=write, args=(i,)) for i in range(n_writers)]
    threads += [threading.Thread(target=read, args=(i,)) for i in range(n_readers)]
    for thread in threads:
        thread.start()
    try:
        if during is not None:
            during(over)
    finally:
        if during is not None and seconds is None:
            done.set()
    for thread in threads:
        thread.join()
    ledger.seconds = time.monotonic() - began
    return ledger


def check(store: str, ledger: Ledger) -> None:
    """Raise an error unless each acknowledged document is in a store once, and no other is."""
    with open_store(store, create=False) as opened:
        counts: dict[str, float] = {}
        for documents in opened.scan():
            for i, key in enumerate(documents.keys):
                some = slice(documents.indptr[i], documents.indptr[i + 1])
                if key in counts:
                    raise AssertionError(f"{key} is there twice")
                counts[key] = float(documents.counts[some].sum())
        result = opened.check()
    lost = ledger.acknowledged - counts.keys()
    others = counts.keys() - ledger.acknowledged
    doubled = [key for key in ledger.acknowledged & counts.keys() if counts[key] != N_TOKENS]
    if lost or others or doubled or not result.ok:
        raise AssertionError(
            f"{len(lost)} lost, {len(doubled)} with other words, {len(others)} not acknowledged: "
            f"{[*lost, *doubled, *others][:5]}; {result}"
        )


def prepared(service: ServiceProcess) -> Ledger:
    """Append some documents, and wait until topics can be read."""
    ledger = load(service, seconds=0.1, n_writers=1, n_readers=0, bulk=200, rate=None, name="first")
    client = _Client(service)
    until(lambda: client.ask("GET", "/api/v1/report", None, {})[0] == 200)
    return ledger


class _Client:
    """A connection that is made again when it breaks."""

    def __init__(self, service: ServiceProcess) -> None:
        self._service = service
        self._connection: http.client.HTTPConnection | None = None

    def ask(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        """Status and content; status 0 if there was no answer."""
        try:
            if self._connection is None:
                self._connection = self._service.connection()
            self._connection.request(method, path, body, headers)
            answer = self._connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            return 0, repr(error).encode()
