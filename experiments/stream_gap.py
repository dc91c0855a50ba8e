"""Is a model that was learned from a stream as good as `fit` on the same documents?

Beyond the paper. Documents arrive in a store, and a trainer with the defaults looks at each of them
five times. Its model is compared with that of `fit` on the documents that are there, at several
sizes of the store and for several corpora. So are those of the other streaming methods, of trust
region without a population (as in the paper), and of a trainer that finds all documents in the
store when it begins. Where words arrive one at a time, as in section 4.3 of the paper, the model is
compared with that of whole documents.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from benchmarks import corpora
from experiments import gap_lines, growing_stores, probes, provenance
from experiments.experiment import (
    Experiment,
    Point,
    Result,
    Run,
    Settings,
    Source,
    Summary,
    Tick,
)
from experiments.gap_lines import CORPORA, METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Times relative to each other, roughly; words that come one at a time take theirs on their way in,
# whatever the number of topics.
_COST = {"batch": 4.0, "quiet": 2.0}
_FEEDING = {"words": 7.5}
_PAPER: dict[str, Any] = {
    "corpora": list(CORPORA),
    "methods": list(METHODS),
    # All documents are always a mark.
    "sizes": [
        {"n_components": 20, "marks": [1000, 5000, 20_000]},
        {"n_components": 100, "marks": [1000, 5000, 20_000]},
        {"n_components": 400, "marks": [5000, 20_000]},
    ],
    "n_documents": None,
    "n_test": 1000,
    "looks": 5,
    "chunk": 100,
    "rate": 0.1,
    "p": 0.5,
    "chib": {"n_repeats": 3},
}
# Runs are kept. What is compared most comes first. Of methods other than the stream and `fit`, runs
# that take very long are left out: with many topics and long articles, and later seeds.
_FULL = {
    **_PAPER,
    "most_cost": 230,
    "methods": ["fit", "stream", "words", "NG", "NG-paper", "TR-paper", "VB", "batch", "quiet"],
    "n_chib": 200,
    "chib": {"n_repeats": 1},
    "n_reference": 20_000,
}
_QUICK = {
    **_PAPER,
    "corpora": ["wiki_simple"],
    "sizes": [{"n_components": 20, "marks": [200]}],
    "n_documents": 800,
    "n_test": 200,
    "chib": {"n_repeats": 1},
}


def load(data: Path, settings: Settings) -> tuple[dict[str, Any], Source]:
    """The counts of each corpus, documents in random order, empty ones left out."""
    names = settings["corpora"]
    paths = [data / CORPORA[name][1] for name in names]
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(
                f"no {path.name} in {data}. Name the directory with --data or TRUSTREAM_DATA."
            )
    found = {}
    for name in names:
        counts = corpora.load(data, name)
        found[name] = counts[np.diff(counts.indptr) > 0]
    labels = ", ".join(CORPORA[name][0] for name in names)
    files = [path.name for path in paths]
    return found, Source(labels, files, provenance.sha256(paths), False)


def plan(settings: Settings, n_seeds: int) -> list[Run]:
    """A run for each corpus, number of topics and method; few seeds are a figure too.

    The stream and `fit` come first, then other methods, where the runs that take least time come
    first, and later seeds later. Where `most_cost` is set, a run of another method is left out if
    its cost is more than that; a second seed counts twice, a third three times.
    """
    runs = [
        Run(
            gap_lines.series_of(corpus, size["n_components"], method),
            seed,
            {"corpus": corpus, "method": method, **size},
            CORPORA[corpus][2] * _relative_cost(method, size["n_components"]),
        )
        for seed in range(n_seeds)
        for corpus in settings["corpora"]
        for size in settings["sizes"]
        for method in settings["methods"]
    ]
    first = settings["methods"][:2]
    others = [run for run in runs if run.settings["method"] not in first]
    most = settings.get("most_cost", float("inf"))
    return [
        *(run for run in runs if run.settings["method"] in first),
        *sorted((run for run in others if _priority(run) <= most), key=_priority),
    ]


def _relative_cost(method: str, n_components: int) -> float:
    learning = (50 + n_components) / 100 * _COST.get(method, 1.0)
    return learning + _FEEDING.get(method, 0.0)


def _priority(run: Run) -> float:
    """Later seeds of a run cost as much and say less."""
    return (1 + run.seed) * run.cost


def split(counts: Any, seed: int, settings: Settings) -> tuple[Any, Any]:
    """Documents to learn from, in the order of arrival, and others to test with.

    >>> train, test = split(np.eye(5), 0, {"n_test": 2, "n_documents": None})
    >>> len(train), len(test)
    (3, 2)
    """
    order, n_test = np.random.default_rng(seed).permutation(counts.shape[0]), settings["n_test"]
    last = settings["n_documents"] and n_test + settings["n_documents"]
    return counts[order[n_test:last]], counts[np.sort(order[:n_test])]


def perform(
    data: dict[str, sparse.csr_matrix], run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """A point for each mark: scores of documents that were never seen, and topics in use."""
    own, seed = run.settings, run.seed
    train, test = split(data[own["corpus"]], seed, settings)
    n, method, k = train.shape[0], own["method"], own["n_components"]
    marks = [mark for mark in own["marks"] if mark < n] + [n]
    if method == "fit":
        models = growing_stores.fitted(train, k, seed, marks)
    elif method == "quiet":
        models = growing_stores.quiet(train, k, seed, marks)
    else:
        if method == "words":
            marks = [n]
            rng = np.random.default_rng(seed)
            rates = {"rate": settings["rate"], "p": settings["p"]}
            arrivals = growing_stores.single_words(train, settings["chunk"], **rates, rng=rng)
        else:
            arrivals = growing_stores.whole_documents(train, marks, settings["chunk"])
        models = growing_stores.followed(
            arrivals,
            train.shape[1],
            k,
            seed,
            marks,
            METHODS[method].options,
            settings["looks"],
            lambda share: tick(run.cost * share),
        )
    points, n_reference = [], settings.get("n_reference")
    reference = test if n_reference is None else data[own["corpus"]][:n_reference]
    for mark, model in models:
        scores = growing_stores.scores(
            model, test, reference, settings.get("n_chib"), settings["chib"]
        )
        points.append({"n_documents": mark, **scores})
        tick(run.cost * mark / n)
    return points, {}


def draw(result: Result) -> Figure:
    """A panel for each corpus: completion against documents, for the stream and for `fit`."""
    from experiments import plots

    there = {run.settings["corpus"] for run in result.runs}
    names = [name for name in result.settings["corpora"] if name in there]
    figure = plots.figure(2.4 * len(names) + 1.6, 2.8)
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for axes, corpus in zip(panels, names, strict=True):
        gap_lines.panel(axes, result, corpus)
    panels[0].set_ylabel("completion [nat/word]")
    handles = {
        label: handle
        for axes in panels
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside right center")
    return figure


def summarise(result: Result) -> Summary:
    """A row for each corpus, number of topics, number of documents and method."""
    settings = result.settings
    rows = [
        row
        for corpus in settings["corpora"]
        for size in settings["sizes"]
        for method in settings["methods"]
        for row in gap_lines.rows(result, corpus, size["n_components"], method)
    ]
    chains = settings["chib"].get("n_repeats", 12)
    of_chib = f"; {settings['n_chib']} documents" if "n_chib" in settings else ""
    n_reference = settings.get("n_reference")
    reference = "these documents" if n_reference is None else f"{n_reference:,} of the corpus"
    notes = [
        "The question is whether a model that was learned from a stream is as good as `fit` on the "
        "same documents. Rows of `fit` have its scores, and other rows have differences of paired "
        "seeds. A topic is counted if it has more than a tenth of an equal share of the words, "
        "even if others are like it.",
        f"Documents arrive in chunks of {settings['chunk']:,}, and {settings['looks']} documents "
        "are looked at for each that arrives; all other settings are the defaults. Word by word, "
        f"{settings['rate']:g} documents become active at each tick on average, and each active "
        f"document shows a word with probability {settings['p']:g}, until all words are out. The "
        "streaming batch algorithm learns anew at each number of documents, and streaming VB looks "
        "at each document once. These two, and rows without a population, learn for the documents "
        "that there are, as in the paper.",
        f"Scores are those of {settings['n_test']:,} documents that were never seen: nats per word "
        f"of document completion and of Chib's estimate (chains per document: {chains}{of_chib}), "
        f"and the NPMI coherence of the 10 top words of each topic in {reference}. Each seed has "
        "its own test documents, the same for all methods: they are part of the error bars in the "
        "figure, and cancel in the differences.",
    ]
    return Summary(rows, notes)


EXPERIMENT = Experiment(
    name="stream-gap",
    title="Streams against `fit` on the same documents",
    settings={"quick": _QUICK, "full": _FULL, "paper": _PAPER},
    n_seeds={"quick": 1, "full": 3, "paper": 3},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
    plan_only=frozenset({"corpora", "sizes", "methods", "most_cost"}),
    probe=probes.streams,
)
