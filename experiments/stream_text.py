"""Figure 4: LDA on articles that arrive word by word.

Streaming SVI with trust-region and natural-gradient steps, the streaming batch algorithm and
streaming VB against the number of articles in the store; and SVI on the whole data, dashed. The
score is the Chib-style estimate for test articles. Streaming VB's eta is chosen on validation
articles.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import articles, probes, stream_lines, streams
from experiments.articles import Articles
from experiments.experiment import Experiment, Point, Result, Run, Settings, Source, Summary, Tick

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SETS = (
    {"n_components": 100, "TR": "wikipedia-4", "NG": "wikipedia-3"},
    {"n_components": 400, "TR": "wikipedia-1", "NG": "wikipedia-2"},
)
_PAPER: dict[str, Any] = {
    "streams": [
        {
            **each,
            "n_articles": None,
            "marks": [1000, 5000, 10_000, 12_000, 15_000, 20_000, 35_000],
        }
        for each in _SETS
    ],
    "n_validation": 1000,
    "n_test": 1000,
    "chib": {},
    "first": 10_000,
    "rate": 0.1,
    "p": 0.5,
    "looks": {"TR": 3.0, "NG": 6.0},
    "batch_documents": 50_000,
    "batch_passes": 100,
    "svb_batch_sizes": [1000, 50_000],
    "svb_pairs": 100,
}
_QUICK = {
    **_PAPER,
    "streams": [
        {**each, "n_articles": n, "marks": marks}
        for each, n, marks in zip(
            _SETS, (6000, 4000), ([1000, 1200, 2000, 4000], [1000, 1200, 2000]), strict=True
        )
    ],
    "n_validation": 100,
    "n_test": 200,
    "chib": {"n_repeats": 3},
    "first": 1000,
    "batch_passes": 25,
    "svb_batch_sizes": [1000],
    "svb_pairs": 5,
}


# All articles, a third of the paper's looks. Trust region and trustream's own stream have five
# seeds, other lines one.
_FULL = {
    **_PAPER,
    "streams": [
        {**_SETS[0], "n_articles": 50_000, "marks": [11_000, 15_000, 25_000]},
        {**_SETS[1], "n_articles": 50_000, "marks": [11_000, 15_000, 25_000], "fewer_seeds": 1},
    ],
    "n_validation": 200,
    "n_test": 300,
    "least_words": 1,
    "chib": {"n_repeats": 2},
    "looks": {"TR": 1.0, "NG": 2.0},
    "passes": {"TR": 1, "NG": 2},
    "batch_passes": 20,
    "svb_batch_sizes": [1000],
    "svb_pairs": 5,
    "product": True,
    "populations": [3_800_000],
    "several_seeds": ["stream_TR", "product_TR"],
}


def load(data: Path, settings: Settings) -> tuple[Articles, Source]:
    """As many articles as the longest stream has."""
    sizes = [stream["n_articles"] for stream in settings["streams"]]
    longest = None if None in sizes else max(sizes)
    parts = longest, settings["n_validation"], settings["n_test"]
    return articles.load(data, *parts, least_words=settings.get("least_words", 10))


def perform(
    data: Articles, run: Run, settings: Settings, tick: Tick
) -> tuple[list[Point], dict[str, Any]]:
    """A point for each mark: nats per word of test articles."""
    counts = data.train[: run.settings["n_articles"]]
    points: list[Point] = []
    seen = None
    for seen in streams.models(counts, run, settings, lambda share: tick(run.cost * share)):
        score = seen.model.chib(data.test, random_state=0, **settings["chib"])
        points.append(
            {
                "n_documents": seen.n_documents,
                "n_words": seen.n_words,
                "n_steps": seen.n_steps,
                "score": score.per_word,
                "standard_error": score.standard_error_documents,
            }
        )
    extra: dict[str, Any] = {}
    if seen is not None and run.settings["kind"] == "svb":
        score = seen.model.chib(data.validation, random_state=0, **settings["chib"])
        extra["validation"] = score.per_word
    return points, extra


def draw(result: Result) -> Figure:
    """A panel for each number of topics."""
    from experiments import plots

    settings = result.settings
    figure = plots.figure(7.4, 3.2)
    panels = figure.subplots(1, len(settings["streams"]), squeeze=False)[0]
    for axes, stream in zip(panels, settings["streams"], strict=True):
        k = stream["n_components"]
        stream_lines.draw(axes, result, k, "score", published(k))
        axes.set(title=f"K = {k}", xlabel="articles in the store", ylabel="nat/word (Chib)")
    figure.legend(*stream_lines.legend(panels), loc="outside right center")
    figure.suptitle(result.source.name, fontsize=8)
    return figure


def published(n_components: int) -> stream_lines.Lines:
    """The paper's lines for as many topics."""
    columns = ("thousand_articles", "loglik_nat_per_word")
    return stream_lines.published_lines("fig4_wikipedia_stream", *columns, topics=n_components)


def summarise(result: Result) -> Summary:
    """Where each line ends, and what trust-region streams lack."""
    settings = result.settings
    rows, notes = [], []
    for stream in settings["streams"]:
        k = stream["n_components"]
        label = f"K = {k}, "
        rows += stream_lines.rows(
            result, k, "score", published(k), label, unit="nat/word", digits=3
        )
        notes += stream_lines.choices(result, k, label)
        size = f"{stream['n_articles']:,}" if stream["n_articles"] else "all"
        notes.append(f"K = {k} uses {size} articles.")
    notes += [
        "The rate of arrival and the number of articles that learning begins with were chosen "
        "after looking at scores of streaming trust region.",
        f"Scores are those of {settings['n_test']:,} test articles (Chib's estimate with "
        f"{settings['chib'].get('n_repeats', 12)} chains per article) at the right end of each "
        "line; the paper's streams end at millions of articles.",
        *stream_lines.how(settings),
        *stream_lines.notes(result),
        result.source.note,
    ]
    return Summary(rows, notes)


EXPERIMENT = Experiment(
    name="stream-text",
    title="Figure 4: streamed articles of Wikipedia",
    settings={"quick": _QUICK, "full": _FULL, "paper": _PAPER},
    n_seeds={"quick": 1, "full": 5, "paper": 3},
    load=load,
    plan=streams.plan,
    perform=perform,
    draw=draw,
    summarise=summarise,
    plan_only=streams.PLAN_ONLY,
    probe=probes.streams,
)
