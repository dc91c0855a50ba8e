"""Figure 5: LDA on users who arrive in the order in which they first rated.

A like is a word: each user's come one at a time. Besides the lines of `stream_text` there are those
of other factorisations on the whole data: our Poisson factorisation (PF), cornac's hierarchical
Poisson and probabilistic matrix factorisation, scikit-learn's non-negative one, and the most
popular movies for everybody. Their
numbers of factors and streaming VB's eta are chosen on validation users by recall.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import probes, ratings, search_ratings, stream_lines, streams
from experiments.experiment import Experiment, Point, Result, Run, Settings, Source, Summary, Tick
from experiments.ratings import Likes
from trustream.evaluation import ranking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# By line: the function of `benchmarks.recommend.methods`, and the package that it needs.
_PEERS = {
    "PF": ("poisson", "trustream"),
    "HPF": ("hierarchical_poisson", "cornac"),
    "PMF": ("probabilistic", "cornac"),
    "NMF": ("non_negative", "sklearn"),
}
_MEASURES = {"recall": "recall at 20 [%]", "precision": "normalised precision at 20 [%]"}
_STREAM = {"n_components": 100, "TR": "netflix-2", "NG": "netflix-3"}
_PAPER: dict[str, Any] = {
    "streams": [
        {**_STREAM, "marks": [240, 300, 400, 700, 1200, 2200, 3200, 10_000, 30_000, 100_000]}
    ],
    "n_validation": 10_000,
    "n_test": 10_000,
    "list_length": 20,
    "first": 200,
    "rate": 5.0,
    "p": 0.5,
    "looks": {"TR": 3.0, "NG": 6.0},
    "batch_documents": 50_000,
    "batch_passes": 100,
    "svb_batch_sizes": [1000],
    "svb_pairs": 100,
    # 50 factors take HPF minutes.
    "factors": {
        "PF": [10, 20, 50],
        "HPF": [10, 20],
        "PMF": [10, 20, 50],
        "NMF": [10, 20, 50],
    },
}
_QUICK = {
    **_PAPER,
    "streams": [{**_STREAM, "marks": [240, 400, 1000, 2000, 3000]}],
    "batch_passes": 50,
    "svb_pairs": 30,
    "factors": {"PF": [10, 20], "HPF": [10], "PMF": [10, 20], "NMF": [10, 20]},
}


# The part of the likes in which every user and every movie has ten, which is closest to Netflix.
_FULL = {
    **_QUICK,
    "core": 10,
    "streams": [{**_STREAM, "marks": [240, 300, 400, 600, 800]}],
    "batch_passes": 100,
    # There are fewer users than the paper's streaming VB has in a batch.
    "svb_batch_sizes": [100],
    "svb_pairs": 100,
    "product": True,
    "populations": [480_189],
    "factors": {"PF": [10, 20], "HPF": [10], "PMF": [10, 20], "NMF": [10, 20]},
}


def load(data: Path, settings: Settings) -> tuple[Likes, Source]:
    """Likes, and users to validate and to test with."""
    sizes = settings["n_validation"], settings["n_test"]
    return ratings.load(data, *sizes, core=settings.get("core"))


def plan(settings: Settings, n_seeds: int) -> list[Run]:
    """The lines of the streams, and the others whose packages are there."""
    k = settings["streams"][0]["n_components"]
    runs = [Run(f"popularity_K{k}", 0, {"kind": "popularity"}, 0.1)]
    for seed in range(n_seeds):
        for name, factors in settings["factors"].items():
            if not available(name):
                continue
            for n in factors:
                own = {"kind": "peer", "name": name, "factors": n}
                runs.append(Run(f"{name}_K{k}_f{n}", seed, own, 0.5 * n))
    return runs + streams.plan(settings, n_seeds)


def available(name: str) -> bool:
    """Whether the package of a peer is installed.

    >>> available("NMF")
    True
    """
    return importlib.util.find_spec(_PEERS[name][1]) is not None


def perform(
    data: Likes, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """A point for each mark: recall and normalised precision of the test users, in percent."""
    found: list[tuple[int, Point, Any, Any]] = []
    if run.settings["kind"] in ("popularity", "peer"):
        users, items = _factors(data, run)
        found.append((data.train.shape[0], {}, users, items))
    else:
        for seen in streams.models(data.train, run, settings, lambda x: tick(run.cost * x)):
            facts = {"n_words": seen.n_words, "n_steps": seen.n_steps}
            topics = seen.model.components_ / seen.model.components_.sum(axis=1, keepdims=True)
            found.append((seen.n_documents, facts, seen.model.transform(data.train), topics))
    points: list[Point] = []
    extra: dict[str, Any] = {}
    for n, facts, users, items in found:
        measured = _measure(data, data.test, (users, items), settings)
        points.append({"n_documents": n, **facts, **measured})
        extra["validation"] = _measure(data, data.validation, (users, items), settings)["recall"]
    return points, extra


def _factors(data: Likes, run: Run) -> tuple[Any, Any]:
    """Users' and movies' factors of a method that learns no topics."""
    if run.settings["kind"] == "popularity":
        return np.ones((data.train.shape[0], 1)), data.train.sum(axis=0, dtype=np.float64)[None]
    from benchmarks.recommend import methods

    method = getattr(methods, _PEERS[run.settings["name"]][0])
    users, items = method(data.train, run.seed, run.settings["factors"])
    return users, items


def _measure(data: Likes, users: Any, factors: tuple[Any, Any], settings: Settings) -> Point:
    chosen = (factors[0][users], factors[1])
    seen, length = data.train[users], settings["list_length"]
    found = ranking(chosen, data.held_out[users], seen=seen, m=length)
    return {
        "recall": 100 * found.recall.mean,
        "precision": 100 * found.normalised_precision.mean,
    }


def draw(result: Result) -> Figure:
    """A panel for each measure."""
    from experiments import plots

    k = result.settings["streams"][0]["n_components"]
    figure = plots.figure(7.4, 3.2)
    panels = figure.subplots(1, 2)
    for axes, (measure, label) in zip(panels, _MEASURES.items(), strict=True):
        stream_lines.draw(axes, result, k, measure, published(measure))
        axes.set(title=label, xlabel="users in the store")
    figure.legend(*stream_lines.legend(panels), loc="outside right center")
    figure.suptitle(f"{result.source.name}, K = {k}", fontsize=8)
    return figure


def published(measure: str) -> stream_lines.Lines:
    """The paper's lines of a panel."""
    columns = ("thousand_users", f"{measure}_pct")
    return stream_lines.published_lines("fig5_netflix_stream", *columns)


