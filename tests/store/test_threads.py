"""Threads that share a store, and processes that were forked with one."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from tests.reliability.rounds import rounds
from tests.store.children import Child
from tests.store.contents_of import check_running_totals, documents
from trustream.store import Position, Record, StoreError, fork_safety, open_store
from trustream.store.sqlite import SqliteDatabase

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


def in_threads(*works: Callable[[], object]) -> None:
    """Do all at once; the first error is raised here."""
    errors: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("n", [25, pytest.param(500, marks=pytest.mark.slow)])
def test_threads_take_turns(address: str, n: int) -> None:
    n = rounds(n)

    def write(writer: int) -> None:
        rng = np.random.default_rng(writer)
        for i in range(n):
            # Words that all threads come to know at the same time.
            words = [f"w{w}" for w in rng.integers(0, 5 * i + 5, 10)]
            store.append(
                [Record(f"{writer} {i}", words), Record(f"shared {i}", words)],
                Position(f"feed {writer}", i + 1),
            )
            if i % 10 == 9:
                assert store.delete([f"{writer} {i - 5}"]) == 1

    def read() -> None:
        rng = np.random.default_rng(9)
        for i in range(n):
            drawn = store.draw(5, rng)
            assert len(set(drawn.keys)) == len(drawn.keys)
            store.save("model", b"%d" % i)
            assert store.totals().sequence >= drawn.sequence
            assert sum(len(block.keys) for block in store.scan(20)) >= len(drawn.keys)

    with open_store(address, min_documents=2) as store:
        in_threads(*(lambda w=w: write(w) for w in range(3)), read)  # type: ignore[misc]
        check_running_totals(store)
        totals = store.totals()
        assert totals.documents == n + 3 * (n - n // 10)
        assert totals.tokens == 10 * (3 * n + 3 * (n - n // 10))
        words = [word for word in store.vocabulary().words if word is not None]
        assert len(set(words)) == len(words)
        assert [store.position(f"feed {w}") for w in range(3)] == [
            Position(f"feed {w}", n) for w in range(3)
        ]
        seen = documents(store)
    with open_store(address) as other:
        assert documents(other) == seen


def test_records_may_come_from_the_same_store(address: str) -> None:
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["x"]), Record("b", ["x", "y"])])

        def copies() -> Iterator[Record]:
            for block in store.scan(1):
                # A thread that needs the store before the next record can come.
                in_threads(store.totals)
                yield Record(f"copy of {block.keys[0]}", ["x"])

        assert store.append(copies()).n_documents == 2
        assert store.totals().documents == 4


def test_a_signal_handler_that_uses_the_store(address: str) -> None:
    def handle(number: int, frame: FrameType | None) -> None:
        store.totals()

    with open_store(address, min_documents=1) as store:
        database: Any = store._database
        real = database.put_counters

        def put_counters(state: object) -> None:
            signal.raise_signal(signal.SIGUSR1)
            real(state)

        before = signal.signal(signal.SIGUSR1, handle)
        try:
            database.put_counters = put_counters
            with pytest.raises(StoreError, match=r"middle of a call.*signal handler"):
                store.append([Record("a", ["x"])])
            database.put_counters = lambda state: [store.close(), real(state)]
            with pytest.raises(StoreError, match="middle of a call"):
                store.append([Record("a", ["x"])])
            database.put_counters = real
        finally:
            signal.signal(signal.SIGUSR1, before)
        assert store.totals().documents == 0
        store.append([Record("a", ["x"])])
        check_running_totals(store)


AFTER_A_FORK = """
import gc, os, sys
import numpy as np
from trustream.store import Record, StoreError, open_store

store = open_store(sys.argv[1], min_documents=1, held_out=0.0)
store.append([Record("a", ["x"])])
scan = store.scan(1)
next(scan)
if os.fork() == 0:
    calls = [
        store.totals, store.vocabulary, lambda: store.append([Record("b", ["x"])]),
        lambda: store.delete(["a"]), lambda: store.draw(1, np.random.default_rng(0)),
        lambda: store.save("m", b""), lambda: store.load("m"), lambda: next(scan),
        lambda: store.saved_version("m"),
    ]
    for call in calls:
        try:
            call()
        except StoreError as error:
            assert "open the store again in the child" in str(error), error
        else:
            raise AssertionError("it was used after a fork")
    if sys.argv[2] == "close":
        store.close()
        store.close()
    del calls, call, scan, store
    gc.collect()
    # And now Python ends in the child, as it does in the parent.
    sys.exit(7)
_, status = os.wait()
assert os.waitstatus_to_exitcode(status) == 7
for i in range(3):
    store.append([Record("a", ["x"])])
