"""Interrupts in the middle of an ingest: what is in the store is what stands before a position."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.reliability.interrupts import count_moments, interrupted, interrupter
from tests.reliability.rounds import rounds
from tests.store.contents_of import all_words
from trustream.feeds import Item, ingest, read
from trustream.store import DocumentStore, Position, StoreError, open_store

Contents = dict[str, Counter[str]]
# Does something and interrupts it; whether it came to that.
Interrupt = Callable[[Callable[[], object]], bool]
N_RECORDS = 10


def write(path: Path, rng: np.random.Generator) -> list[Item]:
    """Parts of a few documents that grow past what a writer remembers."""
    lines = []
    for _ in range(N_RECORDS):
        key = f"d{rng.integers(0, 4)}"
        numbers = rng.integers(0, 400, 9)
        words = " ".join(f"word{'abcdefghij'[i % 10] * (i // 10 + 1)}" for i in numbers)
        record = json.dumps({"id": key, "text": words})
        lines.append({".jsonl": record, ".txt": words, ".csv": f"{key},{words}"}[path.suffix])
    head = "id,text\n" if path.suffix == ".csv" else ""
    path.write_text(head + "".join(f"{line}\n" for line in lines))
    return list(read(path))


def add(contents: Contents, items: list[Item]) -> Contents:
    """Documents after these items have been added."""
    both = {key: words.copy() for key, words in contents.items()}
    for item in items:
        if item.record is not None:
            both.setdefault(item.record.key, Counter()).update(item.record.words)
    return both


class Ingests:
    """Ingests of small files into one store, interrupted and begun again until they are done."""

    def __init__(self, address: str, folder: Path, rng: np.random.Generator) -> None:
        self.address, self.folder, self.rng = address, folder, rng
        self.contents: Contents = {}
        self.n_files = self.n_interrupts = 0
        open_store(address, min_documents=1, max_words=300, held_out=0.3).close()

    def next_file(self) -> tuple[Path, list[Item]]:
        self.n_files += 1
        suffix = (".jsonl", ".txt", ".csv")[self.n_files % 3]
        path = self.folder / f"{self.n_files}{suffix}"
        return path, write(path, self.rng)

    def one(self, interrupt: Interrupt) -> None:
        path, items = self.next_file()
        finished = False
        while not finished:
            store = open_store(self.address)
            finished = not interrupt(partial(ingest, store, path, batch=3))
            self.n_interrupts += not finished
            let_go(store)
            with open_store(self.address) as store:
                # Waits for a server that still commits what was sent before the interrupt.
                store.append([], Position("settled", self.n_interrupts))
                position = store.position(str(path))
                offset = 0 if position is None else position.offset
                before = [item for item in items if item.mark.offset <= offset]
                assert all_words(store) == add(self.contents, before)
                assert not finished or len(before) == N_RECORDS
                if self.n_interrupts % 20 == 0:
                    assert store.check().ok
        self.contents = add(self.contents, items)


def let_go(store: DocumentStore) -> None:
    """Whatever state it is in."""
    with suppress(StoreError):
        store.close()


def at_moments(ingests: Ingests, rng: np.random.Generator) -> Interrupt:
    """At any of the moments at which CPython looks for signals."""
    path, items = ingests.next_file()
    with open_store(ingests.address) as store:
        n = count_moments(lambda: ingest(store, path, batch=3))
    ingests.contents = add(ingests.contents, items)
    return lambda work: interrupted(work, int(rng.integers(1, n)))


def end(ingests: Ingests) -> None:
    with open_store(ingests.address) as store:
        result = store.check()
    assert result.ok, result
    print(f"{ingests.n_interrupts} interrupts in {ingests.n_files} files")


MANY = pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.timeout(7200)])


@pytest.mark.parametrize("n", [20, MANY])
def test_interrupts_at_any_moment(address: str, tmp_path: Path, n: int) -> None:
    rng = np.random.default_rng(1)
    ingests = Ingests(address, tmp_path, rng)
    interrupt = at_moments(ingests, rng)
    while ingests.n_interrupts < rounds(n):
        ingests.one(interrupt)
    end(ingests)


@pytest.mark.parametrize("n", [20, MANY])
def test_interrupts_by_signals(address: str, tmp_path: Path, n: int) -> None:
    rng = np.random.default_rng(2)
    ingests = Ingests(address, tmp_path, rng)
    with interrupter(seed=2) as done:
        while ingests.n_interrupts < rounds(n):
            ingests.one(lambda work: not done(work))
    end(ingests)
