"""Score a corpus part by part, wherever its parts are, and put one report together.

The scores of a document depend on its number in the corpus, not on the part that it is in, and a
report is made of the scores of all documents in their order. So it has the same bits as
`trustream.evaluation.report.report` of the whole, whatever the parts are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from trustream import evaluation, matrices
from trustream.evaluation import cooccurrence, word_lists
from trustream.evaluation.cooccurrence import WindowCounts
from trustream.evaluation.held_out_result import HeldOut
from trustream.evaluation.lower_bound import Bound
from trustream.evaluation.report import (
    COHERENCE,
    DEFAULT_MEASURES,
    HELD_OUT,
    TOPIC_MEASURES,
    Figure,
    Report,
    bound_figures,
    coherence_figure,
    diversity_figure,
    held_out_figures,
    unknown_measure,
)
from trustream.evaluation.topic_coherence import coherence_of_counts


@dataclass(frozen=True, eq=False)
class PartScores:
    """What was found in a part of a corpus.

    Attributes:
        n_rows: its documents.
        n_tokens: their words.
        n_empty: those of them without a word that the model knows.
        held_out: scores of the documents, by measure.
        bound: lower bounds of the documents; None if they were not asked for.
        windows: documents with each pair of a topic's top words; None as well.
    """

    n_rows: int
    n_tokens: float
    n_empty: int
    held_out: dict[str, HeldOut]
    bound: Bound | None
    windows: WindowCounts | None


class PartScorer:
    """Scores parts of a corpus with a fitted topic model.

    Parameters
    ----------
    model : fitted LatentDirichletAllocation
    measures : sequence of str, default=None
        As in `trustream.evaluation.report.report`.
    n_words : int, default=10
        Top words of a topic, for the coherence.
    random_state : int, default=0
        Seed; the same for all parts.
    n_jobs : int, default=None
        Threads; None is all cores. No result depends on it.

    Examples
    --------
    >>> import trustream
    >>> counts = np.array([[4, 2, 0, 0], [0, 0, 3, 3]] * 20)
    >>> lda = trustream.LatentDirichletAllocation(2, random_state=0).fit(counts)
    >>> scorer = PartScorer(lda, ["chib", "npmi"])
    >>> parts = [scorer.score(counts[:7], 0), scorer.score(counts[7:], 7)]
    >>> whole = trustream.evaluation.report.report(lda, counts, measures=["chib", "npmi"])
    >>> joined_report(lda, parts, ["chib", "npmi"]) == whole
    True
    """

    def __init__(
        self,
        model: Any,
        measures: Sequence[str] | None = None,
        *,
        n_words: int = 10,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self._model, self._measures = model, checked_measures(model, measures)
        self._options = {"random_state": random_state, "n_jobs": n_jobs}
        if any(measure in HELD_OUT for measure in self._measures):
            # Once, and not for each part: as large as the model.
            self._topics, self._alpha = model._scored_topics()
        self._lists = None
        if any(measure in COHERENCE for measure in self._measures):
            n_words = min(n_words, model.n_features_in_)
            lists = word_lists.top_words(model.components_, n_words)
            self._lists = [np.array(words) for words in lists]

    def score(self, X: Any, first_document: int) -> PartScores:
        """Return the scores of some documents, the first of which has this number in the corpus."""
        X = self._model._check_fitted_data(matrices.csr(X, summed=True))
        tokens = np.asarray(X.sum(axis=1), np.float64).ravel()
        bound = None
        if "bound" in self._measures:
            bound = (
                self._model.bound(X) if tokens.any() else Bound(np.zeros(tokens.size), tokens, 0)
            )
        windows = None
        if self._lists is not None:
            windows = cooccurrence.in_documents(sparse.csr_array(X), self._lists)
        held_out = {
            measure: self._held_out(measure, X, tokens, first_document)
            for measure in self._measures
            if measure in HELD_OUT
        }
        n_empty = int((tokens == 0).sum())
        return PartScores(tokens.size, float(tokens.sum()), n_empty, held_out, bound, windows)

    def _held_out(self, measure: str, X: Any, tokens: Any, first_document: int) -> HeldOut:
        # A part may well be without what a whole corpus must have, and then has no scores.
        if tokens.max(initial=0) < (2 if measure == "completion" else 1):
            return HeldOut(measure, np.zeros(tokens.size), np.zeros(tokens.size, np.int64), None)
        estimate = getattr(evaluation, measure.replace("-", "_"))
        result: HeldOut = estimate(
            X, self._topics, self._alpha, first_document=first_document, **self._options
        )
        return result


def joined_report(
    model: Any, parts: Sequence[PartScores], measures: Sequence[str] | None = None
) -> Report:
    """Return the report of a corpus from the scores of its parts, in their order.

    Raises
    ------
    ValueError
        If there is nothing to score.
    """
    figures: list[Figure] = []
    n_rows, n_tokens = sum(part.n_rows for part in parts), sum(part.n_tokens for part in parts)
    measures = checked_measures(model, measures)
    if not n_tokens and measures:
        raise ValueError(f"there are {n_rows} documents and no tokens: there is nothing to score")
    for measure in measures:
        if measure in HELD_OUT:
            result = joined_scores([part.held_out[measure] for part in parts])
            if not result.n_tokens.any():
                raise ValueError("no document has two tokens: no half can be hidden")
            figures += held_out_figures(measure, result)
        elif measure == "bound":
            figures += bound_figures(_joined_bound([part.bound for part in parts if part.bound]))
        elif measure in COHERENCE:
            found = [part.windows for part in parts if part.windows]
            by_topic = zip(*(windows.joint for windows in found), strict=True)
            joint = [np.sum(some, axis=0) for some in by_topic]
            counts = WindowCounts(sum(windows.n_windows for windows in found), joint)
            figures.append(coherence_figure(measure, coherence_of_counts(counts, measure)))
        else:
            figures.append(diversity_figure(model))
    n_empty = sum(part.n_empty for part in parts)
    return Report(type(model).__name__, n_rows, int(n_tokens), figures, n_empty)


def joined_scores(parts: Sequence[HeldOut]) -> HeldOut:
    """Return the held-out likelihood of all documents of some parts, in their order.

    >>> one = HeldOut("chib", np.array([-2.0]), np.array([1]), np.array([0.01]))
    >>> joined_scores([one, one]).per_document.tolist()
    [-2.0, -2.0]
    """
    scored = [part for part in parts if part.n_tokens.any()]
    variance = None
    if scored and all(part.variance is not None for part in scored):
        zeros = (np.zeros(part.n_tokens.size) for part in parts)
        known = (part.variance if part.n_tokens.any() else None for part in parts)
        pairs = zip(known, zeros, strict=True)
        variance = np.concatenate([zero if found is None else found for found, zero in pairs])
    return HeldOut(
        scored[0].method if scored else parts[0].method,
        np.concatenate([part.per_document for part in parts]),
        np.concatenate([part.n_tokens for part in parts]),
        variance,
    )


def checked_measures(model: Any, measures: Sequence[str] | None) -> tuple[str, ...]:
    """Return the measures to take of a topic model; a ValueError says what is wrong with them."""
    if not hasattr(model, "_scored_topics"):
        raise ValueError(
            f"{type(model).__name__} is no topic model: parts of a corpus are scored by the topics "
            "of their documents; use trustream.evaluation for other models"
        )
    wanted = tuple(DEFAULT_MEASURES if measures is None else measures)
    for measure in wanted:
        if measure not in TOPIC_MEASURES:
            raise unknown_measure(measure)
    return wanted


def _joined_bound(parts: Sequence[Bound]) -> Bound:
    return Bound(
        np.concatenate([part.per_document for part in parts]),
        np.concatenate([part.n_tokens for part in parts]),
        next((part.topics for part in parts if part.n_tokens.any()), 0.0),
    )
