"""Figure 3A: random hyperparameters for LDA on Wikipedia, trust region against natural gradient.

What is drawn, and how both methods use it, is in `search`. The score is that of articles which are
used for nothing else.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import articles, probes, search
from experiments.articles import Articles
from experiments.experiment import Experiment, Point, Result, Run, Settings, Source, Summary, Tick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MEASURES = {
    "chib": "log-likelihood of validation articles (Chib)",
    "completion": "half of each validation article given the other half (paper: Chib)",
}
_PAPER: dict[str, Any] = {
    "n_components": [100, 200, 400, 800],
    "n_articles": None,
    "n_validation": 5000,
    "n_test": 5000,
    "measure": "chib",
    "measure_options": {},
}
# More articles say more than more chains for each: most of the error is from article to article.
# 4 chains instead of 12 lowered the estimate by 0.002 nats per word for the one model looked at.
_QUICK = {
    **_PAPER,
    "n_components": [100],
    "n_articles": 5000,
    "n_validation": 300,
    "measure_options": {"n_repeats": 4},
}

# As many articles as the paper has, for statistics scaled to its N.
PAPER_N = 3_800_000
# All articles, a third of the paper's passes: a run takes about a minute of one core. Five hundred
# articles are enough to see who wins, since both methods are scored on the same.
_FULL = {
    **_PAPER,
    "n_components": [100, 400],
    "fewer_draws": {"400": 2},
    "populations": [None, PAPER_N],
    "n_articles": 50_000,
    "least_words": 1,
    "n_validation": 500,
    "n_test": 1000,
    "measure_options": {"n_repeats": 2},
    "passes": {"TR": 1, "NG": 2},
}

published_pairs = partial(search.published_pairs, "fig3a_wikipedia_search", "loglik_nat_per_word")


def load(data: Path, settings: Settings) -> tuple[Articles, Source]:
    """Articles to train and to validate on."""
    sizes = (settings[name] for name in ("n_articles", "n_validation", "n_test"))
    return articles.load(data, *sizes, least_words=settings.get("least_words", 10))


def perform(
    data: Articles, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """One point: the score of the validation articles, in nats per word."""
    lda = search.fit(data.train, run, settings, tick)
    options = settings["measure_options"]
    score = getattr(lda, settings["measure"])(data.validation, random_state=0, **options)
    error = score.standard_error_documents
    point = {"score": score.per_word, "standard_error": error, "n_steps": lda.n_batch_iter_}
    return [point], {}


def draw(result: Result) -> Figure:
    """A point a draw; above the diagonal trust region wins."""
    from experiments import plots

    scales = search.populations(result.settings)
    figure = plots.figure(1.4 + 3.2 * len(scales), 3.4)
    panels = figure.subplots(1, len(scales), squeeze=False)[0]
    for axes, population in zip(panels, scales, strict=True):
        search.scatter(
            axes, result, published_pairs, measure="score", margin=0.05, population=population
        )
        axes.set(xlabel="natural gradient [nat/word]", ylabel="trust region [nat/word]")
        if len(scales) > 1:
            axes.set_title(f"statistics scaled to {search.scaled_to(population)}")
    figure.suptitle(f"{result.source.name},\n{_MEASURES[result.settings['measure']]}", fontsize=8)
    panels[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def summarise(result: Result) -> Summary:
    """How often trust region wins, and how far each method's scores lie apart."""
    settings, rows = result.settings, []
    columns = ("ng_loglik_nat_per_word", "tr_loglik_nat_per_word")
    for population in search.populations(settings):
        shared: dict[str, Any] = {"measure": "score", "digits": 3, "population": population}
        rows += search.rows(result, published_pairs, unit="nat/word", **shared)
        rows += search.set_rows(result, 1, "fig3a_circled", columns, **shared)
    measure = {
        "chib": "the Chib-style estimate of the log-likelihood, as in the paper",
        "completion": "half of an article's words given the other half, not the paper's "
        "Chib-style estimate, so that only differences can be compared",
    }[settings["measure"]]
    errors = [run.points[0]["standard_error"] for run in result.runs]
    notes = [
        f"{search.n_draws(result)} draws from the paper's grid were made, the same for both "
        f"methods. Scores are those of {settings['n_validation']:,} validation articles: "
        f"{measure}. Their standard error is {max(errors):.3f} or less; most of it comes from the "
        "choice of articles, which is the same for all runs.",
        *search.notes(settings),
        "The grid was made for millions of articles. Here large batches leave few steps, half as "
        "many for trust region as for natural gradient, and a large tau makes these steps small. "
        "In such draws both methods are still close to the random start at the end, and natural "
        "gradient has moved further from it because it takes twice as many steps. (The thresholds "
        "in the table were chosen after looking at the results.) With as many passes as natural "
        "gradient, trust region gained 0.003 to 0.04 nats in five such draws, and won one of them.",
        result.source.note,
    ]
    return Summary(rows, notes)


EXPERIMENT = Experiment(
    name="search-text",
    title="Figure 3A: random hyperparameters on Wikipedia",
    settings={"quick": _QUICK, "full": _FULL, "paper": _PAPER},
    n_seeds={"quick": 20, "full": 26, "paper": 20},
    load=load,
    plan=partial(search.plan, table="wikipedia"),
    perform=perform,
    draw=draw,
    summarise=summarise,
    plan_only=search.PLAN_ONLY,
    probe=probes.lda,
)
