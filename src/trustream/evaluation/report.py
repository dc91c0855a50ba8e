"""Score a fitted model on held-out data by several measures, as one table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from trustream import matrices
from trustream.evaluation.held_out_result import HeldOut
from trustream.evaluation.lower_bound import Bound
from trustream.evaluation.predictive_density import predictive
from trustream.evaluation.topic_coherence import Coherence

HELD_OUT = ("chib", "left-to-right", "completion", "importance")
COHERENCE = ("npmi", "umass", "c_v")
TOPIC_MEASURES = (*HELD_OUT, "bound", *COHERENCE, "diversity")
DEFAULT_MEASURES = ("chib", "completion", "bound", "npmi", "diversity")

# progress(title, total) is a context manager for a function of the amount that is done.
ProgressDisplay = Callable[[str, int | None], AbstractContextManager[Callable[[int], None]]]


@dataclass(frozen=True)
class Figure:
    """One number of a report.

    Attributes:
        name: what it is.
        value: the number.
        standard_error: of the value, None where there is none.
        unit: the unit of the value.
        note: a remark on how to read the value.
    """

    name: str
    value: float
    standard_error: float | None
    unit: str
    note: str = ""


@dataclass(frozen=True)
class Report:
    """Numbers that describe a model on held-out data.

    Attributes:
        model: name of the model's class.
        n_rows: documents or data points.
        n_tokens: words, None for mixtures.
        figures: the numbers.
        n_empty: documents without a word that the model knows, of which it says nothing.
    """

    model: str
    n_rows: int
    n_tokens: int | None
    figures: list[Figure]
    n_empty: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values; infinite numbers and NaN become None.

        >>> Report("M", 1, None, [Figure("x", 1.5, None, "nats")]).to_json()["figures"]
        [{'name': 'x', 'value': 1.5, 'standard_error': None, 'unit': 'nats', 'note': ''}]
        """
        values = asdict(self)
        for figure in values["figures"]:
            for key in ("value", "standard_error"):
                if figure[key] is not None and not np.isfinite(figure[key]):
                    figure[key] = None
        return values


def report(
    model: Any,
    X: Any,
    *,
    measures: Sequence[str] | None = None,
    reference: Any = None,
    n_words: int = 10,
    vocabulary: Sequence[str] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: ProgressDisplay | None = None,
) -> Report:
    """Score a fitted topic model or mixture on held-out data.

    Parameters
    ----------
    model : fitted LatentDirichletAllocation, BernoulliMixture or GaussianMixture
    X : matrix of shape (n_samples, n_features)
        Data that the model has not learned from.
    measures : sequence of str, default=None
        For a topic model, any of "chib", "left-to-right", "completion", "importance", "bound",
        "npmi", "umass", "c_v", "diversity"; None is chib, completion, bound, npmi and diversity.
        A mixture has one measure, its predictive density.
    reference : matrix or texts, default=None
        Reference corpus for the coherence; None is X.
    n_words : int, default=10
        Top words of a topic, for the coherence.
    vocabulary : sequence of str, default=None
        Words by column, for a reference that consists of texts.
    random_state, n_jobs
        Seed of the estimators that use random numbers; number of threads, all cores if None.
    progress : callable, default=None
        progress(title, total) is a context manager for a function of the amount that is done.

    Returns
    -------
    Report

    Examples
    --------
    >>> import trustream
    >>> counts = np.array([[4, 2, 0, 0], [0, 0, 3, 3]] * 20)
    >>> lda = trustream.LatentDirichletAllocation(2, random_state=0).fit(counts)
    >>> for figure in report(lda, counts[:4], measures=["bound", "diversity"]).figures:
    ...     print(figure.name, figure.unit)
    lower bound nats/word
    perplexity of the lower bound words
    topics' term of the lower bound nats in total
    topic diversity share
    """
    show = progress or (lambda title, total: nullcontext(lambda done: None))
    if sparse.issparse(X):
        X = matrices.csr(X, summed=True)
    name = type(model).__name__
    if hasattr(model, "recommend"):
        raise ValueError(f"{name} ranks items: call its evaluate(held_out) with held-out ratings")
    if not hasattr(model, "chib"):
        if measures:
            raise ValueError(
                f"{name} is a mixture: its only measure is the predictive density, not "
                f"{', '.join(measures)}"
            )
        with show("predictive density", None):
            density = predictive(model, X)
        figure = Figure(
            "posterior-predictive log-density",
            density.mean,
            density.standard_error,
            "nats/data point",
            "error over data points",
        )
        return Report(name, density.n_points, None, [figure])
    figures: list[Figure] = []
    for measure in DEFAULT_MEASURES if measures is None else measures:
        if measure in HELD_OUT:
            with show(measure, X.shape[0]) as advance:
                result = _held_out(model, X, measure, random_state, n_jobs, advance)
                figures += held_out_figures(measure, result)
        elif measure == "bound":
            with show("lower bound", None):
                figures += bound_figures(model.bound(X))
        elif measure in COHERENCE:
            with show(measure, None):
                found = model.coherence(
                    X if reference is None else reference,
                    measure,
                    n_words=min(n_words, model.n_features_in_),
                    vocabulary=vocabulary,
                )
                figures.append(coherence_figure(measure, found))
        elif measure == "diversity":
            figures.append(diversity_figure(model))
        else:
            raise unknown_measure(measure)
    n_tokens = float(X.sum())
    if not np.isfinite(n_tokens):
        raise ValueError("X has entries that are NaN or infinite; give counts")
    n_empty = int((np.asarray(X.sum(axis=1)) == 0).sum())
    return Report(name, X.shape[0], int(n_tokens), figures, n_empty)


