"""Score a model on the documents of a corpus, on workers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trustream.cluster.corpora import open_corpus
from trustream.cluster.corpus_parts import CorpusPart
from trustream.cluster.over_parts import Progress, Shared, blocks_of, over_parts
from trustream.cluster.pool import pool_on
from trustream.cluster.transforming import as_fitted
from trustream.cluster.worker import Worker
from trustream.evaluation.report import Report
from trustream.evaluation.scores_in_parts import (
    PartScorer,
    PartScores,
    checked_measures,
    joined_report,
)
from trustream.evaluation.validation import whole_number
from trustream.streaming.fitted_models import FittedModel
from trustream.topics.documents import as_matrix


class Scoring(NamedTuple):
    """How documents are scored, see `PartScorer`."""

    measures: tuple[str, ...]
    n_words: int
    random_state: int


def evaluate(
    model: Any,
    source: str | Path | Sequence[str | Path],
    *,
    measures: Sequence[str] | None = None,
    n_words: int = 10,
    random_state: int = 0,
    cluster: str = "local",
    workers: int | None = None,
    worker_threads: int = 1,
    n_documents: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Report:
    """Score a topic model on the documents of Parquet files or of a store.

    Workers read and score; the report has the bits of `trustream.evaluation.report.report` of the
    same documents in one matrix, whatever the number of workers. This process holds a few numbers
    for each document.

    Parameters
    ----------
    model, source, cluster, workers, worker_threads, n_documents, progress, **options
        As in `trustream.cluster.transform`.
    measures : sequence of str, default=None
        "chib", "left-to-right", "completion", "importance", "bound", "npmi", "umass", "c_v",
        "diversity"; None is chib, completion, bound, npmi and diversity.
    n_words : int, default=10
        Top words of a topic, for the coherence.
    random_state : int, default=0
        Seed; a document's random numbers depend on it and on the number of the document.
    """
    fitted = as_fitted(model)
    wanted = checked_measures(fitted.estimator, measures)
    scoring = Scoring(wanted, n_words, whole_number("random_state", random_state, 0))
    corpus = open_corpus(source, n_documents=n_documents, **options)
    corpus.check(fitted)
    scores: list[PartScores] = []
    with pool_on(cluster, corpus, workers, worker_threads) as pool:
        shared = Shared(pool.put(fitted))
        for some in over_parts(pool, corpus, scored, shared, scoring, progress=progress):
            scores += some
    return joined_report(fitted.estimator, scores, wanted)


def scored(worker: Worker, part: CorpusPart, model: Shared, scoring: Scoring) -> list[PartScores]:
    """Scores of the documents of a part, block by block; called on a worker."""
    fitted: FittedModel = model.get(worker)
    scorer = worker.kept.get(
        ("scorer", model.reference.hex(), scoring),
        lambda: PartScorer(
            fitted.estimator,
            scoring.measures,
            n_words=scoring.n_words,
            random_state=scoring.random_state,
            n_jobs=worker.n_threads,
        ),
    )
    return [
        scorer.score(as_matrix(block.documents.counts), first)
        for first, block in blocks_of(worker, part, model)
    ]
