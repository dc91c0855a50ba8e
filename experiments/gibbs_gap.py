"""Is `fit` with its defaults as good as a thousand iterations of Gibbs sampling, and how fast?

Beyond the paper. `fit` sets nothing but the number of topics. tomotopy runs its collapsed Gibbs
sampler for a thousand iterations with two workers, once with the priors that it comes with, of
which it learns alpha, and once with those that the grid of `scripts/bench peers` found best. Both
libraries' topics predict the same documents by the same code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from benchmarks.peers import grid
from benchmarks.peers.methods import tomotopy_gibbs
from benchmarks.peers.recorder import Recorder, Stopwatch
from experiments import probes
from experiments.experiment import Experiment, Point, Record, Result, Run, Settings, Summary, Tick
from experiments.gap_lines import CORPORA
from experiments.gap_lines import MEASURES as OF_TEST_DOCUMENTS
from experiments.stream_gap import load, split
from trustream import LatentDirichletAllocation
from trustream.evaluation import chib, coherence, completion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LABELS = {
    "fit": "fit",
    "tomotopy": "tomotopy as it comes",
    "tomotopy-grid": "tomotopy with the priors of the grid",
}
MEASURES = {**OF_TEST_DOCUMENTS, "npmi_all": "NPMI in all documents"}
# Mean number of tokens of a document, which the time of a run depends on.
_TOKENS = {"wiki_en": 422, "wiki_simple": 52, "newsgroups20": 101}
_PAPER: dict[str, Any] = {
    "corpora": list(CORPORA),
    "n_documents": [500, 2000, 5000, 20_000],
    # Number of topics, and the least number of documents that are fitted with it.
    "n_components": {"10": 500, "50": 500, "100": 500, "400": 5000},
    "methods": list(LABELS),
    "n_iterations": 1000,
    "n_test": 1000,
    "chib": {"n_repeats": 3},
}
# Runs are kept, since tomotopy takes hours; 60,000 documents with 100 topics only.
_FULL = {
    **_PAPER,
    "n_documents": [500, 2000, 5000, 20_000, 60_000],
    "most_documents": {"10": 20_000, "50": 20_000, "400": 20_000},
    "methods": ["fit", "tomotopy"],
    "n_chib": 200,
    "chib": {"n_repeats": 2},
}
_QUICK = {
    **_PAPER,
    "corpora": ["wiki_simple"],
    "n_documents": [500],
    "n_components": {"10": 500},
    "n_iterations": 100,
    "n_test": 200,
    "chib": {"n_repeats": 1},
}


class _Last(Recorder):
    """Keeps the last model and what it took."""

    def __init__(self) -> None:
        super().__init__(None, only_last=True)  # type: ignore[arg-type]

    def add(
        self, label: str, watch: Stopwatch, topics: np.ndarray, alpha: Any, last: bool = False
    ) -> None:
        """Scores come later."""
        self.topics, self.alpha = topics, alpha


def series_of(corpus: str, n_documents: int, n_components: int, method: str) -> str:
    """The name of a run without its seed.

    >>> series_of("wiki_en", 500, 10, "fit")
    'wiki_en_N500_K10_fit'
    """
    return f"{corpus}_N{n_documents}_K{n_components}_{method}"


def plan(settings: Settings, n_seeds: int) -> list[Run]:
    """A run for each corpus, size and method, the shortest first."""
    runs = [
        Run(
            series_of(corpus, n, k, method),
            seed,
            {"corpus": corpus, "n_documents": n, "n_components": k, "method": method},
            n / 1000 * _TOKENS[corpus] * (50 + k) / 100 * (0.01 if method == "fit" else 1.0),
        )
        for seed in range(n_seeds)
        for corpus in settings["corpora"]
        for n in settings["n_documents"]
        for k, least in ((int(k), least) for k, least in settings["n_components"].items())
        for method in settings["methods"]
        if least <= n <= settings.get("most_documents", {}).get(str(k), n)
    ]
    # Beside each other, so that they run under the same load.
    of_cell = {
        run.name: (run.cost if run.settings["method"] != "fit" else run.cost * 100) for run in runs
    }
    return sorted(runs, key=lambda run: of_cell[run.name])


def perform(
    data: dict[str, sparse.csr_matrix], run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """One point: scores of documents that were never seen, and times of training."""
    own = run.settings
    sizes = {"n_test": settings["n_test"], "n_documents": own["n_documents"]}
    train, test = split(data[own["corpus"]], run.seed, sizes)
    learn = _fit if own["method"] == "fit" else _sample
    topics, alpha, watch = learn(train, own, settings, run.seed)
    topics = topics / topics.sum(axis=1, keepdims=True)
    alpha = np.broadcast_to(np.asarray(alpha, np.float64), (topics.shape[0],))
    point = {
        "n_documents": train.shape[0],
        "completion": completion(test, topics, alpha, random_state=0).per_word,
        "chib": chib(
            test[: settings.get("n_chib")], topics, alpha, random_state=0, **settings["chib"]
        ).per_word,
        "npmi": coherence(topics, test, "npmi", n_words=10).mean,
        "npmi_all": coherence(topics, data[own["corpus"]], "npmi", n_words=10).mean,
        "seconds": watch.seconds,
        "processor_seconds": watch.cpu,
    }
    return [point], {}


def _fit(
    train: Any, own: Settings, settings: Settings, seed: int
) -> tuple[np.ndarray, Any, Stopwatch]:
    # Compiled before the clock starts, as tomotopy is.
    LatentDirichletAllocation(2, max_iter=1, random_state=0).fit(train[:50])
    model = LatentDirichletAllocation(own["n_components"], random_state=seed)
    with Stopwatch() as watch:
        model.fit(train)
    return model.components_, model.doc_topic_prior_, watch


def _sample(
    train: Any, own: Settings, settings: Settings, seed: int
) -> tuple[np.ndarray, Any, Stopwatch]:
    options = dict(tomotopy_gibbs.BASE)
    if own["method"] == "tomotopy-grid":
        options = grid.settings("tomotopy")
    recorder = _Last()
    tomotopy_gibbs.run(train, own["n_components"], options, settings["n_iterations"], recorder)
    return recorder.topics, recorder.alpha, recorder.clock


def cells(result: Result) -> list[tuple[tuple[str, int, int], dict[str, Record]]]:
    """Corpus, documents and topics of each cell, and its runs of the first seed by method."""
    found: dict[tuple[str, int, int], dict[str, Record]] = {}
    for run in result.runs:
        own = run.settings
        cell = own["corpus"], own["n_documents"], own["n_components"]
        found.setdefault(cell, {}).setdefault(own["method"], run)
    return sorted(found.items())


def draw(result: Result) -> Figure:
    """A panel for each measure: `fit` minus tomotopy, a point for each cell."""
    from experiments import plots

    figure = plots.figure(9.6, 3.0)
    panels = figure.subplots(1, len(MEASURES))
    for axes, (measure, label) in zip(panels, MEASURES.items(), strict=True):
        ticks = set()
        for method, colour in zip(list(LABELS)[1:], plots.CYCLE, strict=False):
            both = [runs for _, runs in cells(result) if {"fit", method} <= runs.keys()]
            if not both:
                continue
            x = np.array([runs["fit"].points[0]["n_documents"] for runs in both])
            y = np.array([_difference(runs, method, measure) for runs in both])
            plots.ours_points(axes, x, y, colour, LABELS[method], f"{measure}-{method}")
            ticks |= set(x.tolist())
        axes.axhline(0.0, color="grey", linewidth=0.8)
        axes.set(title=label.replace(" in ", "\nin "), xscale="log", xlabel="documents")
        axes.set_xticks(sorted(ticks), [f"{n:,}" for n in sorted(ticks)], rotation=45)
        axes.set_xticks([], minor=True)
    panels[0].set_ylabel("fit minus tomotopy")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _difference(runs: dict[str, Record], method: str, measure: str) -> float:
    return float(runs["fit"].points[0][measure] - runs[method].points[0][measure])


def summarise(result: Result) -> Summary:
    """A row for each cell and each way to run tomotopy."""
    rows = []
    for (corpus, n, k), runs in cells(result):
        for method in list(LABELS)[1:]:
            if not {"fit", method} <= runs.keys():
                continue
            ours, theirs = runs["fit"].points[0], runs[method].points[0]
            texts = [
                f"{label} {ours[measure]:.3f} ({_difference(runs, method, measure):+.3f})"
                for measure, label in MEASURES.items()
            ]
            cpu = "processor_seconds"
            times = f"{ours[cpu]:.1f} s of {theirs[cpu]:.1f} s (1/{theirs[cpu] / ours[cpu]:.0f})"
            what = f"{corpus}, {n:,} documents, K = {k}, fit and its lead on {LABELS[method]}"
            rows.append((what, "", "; ".join([*texts, times])))
    settings = result.settings
    of_chib = f" ({settings['n_chib']} documents)" if "n_chib" in settings else ""
    notes = [
        "The question is whether `fit` with its defaults is as good as a sampler that runs long. "
        f"tomotopy makes {settings['n_iterations']:,} iterations with two workers. In brackets "
        "stands how far `fit` is ahead. Scores are nats per word of document completion and of "
        f"Chib's estimate{of_chib}, and the NPMI coherence of 10 top words, of "
        f"{settings['n_test']:,} documents that were never seen; a second NPMI takes the whole "
        "corpus as its reference, in which words are more often seen together. Times are processor "
        "seconds of training, which depend less on what else runs than time by the clock.",
    ]
    return Summary(rows, notes)


EXPERIMENT = Experiment(
    name="gibbs-gap",
    title="`fit` against a long run of Gibbs sampling",
    settings={"quick": _QUICK, "full": _FULL, "paper": _PAPER},
    n_seeds={"quick": 1, "full": 1, "paper": 1},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
    plan_only=frozenset({"corpora", "n_documents", "n_components", "most_documents", "methods"}),
    probe=probes.lda,
    is_foreign=lambda run: run.settings["method"] != "fit",
)
