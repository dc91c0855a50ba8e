"""Leases: one holder at a time, taken over from the dead, and never obeyed when they are old."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers import wait_for
from tests.store.faulty import execute
from trustream.store import (
    DocumentStore,
    HeldLease,
    Holder,
    LeaseHeldError,
    LeaseLostError,
    ReplacedError,
    open_store,
)

# Holds a lease until it is told something: to save, or to go.
HOLD = """
import sys
from trustream.store import HeldLease, StoreError, open_store
store = open_store(sys.argv[1], create=False)
held = HeldLease(store, "model", seconds=float(sys.argv[2]))
print("holds", held.lease.token, flush=True)
for line in sys.stdin:
    try:
        store.save("model", line.encode(), lease=held.lease)
        print("saved", flush=True)
    except StoreError as error:
        print(type(error).__name__, error, flush=True)
held.release()
"""


@contextmanager
def holding(address: str, seconds: float = 30.0) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lease."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, address, str(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert said(process).startswith("holds")
        yield process
    finally:
        process.kill()
        process.wait()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def beat_of(store: DocumentStore) -> int:
    database = store._database
    row = database.run(lambda: database.lease_row("model", write=False), write=False)
    return -1 if row is None else row.beat


def tell(process: subprocess.Popen[str], text: str) -> str:
    """Have the other process save something; what it answers."""
    assert process.stdin is not None
    process.stdin.write(text + "\n")
    process.stdin.flush()
    return said(process)


def test_one_holder_at_a_time_and_the_refusal_names_it(address: str) -> None:
    with open_store(address) as store, open_store(address) as other:
        assert store.lease("model") is None
        with HeldLease(store, "model") as held:
            assert held.lease.token == 1
            found = other.lease("model")
            assert found is not None and found.holder == held.lease.holder and found.is_fresh
            match = rf"'model' of .* is held by process {os.getpid()} on .*, since 20.* UTC"
            with pytest.raises(LeaseHeldError, match=match) as refused:
                HeldLease(other, "model")
            assert refused.value.lease.token == 1
            with HeldLease(other, "another name") as second:
                assert second.lease.token == 1
        # Given back at the end, and no token comes twice.
        assert other.lease("model") is None
        with HeldLease(other, "model") as held:
            assert held.lease.token == 2
        held.release()


def test_it_is_given_back_after_an_exception(address: str) -> None:
    with open_store(address) as store:
        for error in (ValueError, KeyboardInterrupt):
            with pytest.raises(error), HeldLease(store, "model"):
                raise error
            assert store.lease("model") is None
            assert execute(store, "SELECT holder FROM lease")[0][0] is None


def test_the_store_may_be_closed_first(address: str) -> None:
    """The lease is given back all the same, by the thread."""
    store = open_store(address)
    held = HeldLease(store, "model")
    store.close()
    held.release()
    with open_store(address) as store:
        wait_for(lambda: execute(store, "SELECT holder FROM lease")[0][0] is None)


def test_nobody_holds_it_any_more(address: str) -> None:
    with open_store(address) as store:
        held = HeldLease(store, "model")
        assert "trustream-lease" in [thread.name for thread in threading.enumerate()]
        del held
        gc.collect()
        wait_for(lambda: execute(store, "SELECT holder FROM lease")[0][0] is None)
        # A lease whose taker was interrupted before it had it: known in the process at once.
        store.take_lease("model", Holder.here())
        gc.collect()
        with HeldLease(store, "model"):
            pass


def test_a_killed_holder_is_taken_over_at_once(address: str) -> None:
    open_store(address).close()
    with holding(address, seconds=10_000.0) as process, open_store(address) as store:
        with pytest.raises(LeaseHeldError, match=f"process {process.pid} on"):
            HeldLease(store, "model")
        process.send_signal(signal.SIGKILL)
        # Dead, though nobody has waited for it yet.
        wait_for(lambda: store.lease("model") is None)
        with HeldLease(store, "model") as held:
            assert held.lease.token == 2


def test_a_process_id_that_was_given_away_again(address: str) -> None:
    """A process with the same id that started at another time is another one."""
    with open_store(address) as store:
        me = Holder.here()
        parent = replace(me, pid=os.getppid(), key="parent", started="1")
        assert parent.is_dead()
        store.take_lease("model", parent)
        assert store.lease("model") is None
        with HeldLease(store, "model"):
            pass
    nobody = subprocess.Popen([sys.executable, "-c", ""])
    nobody.wait()
    assert replace(me, pid=nobody.pid).is_dead()


def test_who_is_elsewhere_is_not_declared_dead(address: str) -> None:
    here = Holder.here()
    other_container = replace(here, space="pid:[1]", pid=2**22, host="elsewhere")
    assert not other_container.is_dead() and not other_container.is_dead(one_machine=True)
    other_machine = replace(here, boot="another", pid=2**22, host="elsewhere")
    assert not other_machine.is_dead()
    # A SQLite file is used by one machine at a time: this one was started again since, or the
    # file was copied.
    assert other_machine.is_dead(one_machine=True)
    # A machine that has another name now is the same machine.
    assert replace(here, host="renamed", pid=2**22).is_dead()
    with open_store(address) as store:
        store.take_lease("model", other_container, seconds=1000.0)
        with pytest.raises(LeaseHeldError, match=r"process 4194304 on elsewhere"):
            HeldLease(store, "model")


@pytest.mark.parametrize("beaten", [-1e6, 1e6])
def test_a_silent_holder_elsewhere_is_watched_first(address: str, beaten: float) -> None:
    """By whatever the clocks say: one that gives a sign of life keeps its lease."""
    with open_store(address) as store, open_store(address) as other:
        elsewhere = replace(Holder.here(), space="pid:[1]")
        lease = store.take_lease("model", elsewhere, seconds=4.0)

        def jump() -> None:
            execute(store, f"UPDATE lease SET beaten = beaten + {beaten}")

        jump()
        found = other.lease("model")
        assert found is not None and not found.is_fresh
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(0.1):
                store.renew_lease(lease)
                jump()

        thread = threading.Thread(target=beat)
        thread.start()
        try:
            with pytest.raises(LeaseHeldError):
                HeldLease(other, "model")
        finally:
            ended.set()
            thread.join()
        # No sign of life any more.
        start = time.monotonic()
        with HeldLease(other, "model") as held:
            assert time.monotonic() - start >= 2.0
            assert held.lease.token == 2
        with pytest.raises(LeaseLostError, match="was given back"):
            store.renew_lease(lease)


def test_a_holder_that_stood_still_saves_nothing_more(address: str) -> None:
    """Fencing: SIGSTOP, another takes over and saves, SIGCONT; the old one is refused."""
    open_store(address).close()
    with holding(address, seconds=2.0) as process, open_store(address) as store:
        assert tell(process, "first") == "saved\n"
        # Between two signs of life: a process that stands still in a transaction holds up all.
        beats = beat_of(store)
        wait_for(lambda: beat_of(store) > beats)
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: (found := store.lease("model")) is None or not found.is_fresh)
        with HeldLease(store, "model", seconds=1000.0) as held:
            assert held.lease.token == 2
            store.save("model", b"second", lease=held.lease)
            process.send_signal(signal.SIGCONT)
            answer = tell(process, "third")
            assert answer.startswith("LeaseLostError")
            assert f"taken over by process {os.getpid()} on" in answer
            assert store.load("model") == b"second"
            # What it gives back is not the lease of the other.
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(timeout=60) == 0
            store.renew_lease(held.lease)
            assert store.saved_version("model") == 2


def test_signs_of_life_keep_a_lease(address: str) -> None:
    with open_store(address) as store, HeldLease(store, "model", seconds=3.0) as held:
        start = store.lease("model")
        assert start is not None
        wait_for(lambda: beat_of(store) >= 3)
        found = store.lease("model")
        assert found is not None and found.since == start.since and found.is_fresh
        # The thread says so if somebody took over; here the row is changed by hand.
        execute(store, "UPDATE lease SET token = 7")
        wait_for(lambda: held._shared.lost is not None)
        with pytest.raises(LeaseLostError, match="was taken over by"):
            held.check()
        with pytest.raises(LeaseLostError):
            store.save("model", b"x", lease=held.lease)
        assert store.load("model") is None and store.saved_version("model") is None


def test_a_child_leaves_its_parents_lease_alone(address: str) -> None:
    with open_store(address) as store, HeldLease(store, "model") as held:
        pid = os.fork()
        if pid == 0:
            held.release()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        found = store.lease("model")
        assert found is not None and found.token == 1


def test_who_holds_a_name_is_told_that_it_was_replaced(address: str) -> None:
    """Once, by the refusal of a save; whoever replaces it needs a lease of its own."""
    with open_store(address) as store, open_store(address) as other:
        with HeldLease(store, "model") as held, HeldLease(other, "new model") as new:
            store.save("model", b"1", lease=held.lease)
            other.save("model", b"2", lease=new.lease)
            with pytest.raises(ReplacedError, match=r"'model' of .* was replaced by somebody else"):
                store.save("model", b"3", lease=held.lease)
            assert store.load("model") == b"2"
            held.accept_replacement()
            store.save("model", b"4", lease=held.lease)
            # A save without a lease tells nobody, and neither does another name.
            other.save("model", b"5")
            other.save("other", b"", lease=new.lease)
            store.save("model", b"6", lease=held.lease)
            execute(other, "UPDATE lease SET token = 9 WHERE name = 'new model'")
            with pytest.raises(LeaseLostError):
                other.save("model", b"7", lease=new.lease)
            store.save("model", b"8", lease=held.lease)
        execute(other, "UPDATE lease SET holder = NULL WHERE name = 'new model'")
        # A name that nobody holds, before and after.
        with HeldLease(other, "new model") as new:
            other.save("unheld", b"", lease=new.lease)
            other.save("model", b"9", lease=new.lease)
        with HeldLease(store, "model") as held:
            store.save("model", b"10", lease=held.lease)
        assert store.load("model") == b"10" and store.saved_version("model") == 8
        assert store.saved_names() == ["model", "other", "unheld"]


def test_many_want_it_and_one_gets_it(address: str) -> None:
    """Eight threads with stores of their own, for a lease that never was there before."""
    open_store(address).close()
    together, tokens = threading.Barrier(8), []
    leave = threading.Event()

    def want() -> None:
        with open_store(address) as store:
            together.wait()
            try:
                with HeldLease(store, "model") as held:
                    tokens.append(held.lease.token)
                    leave.wait()
            except LeaseHeldError:
                tokens.append(None)

    threads = [threading.Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(tokens) == 8)
    leave.set()
    for thread in threads:
        thread.join()
    assert sorted(tokens, key=str) == [1, *[None] * 7]


def test_wrong_names_and_times(address: str) -> None:
    with open_store(address) as store:
        for name, seconds in (("", 1.0), ("x" * 501, 1.0), ("a\0", 1.0), ("a", 0.0)):
            with pytest.raises(ValueError, match=r"name .*give|NUL|seconds is 0"):
                HeldLease(store, name, seconds=seconds)
        with pytest.raises(ValueError, match="seconds is nan"):
            HeldLease(store, "a", seconds=float("nan"))
        assert store.lease("") is None


def test_a_holder_as_text(tmp_path: Path) -> None:
    holder = Holder.here()
    assert json.loads(holder.to_json())["pid"] == os.getpid()
    assert str(holder).startswith(f"process {os.getpid()} on ")
    holder.retire()
    assert holder.is_dead()
