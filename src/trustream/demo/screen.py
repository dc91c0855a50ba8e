"""Show a running demonstration: numbers, a small plot, and the topics as they form."""

from __future__ import annotations

import math
import shlex
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from trustream.demo.topic_rows import TopicRow, TopicRows
from trustream.terminal import shown

if TYPE_CHECKING:
    from trustream.demo.demonstration import DemoResult
    from trustream.streaming.trainer import StreamInfo

_BARS = "▁▂▃▄▅▆▇█"
# Seconds between two updates of a terminal, and between two lines elsewhere.
_SECONDS_ON_TERMINAL, _SECONDS_ELSEWHERE = 0.5, 5.0
# Lines that are not topics.
_OTHER_LINES = 12


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

    def __init__(self, console: Console, address: str | None = None) -> None:
        self._console, self._address = console, address
        self._live: Live | None = None
        self._due = 0.0
        self._rows = TopicRows()
        self.scores: list[tuple[float, float]] = []
        self.perplexity = math.nan

    def __enter__(self) -> Screen:
        if self._console.is_terminal:
            self._live = Live(console=self._console, transient=True, auto_refresh=False)
            self._live.__enter__()
        elif self._address is not None:
            self._say(f"dashboard: {self._address}")
        return self

    def __exit__(self, *error: Any) -> None:
        if self._live is not None:
            self._live.__exit__(*error)
            self._live = None

    def note(self, info: StreamInfo, seconds: float) -> None:
        """Remember the score after a step, if it has one."""
        if info.score is not None:
            self.scores.append((seconds, info.score.gain))
            self.perplexity = math.exp(-info.score.per_word)

    def is_due(self) -> bool:
        """Whether it is time to `show` again."""
        return time.monotonic() >= self._due

    @property
    def shows_topics(self) -> bool:
        """Whether `show` draws topics, as it does on a terminal."""
        return self._live is not None

    def show(self, info: StreamInfo, topics: list[TopicRow], seconds: float) -> None:
        """Show the state after a step."""
        is_live = self._live is not None
        self._due = time.monotonic() + (_SECONDS_ON_TERMINAL if is_live else _SECONDS_ELSEWHERE)
        if self._live is None:
            self._say(self._numbers(info, seconds))
        else:
            room = max(3, self._console.height - _OTHER_LINES)
            self._live.update(self._screen(info, topics, room, seconds), refresh=True)

    def _numbers(self, info: StreamInfo, seconds: float) -> str:
        t = info.totals
        score = ""
        if self.scores:
            score = f", perplexity {self.perplexity:,.0f} (gain {self.scores[-1][1]:.3f})"
        return (
            f"{seconds:3.0f} s: {t.documents:,} documents, {t.tokens:,} tokens, {t.words:,} words, "
            f"step {info.step.n_steps:,}{score}"
        )

    def _screen(self, info: StreamInfo, topics: list[TopicRow], room: int, seconds: float) -> Group:
        parts: list[Any] = [Text(self._numbers(info, seconds), no_wrap=True, overflow="ellipsis")]
        if self._address is not None:
            parts.append(Text(f"dashboard: {self._address}", style="bold cyan"))
        if self.scores:
            values = [value for _, value in self.scores]
            line = sparkline(values, min(60, self._console.width - 30))
            parts.append(
                Panel(
                    Text.assemble((line, "green"), f"  {values[-1]:.3f} nats per word"),
                    title="held-out docstrings: gain over word frequencies, over time",
                    title_align="left",
                    expand=False,
                )
            )
        parts.append(self._rows.table(topics, room, self._console.width))
        return Group(*parts)

    def report(self, result: DemoResult, program: str = "trustream") -> None:
        """Print what was learned, and commands to continue with.

        Args:
            result: of the demonstration.
            program: how this installation is called from the current directory.
        """
        out, t = self._console, result.totals
        if out.is_terminal:
            out.print(TopicRows().table(result.rows, len(result.rows), out.width))
        else:
            self._say("Topics, the largest first")
            for row in result.rows:
                modules = f"  [{', '.join(row.modules)}]" if row.modules else ""
                self._say(shown(f"{row.share:6.1%}  {' '.join(row.words)}{modules}"))
        if self.scores:
            self._say(_meaning(self.perplexity, self.scores[-1][1]))
        self._say(
            f"{t.documents:,} docstrings came in, {t.tokens:,} words, and {result.steps:,} steps "
            "were taken meanwhile. Everything is in one file, which other commands can use:"
        )
        store = shlex.quote(str(result.store))
        for command in (f"topics {store} --info", f"report {store} topics.html"):
            out.print(Text(shown(f"  {program} {command}")), soft_wrap=True)

    def _say(self, text: str) -> None:
        """Print a sentence, which is wrapped on a terminal only."""
        self._console.print(Text(text), soft_wrap=not self._console.is_terminal)


def _meaning(perplexity: float, gain: float) -> str:
    """What the scores say, in words."""
    return (
        "Half of each held-out docstring was guessed from its other half. With topics it was as "
        f"hard as to choose one of {perplexity:,.0f} equally likely words (the perplexity); with "
        f"word frequencies alone, one of {perplexity * math.exp(gain):,.0f}. That is a gain of "
        f"{gain:.3f} nats per word."
    )
