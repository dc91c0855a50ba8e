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


def rest_of_pass(order: DrawOrder, n_documents: int) -> list[int]:
    """What is still to come in this pass; the order goes on after it."""
    place = order.place
    numbers = np.arange(place["position"], 1 << place["bits"])
    found = permuted(numbers, place["key"], place["bits"])
    order.state = (*order.state[:-1], 1 << place["bits"])
    return found[found < n_documents].tolist()


class SlowOrder:
    """The same with a list of each pass, taken from its front."""

    def __init__(self, seed: int) -> None:
        self.rng, self.left, self.length, self.n_passes = np.random.default_rng(seed), [], 0, 0

    def draw(self, n: int, n_documents: int) -> list[int]:
        found: list[int] = []
        while len(found) < min(n, n_documents):
            if not self.left or n_documents > self.length:
                bits = 2
                while 1 << bits < 2 * n_documents:
                    bits += 2
                self.length, self.n_passes = 1 << bits, self.n_passes + 1
                key = int(self.rng.integers(2**63))
                self.left = permuted(np.arange(self.length), key, bits).tolist()
            slot = self.left.pop(0)
            if slot < n_documents and slot not in found:
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
    drawn.update(rest_of_pass(order, n))
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
        assert rest_of_pass(order, n) == []
    off_diagonal = pairs[~np.eye(n, dtype=bool)]
    for counts in (first, last, off_diagonal):
        assert stats.chisquare(counts).pvalue > 1e-3


# --- growth


def test_arrivals_during_a_pass() -> None:
    """32 of 64 were drawn when 32 others arrive, of which no draw has fallen on any.

    What is left of the pass has the other 32 once each, and each arrival at most once: among the
    65 places of the old documents and of one new one, it stands behind the first 32 with
    probability 33/65, for all arrivals alike. All of this over 2,000 keys.
    """
    order, counts, n_keys = new_order(2), np.zeros(32), 2000
    old = np.zeros(64)
    for _ in range(n_keys):
        first = order.draw(32, 64).tolist()
        rest = rest_of_pass(order, 96)
        assert len(rest) == len(set(rest))
        assert sorted(first + [slot for slot in rest if slot < 64]) == list(range(64))
        for slot in rest:
            if slot >= 64:
                counts[slot - 64] += 1
            else:
                old[slot] += 1
    assert stats.chisquare(counts).pvalue > 1e-3
    # Half of 64 each time, so that the counts vary by half of what a binomial's would.
    assert ((old - n_keys / 2) ** 2).sum() / (n_keys / 4) < stats.chi2.isf(1e-3, 64)
    # Arrivals of one pass depend on each other through the place where it stood.
    standard_error = np.sqrt(0.25 / n_keys)
    assert abs(counts.mean() / n_keys - 33 / 65) < 4 * standard_error


def test_an_arrival_comes_up_in_the_next_pass() -> None:
    """Whatever it missed, all are drawn once in the next one."""
    order = new_order(3)
    order.draw(50, 60)
    rest_of_pass(order, 100)
    assert sorted(order.draw(100, 100).tolist()) == list(range(100))


def test_growth_beyond_the_numbers_begins_a_pass() -> None:
    """60 documents have 2^8 numbers; up to that the pass goes on, and then it does not."""
    order = new_order(4)
    order.draw(10, 60)
    key = order.place["key"]
    assert order.place["bits"] == 8
    order.draw(1, 256)
    assert order.place["key"] == key
    first = order.draw(1, 257).tolist()
    assert order.place["key"] != key and order.place["bits"] == 10
    assert sorted(first + order.draw(256, 257).tolist()) == list(range(257))


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


GOOD = {"key": 5, "bits": 4, "position": 3}


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
        {"more": 1},
    ],
)
def test_damaged_places_are_refused(change: dict[str, Any]) -> None:
    assert is_place(GOOD) and is_place({**GOOD, "position": 16})
    assert not is_place({**GOOD, **change})
    with pytest.raises(ValueError, match="damaged"):
        DrawOrder(np.random.default_rng(0), {**GOOD, **change})


@pytest.mark.parametrize("value", [None, [], 3, "key", {"key": 1}, {}])
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
        assert order.place["bits"] == 6
        n_left = len(rest_of_pass(DrawOrder(np.random.default_rng(0), order.place), 40))
        rest = store.draw(n_left, order).keys
        assert {*map(str, range(30))} <= {*first, *rest} and len({*first, *rest}) == 10 + n_left
        assert sorted(map(int, store.draw(99, order).keys)) == list(range(40))


def test_a_pass_that_has_become_too_long_is_left() -> None:
    """After many deletions, or with a place from a crafted file: no search among 2^62 numbers."""
    for bits in (12, 62):
        order = DrawOrder(np.random.default_rng(0), {"key": 1, "bits": bits, "position": 0})
        assert sorted(order.draw(5, 5).tolist()) == [0, 1, 2, 3, 4]
        assert order.place["bits"] == 4
