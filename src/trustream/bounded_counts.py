"""Count the most frequent of any number of things in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import nlargest
from typing import Any


class BoundedCounts:
    """Counts of the most frequent of any number of things, with a bound on what they lack.

    Once there are more than 2k counts, the (k+1)-th largest, t, is subtracted from all of them,
    and those that are not positive go. With n things counted, and e the sum of all such t,

        c(x) <= true count of x <= c(x) + e   and   e <= (n - sum_x c(x)) / (k + 1),

    because each t was taken from k + 1 counts or more (Misra and Gries, 1982). Counts of two parts
    add up to counts of the whole with the same bound (Agarwal et al., 2012).

    Parameters
    ----------
    most : int
        k. At most 2k counts are held between two calls of `add`.

    Examples
    --------
    >>> counts = BoundedCounts(2)
    >>> counts.add(["a"] * 5 + ["b"] * 4 + ["c", "d", "e"])
    >>> dict(counts.counts), counts.error
    ({'a': 4, 'b': 3}, 1)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.counts: Counter[Any] = Counter()
        self.n = 0
        self.error = 0

    def add(self, things: Iterable[Any]) -> None:
        """Count some more."""
        things = list(things)
        self.counts.update(things)
        self.n += len(things)
        self._clear()

    def merged(self, other: BoundedCounts) -> BoundedCounts:
        """Return counts of what both have counted."""
        found = BoundedCounts(min(self.most, other.most))
        found.counts = self.counts + other.counts
        found.n, found.error = self.n + other.n, self.error + other.error
        found._clear()
        return found

    def _clear(self) -> None:
        if len(self.counts) <= 2 * self.most:
            return
        taken = nlargest(self.most + 1, self.counts.values())[-1]
        self.counts = Counter({x: n - taken for x, n in self.counts.items() if n > taken})
        self.error += taken
