"""What was acknowledged is in the store, every word of it: writers are killed at random moments
while they let documents grow far past every size at which the store does something else."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.reliability import ledger
from tests.reliability.ledger import Ledger
from tests.reliability.rounds import rounds
from tests.store.children import Child
from tests.store.contents_of import all_words, check_running_totals
from tests.store.faulty import faulty_writer
from tests.store.thresholds import make_small
from trustream.store import DocumentStore, Position, open_store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")

N_WRITERS = 2


def kill_writers(address: str, ledgers: list[Ledger], rng: np.random.Generator) -> None:
    """Let all write for a while, and kill each at another moment."""
    children = [
        Child.start(partial(ledger.work, address, writer, one))
        for writer, one in enumerate(ledgers)
    ]
    for child, n in zip(children, rng.integers(1, 40, N_WRITERS), strict=True):
        while sum(text.count("\n") for text in child.lines) < n:
            child.first_line()
    for child in children:
        time.sleep(rng.uniform(0, 0.03))
        child.kill()
    for child in children:
        status, _ = child.end()
        assert status == -signal.SIGKILL


def settled(store: DocumentStore, number: int) -> None:
    """Wait for a server that still commits what a writer had sent before it was killed."""
    store.append([], Position("settled", number))


def run(address: str, folder: Path, n: int) -> None:
    rng = np.random.default_rng(11)
    ledgers = [Ledger(folder / f"{writer}.ledger") for writer in range(N_WRITERS)]
    # Words come and go: columns are given back and taken all the while.
    open_store(address, min_documents=2, max_words=600, held_out=0.3).close()
    for number in range(n):
        kill_writers(address, ledgers, rng)
        with open_store(address) as store:
            settled(store, number)
            ledger.settle(ledgers, store, all_words(store))
            result = store.check()
            assert result.ok, result
            check_running_totals(store)
            found = all_words(store)
    sizes = sorted(len(words) for words in found.values())
    print(f"{n} rounds, {[len(one.read()[0]) for one in ledgers]} operations, {sizes} words")
    assert sizes[-1] > 3 * 256


@pytest.mark.parametrize("n", [4, pytest.param(500, marks=pytest.mark.slow)])
def test_killed_writers(address: str, tmp_path: Path, n: int) -> None:
    run(address, tmp_path, rounds(n))


@pytest.mark.parametrize("n", [3, pytest.param(500, marks=pytest.mark.slow)])
def test_killed_writers_with_small_thresholds(
    address: str, tmp_path: Path, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_small(monkeypatch)
    run(address, tmp_path, rounds(n))


def test_the_ledger_notices_words_that_are_lost(file: Path, tmp_path: Path) -> None:
    """A writer with the fault that made this test."""
    with faulty_writer(), pytest.raises(AssertionError, match="not what was acknowledged"):
        run(str(file), tmp_path, 20)
