"""Count likes that fade with time, so that what is liked at the moment can be told."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from trustream.array_types import Array, Float64, Index

_SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, eq=False)
class FadingCounts:
    """Likes of items, each of which counts half as much after every `half_life` days.

    c_i = sum over likes of i of w 2^(-(now - time) / half_life)

    They are kept for the time of the last like, so that newer ones are added in the time that
    these take, without the times of the older ones.

    Attributes:
        half_life: in days; infinity does not fade.
        counts: (I,), at `now`.
        now: days, the time of the last like.

    >>> counts = FadingCounts(1.0).updated(np.array([0, 1]), np.ones(2), np.array([0.0, 1.0]), 2)
    >>> counts.counts, counts.updated(np.array([0]), np.ones(1), np.array([2.0]), 3).counts
    (array([0.5, 1. ]), array([1.25, 0.5 , 0.  ]))
    """

    half_life: float
    counts: Float64 = field(default_factory=lambda: np.zeros(0))
    now: float = -np.inf

    def updated(self, columns: Index, weights: Array, days: Float64, n_items: int) -> FadingCounts:
        """The counts with more likes, and with as many items as there are now.

        Args:
            columns: (n,), the item of each like.
            weights: (n,), how much it counts; 0 for a rating that is no like.
            days: (n,), its time.
        """
        # A rating that is no like says nothing of the moment: after a long time without likes
        # all of them would have faded to nothing.
        liked = weights > 0
        columns, weights, days = columns[liked], weights[liked], days[liked]
        now = max(self.now, days.max(initial=-np.inf))
        counts = np.zeros(n_items)
        if self.counts.size:
            counts[: self.counts.size] = self.counts * np.exp2(-(now - self.now) / self.half_life)
        faded = weights * np.exp2(-(now - days) / self.half_life)
        counts += np.bincount(columns, faded, minlength=n_items)
        return FadingCounts(self.half_life, counts, now)

    @property
    def shares(self) -> Float64:
        """Of each item in all counts, (I,); they sum to 1."""
        return self.counts / self.counts.sum()


def in_days(time: Array) -> Float64:
    """Times in days: of numbers, which are seconds, or of dates.

    >>> in_days(np.array([86400, 172800])), in_days(np.array(["1970-01-03"], "datetime64[D]"))
    (array([1., 2.]), array([2.]))
    """
    if time.dtype.kind == "M":
        return time.astype("datetime64[us]").astype(np.int64) / (1e6 * _SECONDS_A_DAY)
    return time.astype(np.float64) / _SECONDS_A_DAY
