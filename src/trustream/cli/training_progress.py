"""What a training run shows while it goes on."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trustream.cli.output import echo
from trustream.terminal import shown

if TYPE_CHECKING:
    from trustream.streaming.training_run import TrainingProgress

# Seconds between two lines of progress if standard error is not a terminal.
REPORT_EVERY = 5.0


class Reporter:
    """Shows progress: a line that changes on a terminal, new lines elsewhere.

    Args:
        show: shows the line of progress.
        note: prints a line that stays.
        every: seconds between two lines of progress.
        why: says what is waited for; it asks the store.
        add: the command that adds documents.
    """

    def __init__(
        self,
        show: Callable[[str], object],
        note: Callable[[str], object],
        every: float,
        why: Callable[[], str],
        add: str,
    ) -> None:
        self._show, self._note, self._every, self._why, self._add = show, note, every, why, add
        self._due = time.monotonic() + every
        self._waits, self._n_replaced = False, 0

    def step(self, progress: TrainingProgress) -> None:
        """Called after a step."""
        self._waits = False
        if progress.n_replaced > self._n_replaced:
            self._n_replaced = progress.n_replaced
            self._note("the model was replaced by trustream retrain: going on from the new one")
        if time.monotonic() >= self._due:
            self._show(_line(progress))
            self._due = time.monotonic() + self._every

    def waiting(self) -> None:
        """Called again and again while there is nothing to learn from; says so once."""
        if not self._waits:
            self._waits = True
            self._note(f"{self._why()}; waiting for {self._add} (Ctrl-C ends)")


@contextmanager
def reporter(why: Callable[[], str], add: str) -> Iterator[Reporter]:
    """Show progress on standard error."""

    def note(text: str) -> None:
        echo(text, err=True)

    if sys.stderr is None or not sys.stderr.isatty():
        yield Reporter(note, note, REPORT_EVERY, why, add)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield Reporter(
            lambda text: live.update(Text(shown(text))),
            lambda text: live.console.print(Text(shown(text))),
            0.0,
            why,
            add,
        )


def _line(progress: TrainingProgress) -> str:
    totals = progress.totals
    assert totals is not None  # progress is reported after a step
    cluster = "" if progress.cluster is None else f"; {progress.cluster}"
    return (
        f"{summary(progress)}; {totals.documents:,} documents, {totals.tokens:,} tokens, "
        f"{progress.n_words:,} words{cluster}"
    )


def summary(progress: TrainingProgress) -> str:
    """Steps, looks, rate and score, in a line."""
    score = progress.last_score
    end = "" if score is None else f", held-out {score:.4f} nats per word"
    return (
        f"{progress.n_steps:,} steps, {progress.looks:.1f} looks at each document, "
        f"rate {progress.rho:.4f}{end}"
    )
