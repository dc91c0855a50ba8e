"""Types of parameters that are numbers: finite, and not larger than can be used."""

from __future__ import annotations

import math
from typing import Any

import click

# The largest index of an array on every platform, and more than any command needs.
LARGEST = 2**31 - 1
# The largest seed that NumPy accepts everywhere.
LARGEST_SEED = 2**32 - 1
# More threads do not help, and a process can have only so many.
LARGEST_JOBS = 1024


class Real(click.FloatRange):
    """Accept a finite number in a range; NaN, which no comparison refuses, is refused.

    >>> Real(0).convert("0.5", None, None)
    0.5
    """

    name = "number"

    def _describe_range(self) -> str:
        # What click prints in a help text; of a range without ends it would be "x<=None".
        return "" if self.min is None and self.max is None else super()._describe_range()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class Whole(click.IntRange):
    """Accept an integer in a range that is not larger than `LARGEST`.

    >>> Whole(1).convert("12", None, None)
    12
    """

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click."""
        number = super().convert(value, param, ctx)
        # Checked here, because the end of a range would be printed in every help text.
        if self.max is None and number > LARGEST:
            self.fail(f"{value} is too large; the largest is {LARGEST}.", param, ctx)
        return number
