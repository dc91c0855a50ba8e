"""Interrupts in the middle of a store's calls: all of a change is there or nothing, and nothing
is held."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.reliability.interrupts import Interrupter, interrupter
from tests.reliability.rounds import rounds
from tests.store.children import Child
from tests.store.contents_of import check_running_totals, documents
from trustream.store import DocumentStore, Record, open_store

WORDS = [f"w{i}" for i in range(60)]


# Does something, perhaps not to its end, and says whether it did.
Do = Callable[[Callable[[], object]], bool]


def completely(call: Callable[[], object]) -> bool:
    call()
    return True


@pytest.fixture
def interrupt() -> Iterator[Interrupter]:
    with interrupter(seed=0) as made:
        yield made


class Ledger:
    """Changes of a store that are interrupted, and what must be in it."""

    def __init__(self, store: DocumentStore, other: DocumentStore, rng: np.random.Generator):
        self.store, self.other, self.rng = store, other, rng
        self.documents: dict[str, Counter[str]] = {}
        self.saved = b""
        self.version = 0
        self.n = 0

    def append(self, do: Do) -> None:
        self.n += 1
        records = [
            Record(
                f"d{d}",
                self.rng.choice(WORDS, 6).tolist(),
                append_id=f"{self.n}/{i}",
                replace=self.n % 3 == 0 and i % 2 == 0,
            )
            for i, d in enumerate(self.rng.integers(0, 30, 5))
        ]
        whole = do(lambda: self.store.append(records))
        result = self.store.append(records)
        assert result.n_repeated in ((5,) if whole else (0, 5)), "a part was stored"
        for record in records:
            if record.replace:
                self.documents[record.key] = Counter()
            self.documents.setdefault(record.key, Counter()).update(record.words)

    def delete(self, do: Do) -> None:
        keys = [f"d{d}" for d in self.rng.integers(0, 30, 2)]
        there = set(keys) & set(self.documents)
        whole = do(lambda: self.store.delete(keys))
        left = self.store.delete(keys)
        assert left in ((0,) if whole else (0, len(there))), "a part was deleted"
        for key in there:
            del self.documents[key]

    def save(self, do: Do) -> None:
        self.n += 1
        new = bytes([self.n % 251]) * 50_000
        whole = do(lambda: self.store.save("model", new))
        found = self.store.load("model") or b""
        assert found == new if whole else found in (new, self.saved)
        version = self.store.saved_version("model") or 0
        assert version > self.version if found == new else version >= self.version
        self.version = version
        self.saved = found

    def totals(self, do: Do) -> None:
        do(self.store.totals)

    def draw(self, do: Do) -> None:
        # The other one's changes of the vocabulary are taken over in here.
        do(lambda: self.store.draw(10, self.rng))

    def scan(self, do: Do) -> None:
        do(lambda: list(self.store.scan(7)))

    def repair(self, do: Do) -> None:
        do(lambda: self.store.check(repair=True))
        assert self.store.check().ok

    def check_nothing_is_held(self) -> None:
        """Another one can write at once, which makes this one take over what it wrote."""
        self.n += 1
        record = Record(f"d{self.n % 30}", [WORDS[self.n % 60]])
        self.other.append([record])
        self.documents.setdefault(record.key, Counter()).update(record.words)
        assert self.store.totals().tokens == sum(d.total() for d in self.documents.values())

    def check_contents(self) -> None:
        for store in (self.store, self.other):
            found = {key: Counter(words) for key, words in documents(store).items()}
            assert found == self.documents
        check_running_totals(self.other)


def impatient(store: DocumentStore) -> DocumentStore:
    """Fails if somebody holds the lock, instead of waiting for a minute."""
    database: Any = store._database
    if hasattr(database, "_server"):
        database._connection.execute("SET lock_timeout = '5s'")
    else:
        database._patience = 5.0
    return store


@pytest.mark.parametrize("n", [40, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["append", "delete", "save", "repair", "totals", "draw", "scan"])
def test_interrupts(address: str, kind: str, n: int, interrupt: Interrupter) -> None:
    settings: dict[str, Any] = {"min_documents": 1, "held_out": 0.2}
    with open_store(address, **settings) as store, open_store(address) as other:
        ledger = Ledger(store, impatient(other), np.random.default_rng(n))
        for _ in range(6):
            ledger.append(completely)
        change = getattr(ledger, kind)
        while interrupt.interrupts < rounds(n):
            if kind == "delete":
                ledger.append(completely)
            change(interrupt)
            ledger.check_nothing_is_held()
            if ledger.n % 50 == 0:
                ledger.check_contents()
        ledger.check_contents()


class Holder:
    """A process that holds the lock of writers for as long as it is wanted."""

    def __init__(self, address: str) -> None:
        self._read, self._write = os.pipe()
        self._child = Child.start(lambda tell: self._hold(address, tell))
        self._child.first_line()

    def _hold(self, address: str, tell: Callable[[str], None]) -> None:
        os.close(self._write)
        with open_store(address) as store:
            database = store._database

            def wait() -> None:
                database.counters(write=True)
                tell("held")
                os.read(self._read, 1)

            database.run(wait, write=True)

    def end(self) -> None:
        os.close(self._write)
        os.close(self._read)
        assert self._child.end()[0] == 0


def test_an_interrupt_while_another_writes(address: str) -> None:
    """Ctrl-C is heard at once, and nothing is kept of the lock that was waited for."""
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["x"])])
        read, write = os.pipe()

        def wait(tell: Callable[[str], None]) -> None:
            # So that it ends with the test, whatever happens.
            os.close(write)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with open_store(address) as own:
                for i in range(3):
                    os.read(read, 1)
                    start = time.monotonic()
                    try:
                        tell("waiting")
                        own.append([Record("b", ["y"])])
                    except KeyboardInterrupt:
                        # Far less than the minute that it waits for others.
                        assert time.monotonic() - start < 20
                        tell(f"interrupted {i}")
                    os.read(read, 1)
                    # It reads, and keeps nobody from writing.
                    tell(str(own.totals().documents))
                os.read(read, 1)
                own.append([Record("b", ["y"])])

        child = Child.start(wait)
        for i in range(3):
            holder = Holder(address)
            os.write(write, b"1")
            child.first_line()
            # So that it most likely does wait.
            time.sleep(0.3)
            os.kill(child.process, signal.SIGINT)
            child.first_line()
            holder.end()
            os.write(write, b"1")
            child.first_line()
            impatient(store).append([Record("a", ["x"])])
            assert child.lines[-3:] == ["waiting\n", f"interrupted {i}\n", "1\n"]
        os.write(write, b"1")
        assert child.end()[0] == 0
        os.close(read)
        os.close(write)
        assert documents(store) == {"a": {"x": 4}, "b": {"y": 1}}
        check_running_totals(store)


def open_and_close(address: str) -> None:
    open_store(address, min_documents=1).close()


@pytest.mark.parametrize("n", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_interrupts_while_it_is_opened(
    new_address: Callable[[], str], n: int, interrupt: Interrupter
) -> None:
    """Whether it is made, or only opened: nothing is left open, and what there is can be opened."""
    address, made = new_address(), 0
    while interrupt.interrupts < rounds(n):
        if made == 3:
            address, made = new_address(), 0
        made += interrupt(partial(open_and_close, address))
        with open_store(address, min_documents=1) as store:
            store.append([Record("a", ["x"])])
            check_running_totals(store)
