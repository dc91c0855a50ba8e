"""How often the reliability tests repeat what they do: `scripts/test --rounds FACTOR` for more."""

from __future__ import annotations

import os


def rounds(n: int) -> int:
    """`n` times the factor that was asked for, at least 1."""
    return max(1, round(n * float(os.environ.get("TRUSTREAM_ROUNDS", "1"))))
