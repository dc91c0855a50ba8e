"""Draw figures in a common style, without a window system or global state."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

Array = NDArray[Any]

# Distinct for most kinds of colour vision.
COLOURS = {"TR": "#0072B2", "NG": "#D55E00", "MO_B500": "#009E73", "MO_B10k": "#CC79A7"}
CYCLE = tuple(COLOURS.values())
LABELS = {
    "TR": "trust region",
    "NG": "natural gradient",
    "MO_B500": "memoized, B = 500",
    "MO_B10k": "memoized, B = 10,000",
}
_STYLE: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "axes.titlesize": 8,
    # The same figure has the same bytes.
    "svg.hashsalt": "trustream",
}


def look() -> AbstractContextManager[None]:
    """The house's look, for what is drawn inside."""
    return matplotlib.rc_context(_STYLE)


def figure(width: float, height: float) -> Figure:
    """An empty figure in inches."""
    return Figure(figsize=(width, height), layout="constrained")


def ours(axes: Axes, series: str, x: Array, mean: Array, error: Array) -> None:
    """A line with a band of two standard errors on each side."""
    colour = COLOURS[series]
    label = f"{LABELS[series]}, ours"
    axes.plot(x, mean, color=colour, linewidth=1.6, label=label, gid=f"ours-{series}")
    if np.any(error > 0):
        low, high = mean - 2 * error, mean + 2 * error
        axes.fill_between(x, low, high, color=colour, alpha=0.25, linewidth=0)


def paper(axes: Axes, series: str, x: Array, y: Array, same_data: bool) -> None:
    """The paper's line, dashed; thinner where its data are not ours."""
    axes.plot(
        x,
        y,
        color=COLOURS[series],
        linewidth=1.2 if same_data else 0.6,
        linestyle=(0, (4, 2)),
        label=f"{LABELS[series]}, paper",
        gid=f"paper-{series}",
    )


def ours_points(axes: Axes, x: Array, y: Array, colour: str, label: str, name: str) -> None:
    """A cloud of points."""
    axes.plot(x, y, "o", color=colour, markersize=4, label=label, gid=f"ours-{name}")


def paper_points(axes: Axes, x: Array, y: Array, colour: str, label: str, name: str) -> None:
    """The paper's cloud, small and hollow."""
    axes.plot(
        x,
        y,
        "o",
        color=colour,
        markerfacecolor="none",
        markersize=3,
        markeredgewidth=0.5,
        label=label,
        gid=f"paper-{name}",
    )


def ring(axes: Axes, x: Any, y: Any, label: str | None = None) -> None:
    """Rings around points."""
    style: Any = {"markersize": 8, "markerfacecolor": "none", "markeredgewidth": 0.7}
    axes.plot(x, y, "o", color="black", label=label, **style)


def circled(axes: Axes, x: float, y: float, text: str) -> None:
    """A ring around a point, and what it is."""
    ring(axes, x, y)
    axes.annotate(text, (x, y), xytext=(5, 4), textcoords="offset points", fontsize=7)


def tiles(images: Array, n_columns: int, gap: int = 2) -> Array:
    """Images (n, rows, columns) side by side, in one, white between them.

    >>> tiles(np.zeros((3, 2, 2)), 2, gap=1).shape
    (5, 5)
    """
    n, height, width = images.shape
    n_rows = -(-n // n_columns)
    sheet = np.ones((n_rows * (height + gap) - gap, n_columns * (width + gap) - gap))
    for i, image in enumerate(images):
        top, left = i // n_columns * (height + gap), i % n_columns * (width + gap)
        sheet[top : top + height, left : left + width] = image
    return sheet


def picture(axes: Axes, images: Array, title: str, n_columns: int) -> None:
    """A sheet of grey images, ink dark."""
    axes.imshow(tiles(1 - images, n_columns), cmap="gray", vmin=0, vmax=1)
    axes.set_title(title)
    axes.set_axis_off()


def curves(figure_: Figure) -> Sequence[Any]:
    """All lines that carry a series, ours and the paper's."""
    lines = [line for axes in figure_.axes for line in axes.lines]
    return [line for line in lines if str(line.get_gid()).startswith(("ours-", "paper-"))]


def save(figure_: Figure, path: Path) -> None:
    """PNG or SVG by the path's ending, without a date."""
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with look():
        figure_.savefig(path, dpi=160, metadata=metadata, bbox_inches="tight")
