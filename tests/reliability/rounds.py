"""How often the reliability tests repeat what they do: `scripts/test --rounds FACTOR` for more."""

from __future__ import annotations

import os
from typing import Any

import pytest


def rounds(n: int) -> int:
    """`n` times the factor that was asked for, at least 1."""
    return max(1, round(n * float(os.environ.get("TRUSTREAM_ROUNDS", "1"))))


def few_or_many(few: int, many: int, parts: int) -> list[Any]:
    """Values for `parametrize`: (how many, number of the part).

    First a small version that always runs, then slow ones that together do as much as `many`, each
    with other random numbers: none of them comes near the limit of time on a busy machine.
    """
    each = -(-many // parts)
    slow = [pytest.param(each, part, marks=pytest.mark.slow) for part in range(1, parts + 1)]
    return [(few, 0), *slow]
