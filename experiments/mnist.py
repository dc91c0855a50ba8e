"""Figures 2A and 2B: a mixture of Bernoullis on binarised MNIST, trust region and natural gradient.

Uniform priors; a and b start as draws from Gamma(100, 0.01), gamma at 1 (section 4.1). Each inner
iteration of a trust-region step counts as one update.
"""

from __future__ import annotations

import math
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
from trustream.inference.state import State
from trustream.kernels import threads
from trustream.models.mixture import BernoulliModel, BernoulliPrior

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PAPER: dict[str, Any] = {
    "n_components": 40,
    "batch_size": 200,
    "tau": 100.0,
    "kappa": 0.5,
    "n_inner": 2,
    "epochs": {"TR": 10, "NG": 20},
    "n_points": 30,
}
_FILE = ("fig2b_mnist_elbo", "updates", "elbo_nat_per_image")


def load(data: Path, settings: Settings) -> tuple[Any, Source]:
    """Binary digits (N, pixels): the same for all runs."""
    grey, source = images.digits(data)
    return images.binarised(grey, np.random.default_rng(0)), source


def plan(settings: Settings, n_seeds: int) -> list[Run]:
    """Seed after seed, so that few seeds are a whole figure."""
    # An update costs both about the same; looking at the bound costs the same as some of them.
    updates = {
        "TR": settings["n_inner"] * settings["epochs"]["TR"],
        "NG": settings["epochs"]["NG"],
    }
    return [
        Run(series, seed, cost=float(updates[series]))
        for seed in range(n_seeds)
        for series in ("TR", "NG")
    ]


def perform(
    data: Any, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """The bound at chosen updates; seed 0 keeps the expected images too."""
    n, k = len(data), settings["n_components"]
    model = BernoulliModel(
        n_components=k, n_features=data.shape[1], n_threads=threads.available_cores()
    )
    prior = BernoulliPrior(np.ones(k))
    rng = np.random.default_rng(run.seed)
    state = State(model.initial(prior, rng), prior)
    a_step = settings["n_inner"] if run.series == "TR" else 1
    size = settings["batch_size"]
    n_steps = settings["epochs"][run.series] * math.ceil(n / size)

    def point(state: State) -> Point:
        return {
            "updates": a_step * state.n_steps,
            "elbo": mixtures.average_bound(model, state, data, n),
            "n_used": mixtures.n_used(state.lambda_.gamma, n),
        }

    with threads.one_blas_thread():
        steps = mixtures.stochastic(model, state, data, run.series, settings, size, rng)
        points = []
        for now in mixtures.watch(
            state, steps, n_steps, settings["n_points"], lambda share: tick(run.cost * share)
        ):
            points.append(point(now))
        expected = model.expected(now.lambda_, prior)
    return points, {} if run.seed else {"images": _as_text(expected.weights, expected.probs)}


def _as_text(weights: np.ndarray, probs: np.ndarray) -> dict[str, Any]:
    """Grey values in hexadecimal digits, the component with most data first."""
    order = np.argsort(-weights, kind="stable")
    grey = np.round(255 * probs[order]).astype(np.uint8)
    return {"shape": list(grey.shape), "weights": weights[order].tolist(), "hex": grey.data.hex()}


def _as_images(text: dict[str, Any]) -> np.ndarray:
    """(K, side, side), from 0 to 1; pixels beyond the largest square are left out."""
    values = np.frombuffer(bytes.fromhex(text["hex"]), dtype=np.uint8).reshape(text["shape"])
    side = math.isqrt(values.shape[1])
    return values[:, : side * side].reshape(-1, side, side) / 255


def draw(result: Result) -> Figure:
    """Expected images of both (A) beside the bounds, ours and the paper's (B)."""
    from experiments import plots

    figure = plots.figure(7.2, 3.2)
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.15))
    axes = figure.add_subplot(grid[:, 1])
    for row, series in enumerate(("TR", "NG")):
        runs = result.of(series)
        used = runs[0].points[-1]["n_used"]
        title = f"{plots.LABELS[series]}: {used} components used"
        sheet = figure.add_subplot(grid[row, 0])
        plots.picture(sheet, _as_images(runs[0].extra["images"]), title, n_columns=10)
        plots.ours(axes, series, *mixtures.band(runs, "updates", "elbo"))
        x, y = published.curve(_FILE[0], series, *_FILE[1:])
        plots.paper(axes, series, x, y, result.source.same_as_paper)
    last = max(point["updates"] for run in result.runs for point in run.points)
    axes.set(xlim=(0, last), xlabel="updates", ylabel="lower bound [nat/image]")
    lowest, highest = _range([run.points[-1]["elbo"] for run in result.runs])
    axes.set_ylim(lowest, highest)
    n_seeds = len(result.of("TR"))
    axes.set_title(f"{result.source.name}, binarised; {_runs(n_seeds)}")
    axes.legend(loc="lower right")
    return figure


def _runs(n_seeds: int) -> str:
    return f"mean ± 2 SEM of {n_seeds} runs" if n_seeds > 1 else "one run"


def _range(ends: list[float]) -> tuple[float, float]:
    """Limits as in the paper, or wider where the ends of the lines are elsewhere.

    >>> _range([-150.0, -159.0]), _range([-100.0])
    ((-165.0, -145.0), (-165.0, -95.0))
    """
    return min(-165.0, min(ends) - 5), max(-145.0, max(ends) + 5)


def summarise(result: Result) -> Summary:
    """The bounds at the end, and the components that are used."""
    rows = []
    k = result.settings["n_components"]
    said = {"TR": f"all {k}", "NG": "fewer than half"}
    for series, name in (("TR", "trust region"), ("NG", "natural gradient")):
        last = [run.points[-1] for run in result.of(series)]
        updates = last[0]["updates"]
        paper = published.value_at(_FILE[0], series, *_FILE[1:], updates)
        elbos = [point["elbo"] for point in last]
        what = f"{name}, lower bound after {updates:,} updates, nat/image"
        rows.append((what, or_nothing(paper), with_error(elbos, 2)))
        lowest, highest = min(elbos), max(elbos)
        rows.append((f"{name}, lowest and highest", "", f"{lowest:.1f}, {highest:.1f}"))
        used = ", ".join(str(point["n_used"]) for point in last)
        rows.append((f"{name}, components used, of {k}", said[series], used))
    notes = [
        "A component counts as used if it holds at least a tenth of an equal share of the images.",
        "The bound is that of all training images. A trust-region step has "
        f"{result.settings['n_inner']} updates; the blend with uniform beliefs before them is not "
        "counted.",
        _settled(result),
    ]
    return Summary(rows, notes)


def _settled(result: Result) -> str:
    """How often natural gradient has after one pass the components that it ends with."""
    runs = result.of("NG")
    n_settled = 0
    for run in runs:
        a_pass = run.points[-1]["updates"] / result.settings["epochs"]["NG"]
        early = next(point for point in run.points if point["updates"] >= a_pass)
        n_settled += early["n_used"] == run.points[-1]["n_used"]
    return (
        f"In {n_settled} of {len(runs)} runs, natural gradient ends with the same number of "
        "components that it uses shortly after the first pass."
    )


EXPERIMENT = Experiment(
    name="mnist",
    title="Figure 2A and 2B: mixture of Bernoullis on MNIST",
    settings={"quick": _PAPER, "paper": _PAPER},
    # The end of natural-gradient steps depends much on the start: three seeds say little.
    n_seeds={"quick": 6, "paper": 20},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
    probe=probes.bernoullis,
)
