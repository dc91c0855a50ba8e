"""Several processes, some of which are killed: what was acknowledged is there, once.

TRUSTREAM_KILLS=1000 in the environment kills that often.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from tests.store import children
from tests.store.children import Child
from tests.store.contents_of import all_words, check_running_totals
from tests.store.memory_store import MemoryStore
from tests.store.server import Server
from trustream.store import Record, Settings, open_store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

KILLS = int(os.environ.get("TRUSTREAM_KILLS", "20"))


def check(address: str, n_batches: dict[int, int]) -> None:
    """The store holds these batches of each writer, each once, and nothing else."""
    model = MemoryStore(Settings())
    for writer, n in n_batches.items():
        for number in range(n):
            for record in children.batch(writer, number):
                document = model.documents.setdefault(record.key, Counter())
                document.update(record.words)
    with open_store(address) as store:
        assert all_words(store) == model.documents
        check_running_totals(store)


def kill_again_and_again(address: str, n_kills: int) -> None:
    rng = np.random.default_rng(1)
    stored = 0
    for _ in range(n_kills):
        child = Child.start(partial(children.write, address, 0, 60.0))
        child.first_line()
        time.sleep(rng.uniform(0, 0.08))
        child.kill()
        status, lines = child.end()
        assert status == -9
        acknowledged = int(lines[-1]) + 1
        with open_store(address) as store:
            position = store.position("writer 0")
            assert position is not None
            # One more may have been stored whose acknowledgement was cut off.
            assert acknowledged <= position.offset <= acknowledged + 1
            assert acknowledged > stored
            stored = position.offset
            assert store.totals().documents == 5 * stored + min(stored, children.N_SHARED)
    check(address, {0: stored})


def test_a_writer_is_killed(address: str) -> None:
    kill_again_and_again(address, KILLS)


@pytest.mark.slow
def test_a_writer_is_killed_many_times(address: str) -> None:
    kill_again_and_again(address, 10 * KILLS)


def two_writers_and_a_reader(address: str, seconds: float, server: Server | None = None) -> None:
    writers = [Child.start(partial(children.write, address, w, seconds)) for w in (0, 1)]
    reader = Child.start(partial(children.read, address, seconds))
    if server is not None:
        time.sleep(seconds / 2)
        server.stop()
        time.sleep(0.5)
        server.start()
    ends = [writer.end() for writer in writers]
    status, lines = reader.end()
    assert [end[0] for end in ends] == [0, 0]
    assert status == 0
    assert int(lines[-1]) > 1
    acknowledged = {w: [int(line) for line in end[1]] for w, end in enumerate(ends)}
    for numbers in acknowledged.values():
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > 5
    check(address, {w: len(numbers) for w, numbers in acknowledged.items()})


def test_two_writers_and_a_reader(address: str) -> None:
    two_writers_and_a_reader(address, 3.0)


@pytest.mark.slow
def test_two_writers_and_a_reader_for_long(address: str) -> None:
    two_writers_and_a_reader(address, 30.0)


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes its time to start a server, and children to open the store."""
    pytest.importorskip("psycopg")
    from trustream.store import postgres_server

    monkeypatch.setattr(postgres_server, "BRIEFLY", 60.0)


def test_the_server_is_restarted_in_the_middle(server: Server, patient: None) -> None:
    two_writers_and_a_reader(f"{server.url}&schema=restarted", 4.0, server)


@pytest.mark.slow
def test_the_server_is_restarted_in_the_middle_of_much(server: Server, patient: None) -> None:
    two_writers_and_a_reader(f"{server.url}&schema=restarted_slow", 30.0, server)


def test_two_processes_save_at_once(address: str) -> None:
    """Each save has a version of its own, and a reader sees versions that only grow."""
    n = 30

    def save(writer: int, tell: Callable[[str], None]) -> None:
        with open_store(address) as store:
            for i in range(n):
                store.save("model", f"{writer} {i}".encode() * 1000)
                store.save(f"model {writer}", b"own")
                tell(str(store.saved_version("model")))

    def watch(tell: Callable[[str], None]) -> None:
        last = 0
        with open_store(address) as store:
            while last < 2 * n:
                found = store.saved_version("model") or 0
                assert found >= last
                last = found
        tell(str(last))

    open_store(address).close()
    started = [Child.start(partial(save, w)) for w in (0, 1)] + [Child.start(watch)]
    ends = [child.end() for child in started]
    assert [status for status, _ in ends] == [0, 0, 0]
    for _, lines in ends[:2]:
        seen = [int(line) for line in lines]
        assert seen == sorted(set(seen)), "one more at least with each save of its own"
    with open_store(address) as store:
        versions = [store.saved_version(name) for name in ("model", "model 0", "model 1")]
        assert versions == [2 * n, n, n]
        assert store.load("model") in {f"{w} {n - 1}".encode() * 1000 for w in (0, 1)}
        assert store.check().ok


def test_a_new_store_is_made_by_one_of_many(address: str) -> None:
    def work(tell: object) -> None:
        with open_store(address, min_documents=1) as store:
            store.append([Record("shared", ["x"])])

    started = [Child.start(work) for _ in range(6)]
    assert [child.end()[0] for child in started] == [0] * 6
    with open_store(address) as store:
        assert store.totals().tokens == 6
        assert store.totals().words == 1
