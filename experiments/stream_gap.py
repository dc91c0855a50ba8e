"""What closes the gap between streaming trust-region SVI and the same on the whole data.

Beyond the paper, whose discussion leaves it open. A stream of articles is learned from as in
`stream_text`, with one thing changed at a time: the learning rate's decay, inner iterations, batch
size, how much is looked at, how many articles are there when learning begins (with as many steps in
all), the order of arrival, and how words come: singly, singly but with more articles open at a
time, or whole articles at once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import articles, streams
from experiments.articles import Articles
from experiments.experiment import (
    Experiment,
    Point,
    Result,
    Run,
    Settings,
    Source,
    Summary,
    Tick,
    with_error,
)
from trustream import presets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRESET = "wikipedia-4"
# Changes of the trainer's or the estimator's options, or of what is around them.
VARIANTS: dict[str, dict[str, Any]] = {
    "whole data": {"whole_data": True},
    "stream as in the paper": {},
    "kappa 0.3": {"learning_decay": 0.3},
    "kappa 0.7": {"learning_decay": 0.7},
    "5 inner iterations": {"inner_iter": 5},
    "40 inner iterations": {"inner_iter": 40},
    "batches of 200": {"batch_size": 200},
    "6 looks": {"looks": 6.0},
    "3 more passes at the end": {"more": 3.0},
    "begun with a quarter there": {"begin": 0.25},
    "begun with half there": {"begin": 0.5},
    "begun with all there": {"begin": 1.0},
    "long articles first": {"order": "long"},
    "short articles first": {"order": "short"},
    "ten times as many articles open": {"rate": 1.0},
    "whole articles": {"whole": True},
}
_PAPER: dict[str, Any] = {
    "n_components": 100,
    "n_articles": 20_000,
    "n_validation": 0,
    "n_test": 1000,
    "chib": {},
    "first": 1000,
    "rate": 0.1,
    "p": 0.5,
    "looks": 3.0,
    "variants": list(VARIANTS),
}
_QUICK = {**_PAPER, "n_articles": 1800, "n_test": 200, "chib": {"n_repeats": 3}, "first": 200}


def load(data: Path, settings: Settings) -> tuple[Articles, Source]:
    """Articles to stream and to test with."""
    sizes = (settings[name] for name in ("n_articles", "n_validation", "n_test"))
    return articles.load(data, *sizes)


def plan(settings: Settings, n_seeds: int) -> list[Run]:
    """One run for each change."""
    return [
        Run(name.replace(", ", "_").replace(" ", "-"), seed, {"variant": name}, _cost(name))
        for seed in range(n_seeds)
        for name in settings["variants"]
    ]


def _cost(name: str) -> float:
    change = VARIANTS[name]
    passes = change.get("looks", 3.0) + change.get("more", 0.0)
    work = passes / 3 * change.get("inner_iter", 20) / 20
    return float(work + (0.0 if {"whole", "whole_data"} & set(change) else 1.0))


def perform(
    data: Articles, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """One point: nats per word of test articles at the end of the stream."""
    change = dict(VARIANTS[run.settings["variant"]])
    counts, k = data.train, settings["n_components"]

    def told(share: float) -> None:
        tick(run.cost * share)

    if change.pop("whole_data", False):
        options = {**presets.estimator(PRESET), **change}
        seen = streams.fitted(counts, options, k, run.seed, told)
    else:
        n, first = counts.shape[0], settings["first"]
        looks, more = change.pop("looks", settings["looks"]), change.pop("more", 0.0)
        if "begin" in change:
            looks, more, first = later(n, looks, first, change.pop("begin"))
        rate = change.pop("rate", settings["rate"])
        whole = change.pop("whole", False)
        counts = arranged(counts, change.pop("order", None))
        options = {**streams.svi_options("TR", PRESET, k), **change}
        *_, seen = streams.follow(
            counts,
            options,
            steps_due(n, looks, more, options["batch_size"], first),
            marks=[n],
            rate=rate,
            p=settings["p"],
            seed=run.seed,
            whole=whole,
            tick=told,
        )
    score = seen.model.chib(data.test, random_state=0, **settings["chib"])
    point = {
        "n_documents": seen.n_documents,
        "n_words": seen.n_words,
        "n_steps": seen.n_steps,
        "score": score.per_word,
        "standard_error": score.standard_error_documents,
    }
    return [point], {"share_of_words": seen.n_words / float(data.train.sum())}


def steps_due(
    n_documents: int, looks: float, more: float, batch_size: int, first: int
) -> Callable[[int], int]:
    """As in the other streams, and some passes more when the last document has arrived.

    >>> due = steps_due(n_documents=100, looks=3.0, more=1.0, batch_size=10, first=10)
    >>> due(99), due(100)
    (26, 37)
    """
    usual = streams.svi_steps(looks, batch_size, first)
    extra = int(more * n_documents / batch_size)
    return lambda n: usual(n) + (extra if n >= n_documents else 0)


def later(n: int, looks: float, first: int, begin: float) -> tuple[float, float, int]:
    """Looks at a document, more passes and first documents if learning begins later.

    As many documents are looked at in all.

    >>> later(100, looks=3.0, first=20, begin=0.5), later(100, looks=3.0, first=20, begin=1.0)
    ((4.8, 0.0, 50), (0.0, 2.4, 100))
    """
    total, after = looks * (n - first), int(begin * n)
    return (total / (n - after), 0.0, after) if after < n else (0.0, total / n, n)


def arranged(counts: Any, order: str | None) -> Any:
    """Articles by length, or as they come.

    >>> arranged(np.array([[1], [3], [2]]), "long").ravel().tolist()
    [3, 2, 1]
    """
    if order is None:
        return counts
    rows = np.argsort(np.asarray(counts.sum(axis=1)).ravel(), kind="stable")
    return counts[rows[::-1] if order == "long" else rows]


def scores(result: Result) -> dict[str, list[float]]:
    """By variant, over seeds."""
    found: dict[str, list[float]] = {}
    for run in result.runs:
        found.setdefault(run.settings["variant"], []).append(run.points[-1]["score"])
    return found


def draw(result: Result) -> Figure:
    """A bar for each change, from what the whole data give."""
    from experiments import plots

    found = scores(result)
    figure = plots.figure(5.6, 3.6)
    axes = figure.add_subplot()
    names = list(found)[::-1]
    whole = float(np.mean(found["whole data"]))
    for place, name in enumerate(names):
        colour = plots.COLOURS["NG" if name.startswith("whole data") else "TR"]
        for score in found[name]:
            axes.plot(score, place, "o", color=colour, markersize=4, gid=f"ours-{name}")
    axes.axvline(whole, color=plots.COLOURS["NG"], linestyle="--", linewidth=1.0)
    paper = found.get("stream as in the paper")
    if paper:
        axes.axvline(float(np.mean(paper)), color=plots.COLOURS["TR"], linestyle=":", linewidth=1.0)
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="nat/word (Chib)\ndashed: whole data, dotted: stream as in the paper")
    axes.set_title(f"{result.source.name}, K = {result.settings['n_components']}")
    return figure


def summarise(result: Result) -> Summary:
    """Scores, and how far each is from the whole data."""
    found, settings = scores(result), result.settings
    whole = found["whole data"]
    rows = []
    for name, values in found.items():
        text = with_error(values, 3)
        if name != "whole data":
            text += f" ({with_error([a - b for a, b in zip(values, whole, strict=True)], 3)})"
        rows.append((f"{name}, nat/word (minus whole data)", "", text))
    shares = {run.settings["variant"]: run.extra["share_of_words"] for run in result.runs}
    notes = [
        f"K = {settings['n_components']}, {settings['n_articles']:,} articles, preset {PRESET} "
        f"(kappa 0.5 in the stream), {settings['looks']:g} visits (looks) per article. Learning "
        f"begins with {settings['first']:,} articles, and scores are those of "
        f"{settings['n_test']:,} test articles. One thing is changed at a time.",
    ]
    stream = "stream as in the paper"
    if stream in found:
        behind = [a - b for a, b in zip(found[stream], whole, strict=True)]
        means = {name: np.mean(values) for name, values in found.items() if name != "whole data"}
        order = sorted(means, key=lambda name: -means[name])
        notes.append(
            f"At its end, the stream has a score of {with_error(behind, 3)} nat/word relative to "
            f"the whole data, and {100 * shares[stream]:.0f} % of the words have arrived. The "
            f"changes that help most are, from the best: {'; '.join(order[:3])}."
        )
    notes.append(result.source.note)
    return Summary(rows, notes)


EXPERIMENT = Experiment(
    name="stream-gap",
    title="Streams against whole data: what closes the gap",
    settings={"quick": _QUICK, "paper": _PAPER},
    n_seeds={"quick": 1, "paper": 3},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
)
