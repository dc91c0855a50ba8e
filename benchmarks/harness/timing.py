"""Time several functions side by side.

Other programs can only make a run slower, and two things that are compared must meet the same
other programs. So what is compared takes turns, in short runs, and the shortest of each counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

Task = Callable[[], object]
Name = TypeVar("Name", bound=Hashable)


def seconds(task: Task) -> float:
    """Wall-clock time of one call."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def interleaved(
    tasks: Mapping[Name, Task], repetitions: int, warm: bool = True
) -> dict[Name, list[float]]:
    """Seconds of each run of each task; they take turns, and the one to go first changes."""
    if warm:
        for task in tasks.values():
            task()
    names = list(tasks)
    timings: dict[Name, list[float]] = {name: [] for name in names}
    for i in range(repetitions):
        first = i % len(names)
        for name in names[first:] + names[:first]:
            timings[name].append(seconds(tasks[name]))
    return timings


def sum_of_best(parts: Sequence[Sequence[float]]) -> float:
    """Time of a whole whose parts were each timed several times: the best of each, summed."""
    return float(sum(min(runs) for runs in parts))
