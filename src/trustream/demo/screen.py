"""Show a running demonstration: numbers, a small plot, and the topics as they form."""

from __future__ import annotations

import shlex
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
    from trustream.demo.demonstration import DemoResult
    from trustream.streaming.trainer import StreamInfo, StreamTrainer

_BARS = "▁▂▃▄▅▆▇█"
# Seconds between two updates of a terminal, and between two lines elsewhere.
_SECONDS_ON_TERMINAL, _SECONDS_ELSEWHERE = 0.5, 5.0


def sparkline(values: list[float], width: int) -> str:
    """Return values as a line of at most `width` bars, from lowest to highest.

    >>> sparkline([0.0, 1.0, 2.0, 7.0], 10)
    '▁▂▃█'
    >>> sparkline([3.0], 10)
    '█'
    """
    # Each bar is a mean of neighbours, so that all values are represented.
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


class Screen:
    """A live display on a terminal, and a line from time to time elsewhere."""

    def __init__(self, console: Console, n_words: int) -> None:
        self._console, self._n_words = console, n_words
        self._live: Live | None = None
        self._due = 0.0
        self.scores: list[tuple[float, float]] = []

    def __enter__(self) -> Screen:
        if self._console.is_terminal:
            self._live = Live(console=self._console, transient=True, auto_refresh=False)
            self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._live is not None:
            self._live.__exit__(*error)
            self._live = None

    def show(self, trainer: StreamTrainer, info: StreamInfo, seconds: float) -> None:
        """Show the state after a step."""
        if info.score is not None:
            self.scores.append((seconds, info.score.gain))
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + (_SECONDS_ELSEWHERE if self._live is None else _SECONDS_ON_TERMINAL)
        if self._live is None:
            self._say(self._numbers(info, seconds))
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
                    title="held-out gain over word frequencies in nats per word, over time",
                    title_align="left",
                    expand=False,
                )
            )
        parts.append(_table(topics, "Topics, the largest first"))
        return Group(*parts)

    def report(self, result: DemoResult) -> None:
        """Print what was learned, and commands to continue with."""
        out, t = self._console, result.totals
        if out.is_terminal:
            out.print(_table(result.topics, "Topics, the largest first"))
        else:
            self._say("Topics, the largest first")
            for number, words in enumerate(result.topics, start=1):
                self._say(f"{number:4d}  {shown(' '.join(words))}")
        if self.scores:
            first, last = self.scores[0][1], self.scores[-1][1]
            self._say(
                "On held-out docstrings the topics were better than word frequencies by "
                f"{first:.3f} nats per word after the first steps, and by {last:.3f} at the end."
            )
        came = (
            f"{t.documents:,} docstrings came in, {t.tokens:,} words, and {result.steps:,} steps "
            "were taken meanwhile."
        )
        if result.store is None:
            self._say(f"{came} The store was deleted; trustream demo --store demo.db keeps it.")
            return
        self._say(f"{came} Everything is in one file, which other commands can use:")
        for command in ("status", "topics", "train"):
            line = f"  trustream {command} {shlex.quote(str(result.store))}"
            out.print(Text(shown(line)), soft_wrap=True)

    def _say(self, text: str) -> None:
        """Print a sentence, which is wrapped on a terminal only."""
        self._console.print(Text(text), soft_wrap=not self._console.is_terminal)


def _table(topics: list[list[str]], title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("", justify="right")
    table.add_column("Most probable words")
    for number, words in enumerate(topics, start=1):
        table.add_row(str(number), Text(shown(" ".join(words))))
    return table