def summarise(result: Result) -> Summary:
    """Where each line ends, and what trust-region streams lack."""
    settings = result.settings
    k = settings["streams"][0]["n_components"]
    rows = []
    shown, equal = search_ratings.measures(result)
    for measure in shown:
        paper = published(measure)
        rows += stream_lines.rows(result, k, measure, paper, f"{measure}, ", unit="%", digits=1)
    n_users = max(run.points[-1]["n_documents"] for run in result.runs if run.points)
    notes = [
        f"There are {n_users:,} users and {k} topics. Values are those of the test users at the "
        "right end of each line.",
        *stream_lines.choices(result, k, ""),
        *stream_lines.how(settings),
        *stream_lines.notes(result),
        *equal,
        result.source.note,
    ]
    there = {run.settings.get("name") for run in result.runs}
    missing = [name for name in settings["factors"] if name not in there]
    if missing:
        notes.append(f"Left out, since cornac is not installed: {' and '.join(missing)}.")
    if not result.source.same_as_paper:
        notes.append(
            "The ratings differ from the paper's, and so do the levels of the scores: only the "
            "order of the lines can be compared."
        )
    return Summary(rows, notes)


EXPERIMENT = Experiment(
    name="stream-ratings",
    title="Figure 5: streamed users who rate movies",
    settings={"quick": _QUICK, "full": _FULL, "paper": _PAPER},
    n_seeds={"quick": 2, "full": 5, "paper": 5},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
    plan_only=streams.PLAN_ONLY,
    probe=probes.streams,
)
