"""Figure 3B: random hyperparameters for LDA on movies that users like.

What is drawn, and how both methods use it, is in `search`. A list of 20 movies is predicted for
each validation user from four fifths of the user's likes, and compared with the rest (section 4.4).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import probes, ratings, search
from experiments.experiment import Experiment, Point, Result, Run, Settings, Source, Summary, Tick
from experiments.ratings import Likes
from trustream.evaluation import ranking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAPER: dict[str, Any] = {
    "n_components": [100, 200, 400, 800],
    "n_validation": 10_000,
    "n_test": 10_000,
    "list_length": 20,
}
_QUICK = {**_PAPER, "n_components": [100]}
# As many users as Netflix has.
PAPER_N = 480_189
# All likes are trained on, also those of users with too few to hold one out.
_FULL = {**_QUICK, "populations": [None, PAPER_N], "all_users": True}
_MEASURES = {"recall": "recall at 20 [%]", "precision": "normalised precision at 20 [%]"}


def load(data: Path, settings: Settings) -> tuple[Likes, Source]:
    """Likes, and users to validate on."""
    sizes = settings["n_validation"], settings["n_test"]
    return ratings.load(data, *sizes, all_users=settings.get("all_users", False))


def plan(settings: Settings, n_draws: int) -> list[Run]:
    """The most popular movies for everybody, then draw after draw."""
    return [Run("popularity", 0), *search.plan(settings, n_draws, "netflix")]


def perform(
    data: Likes, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """One point: recall and normalised precision of the validation users, in percent."""
    users = data.validation
    if run.series == "popularity":
        scores = (np.ones((len(users), 1)), data.train.sum(axis=0)[None, :])
        return [_point(data, users, scores, settings)], {}
    lda = search.fit(data.train, run, settings, tick)
    topics = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    point = _point(data, users, (lda.transform(data.train[users]), topics), settings)
    return [{**point, "n_steps": lda.n_batch_iter_}], {}


def _point(data: Likes, users: Any, scores: Any, settings: Settings) -> Point:
    seen, length = data.train[users], settings["list_length"]
    found = ranking(scores, data.held_out[users], seen=seen, m=length)
    return {
        "recall": 100 * found.recall.mean,
        "precision": 100 * found.normalised_precision.mean,
    }


def measures(result: Result) -> tuple[list[str], list[str]]:
    """Measures that have rows of their own, and notes on others.

    Where nearly all users have fewer held-out likes than a list has items, both are the same.
    """
    points = [point for run in result.runs for point in run.points]
    if any(abs(point["recall"] - point["precision"]) > 0.05 for point in points):
        return [*_MEASURES], []
    note = (
        "Normalised precision divides by the smaller of the length of a list and the number of "
        "held-out likes, which is the latter for nearly all users here: it is the same as recall."
    )
    return ["recall"], [note]


def published_pairs(measure: str) -> Callable[[int], search.Pairs]:
    """The paper's natural-gradient and trust-region values in percent, by number of topics."""
    return partial(search.published_pairs, f"fig3b_netflix_{measure}", f"{measure}_pct")


def draw(result: Result) -> Figure:
    """A point a draw and panel; above the diagonal trust region wins."""
    from experiments import plots

    scales = search.populations(result.settings)
    figure = plots.figure(7.2, 0.2 + 3.0 * len(scales))
    panels = figure.subplots(len(scales), 2, squeeze=False)
    for row, population in zip(panels, scales, strict=True):
        for axes, (measure, label) in zip(row, _MEASURES.items(), strict=True):
            popular = result.of("popularity")[0].points[0][measure]
            axes.axhline(popular, color="grey", linewidth=0.8, linestyle=":", label="popularity")
            axes.axvline(popular, color="grey", linewidth=0.8, linestyle=":")
            search.scatter(
                axes,
                result,
                published_pairs(measure),
                measure=measure,
                margin=1.0,
                name=f"-{measure}",
                others=(popular,),
                population=population,
            )
            scaled = f", {search.scaled_to(population)}" if len(scales) > 1 else ""
            axes.set_title(label + scaled)
            axes.set(xlabel="natural gradient", ylabel="trust region")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.suptitle(result.source.name, fontsize=8)
    return figure


def summarise(result: Result) -> Summary:
    """How often trust region wins, and how far each method's values lie apart."""
    popular = result.of("popularity")[0].points[0]
    shown, equal = measures(result)
    rows = [
        (f"the most popular movies for everybody: {measure}, %", "", f"{popular[measure]:.1f}")
        for measure in shown
    ]
    both = [(n, measure) for n in search.populations(result.settings) for measure in shown]
    for population, measure in both:
        paper = published_pairs(measure)
        what = f", {measure}"
        shared: dict[str, Any] = {"measure": measure, "digits": 1, "population": population}
        rows += search.rows(result, paper, what=what, unit="%", **shared)
        columns = (f"ng_{measure}", f"tr_{measure}")
        sets = search.set_rows(result, 2, "fig3b_circled", columns, **shared)
        rows += [(f"{title}, {measure}, %", *values) for title, *values in sets]
    notes = [
        f"{search.n_draws(result)} draws from the paper's grid were made, the same for both "
        "methods.",
        *search.notes(result.settings),
        *equal,
        result.source.note,
    ]
    if not result.source.same_as_paper:
        notes.append(
            "The ratings differ from the paper's, and so do the levels of the scores: only the "
            "differences can be compared. With few users, all settings can end close to the score "
            "of popularity alone."
        )
    return Summary(rows, notes)


EXPERIMENT = Experiment(
    name="search-ratings",
    title="Figure 3B: random hyperparameters on ratings of movies",
    settings={"quick": _QUICK, "full": _FULL, "paper": _PAPER},
    n_seeds={"quick": 20, "full": 21, "paper": 20},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
    plan_only=search.PLAN_ONLY,
    probe=probes.ranking,
)
