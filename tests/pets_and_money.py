"""Documents of two topics that share no words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trustream.store import Record

PETS = "cat dog bird fish horse".split()
MONEY = "bank bond rate stock coin".split()


def records(n: int, first: int = 0) -> Iterator[Record]:
    """Yield n documents of 12 words, by turns about pets and about money."""
    rng = np.random.default_rng(first)
    for i in range(first, first + n):
        yield Record(f"d{i}", rng.choice([PETS, MONEY][i % 2], 12).tolist(), time=float(i))
