"""Random hyperparameters for LDA (section 4.3): what the experiments that draw them share.

Each draw from the paper's grid is used twice: for 3 passes of trust-region steps with m inner and
M local iterations, and for 6 passes of natural-gradient steps with m M / 2 local iterations, which
takes about as long. Both learn the priors and start from the same topics. Where `populations` of
the settings has a number besides None, each draw is used twice more, with statistics scaled to so
many documents instead of those that there are: the paper's N.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from experiments import published
from experiments.experiment import Record, Result, Run, Settings, Tick
from trustream import presets
from trustream.estimators import LatentDirichletAllocation
from trustream.presets import Preset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
# Sum of learning rates below which the random start still weighs a seventh, exp(-2), or more.
MOVED = 2
# Which sets of Tables 1 and 2 the paper used with how many topics (the circles of Figure 3).
SETS = {
    "wikipedia": {100: (3, 4, 5, 6), 400: (1, 2)},
    "netflix": {100: (1, 2, 3)},
}
# Settings that only say which runs there are.
PLAN_ONLY = frozenset({"n_components", "fewer_draws", "populations"})
METHODS = {"TR": "trust-region", "NG": "natural-gradient"}

# Natural gradient, trust region: a value a draw.
Pairs = tuple[np.ndarray, np.ndarray]


def draw_preset(number: int) -> Preset:
    """Draw `number` of the grid; it does not depend on how many there are.

    >>> draw_preset(0) == draw_preset(0) != draw_preset(1)
    True
    """
    rng = np.random.default_rng([3, number])
    values = {name: choices[rng.integers(len(choices))] for name, choices in GRID.items()}
    n_inner, n_local = values.pop("inner_and_local")
    return Preset(n_inner=n_inner, n_local=n_local, **values)


def settings_of(preset: Preset, n_components: int, population: int | None = None) -> dict[str, Any]:
    """Of a run."""
    chosen = {} if population is None else {"population": population}
    return {"n_components": n_components, **asdict(preset), **chosen}


def preset_of(run: Run) -> tuple[int, Preset]:
    """The number of topics and the preset of a run's settings.

    >>> preset_of(Run("TR", 0, settings_of(draw_preset(7), 20))) == (20, draw_preset(7))
    True
    """
    values = {name: v for name, v in run.settings.items() if name != "population"}
    return values.pop("n_components"), Preset(**values)


def plan(settings: Settings, n_draws: int, table: str) -> list[Run]:
    """Draw after draw with all populations and both methods, so that few are a figure too.

    The sets of the paper's table come after the draws of their number of topics. Numbers of topics
    in `fewer_draws` have so many draws and no sets (those of 400 topics are a part of Figure 4),
    and come last.

    >>> [run.name for run in plan({"n_components": [400]}, 1, "wikipedia")][:4]
    ['TR_K400-0', 'NG_K400-0', 'TR_K400_set-1', 'NG_K400_set-1']
    """
    fewer = {int(k): n for k, n in settings.get("fewer_draws", {}).items()}
    several = [k for k in settings["n_components"] if k not in fewer]
    numbered = [
        (f"K{k}", number, k, draw_preset(number)) for number in range(n_draws) for k in several
    ]
    numbered += [named for k in several for named in _sets(table, k)]
    for k, n in fewer.items():
        numbered += [(f"K{k}", number, k, draw_preset(number)) for number in range(n)]
    return [
        Run(
            f"{series}_{name}{suffix(population)}",
            number,
            settings_of(preset, k, population),
            _cost(preset, k),
        )
        for name, number, k, preset in numbered
        for population in populations(settings)
        for series in METHODS
    ]


def _sets(table: str, n_components: int) -> list[tuple[str, int, int, Preset]]:
    """The sets of the paper's table for so many topics."""
    return [
        (f"K{n_components}_set", number, n_components, presets.get(f"{table}-{number}"))
        for number in SETS[table].get(n_components, ())
    ]


def populations(settings: Settings) -> list[int | None]:
    """To how many documents statistics are scaled; None is those that there are."""
    return list(settings.get("populations", [None]))


def suffix(population: int | None) -> str:
    """Of the names of series.

    >>> suffix(None), suffix(3_800_000)
    ('', '_N3800000')
    """
    return "" if population is None else f"_N{population}"


def scaled_to(population: int | None) -> str:
    """For people.

    >>> scaled_to(None), scaled_to(3_800_000)
    ('true N', 'N = 3,800,000')
    """
    return "true N" if population is None else f"N = {population:,}"


