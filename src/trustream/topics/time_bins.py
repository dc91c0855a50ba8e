"""Divide time into bins: given ones, or ones that grow with the stream."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from numbers import Real
from typing import Any

import numpy as np

from trustream.array_types import Float64, Index
from trustream.store.limits import FARTHEST_TIME

# Of documents that are in no bin.
OUTSIDE = -(2**62)
_MOST_BINS = 10_000


def as_seconds(times: Any) -> Float64:
    """Return times as seconds since 1970; NaN where there is none.

    Parameters
    ----------
    times : sequence
        Numbers of seconds, `datetime` or `date` objects, NumPy's or pandas' dates, or texts such as
        "2024-05-31" or "2024-05-31T12:00". Without a time zone they are UTC. None, NaN and NaT are
        documents without a time.

    Examples
    --------
    >>> as_seconds([0, 86400.5, None]).tolist()
    [0.0, 86400.5, nan]
    >>> as_seconds(["1970-01-02", datetime(1970, 1, 3)]).tolist()
    [86400.0, 172800.0]
    """
    if isinstance(times, str | bytes) or not isinstance(times, Iterable):
        raise ValueError(f"times are {times!r}, expected one for each document")
    values = times if isinstance(times, np.ndarray) else np.asarray(list(times), dtype=object)
    if values.ndim != 1:
        raise ValueError(f"times have shape {values.shape}, expected one for each document")
    if values.dtype.kind == "M":
        return _of_dates(values)
    if values.dtype.kind in "iuf":
        seconds = values.astype(np.float64)
    else:
        seconds = np.array([_second(value, row) for row, value in enumerate(values)], np.float64)
    with np.errstate(invalid="ignore"):
        far = np.abs(seconds) > FARTHEST_TIME
    if far.any():
        row = int(far.argmax())
        raise ValueError(
            f"the time of document {row} is {seconds[row]:g} seconds from 1970, expected at most "
            f"{FARTHEST_TIME:g}: divide milliseconds by 1000"
        )
    return seconds


def _second(value: Any, row: int) -> float:
    if value is None:
        return math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, np.datetime64):
        return float(_of_dates(np.array([value]))[0])
    if value != value:  # NaT of pandas, which says that it is a datetime
        return math.nan
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    if isinstance(value, str):
        try:
            return _second(datetime.fromisoformat(value), row)
        except ValueError:
            pass
    raise ValueError(
        f"the time of document {row} is {value!r}, expected seconds since 1970, a date or a text "
        'such as "2024-05-31"; None for a document without one'
    )


def _of_dates(values: np.ndarray) -> Float64:
    seconds = values.astype("datetime64[us]").astype(np.int64) / 1e6
    return np.where(np.isnat(values), np.nan, seconds)


@dataclass(frozen=True)
class FixedBins:
    """Bins with given edges; a time at an edge is in the later bin, the last edge in the last.

    Attributes:
        edges: rising, in seconds; one more than there are bins.

    Examples
    --------
    >>> FixedBins.between(0.0, 10.0, 2).place(np.array([0.0, 5.0, 10.0]))
    array([0, 1, 1])
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        rising = all(a < b for a, b in zip(self.edges[:-1], self.edges[1:], strict=True))
        if len(self.edges) < 2 or not rising or not np.isfinite(self.edges).all():
            raise ValueError(f"edges of bins are {list(self.edges)}, expected rising times, two or "
                             "more")  # fmt: skip

    @classmethod
    def between(cls, first: float, last: float, bins: int) -> FixedBins:
        """Return bins of the same width from the first to the last time."""
        check_number(bins)
        if not first < last:
            raise ValueError(
                f"all documents have the same time ({first:g} seconds since 1970): bins need times "
                "that differ; give edges if a single bin is what you want"
            )
        return cls(tuple(np.linspace(first, last, bins + 1).tolist()))

    def place(self, seconds: Float64) -> Index:
        """Return the number of each time's bin; OUTSIDE for those in none."""
        edges = np.array(self.edges)
        found = np.searchsorted(edges, seconds, side="right") - 1
        found[seconds == edges[-1]] = len(edges) - 2
        return np.where((found < 0) | (found >= len(edges) - 1), OUTSIDE, found).astype(np.int64)

    def range_of(self, numbers: Iterable[int]) -> range:
        """Return the numbers of all bins that are shown."""
        return range(len(self.edges) - 1)

    def edge(self, number: int) -> float:
        """Return where the bin of this number begins."""
        return self.edges[number]

    def coarser(self) -> FixedBins | None:
        """Return bins of twice the width; None, for these stay as they are."""
        return None

    @property
    def most(self) -> int:
        """How many there may be."""
        return len(self.edges)


@dataclass(frozen=True)
class GrowingBins:
    """Bins of one width for a stream that goes on: there is one wherever there are documents.

    When there would be more than `most` from the first to the last, two and two become one, so
    that what is kept stays bounded.

    Attributes:
        width: of a bin, in seconds.
        origin: a time at which a bin begins.
        most: bins that are kept.

    Examples
    --------
    >>> GrowingBins(86400.0).place(np.array([-1.0, 0.0, 90000.0]))
    array([-1,  0,  1])
    """

    width: float
    origin: float = 0.0
    most: int = 256

    def __post_init__(self) -> None:
        if not (0 < self.width < math.inf and math.isfinite(self.origin)):
            raise ValueError(f"width is {self.width} seconds, expected a positive number")
        check_number(self.most, least=2)

    def place(self, seconds: Float64) -> Index:
        """Return the number of each time's bin."""
        return np.floor((seconds - self.origin) / self.width).astype(np.int64)

    def range_of(self, numbers: Iterable[int]) -> range:
        """Return the numbers of all bins from the first to the last."""
        found = sorted(numbers)
        return range(found[0], found[-1] + 1) if found else range(0)

    def edge(self, number: int) -> float:
        """Return where the bin of this number begins."""
        return self.origin + number * self.width

    def coarser(self) -> GrowingBins:
        """Return bins of twice the width, whose numbers are those of these divided by two."""
        return GrowingBins(2 * self.width, self.origin, self.most)


TimeBins = FixedBins | GrowingBins


def bins_of_times(bins: Any, seconds: Float64) -> Any:
    """Return a number of bins as bins of the same width over all known times; others as they are.

    >>> bins_of_times(2, np.array([0.0, 4.0, np.nan])).edges
    (0.0, 2.0, 4.0)
    """
    if not is_number(bins):
        return bins
    check_number(bins)
    known = seconds[~np.isnan(seconds)]
    if not known.size:
        raise ValueError("no document has a time: give one for each document, None where unknown")
    return FixedBins.between(float(known.min()), float(known.max()), int(bins))


def is_number(bins: Any) -> bool:
    """Whether bins are given as a number of them."""
    return isinstance(bins, int | np.integer) and not isinstance(bins, bool)


def check_number(bins: Any, least: int = 1) -> None:
    """Refuse a number of bins that is none, or so large that it must be a mistake."""
    if not is_number(bins) or not least <= bins <= _MOST_BINS:
        raise ValueError(f"bins are {bins!r}, expected a whole number from {least} to {_MOST_BINS}")