def _held_out(
    model: Any,
    X: Any,
    measure: str,
    random_state: Any,
    n_jobs: int | None,
    advance: Callable[[int], None],
) -> HeldOut:
    result: HeldOut = getattr(model, measure.replace("-", "_"))(
        X,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=lambda done, total: advance(done),
    )
    return result


def unknown_measure(measure: str) -> ValueError:
    """Return the error that lists what there is."""
    return ValueError(f"measure must be one of {TOPIC_MEASURES}, got {measure!r}")


def held_out_figures(measure: str, result: HeldOut) -> list[Figure]:
    """Return what a report says of a held-out likelihood.

    >>> result = HeldOut("chib", np.array([-2.0]), np.array([1]), None)
    >>> [figure.name for figure in held_out_figures("chib", result)]
    ['log-likelihood, chib', 'perplexity, chib']
    """
    over = result.standard_error_documents
    note = "" if over is None else f"± {over:.4f} over documents"
    name = f"log-likelihood, {measure}"
    return [
        Figure(name, result.per_word, result.standard_error, "nats/word", note),
        Figure(f"perplexity, {measure}", result.perplexity, None, "words"),
    ]


def bound_figures(result: Bound) -> list[Figure]:
    """Return what a report says of a lower bound.

    >>> bound_figures(Bound(np.array([-2.0]), np.array([1.0]), -5.0))[2].value
    -5.0
    """
    return [
        Figure("lower bound", result.per_word, None, "nats/word", "without the topics' term"),
        Figure("perplexity of the lower bound", result.perplexity, None, "words"),
        Figure(
            "topics' term of the lower bound",
            result.topics,
            None,
            "nats in total",
            "the cost of the topics, paid for their training data",
        ),
    ]


def coherence_figure(measure: str, result: Coherence) -> Figure:
    """Return what a report says of the coherence of topics.

    >>> found = Coherence("npmi", np.array([0.1, 0.3]), np.array([0, 1]), 10, None, 50)
    >>> coherence_figure("npmi", found).note
    '10 words per topic, error over topics; 1 top words are not in the reference'
    """
    unseen = int(result.unseen.sum())
    note = f"{result.n_words} words per topic, error over topics"
    if unseen:
        note += f"; {unseen} top words are not in the reference"
    return Figure(f"coherence, {measure}", result.mean, result.standard_error, "", note)


def diversity_figure(model: Any) -> Figure:
    """Return what a report says of the diversity of a topic model's words."""
    words = min(25, model.n_features_in_)
    note = f"of the {words} top words of each topic"
    return Figure("topic diversity", model.diversity(words), None, "share", note)