def _cost(preset: Preset, n_components: int) -> float:
    """Local iterations, which both methods have as many of, and the work of small batches."""
    return n_components * preset.n_inner * preset.n_local * (1 + 20 / preset.batch_size)


def fit(counts: Any, run: Run, settings: Settings, tick: Tick) -> LatentDirichletAllocation:
    """LDA with the settings and the method of a run, and other passes if `passes` says so."""
    k, preset = preset_of(run)
    method = run.series.partition("_")[0]
    options = preset.estimator(METHODS[method])
    options["population"] = run.settings.get("population")
    if "passes" in settings:
        options["max_iter"] = settings["passes"][method]
    n_steps = options["max_iter"] * math.ceil(counts.shape[0] / preset.batch_size)
    return LatentDirichletAllocation(
        k,
        random_state=run.seed,
        callback=lambda state, info: tick(run.cost * info.n_steps / n_steps),
        **options,
    ).fit(counts)


def pairs(result: Result, n_components: int, measure: str = "score", of: str = "") -> Pairs:
    """Scores of natural-gradient and of trust-region steps, draw by draw.

    Args:
        of: what the names of series end with: "_set" for the sets of the paper's table, then
            `suffix` of the population.
    """
    ng, tr = paired(result, n_components, of)
    scores = [np.array([run.points[0][measure] for run in runs]) for runs in (ng, tr)]
    return scores[0], scores[1]


def paired(result: Result, n_components: int, of: str = "") -> tuple[list[Record], list[Record]]:
    """Runs of natural gradient and of trust region, of draws that both have done."""
    ng, tr = (
        {run.seed: run for run in result.of(f"{series}_K{n_components}{of}")}
        for series in ("NG", "TR")
    )
    both = sorted(ng.keys() & tr.keys())
    return [ng[seed] for seed in both], [tr[seed] for seed in both]


def n_draws(result: Result) -> int:
    """Random draws, without the sets of the paper's table."""
    return len(paired(result, result.settings["n_components"][0])[0])


def published_pairs(file: str, column: str, n_components: int) -> Pairs:
    """The paper's, for as many topics; columns are `ng_` and `tr_` and `column`.

    >>> len(published_pairs("fig3b_netflix_recall", "recall_pct", 100)[0])
    21
    """
    columns = published.table(file)
    chosen = published.numbers(columns["topics"]) == n_components
    ng, tr = (published.numbers(columns[f"{method}_{column}"])[chosen] for method in ("ng", "tr"))
    return ng, tr


def scatter(
    axes: Axes,
    result: Result,
    paper: Callable[[int], Pairs],
    *,
    measure: str,
    margin: float,
    name: str = "",
    others: tuple[float, ...] = (),
    population: int | None = None,
) -> None:
    """A point a draw, ours and the paper's; above the diagonal trust region wins.

    Args:
        paper: the paper's pairs for a number of topics.
        margin: room around the points and `others`, in the measure's unit.
        name: what the clouds' names end with.
    """
    from experiments import plots

    ends, of = [*others], suffix(population)
    for k, colour in zip(result.settings["n_components"], plots.CYCLE, strict=False):
        for who, draw, (ng, tr) in (
            ("ours", plots.ours_points, pairs(result, k, measure, of)),
            ("paper", plots.paper_points, paper(k)),
        ):
            draw(axes, ng, tr, colour, f"K = {k}, {who}", f"K{k}{name}")
            ends += [*ng, *tr]
        ng, tr = pairs(result, k, measure, f"_set{of}")
        ends += [*ng, *tr]
        axes.plot(ng, tr, "o", color=colour, markersize=4)
        for x, y, run in zip(ng, tr, paired(result, k, f"_set{of}")[1], strict=True):
            plots.circled(axes, x, y, str(run.seed))
    if any(name.endswith(f"_set{of}") for name in {run.series for run in result.runs}):
        plots.ring(axes, [], [], label="sets of the paper's table, ours")
    low, high = min(ends) - margin, max(ends) + margin
    axes.plot([low, high], [low, high], color="grey", linewidth=0.8, zorder=0)
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")


