"""How fast documents arrive."""

from __future__ import annotations

from collections import deque

from trustream.store.records import Totals


class ArrivalRate:
    """Documents and tokens per second, over the last seconds.

    Args:
        seconds: the window.

    >>> totals = Totals(0, 0, 0, 0, 0, 0, 0, 0, arrived=0)
    >>> later = Totals(30, 30, 0, 600, 0, 30, 1, 0, arrived=30)
    >>> rate = ArrivalRate(60.0)
    >>> rate.note(0.0, totals); rate.note(10.0, later)
    >>> rate.value(10.0)
    {'documents': 3.0, 'tokens': 60.0, 'seconds': 10.0}
    """

    def __init__(self, seconds: float = 60.0) -> None:
        self._seconds = seconds
        self._points: deque[tuple[float, int, int]] = deque()

    def note(self, now: float, totals: Totals) -> None:
        """Take in what a store holds now."""
        self._points.append((now, totals.arrived, totals.tokens))
        # One point before the window stays, from which it is counted.
        while len(self._points) > 2 and self._points[1][0] <= now - self._seconds:
            self._points.popleft()

    def value(self, now: float) -> dict[str, float]:
        """The rate, see `schemas.Rate`."""
        if not self._points:
            return {"documents": 0.0, "tokens": 0.0, "seconds": 0.0}
        (start, documents, tokens), last = self._points[0], self._points[-1]
        seconds = max(min(now - start, self._seconds), 0.0)
        if seconds < 0.1:
            return {"documents": 0.0, "tokens": 0.0, "seconds": round(seconds, 3)}
        return {
            "documents": round((last[1] - documents) / seconds, 4),
            # Deleted documents take theirs away.
            "tokens": round(max(last[2] - tokens, 0) / seconds, 4),
            "seconds": round(seconds, 3),
        }
