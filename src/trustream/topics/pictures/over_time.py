"""Draw topics over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trustream.evaluation.validation import whole_number
from trustream.topics import trends
from trustream.topics.pictures import drawing
from trustream.topics.time_result import TopicsOverTime

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Where a topic changes most, by kind of trend.
_MARKS = {trends.NEW: "*", trends.RISING: "^", trends.FADING: "v"}


def plot_over_time(
    found: TopicsOverTime, topics: Any = None, *, n_topics: int = 6, ax: Any = None
) -> Axes:
    """Draw the shares of topics over time with their intervals, and where they change most.

    A line goes through the middles of bins and stops where bins have no documents. Topics that are
    new, rising or fading have a mark at the edge between bins at which the change shows most.

    Parameters
    ----------
    found : TopicsOverTime
        From `trustream.topics.topics_over_time` or `TopicModel.topics_over_time`.
    topics : list of int, default=None
        Ids of topics; None draws those that change most clearly, then the largest.
    n_topics : int, default=6
        How many are drawn if nobody chooses.
    ax : Axes, default=None
        None makes a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from trustream.topics import TopicSet, topics_over_time
    >>> model = TopicSet.of([[90.0, 10.0], [10.0, 90.0]], 0.1, ["cat", "bank"])
    >>> found = topics_over_time(model, np.array([[9, 1], [1, 9]] * 20), range(40), bins=4)
    >>> ax = plot_over_time(found)
    >>> sorted(text.get_text() for text in ax.texts)
    ['bank, cat', 'cat, bank']
    """
    if not isinstance(found, TopicsOverTime):
        raise ValueError(
            f"found is of type {type(found).__name__}, expected the result of topics_over_time"
        )
    chosen = drawing.chosen_topics(topics, found.topics, _clearest(found, n_topics))
    ax = drawing.one_axes(ax, 9.0, 4.5)
    times = (found.edges * 1e6).round().astype("datetime64[us]")
    middles = times[:-1] + np.diff(times) // 2
    for number, topic in enumerate(chosen):
        column = found.topics.index(topic)
        colour = drawing.COLOURS[number % len(drawing.COLOURS)]
        dashes = ("-", "--", ":")[number // len(drawing.COLOURS) % 3]
        shares = found.shares[:, column]
        ax.plot(middles, shares, color=colour, linestyle=dashes, linewidth=1.8)
        # A bin between two without documents has no line.
        ax.plot(middles, shares, color=colour, linestyle="", marker=".", markersize=4)
        band = found.lower[:, column], found.upper[:, column]
        ax.fill_between(middles, *band, color=colour, alpha=0.18, linewidth=0)
        _mark(ax, found, column, times, middles, colour)
    ax.set_ylim(bottom=0)
    ax.set_xlim(times[0], times[-1])
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g} %")
    ax.set_ylabel(f"share of documents' tokens, {found.level:.0%} intervals")
    _concise_dates(ax)
    drawing.tidy(ax)
    _name_lines(ax, found, chosen)
    return ax


def _clearest(found: TopicsOverTime, n: int) -> list[int]:
    """Ids of topics by how clearly they change, then by their share."""
    n = whole_number("n_topics", n)
    mean = np.nan_to_num(found.shares).mean(axis=0)
    steady = np.array([trend.kind == trends.STEADY for trend in found.trends])
    change = np.array([abs(trend.after - trend.before) for trend in found.trends])
    order = np.lexsort((-mean, -change, steady))[:n]
    return [found.topics[column] for column in order]


def _mark(
    ax: Any, found: TopicsOverTime, column: int, times: Any, middles: Any, colour: str
) -> None:
    trend = found.trends[column]
    shares = found.shares[:, column]
    filled = ~np.isnan(shares)
    if trend.time is None or filled.sum() < 2:
        return
    at = times[int(np.abs(found.edges - trend.time).argmin())]
    height = np.interp(at.astype(float), middles[filled].astype(float), shares[filled])
    style = {"marker": _MARKS[trend.kind], "color": colour, "edgecolors": "white", "zorder": 5}
    ax.scatter([at], [height], s=110 if trend.kind == trends.NEW else 60, **style)


def _concise_dates(ax: Any) -> None:
    from matplotlib import dates

    locator = dates.AutoDateLocator()
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))


def _name_lines(ax: Any, found: TopicsOverTime, chosen: list[int]) -> None:
    """Labels on the right, each at the height where its line ends, moved apart where needed."""
    labels = drawing.labels_of(found, chosen)
    texts, heights = [], []
    for number, topic in enumerate(chosen):
        column = found.topics.index(topic)
        shares = found.shares[:, column]
        last = shares[~np.isnan(shares)][-1]
        kind = found.trends[column].kind
        name = labels[topic] + ("" if kind == trends.STEADY else f" ({kind})")
        text = ax.annotate(
            name, (1.0, last), xycoords=("axes fraction", "data"), xytext=(6, 0),
            textcoords="offset points", va="center", fontsize="small",
            color=drawing.dark(number), annotation_clip=False,
            **drawing.PLAIN,
        )  # fmt: skip
        texts.append(text)
        heights.append(float(last))
    figure = drawing.figure_of(ax)
    pixels = ax.transData.transform([(0, height) for height in heights])[:, 1]
    box = drawing.extent(texts[0])
    apart = spread(pixels, 1.15 * (box[3] - box[1]), ax.bbox.y0)
    for text, before, after in zip(texts, pixels, apart, strict=True):
        text.xyann = (6, (after - before) * 72 / figure.dpi)


def spread(heights: Any, least: float, bottom: float = -np.inf) -> Any:
    """Return heights moved as little as needed to be so far apart, in the same order.

    Minimises the squares of the moves, by pooling neighbours that would be too near; nothing is
    moved below the bottom.

    >>> spread([0.0, 10.0, 11.0], 4.0).tolist()
    [0.0, 8.5, 12.5]
    """
    heights = np.asarray(heights, float)
    order = np.argsort(heights, kind="stable")
    # With the distances taken off, places have to rise, not to be apart.
    targets = heights[order] - least * np.arange(heights.size)
    blocks: list[tuple[float, int]] = []
    for target in targets:
        blocks.append((float(target), 1))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (a, n), (b, m) = blocks[-2:]
            blocks[-2:] = [((a * n + b * m) / (n + m), n + m)]
    flat = np.repeat([mean for mean, _ in blocks], [n for _, n in blocks])
    moved = np.empty_like(heights)
    moved[order] = np.maximum(flat, bottom) + least * np.arange(heights.size)
    return moved
