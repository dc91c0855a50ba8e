"""Draw how topics relate: the map and the hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trustream.topics.pictures import drawing
from trustream.topics.relations import TopicHierarchy, TopicMap, topic_hierarchy, topic_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Directions in which a label may stand beside its circle, the best first.
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (0.8, -0.8), (-0.8, 0.8), (-0.8, -0.8))
# Up to so many topics, labels may stand on circles where there is no other room.
_FEW = 40


def plot_map(found: Any, labels: Any = None, *, ax: Any = None) -> Axes:
    """Draw topics on a map: those that are alike are near each other, large ones are large.

    The area of a circle is the share of the topic. Labels stand beside circles as far as there is
    room, those of large topics first; numbers in circles are ids.

    Parameters
    ----------
    found : TopicMap
        From `trustream.topics.topic_map`; or a model, whose map is drawn with its labels.
    labels : model, TopicSet, TopicTable, TopicsOverTime or mapping, default=None
        Where labels of topics come from; a mapping goes from ids to texts.
    ax : Axes, default=None
        None makes a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from trustream.topics import TopicSet
    >>> weights = [[8.0, 1.0, 1.0], [7.0, 2.0, 1.0], [1.0, 1.0, 8.0]]
    >>> ax = plot_map(TopicSet.of(weights, 0.1, ["cat", "dog", "bank"]), {0: "pets"})
    >>> "pets" in [text.get_text() for text in ax.texts]
    True
    """
    if not isinstance(found, TopicMap):
        found, labels = topic_map(found), found if labels is None else labels
    names = drawing.labels_of(labels, found.topics)
    ax = drawing.one_axes(ax, 8.0, 6.4)
    largest = np.argsort(-found.shares, kind="stable")
    x, y = found.positions[:, 0], found.positions[:, 1]
    # In square points: all circles together cover a twelfth of a new figure.
    areas = np.maximum(13_000.0 * found.shares, 12.0)
    colour = drawing.COLOURS[0]
    ax.scatter(
        x[largest], y[largest], s=areas[largest], color=colour, alpha=0.35, edgecolors=colour,
        linewidths=1.0,
    )  # fmt: skip
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.16)
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set_color("0.8")
    shares = f"two dimensions show {found.explained:.0%} of the squared distances"
    ax.set_xlabel(shares, fontsize="small", color="0.35")
    figure = drawing.figure_of(ax)
    centres = ax.transData.transform(found.positions)
    radii = np.sqrt(areas / np.pi) * figure.dpi / 72
    taken = _number_circles(ax, found, largest, radii)
    circles = [
        (cx - 0.7 * r, cy - 0.7 * r, cx + 0.7 * r, cy + 0.7 * r)
        for (cx, cy), r in zip(centres, radii, strict=True)
    ]
    for row in largest:
        others = [box for other, box in enumerate(circles) if other != row]
        label, at = names[found.topics[row]], found.positions[row]
        _place(ax, label, at, radii[row], taken, others, len(largest) <= _FEW)
    return ax


def _number_circles(ax: Any, found: TopicMap, rows: Any, radii: Any) -> list[tuple[float, ...]]:
    """Ids in circles that have room; returns the boxes of these texts."""
    taken: list[tuple[float, ...]] = []
    for row in rows:
        text = ax.annotate(
            str(found.topics[row]), found.positions[row], ha="center", va="center", fontsize=7
        )
        box = drawing.extent(text)
        fits = box[2] - box[0] < 1.8 * radii[row] and box[3] - box[1] < 1.8 * radii[row]
        if fits and not any(drawing.overlap(box, other, 1) for other in taken):
            taken.append(box)
        else:
            text.remove()
    return taken


def _place(
    ax: Any,
    label: str,
    position: Any,
    radius: float,
    taken: list[tuple[float, ...]],
    circles: Sequence[tuple[float, ...]],
    may_cover: bool,
) -> None:
    """Write a label beside a circle where nothing else is; nowhere if there is no room."""
    figure = ax.figure
    frame = ax.bbox.x0, ax.bbox.y0, ax.bbox.x1, ax.bbox.y1
    for obstacles in [[*taken, *circles], taken][: 1 + may_cover]:
        for dx, dy in _DIRECTIONS:
            step = (radius + 3) * 72 / figure.dpi
            text = ax.annotate(
                label, position, xytext=(dx * step, dy * step), textcoords="offset points",
                ha=("center", "left", "right")[int(np.sign(dx))],
                va=("center", "bottom", "top")[int(np.sign(dy))],
                fontsize=8, **drawing.PLAIN,
            )  # fmt: skip
            box = drawing.extent(text)
            inside = box[0] > frame[0] and box[1] > frame[1]
            inside = inside and box[2] < frame[2] and box[3] < frame[3]
            if inside and not any(drawing.overlap(box, other, 2) for other in obstacles):
                taken.append(box)
                return
            text.remove()


def plot_hierarchy(
    found: Any, labels: Any = None, *, n_groups: int | None = None, ax: Any = None
) -> Axes:
    """Draw how topics join, step by step, the most alike first (a dendrogram).

    Parameters
    ----------
    found : TopicHierarchy
        From `trustream.topics.topic_hierarchy`; or a model, whose hierarchy is drawn with its
        labels.
    labels : model, TopicSet, TopicTable, TopicsOverTime or mapping, default=None
        Where labels of topics come from; a mapping goes from ids to texts.
    n_groups : int, default=None
        So many groups of topics (`TopicHierarchy.groups`) have a colour each.
    ax : Axes, default=None
        None makes a new figure, as high as its topics need.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from trustream.topics import TopicSet
    >>> weights = [[8.0, 1.0, 1.0], [7.0, 2.0, 1.0], [1.0, 1.0, 8.0]]
    >>> ax = plot_hierarchy(TopicSet.of(weights, 0.1, ["cat", "dog", "bank"]))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['2: bank, dog, cat', '0: cat, dog, bank', '1: cat, dog, bank']
    """
    if not isinstance(found, TopicHierarchy):
        found, labels = topic_hierarchy(found), found if labels is None else labels
    groups = [] if n_groups is None else found.groups(n_groups)
    group_of = {topic: number for number, group in enumerate(groups) for topic in group}
    names = drawing.labels_of(labels, found.topics)
    place = {topic: float(i) for i, topic in enumerate(found.order)}
    ax = drawing.one_axes(ax, 8.0, 1.0 + 0.22 * len(place))
    height = dict.fromkeys(place, 0.0)
    for merger in found.mergers:
        ends = merger.left[0], merger.right[0]
        (y0, y1), (x0, x1) = [place[topic] for topic in ends], [height[topic] for topic in ends]
        inside = {group_of.get(topic, -1) for topic in (*merger.left, *merger.right)}
        colour = drawing.MUTED
        if len(inside) == 1 and -1 not in inside:
            colour = drawing.COLOURS[inside.pop() % len(drawing.COLOURS)]
        ax.plot([x0, merger.distance, merger.distance, x1], [y0, y0, y1, y1], color=colour, lw=1.3)
        for topic in (*merger.left, *merger.right):
            place[topic], height[topic] = (y0 + y1) / 2, merger.distance
    texts = [f"{topic}: {names[topic]}" if labels is not None else names[topic]
             for topic in found.order]  # fmt: skip
    drawing.plain_ticks(ax, range(len(texts)), texts, fontsize="small")
    for topic, text in zip(found.order, ax.get_yticklabels(), strict=True):
        if topic in group_of:
            text.set_color(drawing.dark(group_of[topic]))
    ax.set_ylim(len(texts) - 0.5, -0.5)
    ax.set_xlim(left=0)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"distance at which topics join ({found.distance})")
    drawing.tidy(ax)
    return ax
