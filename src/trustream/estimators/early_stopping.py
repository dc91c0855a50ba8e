"""When a fit may end: a measure that is looked at every so many passes, and has settled."""

from __future__ import annotations

from collections.abc import Callable

from trustream.inference.state import State


class Watch:
    """Looks at a state every so many passes of a fit, and tells when there is no more to gain.

    Attributes:
        value: what was measured last, None before.

    >>> values = iter([9.0, 5.0, 4.95])
    >>> watch = Watch(lambda state: next(values), every=1, tol=0.1)
    >>> [watch.has_settled(State(None, None), n_passes) for n_passes in (1, 2, 3)]
    [False, False, True]
    """

    def __init__(self, measure: Callable[[State], float], every: int, tol: float) -> None:
        self._measure, self._every, self._tol = measure, every, tol
        self.value: float | None = None

    def is_due(self, n_passes: int) -> bool:
        """Whether to look after so many passes."""
        return n_passes % self._every == 0

    def has_settled(self, state: State, n_passes: int) -> bool:
        """Measure, if it is time to, and return whether less than `tol` has changed."""
        if not self.is_due(n_passes):
            return False
        before, self.value = self.value, self._measure(state)
        return before is not None and abs(before - self.value) < self._tol
