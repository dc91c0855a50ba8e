"""How much do hyperparameters matter? The paper's claim in one number, next to other libraries.

The same draws from the paper's grid for trust-region and natural-gradient steps here, and for the
online LDA of scikit-learn and of gensim. Those two make natural-gradient steps, so they get the
same passes, learning rate, batches and most local iterations as ours, and their own rules for
ending a local step sooner. They keep the priors of the draw: scikit-learn cannot learn them, and
gensim would not start from those given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments import search, search_text
from experiments.articles import Articles
from experiments.experiment import Experiment, Point, Result, Run, Settings, Summary, Tick
from experiments.search_text import load
from trustream.evaluation import completion
from trustream.presets import Preset

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SERIES = {
    "TR": "trust region",
    "NG": "natural gradient",
    "sklearn": "scikit-learn",
    "gensim": "gensim",
}
# Times of the same draw relative to each other, roughly.
_COST = {"TR": 1.0, "NG": 1.0, "sklearn": 8.0, "gensim": 5.0}
_PAPER: dict[str, Any] = {
    "n_components": 100,
    "n_articles": 20_000,
    "n_validation": 5000,
    "n_test": 5000,
    "measure": "completion",
    "measure_options": {},
}
_QUICK = {**_PAPER, "n_components": 50, "n_articles": 1000, "n_validation": 500}


def plan(settings: Settings, n_draws: int) -> list[Run]:
    """Draw after draw, all methods with each."""
    return [
        Run(series, number, search.settings_of(preset, settings["n_components"]), cost)
        for number in range(n_draws)
        for preset in [search.draw_preset(number)]
        for series, cost in _COST.items()
    ]


def perform(
    data: Articles, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """One point: the score of the validation articles, in nats per word."""
    if run.series in search.METHODS:
        return search_text.perform(data, run, settings, tick)
    k, preset = search.preset_of(run)
    fit = _fit_sklearn if run.series == "sklearn" else _fit_gensim
    topics = fit(data.train, k, preset, run.seed)
    topics = topics / topics.sum(axis=1, keepdims=True)
    score = completion(data.validation, topics, preset.alpha, random_state=0)
    return [{"score": score.per_word, "standard_error": score.standard_error_documents}], {}


def _fit_sklearn(counts: Any, n_components: int, preset: Preset, seed: int) -> np.ndarray:
    """lambda (K, words) of scikit-learn's online LDA."""
    from sklearn.decomposition import LatentDirichletAllocation

    options = preset.estimator("natural-gradient")
    names = ("doc_topic_prior", "topic_word_prior", "learning_decay", "learning_offset")
    shared = {name: options[name] for name in (*names, "batch_size", "max_iter")}
    lda = LatentDirichletAllocation(
        n_components,
        learning_method="online",
        max_doc_update_iter=options["max_doc_update_iter"],
        random_state=seed,
        **shared,
    )
    return np.asarray(lda.fit(counts).components_)


def _fit_gensim(counts: Any, n_components: int, preset: Preset, seed: int) -> np.ndarray:
    """Topics (K, words) of gensim."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    options = preset.estimator("natural-gradient")
    n_words = counts.shape[1]
    lda = LdaModel(
        # A list, or each pass would convert the matrix again.
        list(Sparse2Corpus(counts, documents_columns=False)),
        id2word={i: str(i) for i in range(n_words)},
        num_topics=n_components,
        chunksize=preset.batch_size,
        passes=options["max_iter"],
        decay=preset.kappa,
        offset=preset.tau,
        iterations=options["max_doc_update_iter"],
        alpha=[preset.alpha] * n_components,
        eta=preset.eta,
        eval_every=None,
        random_state=seed,
        dtype=np.float64,
    )
    return np.asarray(lda.get_topics())


def scores(result: Result, series: str) -> np.ndarray:
    """Draw by draw."""
    return np.array([run.points[0]["score"] for run in result.of(series)])


def draw(result: Result) -> Figure:
    """A dot a draw, a line at the median, for each method."""
    from experiments import plots

    figure = plots.figure(4.2, 3.0)
    axes = figure.add_subplot()
    for place, (series, colour) in enumerate(zip(SERIES, plots.CYCLE, strict=True)):
        values = scores(result, series)
        # Side by side in the order of the draws, so that none hides another.
        x = place + np.linspace(-0.25, 0.25, len(values))
        plots.ours_points(axes, x, values, colour, SERIES[series], series)
        axes.hlines(np.median(values), place - 0.35, place + 0.35, color=colour, linewidth=1.5)
    axes.set_xticks(range(len(SERIES)), list(SERIES.values()))
    axes.set_ylabel("held-out half of articles [nat/word]")
    n_draws = result.n_seeds
    axes.set_title(f"{n_draws} random settings each, {result.settings['n_articles']:,} articles")
    return figure


def summarise(result: Result) -> Summary:
    """Median and worst of each method."""
    found = {series: scores(result, series) for series in SERIES}
    many = search.many_steps(result.of("TR"))
    rows = []
    for series, name in SERIES.items():
        rows.append((f"{name}: best, median, worst, nat/word", "", search.spread(found[series])))
    for series, name in SERIES.items():
        what = f"{name}, draws with {search.ENOUGH} trust-region steps or more"
        rows.append((what, "", search.spread(found[series][many])))
    settings = result.settings
    notes = [
        f"The paper has no such table. {result.n_seeds} draws from its grid were made, the same "
        f"for all methods, with {settings['n_components']} topics and "
        f"{settings['n_articles']:,} articles. Scores are the log-likelihood of half of the words "
        f"of {settings['n_validation']:,} validation articles given the other half.",
        _times(result),
        "scikit-learn and gensim keep the priors that were drawn; trustream learns them.",
    ]
    return Summary(rows, notes)


def _times(result: Result) -> str:
    """Why there are not more articles."""
    seconds = {
        name: np.median([run.seconds for run in result.of(series)])
        for series, name in SERIES.items()
    }
    texts = ", ".join(f"{name} {value:.1f} s" for name, value in seconds.items())
    return (
        f"The time of a run limits the number of articles. Its medians over the draws are: {texts}."
    )


EXPERIMENT = Experiment(
    name="robustness",
    title="Robustness: random settings, compared with other libraries",
    settings={"quick": _QUICK, "paper": _PAPER},
    n_seeds={"quick": 20, "paper": 20},
    load=load,
    plan=plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
)
