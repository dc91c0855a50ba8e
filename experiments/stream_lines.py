"""The lines of Figures 4 and 5: which series each is, how it looks, and what the report says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments import published
from experiments.experiment import Record, Result, Settings, mean_and_sem, or_nothing, with_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Float64 = NDArray[np.float64]
# The paper's lines by the names used here: where, and how high.
Lines = Mapping[str, tuple[Float64, Float64]]


class Line(NamedTuple):
    """A line's label, colour, name in the paper's data ("" if it is not there), and style."""

    label: str
    colour: str
    published: str = ""
    style: str = "-"


LINES = {
    "stream_TR": Line("streaming TR", "#0072B2", "streaming_SVI_TR"),
    "product": Line("streaming with trustream's defaults", "#000000"),
    "stream_NG": Line("streaming NG", "#D55E00", "streaming_SVI_NG"),
    "batch": Line("streaming batch", "#009E73", "streaming_batch"),
    "svb_B1000": Line("streaming VB, B = 1,000", "#CC79A7", "streaming_VB"),
    # Of as many users as there are here, who are fewer than the paper has in a batch.
    "svb_B100": Line("streaming VB, B = 100", "#CC79A7", "streaming_VB"),
    "svb_B50000": Line("streaming VB, B = 50,000", "#8E5C77"),
    "full_TR": Line("TR, whole data", "#0072B2", "SVI_TR_full", "--"),
    "full_NG": Line("NG, whole data", "#D55E00", "SVI_NG_full", "--"),
    "full_TR_N": Line("TR, whole data, paper's N", "#0072B2", "", ":"),
    "full_NG_N": Line("NG, whole data, paper's N", "#D55E00", "", ":"),
    "PF": Line("Poisson factorisation, TR", "#882255", "", "-."),
    "HPF": Line("HPF", "#E69F00", "HPF", "-."),
    "PMF": Line("PMF", "#56B4E9", "PMF", "-."),
    "NMF": Line("NMF", "#7F7F00", "NMF", "-."),
    "popularity": Line("popularity", "#555555", "", ":"),
}


def candidates(result: Result, line: str, n_components: int) -> dict[str, list[Record]]:
    """The series that a line can be, with their runs; several if there was something to choose."""
    name = f"{line}_K{n_components}"
    series = dict.fromkeys(run.series for run in result.runs if run.points)
    return {s: result.of(s) for s in series if s == name or s.startswith(f"{name}_")}


def chosen(result: Result, line: str, n_components: int) -> list[Record]:
    """The runs of a line: of several series, those of the best on the validation part."""
    found = candidates(result, line, n_components)
    if len(found) < 2:
        return next(iter(found.values()), [])
    return max(found.values(), key=lambda runs: np.mean([r.extra["validation"] for r in runs]))


def curve(runs: list[Record], measure: str) -> tuple[Float64, Float64, Float64]:
    """Documents in the store, mean and standard error of a measure (0 for a single run)."""
    n_points = min(len(run.points) for run in runs)
    x, mean, error = np.empty((3, n_points))
    for i in range(n_points):
        x[i] = np.mean([run.points[i]["n_documents"] for run in runs])
        mean[i], error[i] = mean_and_sem([run.points[i][measure] for run in runs])
    return x, mean, np.nan_to_num(error)


def published_lines(figure: str, x: str, y: str, topics: int | None = None) -> Lines:
    """The paper's lines of a panel, with documents, not thousands of them.

    >>> lines = published_lines("fig4_wikipedia_stream", "thousand_articles",
    ...     "loglik_nat_per_word", topics=100)
    >>> float(lines["stream_TR"][1][-1])
    -6.789411
    """
    columns = published.table(figure)
    in_panel = np.ones(len(columns[x]), bool)
    if topics is not None:
        in_panel = published.numbers(columns["topics"]) == topics
    xs, ys, series = published.numbers(columns[x]), published.numbers(columns[y]), columns["series"]
    lines = {}
    for name, line in LINES.items():
        here = in_panel & (np.array(series) == line.published)
        if line.published and here.any():
            lines[name] = (1000 * xs[here], ys[here])
    return lines


def draw(axes: Axes, result: Result, n_components: int, measure: str, paper: Lines) -> None:
    """Ours, and the paper's thinner, over a logarithmic number of documents."""
    same = 1.2 if result.source.same_as_paper else 0.6
    ends = [x for xs, _ in paper.values() for x in xs if x > 0]
    finals = [ys[-1] for _, ys in paper.values()]
    drawn: set[str] = set()
    for name, line in LINES.items():
        style: dict[str, Any] = {"color": line.colour, "linestyle": line.style}
        if name in paper and line.published not in drawn:
            drawn.add(line.published)
            thin: dict[str, Any] = {**style, "linewidth": same, "gid": f"paper-{name}"}
            xs, ys = paper[name]
            label = f"{line.label}, paper"
            if line.style == "-":
                axes.plot(xs, ys, alpha=0.8, label=label, **thin)
            else:
                axes.axhline(ys[0], alpha=0.8, label=label, **thin)
        runs = chosen(result, name, n_components)
        if not runs:
            continue
        x, mean, error = curve(runs, measure)
        ends += x.tolist()
        finals.append(mean[-1])
        style |= {"linewidth": 1.6, "label": f"{line.label}, ours", "gid": f"ours-{name}"}
        if line.style == "-":
            axes.plot(x, mean, marker="o", markersize=3, **style)
            axes.fill_between(x, mean - 2 * error, mean + 2 * error, color=line.colour, alpha=0.25)
        else:
            axes.axhline(mean[-1], **style)
    axes.set_xscale("log")
    axes.set_xlim(0.8 * min(ends), 1.2 * max(ends))
    # Beginnings may be far below: what matters is where lines come together.
    room = max(finals) - min(finals)
    axes.set_ylim(bottom=max(axes.get_ylim()[0], min(finals) - 1.5 * room))


