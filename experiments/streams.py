"""A stream through a store, and the methods of Figures 4 and 5 that follow it.

Words of documents come one at a time (`trustream.streaming.simulator`) into a SQLite store in a
temporary file. They are committed when a method is about to look, since nobody sees them before.

The paper lets time pass between two words and does not say how much. Here work is tied to what
arrives: streaming SVI looks at as many documents for each one that arrives as there are passes
over the whole data, in Figure 3 three with trust-region and six with natural-gradient steps, so
that the stream and the whole data cost the same. The streaming batch algorithm is run at each point
of the figure, on what is there. Streaming VB takes whole documents, as in the paper.

Two kinds of runs are not in the paper: "product" is a trainer with all its defaults (a population,
an average, batches by their words), which looks as often as trust region does; "full" with a
population is a fit to all data with statistics scaled to the paper's N.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.experiment import Run, Settings
from trustream import StreamTrainer, open_store, presets
from trustream.estimators import LatentDirichletAllocation
from trustream.store.protocol import Record
from trustream.streaming.published import as_estimator
from trustream.streaming.simulator import ticks

# Settings that only say which runs there are.
PLAN_ONLY = frozenset(
    {
        "streams",
        "svb_batch_sizes",
        "product",
        "populations",
        "several_seeds",
        "factors",
    }
)
SVI = {"TR": "trust-region", "NG": "natural-gradient"}
# Streaming VB learns alpha but not eta, so the paper ran it for each of these (section 4.3).
ETAS = (0.01, 0.05, 0.1, 0.2, 0.3)


class Seen(NamedTuple):
    """A model, and what was in the store when it had learned so far."""

    n_documents: int
    n_words: int
    n_steps: int
    model: LatentDirichletAllocation


def svi_steps(looks: float, batch_size: int, first: int) -> Callable[[int], int]:
    """Steps due when n documents have arrived, if learning begins after the first ones.

    >>> due = svi_steps(looks=3.0, batch_size=50, first=100)
    >>> due(100), due(150)
    (0, 3)
    """
    return lambda n: max(0, int(looks * (n - first) / batch_size))


def looks_due(looks: float, first: int) -> Callable[[int], int]:
    """Documents to look at until n have arrived, if learning begins after the first ones.

    >>> looks_due(looks=3.0, first=100)(150)
    150
    """
    return lambda n: max(0, int(looks * (n - first)))


def vb_steps(batch_size: int) -> Callable[[int], int]:
    """One step for each full batch.

    >>> vb_steps(1000)(2500)
    2
    """
    return lambda n: n // batch_size


def batch_steps(marks: Sequence[int]) -> Callable[[int], int]:
    """One step for each point of the figure.

    >>> batch_steps([100, 200])(150)
    1
    """
    return lambda n: sum(n >= mark for mark in marks)


def follow(
    counts: Any,
    options: dict[str, Any],
    due: Callable[[int], int],
    *,
    marks: Sequence[int],
    rate: float,
    p: float,
    seed: int,
    whole: bool = False,
    in_documents: bool = False,
    tick: Callable[[float], None] = lambda share: None,
) -> Iterator[Seen]:
    """Feed documents to a store and a trainer; the model at each mark that has had a step.

    Args:
        counts: (documents, words), in the order of arrival.
        options: of `StreamTrainer`.
        due: steps that a trainer should have taken when n documents have arrived, or
            `in_documents` that it should have looked at.
        marks: numbers of documents, rising; the stream ends at the last.
        rate, p, whole: of the simulator.
        seed: of stream and trainer.
        tick: told the share of documents that have arrived.
    """
    words = [f"word-{column}" for column in range(counts.shape[1])]
    stream = ticks(counts, words, rate=rate, p=p, rng=np.random.default_rng(seed), whole=whole)
    left, last = list(marks), marks[-1]
    waiting: dict[str, list[str]] = {}
    arrived: set[str] = set()
    n_words = done = 0
    with (
        tempfile.TemporaryDirectory(prefix="trustream-") as folder,
        open_store(Path(folder) / "stream.db", held_out=0.0, vocabulary=words) as store,
        StreamTrainer(
            store, prefetch=False, score_every=0, random_state=seed, **options
        ) as trainer,
    ):
        steps = trainer.steps(poll=0.0)
        for moment in stream:
            for record in moment.records:
                waiting.setdefault(record.key, []).extend(record.words)
            arrived.update(record.key for record in moment.records)
            n_words += moment.n_revealed
            n_due = due(len(arrived))
            if n_due <= done and len(arrived) < left[0]:
                continue
            store.append(Record(key, shown) for key, shown in waiting.items())
            waiting = {}
            while done < n_due and (info := next(steps)) is not None:
                done += info.step.batch_size if in_documents else 1
            tick(len(arrived) / last)
            if len(arrived) < left[0]:
                continue
            left = [mark for mark in left if mark > len(arrived)]
            checkpoint = trainer.checkpoint()
            if checkpoint is not None:
                model = as_estimator(checkpoint)
                # Columns are ours, and what is scored has no names.
                del model.feature_names_in_
                yield Seen(len(arrived), n_words, trainer.n_steps, model)
            if not left:
                return


def svi_options(method: str, preset: str, n_components: int) -> dict[str, Any]:
    """Of a trainer: the paper's set with the slower decay of its streams.

    >>> svi_options("TR", "wikipedia-4", 100)["learning_decay"]
    0.5
    """
    return presets.trainer(preset, SVI[method], n_components)


def baseline_options(method: str, preset: str, n_components: int, **changed: Any) -> dict[str, Any]:
    """The same priors and local steps for "streaming-vb" and "streaming-batch".

    >>> baseline_options("streaming-vb", "wikipedia-4", 100, batch_size=1000)["doc_topic_prior"]
    0.1
    """
    options = svi_options("TR", preset, n_components)
    return {**options, "inner_iter": None, "method": method, **changed}


def plan(settings: Settings, n_seeds: int) -> list[Run]:
    """The runs for each number of topics; streaming VB has one for each eta and batch size.

    A stream of the settings may say that it has `fewer_seeds`; such streams come last. If
    `several_seeds` lists kinds and methods, others have one seed.
    """
    streams = settings["streams"]
    ordered = [each for each in streams if "fewer_seeds" not in each]
    last = [each for each in streams if "fewer_seeds" in each]
    runs = [
        run for seed in range(n_seeds) for each in ordered for run in _runs(each, seed, settings)
    ]
    for each in last:
        for seed in range(min(each["fewer_seeds"], n_seeds)):
            runs += _runs(each, seed, settings)
    return runs


def _runs(stream: dict[str, Any], seed: int, settings: Settings) -> Iterator[Run]:
    """The runs of a seed, those first that say most."""
    stream = {name: value for name, value in stream.items() if name != "fewer_seeds"}
    kinds = [(kind, method, stream) for method in SVI for kind in ("stream", "full")]
    if settings.get("product"):
        kinds.append(("product", "TR", stream))
    kinds += [
        ("svb", "TR", {**stream, "eta": eta, "batch_size": batch_size})
        for batch_size in settings["svb_batch_sizes"]
        for eta in ETAS
    ]
    kinds.append(("batch", "TR", stream))
    kinds += [
        ("full", method, {**stream, "population": population})
        for population in settings.get("populations", ())
        for method in SVI
    ]
    several = settings.get("several_seeds")
    for kind, method, own in kinds:
        if seed == 0 or several is None or f"{kind}_{method}" in several:
            yield _run(kind, method, own, seed, settings)


def _run(kind: str, method: str, own: dict[str, Any], seed: int, settings: Settings) -> Run:
    cost = _cost(kind, presets.get(own["TR"]), own, settings)
    return Run(series_of(kind, method, own), seed, {"kind": kind, "method": method, **own}, cost)


def _cost(kind: str, preset: presets.Preset, own: Settings, settings: Settings) -> float:
    """Local iterations by what one takes with so many topics, and words into the store."""
    last = own["marks"][-1]
    n = own.get("n_articles") or 1.25 * last
    passes = {
        "full": settings["looks"]["TR"] * preset.n_inner,
        "stream": settings["looks"]["TR"] * preset.n_inner,
        "product": 7 * settings["looks"]["TR"],
        "batch": settings["batch_passes"] * (1 + sum(own["marks"]) / n),
        "svb": settings["svb_pairs"],
    }[kind]
    feeding = {"full": 0.0, "svb": 0.1}.get(kind, 1.0)
    return float(n * (passes * preset.n_local * (own["n_components"] + 200) / 3e5 + feeding) / 1e3)


def series_of(kind: str, method: str, settings: Settings) -> str:
    """The name of a line; those of streaming VB differ by batch size and eta.

    >>> series_of("stream", "TR", {"n_components": 100})
    'stream_TR_K100'
    >>> series_of("svb", "TR", {"n_components": 100, "batch_size": 1000, "eta": 0.1})
    'svb_B1000_K100_eta0.1'
    """
    k = settings["n_components"]
    if settings.get("population"):
        return f"{kind}_{method}_N_K{k}"
    if kind == "product":
        return f"product_K{k}"
    if kind == "svb":
        return f"svb_B{settings['batch_size']}_K{k}_eta{settings['eta']}"
    return f"batch_K{k}" if kind == "batch" else f"{kind}_{method}_K{k}"


def models(
    counts: Any, run: Run, settings: Settings, tick: Callable[[float], None]
) -> Iterator[Seen]:
    """What a run learned, at each point of its line; one model for the whole data."""
    own = run.settings
    kind, method, k = own["kind"], own["method"], own["n_components"]
    preset, n = own[method], counts.shape[0]
    if kind == "full":
        options = presets.estimator(preset, SVI[method])
        options["population"] = own.get("population")
        if "passes" in settings:
            options["max_iter"] = settings["passes"][method]
        yield fitted(counts, options, k, run.seed, tick)
        return
    marks = [mark for mark in own["marks"] if mark < n] + [n]
    shared: dict[str, Any] = {
        "marks": marks,
        "rate": settings["rate"],
        "p": settings["p"],
        "seed": run.seed,
        "whole": kind == "svb",
        "tick": tick,
    }
    if kind == "product":
        due = looks_due(settings["looks"][method], settings["first"])
        yield from follow(counts, {"n_components": k}, due, in_documents=True, **shared)
        return
    if kind == "stream":
        options = svi_options(method, preset, k)
        looks = settings["looks"][method]
        due = svi_steps(looks, options["batch_size"], settings["first"])
    elif kind == "batch":
        size, n_passes = settings["batch_documents"], settings["batch_passes"]
        options = baseline_options(
            "streaming-batch", preset, k, batch_size=size, inner_iter=n_passes, tol=0.0
        )
        due = batch_steps(marks)
    else:
        size, n_pairs = own["batch_size"], settings["svb_pairs"]
        options = baseline_options(
            "streaming-vb",
            preset,
            k,
            batch_size=size,
            inner_iter=n_pairs,
            topic_word_prior=own["eta"],
        )
        due = vb_steps(size)
    yield from follow(counts, options, due, **shared)


def fitted(
    counts: Any,
    options: dict[str, Any],
    n_components: int,
    seed: int,
    tick: Callable[[float], None],
) -> Seen:
    """A model of all data from an ordinary fit."""
    n_steps = options["max_iter"] * -(-counts.shape[0] // options["batch_size"])
    model = LatentDirichletAllocation(
        n_components,
        random_state=seed,
        callback=lambda state, info: tick(info.n_steps / n_steps),
        **options,
    ).fit(counts)
    return Seen(counts.shape[0], int(counts.sum()), model.n_batch_iter_, model)
