"""Where does trust region matter? Against natural gradient, by batch size, articles and population.

Both methods make the same passes over the same batches with the same learning rate, and all other
settings at their defaults. The population is either the number of articles, as in the paper, or
what the default makes of it (`docs/streaming.md` says what it is).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import probes
from experiments.articles import Articles
from experiments.experiment import (
    Experiment,
    Point,
    Result,
    Run,
    Settings,
    Summary,
    Tick,
    mean_and_sem,
    with_error,
)
from experiments.search import METHODS
from experiments.search_text import load
from trustream.estimators import LatentDirichletAllocation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


POPULATIONS = {"true": None, "auto": "auto"}
_TITLES = {
    "true": "statistics scaled to the articles that there are",
    "auto": "scaled to a population (the default)",
}
_PAPER: dict[str, Any] = {
    "n_components": 100,
    "sizes": [1000, 5000, 20_000, 45_000],
    "batch_sizes": [10, 50, 200, 1000],
    "n_articles": 45_000,
    "n_validation": 1000,
    "n_test": 5000,
}
_QUICK = {
    **_PAPER,
    "n_components": 20,
    "sizes": [500, 2000],
    "batch_sizes": [10, 100],
    "n_articles": 2000,
    "n_validation": 300,
}
# All articles; one seed where they are many, since scores differ less from seed to seed there.
_FULL = {
    **_PAPER,
    "sizes": [1000, 5000, 20_000, 50_000],
    "fewer_seeds": {"20000": 1, "50000": 1},
    "n_articles": 50_000,
    "n_validation": 500,
    "n_test": 1000,
    "least_words": 1,
}


def plan(settings: Settings, n_seeds: int) -> list[Run]:
    """Seed after seed, the small ones first, so that few seeds are a figure too.

    Sizes in `fewer_seeds` have so many seeds.

    >>> [run.name for run in plan({"sizes": [500], "batch_sizes": [10]}, 1)][:2]
    ['TR_true_N500_B10-0', 'NG_true_N500_B10-0']
    """
    fewer = {int(n): seeds for n, seeds in settings.get("fewer_seeds", {}).items()}
    return [
        Run(
            f"{method}_{population}_N{n}_B{batch_size}",
            seed,
            {"n": n, "batch_size": batch_size, "population": population},
            n * (1 + 30 / batch_size),
        )
        for seed in range(n_seeds)
        for n in settings["sizes"]
        if seed < fewer.get(n, n_seeds)
        for batch_size in settings["batch_sizes"]
        for population in POPULATIONS
        for method in METHODS
    ]


def perform(
    data: Articles, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """One point: the score of the validation articles, in nats per word, and topics in use."""
    n = run.settings["n"]
    # Another seed has other articles too.
    rows = np.random.default_rng([5, run.seed]).permutation(data.train.shape[0])[:n]
    lda = LatentDirichletAllocation(
        settings["n_components"],
        learning_method=METHODS[run.series.partition("_")[0]],
        batch_size=run.settings["batch_size"],
        population=POPULATIONS[run.settings["population"]],
        random_state=run.seed,
    ).fit(data.train[rows])
    score = lda.completion(data.validation, random_state=0)
    share = lda.transform(data.validation).sum(axis=0)
    # A topic is in use if it has a tenth of what it would have if all had the same.
    in_use = int((share > 0.1 * share.mean()).sum())
    return [{"score": score.per_word, "in_use": in_use}], {}


def differences(result: Result, population: str, n: int, batch_size: int) -> list[float]:
    """Trust region minus natural gradient, for each seed that both have."""
    both = [
        {run.seed: run.points[0]["score"] for run in result.of(_series(method, *cell))}
        for cell in [(population, n, batch_size)]
        for method in ("TR", "NG")
    ]
    return [both[0][seed] - both[1][seed] for seed in sorted(both[0].keys() & both[1].keys())]


def _series(method: str, population: str, n: int, batch_size: int) -> str:
    return f"{method}_{population}_N{n}_B{batch_size}"


def draw(result: Result) -> Figure:
    """The gain of trust region by batch size, a line for each number of articles."""
    from experiments import plots

    figure = plots.figure(6.6, 2.9)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, population in zip(panels, POPULATIONS, strict=True):
        _panel(axes, result, population)
    panels[0].set_ylabel("trust region minus natural gradient\n[nat/word]")
    panels[1].legend(title="articles")
    return figure


def _panel(axes: Axes, result: Result, population: str) -> None:
    from experiments import plots

    settings = result.settings
    for n, colour in zip(settings["sizes"], plots.CYCLE, strict=False):
        found = {
            size: mean_and_sem(gains)
            for size in settings["batch_sizes"]
            if (gains := differences(result, population, n, size))
        }
        if not found:
            continue
        means, errors = np.array(list(found.values())).T
        axes.errorbar(
            list(found),
            means,
            yerr=2 * np.nan_to_num(errors),
            color=colour,
            marker="o",
            markersize=3,
            capsize=2,
            label=f"{n:,}",
            gid=f"ours-{population}-{n}",
        )
    axes.axhline(0, color="grey", linewidth=0.8, zorder=0)
    axes.set(xscale="log", xlabel="articles in a batch", title=_TITLES[population])


def summarise(result: Result) -> Summary:
    """The gain in each cell, and what both methods reach."""
    settings = result.settings
    rows = []
    for population in POPULATIONS:
        for n in settings["sizes"]:
            for size in settings["batch_sizes"]:
                if not differences(result, population, n, size):
                    continue
                scores = {
                    method: [
                        run.points[0] for run in result.of(_series(method, population, n, size))
                    ]
                    for method in METHODS
                }
                reached = ", ".join(
                    f"{method} {np.mean([point['score'] for point in points]):.3f} "
                    f"({np.mean([point['in_use'] for point in points]):.0f} topics in use)"
                    for method, points in scores.items()
                )
                gain = with_error(differences(result, population, n, size), 3)
                what = "true N" if population == "true" else "population"
                rows.append(
                    (f"{n:,} articles, batches of {size:,}, {what}", "", f"{gain}: {reached}")
                )
    notes = [
        "The paper has no such figure. Numbers are the score of trust region minus that of natural "
        "gradient, in nats per word of half of a validation article given the other, then both "
        f"scores. {settings['n_components']} topics, five passes, defaults but for the batch size, "
        "the method and the population; both methods have the same articles, batches and rates. A "
        "topic is in use if it has at least a tenth of what it would have if all topics had the "
        "same share of the validation articles.",
        *_answer(result),
        result.source.note,
    ]
    return Summary(rows, notes)


def _answer(result: Result) -> list[str]:
    """Where trust region matters, in a sentence for each population."""
    settings, found = result.settings, []
    for population, what in (("true", "the true N"), ("auto", "a population")):
        gains = {
            (n, size): float(np.mean(values))
            for n in settings["sizes"]
            for size in settings["batch_sizes"]
            if (values := differences(result, population, n, size))
        }
        if not gains:
            continue
        best, worst = max(gains, key=lambda c: gains[c]), min(gains, key=lambda c: gains[c])
        won = sum(gain > 0 for gain in gains.values())
        found.append(
            f"With {what}, trust region is ahead in {won} of {len(gains)} cells; most with "
            f"{best[0]:,} articles in batches of {best[1]:,} ({gains[best]:+.3f}), least with "
            f"{worst[0]:,} in batches of {worst[1]:,} ({gains[worst]:+.3f})."
        )
    return found


EXPERIMENT = Experiment(
    name="regimes",
    title="Where trust region matters: batches, articles and population",
    settings={"quick": _QUICK, "full": _FULL, "paper": _PAPER},
    n_seeds={"quick": 2, "full": 3, "paper": 3},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
    plan_only=frozenset({"sizes", "batch_sizes", "fewer_seeds"}),
    probe=probes.lda,
)