assert store.totals().tokens == 4
store.close()
"""


@forking
@pytest.mark.parametrize("how", ["close", "forget"])
def test_a_child_cannot_use_or_harm_the_store(address: str, how: str) -> None:
    run = [sys.executable, "-c", AFTER_A_FORK, address, how]
    done = subprocess.run(run, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@forking
def test_a_child_opens_its_own(address: str) -> None:
    """What it acknowledges is there, though its parent had the store open when it was forked."""
    read, write = os.pipe()
    with open_store(address, min_documents=1) as store:
        store.append([Record("a", ["x"])])

        def work(tell: Callable[[str], None]) -> None:
            # So that it ends with the test, whatever happens.
            os.close(write)
            with open_store(address) as own:
                tell("open")
                os.read(read, 1)
                own.append([Record("b", ["y"])])
                tell("stored")
                os.read(read, 1)

        child = Child.start(work)
        child.first_line()
    # The last one to close the store, as far as the parent knows.
    os.write(write, b"1")
    child.first_line()
    reader = Child.start(lambda tell: tell(str(open_store(address).totals().documents)))
    assert reader.end() == (0, ["2"])
    os.write(write, b"1")
    assert child.end()[0] == 0
    with open_store(address) as store:
        assert documents(store) == {"a": {"x": 1}, "b": {"y": 1}}
        check_running_totals(store)
    os.close(read)
    os.close(write)


@forking
@pytest.mark.parametrize("n", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_forks_while_threads_write(address: str, n: int) -> None:
    """A fork waits for a moment at which no thread is in the middle of something."""
    stop = threading.Event()
    written = [0, 0]

    def write(writer: int) -> None:
        while not stop.is_set():
            store.append([Record(f"{writer} {written[writer]}", ["x", f"{written[writer] % 50}"])])
            written[writer] += 1

    def fork() -> None:
        try:
            for i in range(rounds(n)):
                children = [
                    Child.start(lambda tell, i=i, j=j: in_child(f"child {i} {j}")) for j in range(2)
                ]
                assert [child.end()[0] for child in children] == [0, 0]
        finally:
            stop.set()

    def in_child(key: str) -> None:
        with pytest.raises(StoreError, match="open the store again in the child"):
            store.totals()
        with open_store(address) as own:
            own.append([Record(key, ["x"])])

    with open_store(address, min_documents=1) as store:
        in_threads(lambda: write(0), lambda: write(1), fork)
        assert store.totals().documents == sum(written) + 2 * rounds(n)
        check_running_totals(store)


@forking
def test_a_fork_in_the_middle_of_a_transaction(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child leaves the parent's transaction alone, and does not lock itself out for ever."""
    monkeypatch.setattr(fork_safety, "_PATIENCE", 0.1)
    with open_store(address, min_documents=1) as store:
        database: Any = store._database
        real = database.put_counters
        children = []

        def in_child(tell: Callable[[str], None]) -> None:
            store.close()
            try:
                with open_store(address) as own:
                    tell(str(own.totals().documents))
            except StoreError as error:
                tell(str(error))

        def put_counters(state: object) -> None:
            real(state)
            # By the thread that is in the middle, and by another.
            children.append(Child.start(in_child))
            in_threads(lambda: children.append(Child.start(in_child)))
            for child in children:
                child.first_line()

        database.put_counters = put_counters
        store.append([Record("a", ["x"])])
        database.put_counters = real
        for child in children:
            status, lines = child.end()
            assert status == 0
            if isinstance(database, SqliteDatabase):
                assert "was being used when this process was forked" in lines[0]
            else:
                assert lines == ["0"]
        store.append([Record("b", ["x"])])
        assert documents(store) == {"a": {"x": 1}, "b": {"x": 1}}
        check_running_totals(store)


@forking
@pytest.mark.parametrize("n", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_forks_while_others_use_sqlite(file: Path, n: int) -> None:
    """SQLite's locks may be held by a thread that is not there in the child: it must not hang."""
    stop = threading.Event()

    def other() -> None:
        with closing(sqlite3.connect(":memory:")) as database:
            database.execute("CREATE TABLE t (x)")
            while not stop.is_set():
                database.executemany("INSERT INTO t VALUES (?)", ((i,) for i in range(1000)))
                database.execute("DELETE FROM t")

    def fork() -> None:
        try:
            for _ in range(rounds(n)):
                assert Child.start(lambda tell: None).end()[0] == 0
        finally:
            stop.set()

    with open_store(file, min_documents=1) as store:
        in_threads(other, other, fork)
        store.append([Record("a", ["x"])])


@forking
def test_a_child_does_not_keep_a_session_of_its_dead_parent(server: Any) -> None:
    import psycopg

    address = f"{server.url}&schema=dead_parent&application_name=dead_parent"
    read, write = os.pipe()

    def parent(tell: Callable[[str], None]) -> None:
        store = open_store(address)
        grandchild = os.fork()
        if grandchild == 0:
            os.close(write)
            os.read(read, 1)
            os._exit(0)
        tell(f"{grandchild} {store.totals().documents}")
        time.sleep(60)

    child = Child.start(parent)
    child.first_line()
    child.kill()
    with psycopg.connect(server.url, autocommit=True) as connection:
        end = time.monotonic() + 30
        while True:
            found = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dead_parent'"
            ).fetchone()
            if found == (0,):
                break
            assert time.monotonic() < end, "the session is still there"
            time.sleep(0.05)
    os.close(write)
    os.close(read)
    assert child.end()[0] == -9
