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
from trustream.word_order import OrderedWords

Contents = dict[str, Counter[str]]
Stretches = list[list[str]]
Orders = dict[str, Stretches]
N_WORDS = 1500


def operation(writer: int, number: int) -> dict[str, Any]:
    """Parts of 1 to 400 words for documents of its own and for shared ones; some replace one of
    its own, and now and then one of these is deleted."""
    rng = np.random.default_rng([writer, number])
    if rng.random() < 0.04:
        return {"delete": f"{writer}/{rng.integers(0, 3)}"}
    parts = []
    for _ in range(rng.integers(1, 4)):
        owner = "shared" if rng.random() < 0.3 else f"{writer}"
        words = rng.integers(0, N_WORDS, int(np.exp(rng.uniform(0, 6)))).tolist()
        counts = Counter(f"w{word}" for word in words)
        replaces = owner != "shared" and bool(rng.random() < 0.15)
        parts.append([f"{owner}/{rng.integers(0, 3)}", counts, replaces])
    return {"append": parts}


def stretches(writer: int, number: int, place: int, words: dict[str, int]) -> Stretches:
    """An order of the words of a part, in stretches of 1 to 40 words."""
    rng = np.random.default_rng([writer, number, place])
    tokens = rng.permutation(list(Counter(words).elements())).tolist()
    ends = np.cumsum(rng.integers(1, 41, len(tokens)))
    begins = [0, *ends[ends < len(tokens)].tolist()]
    return [tokens[i:j] for i, j in itertools.pairwise([*begins, len(tokens)])]


def records(parts: list[Any], writer: int, number: int, in_order: bool) -> list[Record]:
    """Words in order; otherwise every other append has tokens, the others counts."""
    if in_order:
        return [
            Record(key, OrderedWords(stretches(writer, number, i, words)), replace=replaces)
            for i, (key, words, replaces) in enumerate(parts)
        ]
    if number % 2:
        return [Record(key, dict(words), replace=replaces) for key, words, replaces in parts]
    return [
        Record(key, list(Counter(words).elements()), replace=replaces)
        for key, words, replaces in parts
    ]


