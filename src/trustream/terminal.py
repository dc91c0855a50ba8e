"""What people see while they wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress(console: Console, title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal and a few plain lines elsewhere; yields ``advance(done)``."""
    if console.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        # What has no end has no result to look back at either: its bar goes away.
        with Progress(
            *columns, TimeElapsedColumn(), console=console, transient=total is None
        ) as bar:
            task = bar.add_task(title, total=total)
            yield lambda done: bar.update(task, completed=done)
        return
    due = time.monotonic()
    last = 0

    def advance(done: int) -> None:
        nonlocal due, last
        last = done
        if time.monotonic() >= due:
            line(done)
            due = time.monotonic() + 5.0

    def line(done: int) -> None:
        of = "" if total is None else f" of {total}"
        print(f"{title}: {done}{of}", file=console.file, flush=True)

    yield advance
    line(last)