def rows(
    result: Result,
    paper: Callable[[int], Pairs],
    *,
    measure: str,
    what: str = "",
    unit: str,
    digits: int,
    population: int | None = None,
) -> list[tuple[str, str, str]]:
    """How often trust region wins, and how far each method's values lie apart."""
    found, of = [], suffix(population)
    for k in result.settings["n_components"]:
        title = f"K = {k}{'' if population is None else ', ' + scaled_to(population)}{what}"
        both = {"paper": paper(k), "ours": pairs(result, k, measure, of)}
        if not both["ours"][0].size:
            continue
        wins = {who: wins_of(*values) for who, values in both.items()}
        found.append(
            (f"{title}: pairs in which trust region wins", wins["paper"], wins["ours"]),
        )
        runs = paired(result, k, of)[1]
        many = many_steps(runs)
        ng, tr = both["ours"]
        found.append(
            (
                f"{title}: the same with {ENOUGH} trust-region steps or more",
                "",
                wins_of(ng[many], tr[many]),
            )
        )
        moved = np.array([rate_sum(run) >= MOVED for run in runs], dtype=bool)
        heading = f"{title}: the same where the rates of its steps sum to {MOVED} or more"
        found.append((heading, "", wins_of(ng[moved], tr[moved])))
        texts = {who: gains(*values, digits) for who, values in both.items()}
        heading = f"{title}: trust region minus natural gradient: mean, worst, best, {unit}"
        found.append((heading, texts["paper"], texts["ours"]))
        for index, name in ((1, "trust region"), (0, "natural gradient")):
            texts = {who: spread(values[index], digits) for who, values in both.items()}
            heading = f"{title}, {name}: best, median, worst, {unit}"
            found.append((heading, texts["paper"], texts["ours"]))
    return found


def set_rows(
    result: Result,
    table: int,
    file: str,
    columns: tuple[str, str],
    *,
    measure: str,
    digits: int,
    population: int | None = None,
) -> list[tuple[str, str, str]]:
    """The sets of Table 1 or 2: natural gradient, then trust region.

    Args:
        file, columns: with the paper's values for them, columns in the same order.
    """
    published_ = published.table(file)
    found = []
    of = f"_set{suffix(population)}"
    scaled = "" if population is None else f", {scaled_to(population)}"
    for k in result.settings["n_components"]:
        ng, tr = pairs(result, k, measure, of)
        for run, *ours in zip(paired(result, k, of)[1], ng, tr, strict=True):
            row = published_["set"].index(str(run.seed))
            paper = [float(published_[column][row]) for column in columns]
            what = f"Table {table}, set {run.seed}, K = {k}{scaled}: natural gradient, trust region"
            texts = (", ".join(f"{v:.{digits}f}" for v in values) for values in (paper, ours))
            found.append((what, *texts))
    return found


def notes(settings: Settings) -> list[str]:
    """What a reader has to know about populations and passes."""
    found = []
    scaled = [n for n in populations(settings) if n is not None]
    if scaled:
        found.append(
            "Each draw was used twice: with statistics scaled to the documents that there are "
            f"(true N), and to N = {scaled[0]:,} as in the paper, so that a batch weighs beside "
            "the prior what it weighs there. Rows that name no N have the true one."
        )
    if "passes" in settings:
        found.append(
            f"Trust region makes {settings['passes']['TR']} and natural gradient "
            f"{settings['passes']['NG']} passes (paper: 3 and 6), so that a run takes a minute of "
            "one core."
        )
    return found


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


def gains(ng: ArrayLike, tr: ArrayLike, digits: int = 3) -> str:
    """Mean, lowest and highest of the differences; nothing if there are none.

    >>> gains([1.0, 2.0], [2.0, 2.5], 1)
    '0.8, 0.5, 1.0'
    """
    gain = np.asarray(tr) - np.asarray(ng)
    if not gain.size:
        return ""
    return ", ".join(f"{v:.{digits}f}" for v in (gain.mean(), gain.min(), gain.max()))


def many_steps(runs: list[Any]) -> np.ndarray:
    """Which draws leave trust region, whose runs these are, enough steps to learn."""
    return np.array([run.points[0]["n_steps"] >= ENOUGH for run in runs], dtype=bool)


def rate_sum(run: Any) -> float:
    """sum_t rho_t of a run: exp(-that) is about what is left of the start.

    >>> from experiments.experiment import Record
    >>> run = Record("TR_K9", 0, {"tau": 1.0, "kappa": 1.0}, [{"n_steps": 2}], 0.0)
    >>> round(rate_sum(run), 4)
    0.8333
    """
    steps = np.arange(1, run.points[0]["n_steps"] + 1)
    return float(((run.settings["tau"] + steps) ** -run.settings["kappa"]).sum())
