"""Figure 3A: random hyperparameters for LDA on Wikipedia, trust region against natural gradient.

Each draw from the paper's grid (section 4.3) is used twice: for 3 passes of trust-region steps
with m inner and M local iterations, and for 6 passes of natural-gradient steps with m M / 2 local
iterations, which takes about as long. Both learn the priors and start from the same topics. The
score is that of articles which are used for nothing else.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from experiments import articles, published
from experiments.articles import Articles
from experiments.frame import Experiment, Point, Result, Run, Settings, Source, Summary, Tick
from trustream.estimators import LatentDirichletAllocation
from trustream.presets import Preset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GRID: dict[str, list[Any]] = {
    "batch_size": [10, 50, 100, 500, 1000],
    "kappa": [0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
    "tau": [1.0, 10.0, 100.0, 1000.0, 10000.0],
    "inner_and_local": [(5, 40), (10, 20), (20, 10), (5, 100)],
    "eta": [0.01, 0.05, 0.1, 0.2, 0.3],
    "alpha": [0.01, 0.05, 0.1],
}
# Steps below which a run has hardly begun to learn.
ENOUGH = 200
_MEASURES = {
    "chib": "log-likelihood of validation articles (Chib)",
    "completion": "half of each validation article given the other half (paper: Chib)",
}
METHODS = {"TR": "trust-region", "NG": "natural-gradient"}
_PAPER: dict[str, Any] = {
    "n_components": [100, 200, 400, 800],
    "n_articles": None,
    "n_validation": 5000,
    "n_test": 5000,
    "measure": "chib",
    "measure_options": {},
}
# More articles say more than more chains for each: most of the error is from article to article.
_QUICK = {
    **_PAPER,
    "n_components": [100],
    "n_articles": 5000,
    "n_validation": 300,
    "measure_options": {"n_repeats": 4},
}


def draw_preset(number: int) -> Preset:
    """Draw `number` of the grid; it does not depend on how many there are.

    >>> draw_preset(0) == draw_preset(0) != draw_preset(1)
    True
    """
    rng = np.random.default_rng([3, number])
    values = {name: choices[rng.integers(len(choices))] for name, choices in GRID.items()}
    n_inner, n_local = values.pop("inner_and_local")
    return Preset(n_inner=n_inner, n_local=n_local, **values)


def load(data: Path, settings: Settings) -> tuple[Articles, Source]:
    """Articles to train and to validate on."""
    sizes = (settings[name] for name in ("n_articles", "n_validation", "n_test"))
    return articles.load(data, *sizes)


def plan(settings: Settings, n_draws: int) -> list[Run]:
    """Draw after draw, so that few are a figure too."""
    return [
        Run(f"{series}_K{k}", number, {"n_components": k, **asdict(preset)}, _cost(preset, k))
        for number in range(n_draws)
        for preset in [draw_preset(number)]
        for k in settings["n_components"]
        for series in METHODS
    ]


def _cost(preset: Preset, n_components: int) -> float:
    """Local iterations, which both methods have as many of, and the work of small batches."""
    return n_components * preset.n_inner * preset.n_local * (1 + 20 / preset.batch_size)


def fit(counts: Any, run: Run, tick: Tick) -> LatentDirichletAllocation:
    """LDA with the settings and the method of a run."""
    values = dict(run.settings)
    k = values.pop("n_components")
    preset = Preset(**values)
    options = preset.estimator(METHODS[run.series.partition("_")[0]])
    n_steps = options["max_iter"] * math.ceil(counts.shape[0] / preset.batch_size)
    return LatentDirichletAllocation(
        k,
        random_state=run.seed,
        callback=lambda state, info: tick(run.cost * info.n_steps / n_steps),
        **options,
    ).fit(counts)


def perform(
    data: Articles, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """One point: the score of the validation articles, in nats a word."""
    lda = fit(data.train, run, tick)
    options = settings["measure_options"]
    score = getattr(lda, settings["measure"])(data.validation, random_state=0, **options)
    error = score.standard_error_documents
    point = {"score": score.per_word, "standard_error": error, "n_steps": lda.n_batch_iter_}
    return [point], {}


def pairs(
    result: Result, n_components: int, measure: str = "score"
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of natural-gradient and of trust-region steps, draw by draw."""
    ng, tr = (result.of(f"{series}_K{n_components}") for series in ("NG", "TR"))
    scores = np.array([[run.points[0][measure] for run in runs] for runs in (ng, tr)])
    return scores[0], scores[1]


