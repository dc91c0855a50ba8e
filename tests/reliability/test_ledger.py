"""What was acknowledged is in the store, every word of it: writers are killed at random moments
while they let documents grow far past every size at which the store does something else."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.reliability import ledger
from tests.reliability.ledger import Books, Ledger
from tests.reliability.rounds import rounds
from tests.store.children import Child
from tests.store.contents_of import all_words, check_running_totals
from tests.store.faulty import execute, faulty_writer
from tests.store.thresholds import make_small
from trustream.store import DocumentStore, Position, open_store
from trustream.store.database import Database
from trustream.store.kept_orders import pack_order

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

N_WRITERS = 2


def new_books(folder: Path) -> Books:
    return Books([Ledger(folder / f"{writer}.ledger") for writer in range(N_WRITERS)])


def start(address: str, ledgers: list[Ledger]) -> list[Child]:
    return [
        Child.start(partial(ledger.work, address, writer, one))
        for writer, one in enumerate(ledgers)
    ]


def wait(children: list[Child], ns: list[int]) -> None:
    """Until so many operations of each have been acknowledged."""
    for child, n in zip(children, ns, strict=True):
        while sum(text.count("\n") for text in child.lines) < n:
            child.first_line()


def kill(children: list[Child]) -> None:
    for child in children:
        child.kill()
        status, _ = child.end()
        assert status == -signal.SIGKILL


def kill_writers(address: str, ledgers: list[Ledger], rng: np.random.Generator) -> None:
    """Let all write for a while, and kill each at another moment."""
    children = start(address, ledgers)
    wait(children, rng.integers(4, 20, N_WRITERS).tolist())
    for child in children:
        time.sleep(rng.uniform(0, 0.03))
        kill([child])


def settled(store: DocumentStore, number: int) -> None:
    """Wait for a server that still commits what a writer had sent before it was killed."""
    store.append([], Position("settled", number))


def run(address: str, folder: Path, n: int, keep_order: bool = False) -> None:
    rng = np.random.default_rng(11)
    books = new_books(folder)
    # Words come and go: columns are given back and taken all the while.
    settings = {"min_documents": 2, "max_words": 600, "held_out": 0.3}
    open_store(address, keep_order=keep_order, **settings).close()
    for number in range(n):
        kill_writers(address, books.ledgers, rng)
        with open_store(address) as store:
            settled(store, number)
            books.settle(store, all_words(store))
            result = store.check()
            assert result.ok, result
            check_running_totals(store)
    sizes = sorted(len(words) for words in books.contents.values())
    print(f"{n} rounds, {books.n_operations} operations, {sizes} words")
    assert sizes[-1] > 256


MANY = pytest.param(100, marks=[pytest.mark.slow, pytest.mark.timeout(7200)])


@pytest.mark.parametrize("n", [4, MANY])
def test_killed_writers(address: str, tmp_path: Path, n: int) -> None:
    run(address, tmp_path, rounds(n))


@pytest.mark.parametrize("n", [4, MANY])
def test_killed_writers_of_words_in_order(address: str, tmp_path: Path, n: int) -> None:
    run(address, tmp_path, rounds(n), keep_order=True)


def test_the_ledger_notices_an_order_that_is_lost(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of documents that grow only the last part keeps its place; their words are all there."""

    def forgetful(self: Database, documents: Iterable[int]) -> list[tuple[int, int, bytes]]:
        return [(number, 0, pack_order([])) for number in documents]

    monkeypatch.setattr(Database, "orders_of", forgetful)
    with pytest.raises(AssertionError, match=r"not (what|in the order that) was acknowledged"):
        run(str(file), tmp_path, 20, keep_order=True)


@pytest.mark.parametrize("n", [3, MANY])
def test_killed_writers_with_small_thresholds(
    address: str, tmp_path: Path, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_small(monkeypatch)
    run(address, tmp_path, rounds(n))


@pytest.mark.parametrize("n", [4, MANY])
def test_checks_and_repairs_while_others_write(address: str, tmp_path: Path, n: int) -> None:
    """A check sees one moment; a repair is one change among others."""
    books = new_books(tmp_path)
    open_store(address, min_documents=2, max_words=600, held_out=0.3).close()
    children = start(address, books.ledgers)
    wait(children, [5] * N_WRITERS)
    with open_store(address) as store:
        for _ in range(rounds(n)):
            assert store.check().damage == store.check(repair=True).damage == ()
            before = store.totals().sequence
            execute(store, "UPDATE state SET token_count = token_count + 5")
            result = store.check(repair=True)
            assert (result.kinds, result.ok) == (("tokens",), True)
            assert store.totals().sequence > before
        kill(children)
        settled(store, 0)
        books.settle(store, all_words(store))
        assert store.check().ok


def test_the_ledger_notices_words_that_are_lost(file: Path, tmp_path: Path) -> None:
    """A writer with the fault that made this test; of deleted documents the check knows."""
    noticed = "not what was acknowledged|kind='tokens'"
    with faulty_writer(), pytest.raises(AssertionError, match=noticed):
        run(str(file), tmp_path, 20)
