"""Draws in passes: each document once in a pass, uniformly, also while documents arrive."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

from trustream.store import Record, open_store
from trustream.store.draw_order import DrawOrder, is_place, permuted
from trustream.streaming.batches import order_from_json, order_to_json


def new_order(seed: int = 0) -> DrawOrder:
    return DrawOrder(np.random.default_rng(seed))


def rest_of_pass(order: DrawOrder) -> list[int]:
    """What is still to come of the documents that this pass began with; the order goes on after."""
    place = order.place
    numbers = np.arange(place["position"], 1 << place["bits"])
    found = permuted(numbers, place["key"], place["bits"])
    order.state = order.state[0], {**place, "position": 1 << place["bits"]}
    return found[found < place["begun_with"]].tolist()


class SlowOrder:
    """The same with a list of each pass and a list of arrivals, taken from their fronts."""

    def __init__(self, seed: int) -> None:
        self.rng, self.n_passes = np.random.default_rng(seed), 0
        self.left: list[int] = []
        self.waiting: list[int] = []
        self.begun_with = self.n_documents = self.length = 0

    def _begin(self) -> None:
        self.n_passes += 1
        bits = 2
        while 1 << bits < 2 * self.n_documents:
            bits += 2
        key = int(self.rng.integers(2**63))
        self.left = permuted(np.arange(1 << bits), key, bits).tolist()
        self.begun_with, self.waiting, self.length = self.n_documents, [], 1 << bits

    def draw(self, n: int, n_documents: int) -> list[int]:
        if not min(n, n_documents):
            return []
        self.waiting = [slot for slot in self.waiting if slot < n_documents]
        self.waiting += range(self.n_documents, n_documents)
        self.n_documents = n_documents
        too_long = self.length > 64 * n_documents
        if not self.n_passes or len(self.waiting) > self.begun_with or too_long:
            self._begin()
        found: list[int] = []
        if self.waiting:
            half = (min(n, n_documents) + int(self.rng.integers(2))) // 2
            found, self.waiting = self.waiting[:half], self.waiting[half:]
        while len(found) < min(n, n_documents):
            if not self.left:
                self._begin()
            slot = self.left.pop(0)
            if slot < min(self.begun_with, n_documents) and slot not in found:
                found.append(slot)
        return found


# --- passes


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 128, 129, 1000, 2049])
def test_each_slot_once_in_a_pass(n: int) -> None:
    """In parts that divide N, several passes one after the other."""
    order = new_order(n)
    part = max(d for d in range(1, n + 1) if n % d == 0 and (d < n or n < 3))
    passes = []
    for _ in range(4):
        slots = np.concatenate([order.draw(part, n) for _ in range(n // part)])
        np.testing.assert_array_equal(np.sort(slots), np.arange(n))
        passes.append(slots.tolist())
    if n > 7:
        assert len({tuple(slots) for slots in passes}) == 4


@pytest.mark.parametrize(("n", "part"), [(10, 4), (10, 9), (33, 20), (100, 7), (5, 5), (5, 8)])
def test_no_slot_twice_in_a_batch(n: int, part: int) -> None:
    """Also of a batch in which one pass ends and another begins.

    There the end of the old pass is left out of the new one, so that some are drawn once less.
    """
    order, slow, drawn = new_order(part), SlowOrder(part), Counter[int]()
    for _ in range(200):
        slots = order.draw(part, n).tolist()
        assert slots == slow.draw(part, n)
        assert len(set(slots)) == min(part, n) and set(slots) <= set(range(n))
        drawn.update(slots)
    drawn.update(rest_of_pass(order))
    left_out = [slow.n_passes - drawn[slot] for slot in range(n)]
    assert min(left_out) >= 0
    # Less than a batch each time that a pass ended, and no slot again and again.
    assert sum(left_out) <= slow.n_passes * (min(part, n) - 1)
    assert np.ptp(left_out) <= 0.2 * slow.n_passes + 2


@pytest.mark.parametrize("seed", range(4))
def test_as_a_list_of_each_pass_would_give_it(seed: int) -> None:
    """Draws of any size from a store of any size, which grows and shrinks."""
    order, slow = new_order(seed), SlowOrder(seed)
    sizes = np.random.default_rng(100 + seed)
    n_documents = 5
    for _ in range(300):
        n_documents = max(1, round(n_documents * sizes.choice([1, 1, 1, 1.3, 0.8])))
        n = int(sizes.integers(0, min(40, 2 * n_documents)))
        assert order.draw(n, n_documents).tolist() == slow.draw(n, n_documents)
    assert slow.n_passes > 5


def test_more_than_there_are_and_none() -> None:
    order = new_order()
    assert sorted(order.draw(9, 4).tolist()) == [0, 1, 2, 3]
    assert sorted(order.draw(4, 4).tolist()) == [0, 1, 2, 3]
    before = order.state
    for n, n_documents in ((0, 4), (3, 0), (0, 0)):
        assert order.draw(n, n_documents).shape == (0,)
    assert order.state == before
    assert order.draw(1, 1).tolist() == [0]


@pytest.mark.parametrize("n", [2, 3, 8, 20, 60])
def test_every_order_is_as_likely(n: int) -> None:
    """Which slot comes first, last, and which two come first, over 3,000 keys."""
    order = new_order(1)
    first, last = np.zeros(n), np.zeros(n)
    pairs = np.zeros((n, n))
    for _ in range(3000):
        slots = order.draw(n, n)
        first[slots[0]] += 1
        last[slots[-1]] += 1
        pairs[slots[0], slots[1]] += 1
        assert rest_of_pass(order) == []
    off_diagonal = pairs[~np.eye(n, dtype=bool)]
    for counts in (first, last, off_diagonal):
        assert stats.chisquare(counts).pvalue > 1e-3


# --- growth


def test_arrivals_come_up_next_and_once_in_the_pass() -> None:
    """32 of 64 were drawn when 32 others arrive: they are half of the draws to come.

    What is left of the pass has the other 32 documents, each as likely as any other, over 2,000
    keys.
    """
    order, n_keys = new_order(2), 2000
    old = np.zeros(64)
    for _ in range(n_keys):
        first = order.draw(32, 64).tolist()
        assert order.n_new == 0
        rest = []
        for expected in ([64, 65, 66, 67, 68], [69, 70, 71, 72, 73]):
            slots = order.draw(10, 96).tolist()
            assert order.n_new == 5 and slots[:5] == expected
            rest += slots
        slots = order.draw(44, 96).tolist()
        assert order.n_new == 22 and slots[:22] == list(range(74, 96))
        assert sorted(first + rest + slots) == list(range(96))
        assert rest_of_pass(order) == []
        old[[slot for slot in rest + slots if slot < 64]] += 1
    # Half of 64 each time, so that the counts vary by half of what a binomial's would.
    assert ((old - n_keys / 2) ** 2).sum() / (n_keys / 4) < stats.chi2.isf(1e-3, 64)


@pytest.mark.parametrize("batch_size", [1, 7, 20])
def test_of_a_growing_store_all_have_been_drawn(batch_size: int) -> None:
    """Five looks for each document that arrives: only the very last can be waiting.

    In random order alone, a sixth would not have been drawn.
    """
    order, drawn, n_documents = new_order(9), Counter[int](), 100
    while n_documents < 3000:
        n_documents += 1
        while drawn.total() < 5 * n_documents:
            drawn.update(order.draw(batch_size, n_documents).tolist())
    assert n_documents - len(drawn) <= max(2, batch_size)
    # Old documents are not forgotten meanwhile.
    assert min(drawn[slot] for slot in range(1000)) >= 3


def test_in_draws_of_one_arrivals_and_others_take_turns() -> None:
    """With an arrival for each draw, about half of them go on with the pass."""
    order = new_order(10)
    order.draw(1, 500)
    n_new = 0
    for n_documents in range(501, 901):
        order.draw(1, n_documents)
        n_new += order.n_new
    assert 150 < n_new < 250


def test_an_arrival_that_waits_comes_up_in_the_next_pass() -> None:
    """Whatever it missed, all are drawn once in the next one."""
    order = new_order(3)
    order.draw(50, 60)
    rest_of_pass(order)
    assert len(order.draw(60, 100)) == 60
    rest_of_pass(order)
    order.draw(100, 100)
    assert rest_of_pass(order) == []
    assert sorted(order.draw(100, 100).tolist()) == list(range(100))


def test_a_pass_begins_when_more_wait_than_it_began_with() -> None:
    """Then they come in random order, and not as they arrived."""
    order = new_order(4)
    order.draw(10, 60)
    key = order.place["key"]
    assert order.place["bits"] == 8
    assert order.draw(20, 120)[:10].tolist() == list(range(60, 70)) and order.n_new == 10
    assert order.place["key"] == key
    first = order.draw(20, 131).tolist()
    assert order.n_new == 0 and order.place["key"] != key
    assert sorted(first + order.draw(111, 131).tolist()) == list(range(131))


def test_arrivals_that_were_deleted() -> None:
    """Slots that became free and were taken again are new again."""
    order = new_order(11)
    order.draw(10, 50)
    assert order.draw(8, 54)[:4].tolist() == [50, 51, 52, 53]
    assert order.draw(8, 51)[:1].tolist() != [51] and order.n_new == 0
    assert order.draw(8, 53)[: order.n_new].tolist() == [51, 52]


def test_there_is_room_for_as_many_again() -> None:
    for n in range(1, 300):
        order = new_order(n)
        order.draw(1, n)
        bits = order.place["bits"]
        assert bits % 2 == 0 and 2 * n <= 1 << bits < 8 * n + 4


def test_a_store_that_shrinks() -> None:
    """What is there is drawn, and no slot behind the end."""
    order = new_order(5)
    order.draw(500, 1000)
    for n in (400, 20, 1):
        slots = np.concatenate([order.draw(1, n) for _ in range(3 * n)])
        assert slots.max() < n and set(slots.tolist()) == set(range(n))


# --- going back and on


def test_a_retry_draws_the_same() -> None:
    """Across the ends of passes, and after keys were drawn."""
    order = new_order(6)
    for n in (3, 7, 50, 64, 400, 100):
        before = order.state
        first = [order.draw(5, n) for _ in range(30)]
        after = order.state
        order.state = before
        np.testing.assert_array_equal(first, [order.draw(5, n) for _ in range(30)])
        assert order.state == after


def test_a_file_goes_on_with_the_pass() -> None:
    order = new_order(7)
    order.draw(20, 90)
    other = order_from_json(json.loads(json.dumps(order_to_json(order))))
    assert isinstance(other, DrawOrder)
    assert other.state == order.state and other.place == order.place
    for _ in range(20):
        np.testing.assert_array_equal(order.draw(17, 90), other.draw(17, 90))
    # A generator alone, as older files have it, draws each batch independently of the others.
    values = order_to_json(order)
    del values["pass"]
    generator = order_from_json(values)
    assert isinstance(generator, np.random.Generator) and order_to_json(generator) == values


GOOD = {"key": 5, "bits": 4, "position": 3, "begun_with": 6, "next_new": 9}
# Without arrivals, as older files have it.
OLD = {"key": 5, "bits": 4, "position": 3}


@pytest.mark.parametrize(
    "change",
    [
        {"key": -1},
        {"key": 2**63},
        {"key": 1.0},
        {"key": True},
        {"bits": 3},
        {"bits": -2},
        {"bits": 64},
        {"bits": "4"},
        {"position": -1},
        {"position": 17},
        {"position": None},
        {"begun_with": -1},
        {"begun_with": 17},
        {"next_new": -1},
        {"next_new": 2**63},
        {"next_new": 2.0},
        {"more": 1},
    ],
)
def test_damaged_places_are_refused(change: dict[str, Any]) -> None:
    assert is_place(GOOD) and is_place({**GOOD, "position": 16}) and is_place(OLD)
    assert not is_place({**GOOD, **change})
    with pytest.raises(ValueError, match="damaged"):
        DrawOrder(np.random.default_rng(0), {**GOOD, **change})


def test_an_older_place_begins_a_pass() -> None:
    order = DrawOrder(np.random.default_rng(0), OLD)
    assert sorted(order.draw(6, 6).tolist()) == list(range(6)) and order.place["begun_with"] == 6


@pytest.mark.parametrize("value", [None, [], 3, "key", {"key": 1}, {}, {**OLD, "next_new": 1}])
def test_what_is_no_place(value: Any) -> None:
    assert not is_place(value)


def test_every_place_that_is_taken_can_be_drawn_from() -> None:
    """The largest keys and numbers do not overflow."""
    for place in (
        {"key": 2**63 - 1, "bits": 62, "position": 0},
        {"key": 2**63 - 1, "bits": 4, "position": 16},
        {"key": 0, "bits": 2, "position": 0},
    ):
        assert is_place(place)
        if place["bits"] < 60:
            order = DrawOrder(np.random.default_rng(0), place)
            assert sorted(order.draw(3, 3).tolist()) == [0, 1, 2]
    numbers = np.array([0, 1, 2**62 - 1])
    found = permuted(numbers, 2**63 - 1, 62)
    assert len(set(found.tolist())) == 3 and found.min() >= 0 and found.max() < 2**62


# --- the permutation


@pytest.mark.parametrize("bits", range(2, 13, 2))
def test_a_permutation_that_differs_by_key(bits: int) -> None:
    numbers = np.arange(1 << bits)
    seen = set()
    for key in (0, 1, 7, 2**32, 2**62 + 1, 2**63 - 1):
        found = permuted(numbers, key, bits)
        np.testing.assert_array_equal(np.sort(found), numbers)
        # Of a block as of all.
        np.testing.assert_array_equal(permuted(numbers[2:4], key, bits), found[2:4])
        seen.add(tuple(found.tolist()))
    assert len(seen) == 6 if bits > 2 else len(seen) > 1


# --- a store


def test_a_store_is_drawn_in_passes(address: str) -> None:
    """By keys, also while documents arrive."""
    with open_store(address, held_out=0.0) as store:
        store.append(Record(f"{i}", ["a"]) for i in range(30))
        order = new_order(8)
        keys = [key for _ in range(3) for key in store.draw(10, order).keys]
        assert sorted(map(int, keys)) == list(range(30))
        first = store.draw(10, order).keys
        store.append(Record(f"{i}", ["a"]) for i in range(30, 40))
        rest = store.draw(20, order).keys
        assert [int(key) for key in rest[: order.n_new]] == list(range(30, 40))
        rest += store.draw(10, order).keys
        assert sorted(map(int, first + rest)) == list(range(40))
        assert sorted(map(int, store.draw(99, order).keys)) == list(range(40))


def test_a_pass_that_has_become_too_long_is_left() -> None:
    """After many deletions, or with a place from a crafted file: no search among 2^62 numbers."""
    for bits in (12, 62):
        order = DrawOrder(np.random.default_rng(0), {"key": 1, "bits": bits, "position": 0})
        assert sorted(order.draw(5, 5).tolist()) == [0, 1, 2, 3, 4]
        assert order.place["bits"] == 4
