"""Limit how often somebody may do something."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

# Names that are remembered; who has been quiet for longest is forgotten.
_MOST = 10_000


class RateLimit:
    """Buckets that fill at a steady rate, one for each name; each request takes one out.

    Args:
        rate: requests per second.
        burst: requests at once.
        clock: tells the time in seconds.

    >>> now = 0.0
    >>> limit = RateLimit(2.0, 3, lambda: now)
    >>> [limit.allows("a") for _ in range(4)], limit.allows("b")
    ([True, True, True, False], True)
    >>> now = 0.5
    >>> limit.allows("a"), limit.allows("a")
    (True, False)
    """

    def __init__(
        self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._burst, self._clock = rate, float(burst), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, name: str) -> bool:
        """Whether a name may do it once more; if so, that counts."""
        now, level = self._clock(), self._level(name)
        if level < 1.0:
            return False
        self._buckets[name] = level - 1.0, now
        self._buckets.move_to_end(name)
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        return True

    def _level(self, name: str) -> float:
        level, then = self._buckets.get(name, (self._burst, self._clock()))
        return min(self._burst, level + (self._clock() - then) * self._rate)
