"""What all pictures share: axes, colours, and texts that are shown as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trustream.terminal import shown
from trustream.topic_names import UnknownTopicError, listed
from trustream.topics import characteristic_words
from trustream.topics.table import TopicTable
from trustream.topics.time_result import TopicsOverTime
from trustream.topics.topic_set import as_topics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Of Okabe and Ito, which people with all kinds of colour vision can tell apart; without yellow,
# which cannot be seen on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MUTED = "#8a8a8a"
# Of texts that people wrote: a "$" is a dollar, and nothing is TeX.
PLAIN: Mapping[str, Any] = {"parse_math": False, "usetex": False}
# Characters of a label that are shown.
LONGEST = 32


def pyplot() -> Any:
    """Return matplotlib's pyplot.

    Raises
    ------
    ImportError
        Matplotlib is not installed.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            'pictures need matplotlib: pip install "trustream[plot]", or pip install matplotlib'
        ) from error
    return pyplot


def one_axes(ax: Any, width: float, height: float) -> Axes:
    """Return the Axes that were given, or those of a new figure of this size in inches."""
    plt = pyplot()
    if ax is None:
        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    return several_axes(ax, 1)[0]


def several_axes(ax: Any, n: int) -> list[Axes]:
    """Return so many Axes, given alone or in an array or list.

    >>> several_axes("a string", 1)
    Traceback (most recent call last):
    ...
    ValueError: ax is of type str, expected Axes of matplotlib
    """
    pyplot()
    from matplotlib.axes import Axes

    given: list[Any] = [ax]
    if isinstance(ax, Iterable) and not isinstance(ax, Axes):
        given = list(np.asarray(ax, dtype=object).ravel())
    wrong = [found for found in given if not isinstance(found, Axes)]
    if wrong:
        kind = type(ax if isinstance(ax, str) else wrong[0]).__name__
        raise ValueError(f"ax is of type {kind}, expected Axes of matplotlib")
    if len(given) != n:
        raise ValueError(f"ax has {len(given)} Axes, expected {n}: one for each panel")
    return given


def figure_of(ax: Axes) -> Figure:
    """Return the whole figure of Axes, with its layout done, so that texts have their places."""
    figure = ax.figure.canvas.figure
    figure.draw_without_rendering()
    return figure


def short(text: object, longest: int = LONGEST) -> str:
    """Return a text on one line without control characters, and not too long.

    >>> short("cat\\n, dog", 8), short("a rather long label", 8)
    ('cat\\\\n,…', 'a rathe…')
    """
    line = shown(text)
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def labels_of(labels: Any, ids: Sequence[int]) -> dict[int, str]:
    """Return a label for each topic: those of a model, a table, a mapping, or numbers for None.

    >>> labels_of({1: "pets"}, [0, 1])
    {0: 'topic 0', 1: 'pets'}
    """
    found: Mapping[int, str]
    if labels is None:
        found = {}
    elif isinstance(labels, Mapping):
        found = labels
    elif isinstance(labels, TopicTable):
        found = {info.topic: info.label for info in labels}
    elif isinstance(labels, TopicsOverTime):
        found = dict(zip(labels.topics, labels.labels, strict=True))
    else:
        topics = as_topics(labels)
        rows = {topic: row for row, topic in enumerate(topics.names.ids)}
        wanted = [topic for topic in ids if topic in rows]
        found = {topic: characteristic_words.label(topics, rows[topic]) for topic in wanted}
    return {topic: short(found.get(topic, f"topic {topic}")) for topic in ids}


def chosen_topics(topics: Any, ids: Sequence[int], default: Sequence[int]) -> list[int]:
    """Return the ids of the topics to draw: those that are asked for, or the default.

    >>> chosen_topics([5], [0, 1, 2], [0])
    Traceback (most recent call last):
    ...
    trustream.topic_names.UnknownTopicError: there is no topic 5: topics are 0 to 2
    """
    if topics is None:
        return list(default)
    if isinstance(topics, str | bytes) or not isinstance(topics, Iterable):
        raise ValueError(f"topics are {topics!r}, expected a list of ids of topics")
    wanted = list(topics)
    for topic in wanted:
        if isinstance(topic, bool) or topic not in ids:
            raise UnknownTopicError(f"there is no topic {topic!r}: topics are {listed(ids)}")
    if not wanted:
        raise ValueError("topics are empty, expected at least one id")
    return [int(topic) for topic in wanted]


def dark(number: int) -> tuple[float, float, float]:
    """Return a colour of texts: that of this number, dark enough to be read on white."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(COLOURS[number % len(COLOURS)])
    return 0.62 * red, 0.62 * green, 0.62 * blue


def tidy(ax: Axes) -> None:
    """Take away the lines above and on the right."""
    ax.spines[["top", "right"]].set_visible(False)


def plain_ticks(ax: Axes, positions: Sequence[float], labels: Sequence[str], **given: Any) -> None:
    """Name places on the vertical axis by texts of people."""
    ax.set_yticks(positions, labels=labels, **PLAIN, **given)


def extent(text: Text) -> tuple[float, float, float, float]:
    """Return left, bottom, right and top of a text, in pixels of its figure."""
    box = text.get_window_extent()
    return box.x0, box.y0, box.x1, box.y1


def overlap(a: Sequence[float], b: Sequence[float], gap: float = 0.0) -> bool:
    """Whether two boxes (left, bottom, right, top) come nearer than a gap.

    >>> overlap((0, 0, 2, 2), (1, 1, 3, 3)), overlap((0, 0, 1, 1), (2, 0, 3, 1))
    (True, False)
    """
    return a[0] < b[2] + gap and b[0] < a[2] + gap and a[1] < b[3] + gap and b[1] < a[3] + gap
