"""Slots of documents: 0, 1, ... without holes, in the training and in the held-out part of a store.

So drawing slots draws documents. A document's `place` in the database says both its part and its
slot s: s in the training part, -1 - s in the held-out part.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from trustream.store.draw_order import DrawOrder


def are_held_out(keys: Collection[str], share: float) -> list[bool]:
    """Whether documents belong to the held-out part, by a hash of their keys.

    The answer is the same in every process.

    >>> sum(are_held_out([f"document {i}" for i in range(10_000)], 0.1))
    981
    """
    # A hash h is below the real number share * 2^64 if it is below the next whole number.
    limit = math.ceil(share * 2.0**64)
    if limit >= 2**64:
        return [True] * len(keys)
    digests = b"".join([blake2b(key.encode(), digest_size=8).digest() for key in keys])
    return (np.frombuffer(digests, "<u8") < np.uint64(limit)).tolist()


def is_held_out(key: str, share: float) -> bool:
    """The same of one document."""
    return are_held_out([key], share)[0]


def draw_places(
    n: int, n_documents: int, rng: np.random.Generator | DrawOrder, held_out: bool
) -> NDArray[np.int64]:
    """Places of documents drawn uniformly without replacement, in random order.

    By a `DrawOrder`, what was drawn before in the same pass is not drawn again.

    >>> draw_places(9, 3, np.random.default_rng(0), held_out=True).tolist()
    [-3, -1, -2]
    """
    if isinstance(rng, DrawOrder):
        slots = rng.draw(n, n_documents)
    else:
        slots = rng.choice(n_documents, min(n, n_documents), replace=False)
    return ~slots if held_out else slots


def close_holes(removed: Iterable[int], n_documents: int) -> list[tuple[int, int]]:
    """Moves (from, to) of slots that leave no hole after some were removed.

    >>> close_holes([1, 2, 9], 10)
    [(7, 1), (8, 2)]
    """
    gone = set(removed)
    end = n_documents - len(gone)
    holes = sorted(slot for slot in gone if slot < end)
    movers = [slot for slot in range(end, n_documents) if slot not in gone]
    return list(zip(movers, holes, strict=True))
