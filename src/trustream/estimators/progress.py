"""What a fit says while it runs: a bar on a terminal, a line per pass elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from trustream.kernels import compilation
from trustream.terminal import say_compiling


def _is_terminal() -> bool:
    """Whether somebody looks at standard error; a process may have none."""
    return sys.stderr is not None and sys.stderr.isatty()


class StepReport(Protocol):
    """Called after each step with how far the fit is, and what was measured if something was."""

    def __call__(self, done: int, info: Any, measured: str = "") -> None: ...


@contextmanager
def progress(name: str, n_steps: int, steps_per_pass: int, verbose: int) -> Iterator[StepReport]:
    """A reporter for a fit of `n_steps` steps; silent unless `verbose`, always on stderr."""
    if not verbose:
        yield lambda done, info, measured="": None
    elif _is_terminal():
        with _bar(name, n_steps) as report:
            yield report
    else:
        yield _lines(name, n_steps, steps_per_pass)


@contextmanager
def _bar(name: str, n_steps: int) -> Iterator[StepReport]:
    # Imported late: a silent fit does not need it.
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("steps, rate {task.fields[rate]}{task.fields[measured]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=n_steps, rate="-", measured="")

        def report(done: int, info: Any, measured: str = "") -> None:
            bar.update(task, completed=done, rate=f"{info.rho:.3f}")
            if measured:
                bar.update(task, measured=measured)

        yield report


def _lines(name: str, n_steps: int, steps_per_pass: int) -> StepReport:
    start = time.monotonic()

    def report(done: int, info: Any, measured: str = "") -> None:
        if done % steps_per_pass == 0 or done == n_steps:
            seconds = time.monotonic() - start
            line = f"{name}: step {done} of {n_steps}, rate {info.rho:.4f}{measured}"
            print(f"{line}, {seconds:.1f} s", file=sys.stderr, flush=True)

    return report


@contextmanager
def compilation_notice() -> Iterator[None]:
    """Say on standard error, once in a process, if kernels are compiled inside."""
    with compilation.heard_by(say_compiling):
        yield