def published_pairs(n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """The paper's, for as many topics.

    >>> len(published_pairs(100)[0]) > 20
    True
    """
    columns = published.table("fig3a_wikipedia_search")
    chosen = published.numbers(columns["topics"]) == n_components
    ng, tr = (
        published.numbers(columns[f"{method}_loglik_nat_per_word"])[chosen]
        for method in ("ng", "tr")
    )
    return ng, tr


def draw(result: Result) -> Figure:
    """A point a draw; above the diagonal trust region wins."""
    from experiments import plots

    figure = plots.figure(4.6, 3.4)
    axes = figure.add_subplot()
    ends = []
    for k, colour in zip(result.settings["n_components"], plots.CYCLE, strict=False):
        ng, tr = pairs(result, k)
        ends += [*ng, *tr]
        plots.ours_points(axes, ng, tr, colour, f"K = {k}, ours", f"K{k}")
        ng, tr = published_pairs(k)
        ends += [*ng, *tr]
        plots.paper_points(axes, ng, tr, colour, f"K = {k}, paper", f"K{k}")
    low, high = min(ends) - 0.05, max(ends) + 0.05
    axes.plot([low, high], [low, high], color="grey", linewidth=0.8, zorder=0)
    axes.set(
        xlim=(low, high),
        ylim=(low, high),
        aspect="equal",
        xlabel="natural gradient [nat/word]",
        ylabel="trust region [nat/word]",
    )
    axes.set_title(f"{result.source.name},\n{_MEASURES[result.settings['measure']]}")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def summarise(result: Result) -> Summary:
    """How often trust region wins, and how far each method's scores lie apart."""
    rows = []
    for k in result.settings["n_components"]:
        both = {"paper": published_pairs(k), "ours": pairs(result, k)}
        wins = {who: wins_of(*scores) for who, scores in both.items()}
        rows.append((f"K = {k}, pairs in which trust region wins", wins["paper"], wins["ours"]))
        many = many_steps(result, k)
        ng, tr = both["ours"]
        what = f"K = {k}, the same among draws with {ENOUGH} trust-region steps or more"
        rows.append((what, "", wins_of(ng[many], tr[many])))
        for index, name in ((1, "trust region"), (0, "natural gradient")):
            texts = {who: spread(scores[index]) for who, scores in both.items()}
            what = f"K = {k}, {name}: best, median, worst, nat/word"
            rows.append((what, texts["paper"], texts["ours"]))
    settings = result.settings
    n_draws = len(result.seeds)
    measure = {
        "chib": "the Chib-style estimate of the log-likelihood, as in the paper",
        "completion": "half of an article's words given the other half, not the paper's "
        "Chib-style estimate, so that only differences can be compared",
    }[settings["measure"]]
    notes = [
        f"{n_draws} draws from the paper's grid, the same for both methods; scores are those of "
        f"{settings['n_validation']:,} validation articles: {measure}.",
        "The grid is made for millions of articles. Here large batches leave few steps, half as "
        "many to trust region as to natural gradient, and a large tau makes them small.",
        result.source.note,
    ]
    return Summary(rows, notes)


def wins_of(ng: ArrayLike, tr: ArrayLike) -> str:
    """How many pairs, of how many; nothing if there are none.

    >>> wins_of([1.0, 2.0], [2.0, 2.0]), wins_of([], [])
    ('1 of 2', '')
    """
    won = np.asarray(tr) > np.asarray(ng)
    return f"{won.sum()} of {won.size}" if won.size else ""


def spread(scores: ArrayLike, digits: int = 3) -> str:
    """Best, median and worst; nothing if there are none.

    >>> spread([-3.0, -1.0, -2.5]), spread([])
    ('-1.000, -2.500, -3.000', '')
    """
    if not np.size(scores):
        return ""
    worst, median, best = np.quantile(np.asarray(scores), [0.0, 0.5, 1.0])
    return ", ".join(f"{value:.{digits}f}" for value in (best, median, worst))


def many_steps(result: Result, n_components: int) -> np.ndarray:
    """Which draws leave trust region enough steps for their kind to matter."""
    runs = result.of(f"TR_K{n_components}")
    return np.array([run.points[0]["n_steps"] >= ENOUGH for run in runs])


EXPERIMENT = Experiment(
    name="search-text",
    title="Figure 3A: random hyperparameters on Wikipedia",
    settings={"quick": _QUICK, "paper": _PAPER},
    n_seeds={"quick": 20, "paper": 20},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
)
