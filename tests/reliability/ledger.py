"""Writers that keep a ledger of what was acknowledged to them, and what follows from ledgers.

A line says what is about to be done, in full, and another one that it was done. The ledger knows
nothing of the store; what lies between the two lines when a writer is killed is in doubt.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from trustream.store import DocumentStore, Position, Record, open_store

Contents = dict[str, Counter[str]]
N_WORDS = 1500


def operation(writer: int, number: int) -> dict[str, Any]:
    """Parts of 1 to 400 words for documents of its own and for shared ones; now and then a
    deletion of one of its own."""
    rng = np.random.default_rng([writer, number])
    if rng.random() < 0.04:
        return {"delete": f"{writer}/{rng.integers(0, 3)}"}
    parts = []
    for _ in range(rng.integers(1, 4)):
        owner = "shared" if rng.random() < 0.3 else f"{writer}"
        words = rng.integers(0, N_WORDS, int(np.exp(rng.uniform(0, 6)))).tolist()
        counts = Counter(f"w{word}" for word in words)
        parts.append([f"{owner}/{rng.integers(0, 3)}", counts])
    return {"append": parts}


def records(parts: list[Any], number: int) -> list[Record]:
    """Every other append has tokens, the others counts."""
    if number % 2:
        return [Record(key, dict(words)) for key, words in parts]
    return [Record(key, list(Counter(words).elements())) for key, words in parts]


class Ledger:
    """A file of one writer's lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def write(self, descriptor: int, **line: Any) -> None:
        """At once, with one call: what was written is there whenever the writer is killed."""
        os.write(descriptor, f"{json.dumps(line)}\n".encode())

    def read(self) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
        """What was done, and what is in doubt."""
        done: list[dict[str, Any]] = []
        doubt = None
        *lines, torn = self.path.read_text().split("\n")
        assert not torn, "the last line was cut off"
        for text in lines:
            line = json.loads(text)
            if "begin" in line:
                assert doubt is None
                doubt = line
            else:
                assert doubt is not None
                assert doubt["begin"] == line["end"]
                if line["stored"]:
                    done.append(doubt)
                doubt = None
        return done, doubt

    def settle(self, stored: bool) -> None:
        """Note what has become of what was in doubt."""
        _, doubt = self.read()
        if doubt is not None:
            with self.path.open("a") as file:
                file.write(f"{json.dumps({'end': doubt['begin'], 'stored': stored})}\n")


def work(address: str, writer: int, ledger: Ledger, tell: Callable[[str], None]) -> None:
    """Do one operation after the other until killed; each append moves a position on."""
    done, doubt = ledger.read()
    assert doubt is None
    number = done[-1]["begin"] + 1 if done else 0
    feed = f"writer {writer}"
    descriptor = os.open(ledger.path, os.O_WRONLY | os.O_APPEND)
    with open_store(address) as store:
        position = store.position(feed)
        while True:
            planned = operation(writer, number)
            ledger.write(descriptor, begin=number, **planned)
            if "delete" in planned:
                store.delete([planned["delete"]])
            else:
                following = Position(feed, number + 1)
                store.append(records(planned["append"], number), following, after=position)
                position = following
            ledger.write(descriptor, end=number, stored=True)
            tell(f"{number}")
            number += 1


def expected(operations: list[list[dict[str, Any]]]) -> Contents:
    """What is in a store after these operations of each writer; shared documents only grow."""
    found: Contents = {}
    for one in operations:
        for planned in one:
            if "delete" in planned:
                found.pop(planned["delete"], None)
            for key, words in planned.get("append", []):
                found.setdefault(key, Counter()).update(words)
    return found


def settle(ledgers: list[Ledger], store: DocumentStore, found: Contents) -> None:
    """Find out what has become of what is in doubt: all of it is there, or nothing.

    Raises:
        AssertionError: what the store holds does not follow from the ledgers in any way.
    """
    done, doubts = zip(*(ledger.read() for ledger in ledgers), strict=True)
    for stored in _possible(doubts):
        operations = [
            [*before, doubt] if happened else before
            for before, doubt, happened in zip(done, doubts, stored, strict=True)
        ]
        if expected(operations) == found and _stand(store, operations):
            for ledger, happened in zip(ledgers, stored, strict=True):
                ledger.settle(happened)
            return
    raise AssertionError(f"not what was acknowledged: {_difference(expected(list(done)), found)}")


def _possible(doubts: tuple[Any, ...]) -> Iterator[tuple[bool, ...]]:
    return itertools.product(*([False] if doubt is None else [False, True] for doubt in doubts))


def _stand(store: DocumentStore, operations: list[list[dict[str, Any]]]) -> bool:
    """Whether the feeds stand where the appends have left them."""
    for writer, one in enumerate(operations):
        appends = [planned["begin"] for planned in one if "append" in planned]
        position = store.position(f"writer {writer}")
        if (position.offset if position else 0) != (appends[-1] + 1 if appends else 0):
            return False
    return True


def _difference(wanted: Contents, found: Contents) -> dict[str, tuple[int, int]]:
    keys = sorted({*wanted, *found})
    empty: Counter[str] = Counter()
    sizes = {key: (wanted.get(key, empty).total(), found.get(key, empty).total()) for key in keys}
    return {key: sizes[key] for key in keys if wanted.get(key) != found.get(key)}
