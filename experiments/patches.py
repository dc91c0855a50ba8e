"""Figure 2C: a mixture of Gaussians on image patches; trust region, natural gradient, memoized.

All four start from the same place for the same seed. The prior is normal-inverse-Wishart with the
data's mean and covariance, s = 1 and nu = D + 2 (the paper does not say which it used). Nor does it
say where components start. There are two starts here, each of which weighs as much as a tenth of an
equal share of the data. The wide one, which `trustream` has, gives each component the data's
covariance and a mean drawn from the data's distribution. "points" gives it a patch as its mean and
a tenth of the data's covariance, so that components differ from the first batch on.

Memoized inference updates lambda after every batch from the first one on, as in the paper, whose
curve begins before the end of a pass. `trustream` itself waits for a whole pass, because components
that get nothing from the first batches are lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import images, mixtures, probes, published
from experiments.experiment import (
    Experiment,
    Point,
    Result,
    Run,
    Settings,
    Source,
    Summary,
    Tick,
    or_nothing,
    with_error,
)
from trustream.inference import driver, memoized
from trustream.inference.state import State
from trustream.kernels import threads
from trustream.models.mixture import GaussianModel, GaussianPrior

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAPER: dict[str, Any] = {
    "n_patches": 500_000,
    "side": 8,
    "n_components": 50,
    "batch_size": {"TR": 500, "NG": 500, "MO_B500": 500, "MO_B10k": 10_000},
    "tau": 10.0,
    "kappa": 0.5,
    "n_inner": 5,
    # Where components start, and the weight of that in equal shares of the data.
    "starts": ["wide"],
    "start_share": 0.1,
    "epochs": {"TR": 10, "NG": 20, "MO_B500": 20, "MO_B10k": 20},
    "n_points": 40,
    # Patches for the bound; all of them are the bound itself.
    "n_scored": 500_000,
}
_QUICK = {
    **_PAPER,
    "epochs": {"TR": 1, "NG": 2, "MO_B500": 1, "MO_B10k": 3},
    "n_points": 12,
    "n_scored": 20_000,
}
_FULL = {**_QUICK, "starts": ["points", "wide"], "n_scored": 10_000, "n_points": 10}
# Of a component that starts at a patch, in covariances of the data.
_POINT_SCALE = 0.1
_SERIES = ("TR", "NG", "MO_B500", "MO_B10k")
_NAMES = {"TR": "TR", "NG": "NG", "MO_B500": "MO (500)", "MO_B10k": "MO (10,000)"}
_FILE = ("fig2c_patches_elbo", "epochs", "elbo_nat_per_patch")


def load(data: Path, settings: Settings) -> tuple[Any, Source]:
    """Patches (N, side^2) in random order: the same for all runs."""
    rng = np.random.default_rng(0)
    return images.patches(data, settings["n_patches"], settings["side"], rng)


def plan(settings: Settings, n_seeds: int) -> list[Run]:
    """Seed after seed, so that few seeds are a whole figure."""
    return [
        Run(name_of(series, start), seed, {"method": series, "start": start}, cost)
        for seed in range(n_seeds)
        for start in settings["starts"]
        for series in _SERIES
        for cost in [_cost(series, settings)]
    ]


def name_of(series: str, start: str) -> str:
    """The series of a method that starts somewhere.

    >>> name_of("TR", "wide"), name_of("TR", "points")
    ('TR', 'TR_points')
    """
    return series if start == "wide" else f"{series}_{start}"


def _cost(series: str, settings: Settings) -> float:
    """In passes over the patches; what is done once a batch takes the time of 800 patches.

    Memoized inference looks at a patch twice and has more to do once a batch.
    """
    a_pass = 1 + 800 / settings["batch_size"][series]
    if series.startswith("MO"):
        a_pass = 2 + 2000 / settings["batch_size"][series]
    n_inner = settings["n_inner"] if series == "TR" else 1
    looks = settings["n_points"] * settings["n_scored"] / settings["n_patches"]
    return float(settings["epochs"][series] * n_inner * a_pass + looks)


def perform(
    data: Any, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """The bound at chosen moments, and the most bytes that the method held."""
    n, d = data.shape
    method = run.settings["method"]
    k, size = settings["n_components"], settings["batch_size"][method]
    model = GaussianModel(
        n_components=k,
        n_features=d,
        n_threads=threads.available_cores(),
        start_count=settings["start_share"] * n / k,
    )
    prior = GaussianPrior(
        np.ones(k), data.mean(axis=0), 1.0, np.cov(data, rowvar=False, dtype=np.float64), d + 2.0
    )
    rng = np.random.default_rng(run.seed)
    if run.settings["start"] == "wide":
        state = State(model.initial(prior, rng), prior)
    else:
        chosen = prior.to_y(data[rng.choice(n, k, replace=False)])
        state = State(model.start(prior, chosen, _POINT_SCALE * prior.start_scale), prior)
    n_epochs = settings["epochs"][method]
    n_steps = n_epochs * math.ceil(n / size)
    # Data are in random order, so that the first ones are a sample.
    scored = data[: settings["n_scored"]]
    held = 0

    def point(state: State) -> Point:
        return {
            "epochs": state.n_seen / n,
            "elbo": mixtures.average_bound(model, state, scored, n),
            "n_used": mixtures.n_used(state.lambda_.gamma, n),
        }

    with threads.one_blas_thread():
        if method.startswith("MO"):
            steps = _memoized(model, state, data, size, n_epochs, rng)
        else:
            steps = mixtures.stochastic(model, state, data, method, settings, size, rng)
        points = []
        for now in mixtures.watch(
            state, steps, n_steps, settings["n_points"], lambda share: tick(run.cost * share)
        ):
            points.append(point(now))
            held = max(held, _n_bytes(now))
    return points, {"memory_bytes": held}


def _memoized(
    model: GaussianModel,
    state: State,
    data: Any,
    size: int,
    n_epochs: int,
    rng: np.random.Generator,
) -> Iterator[State]:
    """The state after each visit; in the first pass lambda follows the batches seen so far."""
    batches = list(driver.shuffled(len(data), size, rng))
    state = memoized.init(model, state, len(batches))
    for epoch in range(n_epochs):
        for index, rows in enumerate(batches):
            state, _ = memoized.step(model, state, model.batch(data, rows), index, n_local=1)
            if epoch == 0:
                lambda_ = model.lambda_of_total(state.memory.total, state.prior)
                state = replace(state, lambda_=lambda_)
            yield state


def _n_bytes(state: State) -> int:
    """Of lambda and of what the method keeps beside it."""
    parts = sum(np.asarray(part).nbytes for part in state.lambda_)
    return parts + (memoized.n_bytes(state.memory) if state.memory is not None else 0)


def draw(result: Result) -> Figure:
    """The bounds over passes, ours and the paper's; a panel for each start."""
    from experiments import plots

    starts = result.settings["starts"]
    figure = plots.figure(2.4 + 2.8 * len(starts), 3.4)
    panels = figure.subplots(1, len(starts), squeeze=False, sharey=True)[0]
    for axes, start in zip(panels, starts, strict=True):
        for series in _SERIES:
            runs = result.of(name_of(series, start))
            if runs:
                plots.ours(axes, series, *mixtures.band(runs, "epochs", "elbo"))
            x, y = published.curve(_FILE[0], series, *_FILE[1:])
            plots.paper(axes, series, x, y, result.source.same_as_paper)
        axes.set(xlim=(0, max(result.settings["epochs"].values())), xlabel="passes over the data")
        if len(starts) > 1:
            axes.set_title(_STARTS[start])
    ends = [run.points[-1]["elbo"] for run in result.runs]
    # The range of the paper's lines, and that of ours where they are elsewhere.
    low, high = min(55.0, *ends), max(68.0, *ends)
    panels[0].set(ylim=(low - 3, high + 3), ylabel="lower bound [nat/patch]")
    n_patches = f"{result.settings['n_patches']:,}"
    figure.suptitle(
        f"{result.source.name},\n{n_patches} patches, log intensities with uniform noise",
        fontsize=8,
    )
    panels[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def summarise(result: Result) -> Summary:
    """The bounds at the end, components used, and memory."""
    from experiments.plots import LABELS

    rows, settings = [], result.settings
    for start in settings["starts"]:
        for series in _SERIES:
            runs = result.of(name_of(series, start))
            if not runs:
                continue
            epochs = settings["epochs"][series]
            paper = published.value_at(_FILE[0], series, *_FILE[1:], epochs)
            elbos = [run.points[-1]["elbo"] for run in runs]
            passes = f"{epochs} pass{'es' if epochs > 1 else ''}"
            name = LABELS[series] if start == "wide" else f"{LABELS[series]}, {_STARTS[start]}"
            what = f"{name}, lower bound after {passes}, nat/patch"
            rows.append((what, or_nothing(paper), with_error(elbos)))
            used = ", ".join(str(run.points[-1]["n_used"]) for run in runs)
            rows.append((f"{name}, components used, of {settings['n_components']}", "", used))
            megabytes = max(run.extra["memory_bytes"] for run in runs) / 1e6
            rows.append((f"{name}, parameters and statistics held, MB", "", f"{megabytes:.1f}"))
    scored, n = settings["n_scored"], settings["n_patches"]
    notes = [
        result.source.note,
        *(_order(result, start) for start in settings["starts"]),
        "The paper does not say how components are initialised. The wide start is that of "
        "trustream: random means and the covariance of the data for each component.",
    ]
    if "points" in settings["starts"]:
        notes.append(
            "A start at patches gives each component a random patch as its mean and a tenth of the "
            "covariance of the data. Use neither for data of your own: `GaussianMixture` starts at "
            "round clusters, from which bounds were higher than from both "
            "([notes](notes/performance.md#gaussian-mixtures))."
        )
    if scored < n:
        notes.append(f"The bound is estimated from {scored:,} of the {n:,} patches.")
    if not result.source.same_as_paper:
        notes.append(
            "Other photographs in other units have other bounds: the order of the methods can be "
            "compared with the paper, the numbers cannot."
        )
    return Summary(rows, notes)


_STARTS = {"wide": "wide start", "points": "start at patches"}


def bounds(result: Result, start: str = "wide") -> tuple[dict[str, float], dict[str, float]]:
    """Bounds of the methods after as many passes as all have, ours and the paper's."""
    passes = min(result.settings["epochs"].values())
    ours, paper = {}, {}
    for series in _SERIES:
        paper[series] = published.value_at(_FILE[0], series, *_FILE[1:], passes)
        runs = result.of(name_of(series, start))
        if runs:
            xs, means, _ = mixtures.band(runs, "epochs", "elbo")
            ours[series] = float(np.interp(passes, xs, means))
    return ours, paper


def ordered(bounds: dict[str, float]) -> str:
    """Methods with their bounds, from best to worst.

    >>> ordered({"NG": 59.1, "TR": 64.9})
    'TR 64.9, NG 59.1'
    """
    best_first = sorted(bounds, key=lambda series: -bounds[series])
    return ", ".join(f"{_NAMES[series]} {bounds[series]:.1f}" for series in best_first)


def _order(result: Result, start: str) -> str:
    """The methods from best to worst, ours and the paper's."""
    passes = min(result.settings["epochs"].values())
    ours, paper = (ordered(each) for each in bounds(result, start))
    after = "one pass" if passes == 1 else f"{passes} passes"
    where = "" if result.settings["starts"] == ["wide"] else f" from the {_STARTS[start]}"
    return f"After {after}{where}, from best to worst: {ours}; in the paper {paper}."


EXPERIMENT = Experiment(
    name="patches",
    title="Figure 2C: mixture of Gaussians on image patches",
    settings={"quick": _QUICK, "full": _FULL, "paper": _PAPER},
    n_seeds={"quick": 2, "full": 2, "paper": 5},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
    plan_only=frozenset({"starts"}),
    probe=probes.gaussians,
)
