"""Numbers on the command line: finite, and of a size that something can be done with."""

from __future__ import annotations

import math
from typing import Any

import click

# What an index of an array can be on every platform, and more than anybody waits for.
LARGEST = 2**31 - 1
# NumPy takes no larger seed everywhere.
LARGEST_SEED = 2**32 - 1
# More threads help nobody, and a process can have only so many.
LARGEST_JOBS = 1024


class Real(click.FloatRange):
    """A finite number in a range; not a number, which no comparison refuses, is none.

    >>> Real(0).convert("0.5", None, None)
    0.5
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


class Whole(click.IntRange):
    """A whole number in a range, not larger than arrays are.

    >>> Whole(1).convert("12", None, None)
    12
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Called by click."""
        number = super().convert(value, param, ctx)
        # Not as the end of the range: that stands in the help, where it tells nobody anything.
        if self.max is None and number > LARGEST:
            self.fail(f"{value} is too large; the largest is {LARGEST}.", param, ctx)
        return number


def seed_option(command: Any) -> Any:
    """--seed."""
    return click.option(
        "--seed",
        default=0,
        show_default=True,
        type=Whole(0, LARGEST_SEED),
        help="Random seed.",
    )(command)


def jobs_option(command: Any) -> Any:
    """--jobs."""
    return click.option(
        "--jobs", type=Whole(1, LARGEST_JOBS), help="Threads.  [default: all cores]"
    )(command)