class Ledger:
    """A file of one writer's lines.

    Attributes:
        number: of the operation that comes next.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        path.touch()

    def read(self) -> tuple[list[Any], Any]:
        """What was done, and what is in doubt; None if nothing is."""
        done: list[Any] = []
        doubt = None
        *lines, torn = self.path.read_text().split("\n")
        assert not torn, "the last line was cut off"
        for text in lines:
            line = json.loads(text)
            if "begin" in line:
                assert doubt is None
                doubt = line
            else:
                assert doubt["begin"] == line["done"]
                done.append(doubt)
                doubt = None
        return done, doubt

    def begin_anew(self, operations: list[Any]) -> None:
        """What it said was taken over."""
        if operations:
            self.number = operations[-1]["begin"] + 1
        self.path.write_text("")


def _write(descriptor: int, **line: Any) -> None:
    """With one call: what was written is there whenever the writer is killed."""
    os.write(descriptor, f"{json.dumps(line)}\n".encode())


def work(address: str, writer: int, ledger: Ledger, tell: Callable[[str], None]) -> None:
    """Do one operation after the other until killed; each append moves a position on."""
    feed = f"writer {writer}"
    descriptor = os.open(ledger.path, os.O_WRONLY | os.O_APPEND)
    with open_store(address) as store:
        position, in_order = store.position(feed), store.settings.keep_order
        for number in itertools.count(ledger.number):
            planned = operation(writer, number)
            _write(descriptor, begin=number, **planned)
            if "delete" in planned:
                store.delete([planned["delete"]])
            else:
                following = Position(feed, number + 1)
                given = records(planned["append"], writer, number, in_order)
                store.append(given, following, after=position)
                position = following
            _write(descriptor, done=number)
            tell(f"{number}")


class Books:
    """What follows from the ledgers of all writers.

    Shared documents only grow, and others have one writer: the order of the writers does not count.

    Attributes:
        contents: every word of every document.
        orders: of the words of documents, if the store keeps them.
        n_operations: that were done.
    """

    def __init__(self, ledgers: list[Ledger]) -> None:
        self.ledgers = ledgers
        self.contents: Contents = {}
        self.orders: Orders = {}
        self.n_operations = 0
        self._offsets = [0] * len(ledgers)

    def settle(self, store: DocumentStore, found: Contents) -> None:
        """Take over what the ledgers say; what is in doubt is in the store as a whole, or not.

        Raises:
            AssertionError: what was found does not follow from the ledgers in any way.
        """
        done, doubts = zip(*(ledger.read() for ledger in self.ledgers), strict=True)
        for stored in _possible(doubts):
            operations = [
                [*before, doubt] if happened else before
                for before, doubt, happened in zip(done, doubts, stored, strict=True)
            ]
            if self._after(operations) == found and self._stands(store, operations):
                if store.settings.keep_order:
                    self._settle_orders(store, operations)
                self._take_over(operations)
                return
        wanted = self._after(list(done))
        raise AssertionError(f"not what was acknowledged: {_difference(wanted, found)}")

    def _settle_orders(self, store: DocumentStore, operations: list[list[Any]]) -> None:
        """The order of words is that of the appends; of a shared document, of each writer's."""
        wanted, found = self._orders_after(operations), all_orders(store)
        assert found.keys() == wanted.keys(), "not all orders are kept"
        for key, order in wanted.items():
            if key.startswith("shared"):
                # What writers append at the same time may come in any order.
                assert sorted(found[key]) == sorted(order), f"not what was acknowledged: {key}"
            else:
                assert found[key] == order, f"not in the order that was acknowledged: {key}"
        self.orders = wanted

    def _orders_after(self, operations: list[list[Any]]) -> Orders:
        orders = {key: [*order] for key, order in self.orders.items()}
        for writer, one in enumerate(operations):
            for planned in one:
                if "delete" in planned:
                    orders.pop(planned["delete"], None)
                for i, (key, words, replaces) in enumerate(planned.get("append", [])):
                    if replaces:
                        orders[key] = []
                    more = stretches(writer, planned["begin"], i, words)
                    orders.setdefault(key, []).extend(more)
        return orders

    def _after(self, operations: list[list[Any]]) -> Contents:
        contents = {key: words.copy() for key, words in self.contents.items()}
        for planned in itertools.chain(*operations):
            if "delete" in planned:
                contents.pop(planned["delete"], None)
            for key, words, replaces in planned.get("append", []):
                if replaces:
                    contents[key] = Counter()
                contents.setdefault(key, Counter()).update(words)
        return contents

    def _stands(self, store: DocumentStore, operations: list[list[Any]]) -> bool:
        """Whether the feeds stand where the appends have left them."""
        positions = [store.position(f"writer {writer}") for writer in range(len(operations))]
        found = [0 if position is None else position.offset for position in positions]
        return found == self._offsets_after(operations)

    def _offsets_after(self, operations: list[list[Any]]) -> list[int]:
        return [
            max([before, *(planned["begin"] + 1 for planned in one if "append" in planned)])
            for before, one in zip(self._offsets, operations, strict=True)
        ]

    def _take_over(self, operations: list[list[Any]]) -> None:
        self.contents = self._after(operations)
        self._offsets = self._offsets_after(operations)
        self.n_operations += sum(map(len, operations))
        for ledger, one in zip(self.ledgers, operations, strict=True):
            ledger.begin_anew(one)


def all_orders(store: DocumentStore) -> Orders:
    """The stretches of all documents whose order is kept."""
    found: Orders = {}
    last = -1
    while (some := store.word_orders(last, 2))[0]:
        found |= {order.key: order.stretches for order in some[0]}
        last = some[1]
    return found


def _possible(doubts: tuple[Any, ...]) -> Iterator[tuple[bool, ...]]:
    return itertools.product(*([False] if doubt is None else [False, True] for doubt in doubts))


def _difference(wanted: Contents, found: Contents) -> dict[str, tuple[int, int]]:
    """Tokens that documents should have and have, of those that differ."""
    empty: Counter[str] = Counter()
    return {
        key: (wanted.get(key, empty).total(), found.get(key, empty).total())
        for key in sorted({*wanted, *found})
        if wanted.get(key) != found.get(key)
    }
