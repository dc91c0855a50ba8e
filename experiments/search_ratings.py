"""Figure 3B: random hyperparameters for LDA on movies that users like.

The same draws and passes as in `search_text`. A list of 20 movies is predicted for each validation
user from four fifths of the user's likes, and compared with the rest (section 4.4).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import published, ratings, search_text
from experiments.frame import Experiment, Point, Result, Run, Settings, Source, Summary, Tick
from experiments.ratings import Likes
from experiments.search_text import ENOUGH, fit, many_steps, pairs, spread, wins_of
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
_MEASURES = {"recall": "recall at 20 [%]", "precision": "normalised precision at 20 [%]"}


def load(data: Path, settings: Settings) -> tuple[Likes, Source]:
    """Likes, and users to validate on."""
    return ratings.load(data, settings["n_validation"], settings["n_test"])


def plan(settings: Settings, n_draws: int) -> list[Run]:
    """The most popular movies for everybody, then draw after draw."""
    return [Run("popularity", 0), *search_text.plan(settings, n_draws)]


def perform(
    data: Likes, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """One point: recall and normalised precision of the validation users, in percent."""
    users = data.validation
    if run.series == "popularity":
        scores = (np.ones((len(users), 1)), data.train.sum(axis=0)[None, :])
        return [_point(data, users, scores, settings)], {}
    lda = fit(data.train, run, tick)
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


def published_pairs(n_components: int, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """The paper's natural-gradient and trust-region values in percent, for as many topics.

    >>> len(published_pairs(100, "recall")[0]) > 20
    True
    """
    columns = published.table(f"fig3b_netflix_{measure}")
    chosen = published.numbers(columns["topics"]) == n_components
    ng, tr = (published.numbers(columns[f"{m}_{measure}_pct"])[chosen] for m in ("ng", "tr"))
    return ng, tr


def draw(result: Result) -> Figure:
    """A point a draw and panel; above the diagonal trust region wins."""
    from experiments import plots

    figure = plots.figure(7.2, 3.2)
    panels = figure.subplots(1, 2)
    for axes, (measure, label) in zip(panels, _MEASURES.items(), strict=True):
        popular = result.of("popularity")[0].points[0][measure]
        ends = [popular]
        for k, colour in zip(result.settings["n_components"], plots.CYCLE, strict=False):
            name = f"K{k}-{measure}"
            ng, tr = pairs(result, k, measure)
            plots.ours_points(axes, ng, tr, colour, f"K = {k}, ours", name)
            ends += [*ng, *tr]
            ng, tr = published_pairs(k, measure)
            plots.paper_points(axes, ng, tr, colour, f"K = {k}, paper", name)
            ends += [*ng, *tr]
        axes.axhline(popular, color="grey", linewidth=0.8, linestyle=":", label="popularity")
        axes.axvline(popular, color="grey", linewidth=0.8, linestyle=":")
        low, high = min(ends) - 1, max(ends) + 1
        axes.plot([low, high], [low, high], color="grey", linewidth=0.8, zorder=0)
        axes.set(xlim=(low, high), ylim=(low, high), aspect="equal", title=label)
        axes.set(xlabel="natural gradient", ylabel="trust region")
    panels[0].legend(loc="upper left")
    figure.suptitle(result.source.name, fontsize=8)
    return figure


def summarise(result: Result) -> Summary:
    """How often trust region wins, and how far each method's values lie apart."""
    popular = result.of("popularity")[0].points[0]
    rows = [
        (f"the most popular movies for everybody: {measure}, %", "", f"{popular[measure]:.1f}")
        for measure in _MEASURES
    ]
    for k in result.settings["n_components"]:
        many = many_steps(result, k)
        for measure in _MEASURES:
            both = {"paper": published_pairs(k, measure), "ours": pairs(result, k, measure)}
            wins = {who: wins_of(*values) for who, values in both.items()}
            what = f"K = {k}, {measure}: pairs in which trust region wins"
            rows.append((what, wins["paper"], wins["ours"]))
            ng, tr = both["ours"]
            what = f"K = {k}, {measure}: the same with {ENOUGH} trust-region steps or more"
            rows.append((what, "", wins_of(ng[many], tr[many])))
            for index, name in ((1, "trust region"), (0, "natural gradient")):
                texts = {who: spread(values[index], 1) for who, values in both.items()}
                what = f"K = {k}, {measure}, {name}: best, median, worst, %"
                rows.append((what, texts["paper"], texts["ours"]))
    notes = [
        f"{len(result.seeds)} draws from the paper's grid, the same for both methods.",
        result.source.note,
    ]
    if not result.source.same_as_paper:
        notes.append(
            "Other ratings, other levels: only the differences can be compared. Where users are "
            "few, all settings can end close to what popularity alone gives."
        )
    return Summary(rows, notes)


EXPERIMENT = Experiment(
    name="search-ratings",
    title="Figure 3B: random hyperparameters on ratings of movies",
    settings={"quick": _QUICK, "paper": _PAPER},
    n_seeds={"quick": 20, "paper": 20},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
)
