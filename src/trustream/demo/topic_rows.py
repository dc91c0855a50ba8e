"""Draw topics as a table in which a topic keeps its row while it grows and shrinks."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.table import Table
from rich.text import Text

from trustream.terminal import shown

# A topic without a row takes that of the smallest one with a row if it is so many times as large.
_LEAD = 1.25
# Changes of a share are marked from this part of it on.
_CHANGE = 0.1
# Widest bar, in characters.
_BAR = 8
# Terminals narrower than this have no room for modules.
_WIDE = 80


@dataclass(frozen=True, slots=True)
class TopicRow:
    """What is shown of a topic.

    Attributes:
        topic: id of the topic.
        share: of all tokens, between 0 and 1.
        words: that set it apart, the first most of all.
        modules: whose docstrings use it most; empty as long as nobody has looked.
    """

    topic: int
    share: float
    words: list[str]
    modules: list[str] = field(default_factory=list)


class TopicRows:
    """The rows of a table that is drawn again and again; remembers who stands where."""

    def __init__(self) -> None:
        self._places: list[int] = []
        self._before: dict[int, TopicRow] = {}

    def arrange(self, topics: list[TopicRow], n_rows: int) -> list[TopicRow]:
        """Return at most n_rows topics, each where it was before.

        Args:
            topics: all of them, the largest first.
            n_rows: that there is room for.

        >>> rows = TopicRows()
        >>> a, b, c = (TopicRow(k, share, []) for k, share in enumerate([0.5, 0.3, 0.2]))
        >>> [row.topic for row in rows.arrange([a, b, c], 2)]
        [0, 1]
        >>> grown = TopicRow(2, 0.6, [])
        >>> [row.topic for row in rows.arrange([grown, b, TopicRow(0, 0.1, [])], 2)]
        [2, 1]
        """
        known = {row.topic: row for row in topics}
        places = [topic for topic in self._places if topic in known][:n_rows]
        for row in topics:
            if row.topic in places:
                continue
            if len(places) < n_rows:
                places.append(row.topic)
                continue
            least = min(places, key=lambda topic: known[topic].share)
            if row.share > _LEAD * known[least].share:
                places[places.index(least)] = row.topic
        self._places = places
        return [known[topic] for topic in places]

    def table(self, topics: list[TopicRow], n_rows: int, width: int) -> Table:
        """Draw topics, with colours for what has changed since the last time.

        Args:
            topics: all of them, the largest first.
            n_rows: that there is room for.
            width: of the terminal, in characters.
        """
        title = "Topics, by the words that set them apart"
        table = Table(title=title, title_justify="left", expand=True)
        table.add_column("share", justify="right", no_wrap=True, min_width=7)
        table.add_column("", no_wrap=True, min_width=_BAR)
        table.add_column("words", no_wrap=True, overflow="ellipsis", ratio=3)
        if width >= _WIDE:
            table.add_column("used most in", no_wrap=True, overflow="ellipsis", ratio=2)
        largest = max((row.share for row in topics), default=1.0)
        for row in self.arrange(topics, n_rows):
            before = self._before.get(row.topic)
            cells = [_share(row, before), _bar(row.share / largest), _words(row, before)]
            if width >= _WIDE:
                cells.append(Text(shown(", ".join(row.modules)), style="cyan"))
            table.add_row(*cells)
        self._before = {row.topic: row for row in topics}
        return table


def _share(row: TopicRow, before: TopicRow | None) -> Text:
    mark, style = " ", ""
    if before is not None and row.share > (1 + _CHANGE) * before.share:
        mark, style = "▲", "green"
    elif before is not None and row.share < (1 - _CHANGE) * before.share:
        mark, style = "▼", "red"
    return Text(f"{mark}{row.share:6.1%}", style=style)


def _bar(part: float) -> Text:
    return Text("█" * max(1, round(_BAR * part)) if part > 0 else "", style="blue")


def _words(row: TopicRow, before: TopicRow | None) -> Text:
    """The words, new ones in another colour."""
    text = Text()
    for word in row.words:
        is_new = before is not None and word not in before.words
        text.append(shown(word), style="bold green" if is_new else "")
        text.append(" ")
    return text
