"""Reading curves of held-out score against time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reached:
    """When a curve reaches a score: seconds between points and at a point."""

    seconds: float
    whole: float


def frontier(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """(seconds, score) that no shorter one reaches, in order of time.

    >>> frontier([(1.0, -8.0), (3.0, -7.5), (2.0, -7.0)])
    [(1.0, -8.0), (2.0, -7.0)]
    """
    kept: list[tuple[float, float]] = []
    for seconds, score in sorted(points):
        if not kept or score > kept[-1][1]:
            kept.append((seconds, score))
    return kept


def time_to(points: Sequence[tuple[float, float]], score: float) -> Reached | None:
    """Time at which the best model so far reaches a score; None if it never does.

    Between two points the score is taken to be linear in the logarithm of time. Before the first
    point nothing is known, so that is the least.

    >>> time_to([(1.0, -8.0), (4.0, -7.0)], -7.5)
    Reached(seconds=2.0, whole=4.0)
    >>> time_to([(1.0, -8.0)], -9.0)
    Reached(seconds=1.0, whole=1.0)
    >>> time_to([(1.0, -8.0)], -7.0) is None
    True
    """
    before: tuple[float, float] | None = None
    for seconds, reached in frontier(points):
        if reached >= score:
            if before is None:
                return Reached(seconds, seconds)
            share = (score - before[1]) / (reached - before[1])
            log = math.log(before[0]) + share * math.log(seconds / before[0])
            return Reached(math.exp(log), seconds)
        before = (seconds, reached)
    return None


def curve(entry: dict[str, Any], time: str = "seconds") -> list[tuple[float, float]]:
    """(seconds, completion) of a stored run; `time` may be "cpu"."""
    return [(point[time], point["completion"]) for point in entry["points"]]


def point(entry: dict[str, Any] | None, label: str) -> dict[str, Any] | None:
    """The point of a stored run with this label."""
    for candidate in entry["points"] if entry else ():
        if candidate["label"] == label:
            return dict(candidate)
    return None