def legend(panels: Iterable[Axes]) -> tuple[list[Any], list[str]]:
    """Our lines of all panels, each once, and one entry that stands for all of the paper's."""
    from matplotlib.lines import Line2D

    entries: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label.endswith(", ours"):
                entries.setdefault(label.removesuffix(", ours"), handle)
    entries["paper (thin)"] = Line2D([], [], color="black", linewidth=0.6)
    return list(entries.values()), list(entries)


def rows(
    result: Result,
    n_components: int,
    measure: str,
    paper: Lines,
    label: str,
    unit: str,
    digits: int,
) -> list[tuple[str, str, str]]:
    """The right end of each line, and how far streams stay behind the whole data."""
    ends: dict[str, dict[int, float]] = {}
    found = []
    for name, line in LINES.items():
        runs = chosen(result, name, n_components)
        if not runs:
            continue
        ends[name] = {run.seed: run.points[-1][measure] for run in runs}
        theirs = paper[name][1][-1] if name in paper else np.nan
        ours = with_error(list(ends[name].values()), digits)
        found.append((f"{label}{line.label}, {unit}", or_nothing(float(theirs), digits), ours))
    for method in ("TR", "NG"):
        stream, whole = f"stream_{method}", f"full_{method}"
        if stream in ends and whole in ends:
            both = sorted(ends[stream].keys() & ends[whole].keys())
            behind = [ends[stream][seed] - ends[whole][seed] for seed in both]
            theirs = np.nan
            if stream in paper:
                theirs = float(paper[stream][1][-1] - paper[whole][1][-1])
            what = f"{label}streaming {method} minus {method} on the whole data, {unit}"
            found.append((what, or_nothing(theirs, digits), with_error(behind, digits)))
    return found


def notes(result: Result) -> list[str]:
    """What lines that are not the paper's are."""
    settings = result.settings
    found = []
    if settings.get("product"):
        found.append(
            "Streaming with trustream's defaults is not in the paper: a population larger than the "
            "documents that there are, an average of the last steps, and batches by their words; "
            "it looks at as many documents as streaming TR."
        )
    for population in settings.get("populations", ()):
        found.append(
            f"Rows with the paper's N are fits whose statistics are scaled to N = {population:,}; "
            "all others, streams among them, scale to the documents that there are."
        )
    few = {
        len(chosen(result, name, stream["n_components"]))
        for stream in settings["streams"]
        for name in LINES
    } - {0}
    if len(few) > 1:
        found.append(f"Lines have {min(few)} to {max(few)} runs; those with one have no error.")
    return found


def choices(result: Result, n_components: int, label: str) -> list[str]:
    """What was chosen on the validation part."""
    notes = []
    for name, line in LINES.items():
        found = candidates(result, name, n_components)
        if len(found) < 2:
            continue
        own = chosen(result, name, n_components)[0].settings
        what = ("eta", own["eta"]) if "eta" in own else ("factors", own["factors"])
        notes.append(
            f"{label}{line.label}: {what[0]} = {what[1]}, best of {len(found)} values on the "
            "validation part."
        )
    return notes


def how(settings: Settings) -> list[str]:
    """What decides the streams and is not in the paper."""
    looks = settings["looks"]
    pairs = settings["svb_pairs"]
    return [
        f"At each tick {settings['rate']:g} documents become active on average, and each active "
        f"document shows one word with probability {settings['p']:g}, until the last document has "
        "shown its first word; some documents are then incomplete. Streaming SVI begins with "
        f"{settings['first']:,} documents (paper: 10,000) and visits {looks['TR']:g} (TR) or "
        f"{looks['NG']:g} (NG) documents for each document that arrives, as many as there are "
        "passes over the whole data. The streaming batch algorithm makes "
        f"{settings['batch_passes']} passes over at most {settings['batch_documents']:,} documents "
        "(paper: 100 passes, 50,000 documents), from a new start at each point. Streaming VB stops "
        f"after {pairs} pairs of local and global steps on a batch, or when it has converged. The "
        "paper specifies neither its rates of arrival nor how long it waited."
    ]
