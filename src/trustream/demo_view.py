"""What the demonstration shows while it runs: numbers, a small plot, the topics as they form."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from trustream.terminal import shown
from trustream.topics.summary import summarise

if TYPE_CHECKING:
    from trustream.demo import DemoResult
    from trustream.streaming.trainer import StreamInfo, StreamTrainer

_BARS = "▁▂▃▄▅▆▇█"
# Seconds between two looks at the topics, and between two lines where there is no terminal.
_EVERY = {True: 0.5, False: 5.0}


def sparkline(values: list[float], width: int) -> str:
    """The last values as bars, lowest to highest, at most `width` of them.

    >>> sparkline([0.0, 1.0, 2.0, 7.0], 10)
    '▁▂▃█'
    >>> sparkline([3.0], 10)
    '█'
    """
    # Averages of neighbours, so that the whole time is seen.
    size = -(-len(values) // max(width, 1))
    means = [
        sum(values[i : i + size]) / len(values[i : i + size]) for i in range(0, len(values), size)
    ]
    low, high = min(means), max(means)
    span = (high - low) or 1.0
    top = len(_BARS) - 1
    if high == low:
        return _BARS[-1] * len(means)
    return "".join(_BARS[round(top * (value - low) / span)] for value in means)


class View:
    """A screen that changes on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console, n_words: int) -> None:
        self._console, self._n_words = console, n_words
        self._live: Live | None = None
        self._due = 0.0
        self.scores: list[tuple[float, float]] = []

    def __enter__(self) -> View:
        if self._console.is_terminal:
            self._live = Live(console=self._console, transient=True, auto_refresh=False)
            self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._live is not None:
            self._live.__exit__(*error)
            self._live = None

    def show(self, trainer: StreamTrainer, info: StreamInfo, seconds: float) -> None:
        """Called after each step."""
        if info.score is not None:
            self.scores.append((seconds, info.score.gain))
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + _EVERY[self._live is not None]
        if self._live is None:
            self._console.print(self._numbers(info, seconds), highlight=False)
        else:
            room = max(3, self._console.height - 12)
            found = [topic.words for topic in summarise(trainer.estimator(), self._n_words)]
            self._live.update(self._screen(info, found[:room], seconds), refresh=True)

    def _numbers(self, info: StreamInfo, seconds: float) -> str:
        t = info.totals
        score = f", held-out gain {self.scores[-1][1]:.3f}" if self.scores else ""
        return (
            f"{seconds:3.0f} s: {t.documents:,} documents, {t.tokens:,} tokens, {t.words:,} words, "
            f"step {info.step.n_steps:,}, rate {info.step.rho:.3f}{score}"
        )

    def _screen(self, info: StreamInfo, topics: list[list[str]], seconds: float) -> Group:
        parts: list[Any] = [Text(self._numbers(info, seconds))]
        if self.scores:
            values = [value for _, value in self.scores]
            line = sparkline(values, min(60, self._console.width - 30))
            parts.append(
                Panel(
                    f"{line}  {values[-1]:.3f}",
                    title="held-out: nats a word better than word frequencies, over time",
                    title_align="left",
                    expand=False,
                )
            )
        parts.append(_table(topics, "Topics, the largest first"))
        return Group(*parts)

    def report(self, result: DemoResult) -> None:
        """The end: what was learned, and how to go on."""
        out, t = self._console, result.totals
        out.print(_table(result.topics, "Topics, the largest first"))
        if self.scores:
            first, last = self.scores[0][1], self.scores[-1][1]
            out.print(
                "On held-out docstrings the topics were better than word frequencies by "
                f"{first:.3f} nats a word after the first steps, and by {last:.3f} at the end.",
                highlight=False,
            )
        out.print(
            f"{t.documents:,} docstrings came in, {t.tokens:,} words, and {result.steps:,} steps "
            "were taken meanwhile. All of it is in one file; go on with it:",
            highlight=False,
        )
        for command in ("status", "topics", "train"):
            out.print(Text(f"  trustream {command} {shown(result.store)}"), soft_wrap=True)


def _table(topics: list[list[str]], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("", justify="right")
    table.add_column("Most probable words")
    for number, words in enumerate(topics, start=1):
        table.add_row(str(number), Text(shown(" ".join(words))))
    return table
