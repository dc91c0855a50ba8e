"""Draws from a store that may grow, in which each document comes up once in every pass.

A batch of documents drawn independently of the last one is a uniform draw, but a third of the
documents is missing from as many draws as there are documents, and others come up two or three
times. Here a pass goes through all of them in a random order, which no list has to be kept of: a
keyed permutation of 2^b numbers, at least twice as many as there are documents, is walked through,
and numbers without a document are left out.

Documents that arrive during a pass come up next, in the order of their arrival, as up to half of
each draw. If they had to wait for a place in the random order, then of a store that grows while
each document is looked at five times on average, a sixth would never have been looked at, and a
model of the store would know that much less than it could. When as many wait as the pass began
with, a new pass begins, in which they come in random order too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Slots = NDArray[np.int64]

# Odd numbers with many bits, by which keys and halves are mixed.
_MIX = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)
_ROUNDS = 4
# Numbers of a pass for each document, of which it begins with at most eight.
_MOST_NUMBERS = 64
# Numbers that are permuted at once, which takes hardly longer than to permute a few.
_AT_ONCE = 4096


class DrawOrder:
    """Draws slots 0, 1, ..., N - 1 pass by pass, each once, where N may change from draw to draw.

    Args:
        rng: draws the key of each pass.
        place: of another order, whose pass this one goes on with; None begins a pass.

    Attributes:
        n_new: of the slots that were drawn last, so many, the first ones, arrived in this pass and
            had never been drawn.
        new_share: what part they are of all such slots.

    >>> order = DrawOrder(np.random.default_rng(0))
    >>> first = order.draw(3, n_documents=5)
    >>> sorted([*first.tolist(), *order.draw(2, n_documents=5).tolist()])
    [0, 1, 2, 3, 4]
    >>> order.draw(4, n_documents=7)[: order.n_new].tolist()
    [5, 6]
    """

    def __init__(self, rng: np.random.Generator, place: Mapping[str, int] | None = None) -> None:
        self.rng, self.n_new, self.new_share = rng, 0, 0.0
        self._key, self._bits, self._position = 0, 0, 0
        # Documents that the pass began with, and the slot of the next arrival.
        self._begun_with, self._next_new = 0, 0
        # Slots of some numbers of a pass, and what pass and which number they begin with.
        self._permuted, self._permuted_from = np.empty(0, np.int64), (0, 0, 0)
        if place is not None:
            if not is_place(place):
                raise ValueError("the place in a pass over documents is damaged")
            self._key, self._bits = place["key"], place["bits"]
            self._position = place["position"]
            # Files of before have no arrivals: a pass begins.
            self._begun_with = place.get("begun_with", 0)
            self._next_new = place.get("next_new", 0)

    def draw(self, n: int, n_documents: int) -> Slots:
        """The next min(n, N) slots, all different."""
        n = min(n, n_documents)
        self.n_new, self.new_share = 0, 0.0
        if n == 0:
            return np.empty(0, np.int64)
        found = self._arrivals(n, n_documents)
        while len(found) < n:
            if self._position >= 1 << self._bits:
                self._begin(n_documents)
            slots = self._slots_ahead()
            is_wanted = slots < min(self._begun_with, n_documents)
            if len(found):
                is_wanted &= ~np.isin(slots, found)
            wanted = np.flatnonzero(is_wanted)[: n - len(found)]
            found = np.concatenate([found, slots[wanted]])
            done = len(found) == n
            self._position += int(wanted[-1]) + 1 if done else len(slots)
        return found

    def _arrivals(self, n: int, n_documents: int) -> Slots:
        """Slots of documents that arrived during the pass, for a draw of n."""
        # Documents that were deleted have made the last slots free.
        self._next_new = min(self._next_new, n_documents)
        n_waiting = n_documents - self._next_new
        too_long = 1 << self._bits > _MOST_NUMBERS * n_documents  # most documents were deleted
        if not self._bits or n_waiting > self._begun_with or too_long:
            self._begin(n_documents)
            n_waiting = 0
        if n_waiting:
            # Half of an odd number is rounded either way, so that draws of one go on with both.
            self.n_new = min(n_waiting, (n + int(self.rng.integers(2))) // 2)
            self.new_share = self.n_new / n_waiting
        first, self._next_new = self._next_new, self._next_new + self.n_new
        return np.arange(first, self._next_new)

    def _slots_ahead(self) -> Slots:
        """Slots of the next numbers of the pass, at least one; draws one after another share them.

        They depend on the pass alone: what was permuted is kept, and no state.
        """
        key, bits, first = self._permuted_from
        skip = self._position - first
        if (key, bits) != (self._key, self._bits) or not 0 <= skip < len(self._permuted):
            skip, last = 0, min(self._position + _AT_ONCE, 1 << self._bits)
            numbers = np.arange(self._position, last, dtype=np.int64)
            self._permuted_from = 0, 0, 0  # should an interrupt come now
            self._permuted = permuted(numbers, self._key, self._bits)
            self._permuted_from = self._key, self._bits, self._position
        return self._permuted[skip:]

    def _begin(self, n_documents: int) -> None:
        self._key = int(self.rng.integers(2**63))
        # Even, and with room for as many documents again.
        self._bits = 2 * -(-int(2 * n_documents - 1).bit_length() // 2)
        self._position = 0
        self._begun_with = self._next_new = n_documents

    @property
    def state(self) -> tuple[Any, ...]:
        """All that decides what is drawn from now on."""
        return self.rng.bit_generator.state, self.place

    @state.setter
    def state(self, state: tuple[Any, ...]) -> None:
        self.rng.bit_generator.state, place = state
        self._key, self._bits, self._position, self._begun_with, self._next_new = place.values()

    @property
    def place(self) -> dict[str, int]:
        """Where the pass stands, for a file."""
        return {
            "key": self._key,
            "bits": self._bits,
            "position": self._position,
            "begun_with": self._begun_with,
            "next_new": self._next_new,
        }


def is_place(value: Any) -> bool:
    """Whether it can be the place of an order, in what a file claims.

    >>> is_place(DrawOrder(np.random.default_rng(0)).place), is_place({"key": -1})
    (True, False)
    """
    needed, arrivals = {"key", "bits", "position"}, {"begun_with", "next_new"}
    if not isinstance(value, Mapping) or set(value) not in (needed, needed | arrivals):
        return False
    if not all(type(number) is int for number in value.values()):
        return False
    fits = value["bits"] in range(0, 63, 2) and 0 <= value["position"] <= 1 << value["bits"]
    if not fits or not 0 <= value["key"] < 2**63:
        return False
    begun_with, next_new = value.get("begun_with", 0), value.get("next_new", 0)
    return 0 <= begun_with <= 1 << value["bits"] and 0 <= next_new < 2**63


def permuted(numbers: Slots, key: int, bits: int) -> Slots:
    """Where a keyed permutation of 0, ..., 2^bits - 1 takes numbers: a Feistel network.

    >>> sorted(permuted(np.arange(16), key=7, bits=4).tolist()) == list(range(16))
    True
    """
    half = np.uint64(bits // 2)
    mask = (np.uint64(1) << half) - np.uint64(1)
    left, right = numbers.astype(np.uint64) >> half, numbers.astype(np.uint64) & mask
    with np.errstate(over="ignore"):
        for step in range(_ROUNDS):
            mixed = (right + np.uint64(key)) * _MIX[0] + np.uint64(step) * _MIX[1]
            mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX[2]
            mixed ^= mixed >> np.uint64(32)
            left, right = right, left ^ (mixed & mask)
    return np.asarray((left << half) | right).astype(np.int64)
