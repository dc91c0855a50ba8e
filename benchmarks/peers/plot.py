"""Plot held-out score against time, one picture per workload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.peers.curves import curve
from benchmarks.peers.trustream_curves import DEFAULT

# Below the best by more than this, a model is of no use and would flatten the rest.
_DEPTH = 0.35
_STYLES: dict[str, dict[str, Any]] = {
    "trustream": {"color": "#c1121f", "linewidth": 2.6, "marker": "o", "zorder": 5},
    "trustream, mean-field": {"color": "#f08a4b", "marker": "o"},
    "trustream, collapsed": {"color": "#f08a4b", "marker": "o"},
    "trustream, natural gradient": {"color": "#f6bd60", "marker": "o"},
    "scikit-learn": {"color": "#1d4e89", "marker": "s"},
    "gensim": {"color": "#2a9d8f", "marker": "^"},
    "gensim multicore": {"color": "#8ab17d", "marker": "v"},
    "tomotopy": {"color": "#333333", "marker": "D"},
    "Vowpal Wabbit": {"color": "#8e6bbf", "marker": "P"},
    "river": {"color": "#a08060", "marker": "X"},
    "Spark": {"color": "#5fa8d3", "marker": "*"},
}


def draw(stored: dict[str, Any], path: Path) -> None:
    """All methods of a workload; what never comes near the best is named below the axes."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    runs = {name: curve(run) for name, run in stored["methods"].items() if "points" in run}
    best = max(score for points in runs.values() for _, score in points)
    low = [name for name, points in runs.items() if max(s for _, s in points) < best - _DEPTH]
    figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
    order = sorted(runs, key=lambda name: (not name.startswith(DEFAULT), list(_STYLES).index(name)))
    for name in order:
        if name not in low:
            style = {"linewidth": 1.6, "markersize": 5, **_STYLES[name]}
            axes.plot(*zip(*runs[name], strict=True), label=name, **style)
    axes.set_xscale("log")
    axes.set_ylim(best - _DEPTH, best + 0.05 * _DEPTH)
    axes.set_xlabel("seconds of training (two cores, compilation and scoring left out)")
    axes.set_ylabel("held-out nats per word (document completion)")
    axes.set_title(stored["about"])
    axes.grid(alpha=0.25, which="both")
    axes.xaxis.set_major_formatter(plt.FuncFormatter(lambda x, _: f"{x:g}"))
    title = "\n".join(["below the picture:", *low]) if low else None
    figure.legend(fontsize=8, loc="outside right upper", title=title, title_fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)
