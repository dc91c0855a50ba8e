"""What do local steps of a cluster cost? Against exact ones, after the same documents.

On a cluster a batch has parts. Exact steps share each inner iteration of Algorithm 1 among the
parts; local ones let each part solve the subproblem for itself, in a single exchange
(`trustream.inference.divided`). Both fit the same articles in the same batches, from the same
start, with all settings but the number of topics at their defaults. What is learned does not
depend on the number of workers, so that it is computed here without Ray; `scripts/bench cluster`
has the times.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

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
)
from experiments.search_text import load
from trustream.cluster import fit, write_counts
from trustream.estimators import LatentDirichletAllocation
from trustream.learning.defaults import EXACT_STEPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What local steps may cost, in nats per word.
TARGET = 0.003
# Steps of a model that are exact.
MODES = {"exact": None, "local": EXACT_STEPS}
_PAPER: dict[str, Any] = {
    "n_components": [20, 100, 200],
    "n_parts": 8,
    "batch_sizes": [None],
    "n": 20_000,
    "n_articles": 40_000,
    "n_validation": 1000,
    "n_test": 1000,
}
_QUICK = {**_PAPER, "n_components": [20], "n": 2000, "n_articles": 2000, "n_validation": 300}


def plan(settings: Settings, n_seeds: int) -> list[Run]:
    """Seed after seed, so that few seeds are a result too.

    >>> [run.name for run in plan({"n_components": [20], "batch_sizes": [None]}, 1)]
    ['exact_K20_Bauto-0', 'local_K20_Bauto-0']
    """
    return [
        Run(_series(mode, k, size), seed, {"n_components": k, "batch_size": size}, 30.0 + k)
        for seed in range(n_seeds)
        for k in settings["n_components"]
        for size in settings["batch_sizes"]
        for mode in MODES
    ]


def perform(
    data: Articles, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """One point: the score of the validation articles, in nats per word."""
    # Another seed has other articles too.
    rows = np.random.default_rng([6, run.seed]).permutation(data.train.shape[0])[: settings["n"]]
    size = run.settings["batch_size"]
    lda = LatentDirichletAllocation(
        run.settings["n_components"],
        random_state=run.seed,
        **({} if size is None else {"batch_size": size}),
    )
    with tempfile.TemporaryDirectory() as folder:
        write_counts(f"{folder}/articles.parquet", data.train[rows])
        fit(
            lda,
            f"{folder}/articles.parquet",
            workers=0,
            n_parts=settings["n_parts"],
            exact_steps=MODES[run.series.partition("_")[0]],
        )
    score = lda.completion(data.validation, random_state=0)
    return [{"score": score.per_word, "n_steps": lda.n_batch_iter_}], {}


def differences(result: Result, n_components: int, batch_size: int | None) -> list[float]:
    """Local minus exact, for each seed that both have."""
    local, exact = (
        {
            run.seed: run.points[0]["score"]
            for run in result.of(_series(mode, n_components, batch_size))
        }
        for mode in ("local", "exact")
    )
    return [local[seed] - exact[seed] for seed in sorted(local.keys() & exact.keys())]


def _series(mode: str, n_components: int, batch_size: int | None) -> str:
    return f"{mode}_K{n_components}_B{batch_size or 'auto'}"


def _cells(result: Result) -> list[tuple[int, int | None]]:
    settings = result.settings
    return [(k, size) for k in settings["n_components"] for size in settings["batch_sizes"]]


def draw(result: Result) -> Figure:
    """The difference of each seed, and its mean with two standard errors."""
    from experiments import plots

    figure = plots.figure(4.6, 2.9)
    axes = figure.subplots()
    cells = _cells(result)
    for place, cell in enumerate(cells):
        found = differences(result, *cell)
        mean, error = mean_and_sem(found)
        axes.plot([place] * len(found), found, "o", color="grey", markersize=2, alpha=0.6)
        axes.errorbar(
            [place],
            [mean],
            yerr=2 * np.nan_to_num(error),
            color=plots.CYCLE[0],
            marker="o",
            markersize=4,
            capsize=3,
            gid=f"ours-{place}",
        )
    axes.axhline(0, color="grey", linewidth=0.8, zorder=0)
    axes.axhline(-TARGET, color="grey", linewidth=0.8, linestyle="--", zorder=0)
    axes.set_xticks(range(len(cells)), [_title(*cell) for cell in cells])
    axes.set_ylabel("local minus exact\n[nat/word]")
    return figure


def _title(n_components: int, batch_size: int | None) -> str:
    size = "" if batch_size is None else f", batches of {batch_size:,}"
    return f"{n_components} topics{size}"


def summarise(result: Result) -> Summary:
    """The mean difference with its standard error, the worst seed, and both scores."""
    rows = []
    for cell in _cells(result):
        found = differences(result, *cell)
        mean, error = mean_and_sem(found)
        exact, local = (
            np.mean([run.points[0]["score"] for run in result.of(_series(mode, *cell))])
            for mode in ("exact", "local")
        )
        said = "" if np.isnan(error) else f", standard error {error:.4f}"
        rows.append(
            (
                _title(*cell),
                "",
                f"{mean:+.4f}{said}, worst of {len(found)} seeds {min(found):+.4f}: "
                f"exact {exact:.4f}, local {local:.4f}",
            )
        )
    settings = result.settings
    notes = [
        "The paper has no such figure. Numbers are the score of a fit with local steps minus that "
        "with exact ones, in nats per word of half of a validation article given the other. "
        f"{settings['n']:,} articles, {settings['n_parts']} parts, five passes, defaults but for "
        f"the number of topics; the first {EXACT_STEPS} steps are exact. Both have the same "
        "articles, batches and start; another seed has other articles too.",
        result.source.note,
    ]
    return Summary(rows, notes)


EXPERIMENT = Experiment(
    name="local-steps",
    title="What local steps of a cluster cost",
    settings={"quick": _QUICK, "paper": _PAPER},
    n_seeds={"quick": 2, "paper": 6},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
)
