"""Streams against `fit`: what is compared, how it looks, and what the report says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from experiments.experiment import Record, Result, mean_and_sem, with_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Method(NamedTuple):
    """A way to learn: its label, options of the trainer, and what it is compared with."""

    label: str
    options: dict[str, Any]
    against: str = "fit"


METHODS = {
    "fit": Method("fit", {}, ""),
    "stream": Method("stream", {}),
    "words": Method("stream, word by word", {}, "stream"),
    "quiet": Method("all there from the beginning", {}),
    "TR-paper": Method("stream, no population", {"population": None}),
    "NG": Method("stream, natural gradient", {"method": "natural-gradient"}),
    "NG-paper": Method(
        "stream, natural gradient, no population",
        {"method": "natural-gradient", "population": None},
    ),
    # These two know no population.
    "VB": Method("streaming VB", {"method": "streaming-vb", "population": None}),
    "batch": Method("streaming batch", {"method": "streaming-batch", "population": None}),
}
# Name for people, file, and millions of words, which the time of a run depends on.
CORPORA = {
    "wiki_en": ("English Wikipedia", "wiki_en.npz", 25.3),
    "wiki_simple": ("Simple English Wikipedia", "wiki_simple.npz", 5.6),
    "newsgroups20": ("20 Newsgroups", "newsgroups20.jsonl.xz", 1.9),
}
MEASURES = {"completion": "completion", "chib": "Chib", "npmi": "NPMI"}


def series_of(corpus: str, n_components: int, method: str) -> str:
    """The name of a run without its seed.

    >>> series_of("wiki_en", 100, "fit")
    'wiki_en_K100_fit'
    """
    return f"{corpus}_K{n_components}_{method}"


def values(runs: list[Record], measure: str) -> dict[int, dict[int, float]]:
    """By number of documents and seed."""
    found: dict[int, dict[int, float]] = {}
    for run in runs:
        for point in run.points:
            found.setdefault(point["n_documents"], {})[run.seed] = point[measure]
    return found


def panel(axes: Axes, result: Result, corpus: str) -> None:
    """Completion against documents, for the stream and for `fit`."""
    from experiments import plots

    for size, colour in zip(result.settings["sizes"], plots.CYCLE, strict=False):
        k = size["n_components"]
        for method, style, shift in (("fit", "--s", 0.97), ("stream", "-o", 1.03)):
            found = values(result.of(series_of(corpus, k, method)), "completion")
            if not found:
                continue
            means, errors = np.transpose([mean_and_sem([*v.values()]) for v in found.values()])
            drawn = axes.errorbar(
                # Beside each other, so that no error bar hides another.
                shift * np.array(list(found)),
                means,
                None if np.isnan(errors).any() else 2 * errors,
                fmt=style,
                color=colour,
                markersize=4,
                markerfacecolor=colour if method == "stream" else "white",
                linewidth=1.2,
                capsize=2,
                label=f"{method}, K = {k}",
            )
            drawn[0].set_gid(f"ours-{corpus}-{method}-{k}")
    own = [run for run in result.runs if run.settings["corpus"] == corpus]
    ticks = sorted({point["n_documents"] for run in own for point in run.points})
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{n:,}" for n in ticks], rotation=45)
    axes.set_xticks([], minor=True)
    axes.set(title=CORPORA[corpus][0], xlabel="documents in the store")


def rows(result: Result, corpus: str, k: int, method: str) -> list[tuple[str, str, str]]:
    """A row for each number of documents."""
    against = METHODS[method].against
    runs = result.of(series_of(corpus, k, method))
    others = result.of(series_of(corpus, k, against)) if against else []
    used = values(runs, "n_used")
    found = []
    for n in used:
        texts = []
        for measure, label in MEASURES.items():
            ours = values(runs, measure)[n]
            if against:
                base = values(others, measure).get(n, {})
                ours = {seed: ours[seed] - base[seed] for seed in ours if seed in base}
            if ours:
                texts.append(f"{label} {with_error([*ours.values()], 3)}")
        texts.append(f"{np.mean([*used[n].values()]):.0f} topics")
        minus = f", minus {METHODS[against].label}" if against else ""
        what = f"{corpus}, K = {k}, {n:,} documents, {METHODS[method].label}{minus}"
        found.append((what, "", "; ".join(texts)))
    return found
