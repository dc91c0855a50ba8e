"""Show the progress of an experiment and the time that is left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

# Seconds between two lines where there is no terminal.
_EVERY = 10.0

Report = Callable[[str, float], None]


def duration(seconds: float) -> str:
    """For people.

    >>> duration(42.4), duration(150), duration(7260)
    ('42 s', '2 min 30 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def progress(console: Console, title: str, total: float, done: float) -> Iterator[Report]:
    """A bar on a terminal, plain lines elsewhere; yields report(run, cost done so far).

    What was `done` before took no time of this call and says nothing about the time left.
    """
    if not console.is_terminal:
        yield _lines(console, title, total, done)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeRemainingColumn(), TextColumn("left"), console=console) as bar:
        task = bar.add_task(title, total=total, completed=done)  # type: ignore[arg-type]

        def report(run: str, now: float) -> None:
            bar.update(task, description=f"{title} {run}", completed=now)  # type: ignore[arg-type]

        yield report


def _lines(console: Console, title: str, total: float, before: float) -> Report:
    start = time.monotonic()
    due = start

    def report(run: str, now: float) -> None:
        nonlocal due
        moment = time.monotonic()
        if moment < due and now < total:
            return
        due = moment + _EVERY
        line = f"{title}: {run}, {100 * now / total:.0f} % done"
        if before < now < total:
            left = (moment - start) * (total - now) / (now - before)
            line += f", about {duration(left)} left"
        print(line, file=console.file, flush=True)

    return report
