"""Time to the same score as Spark's online LDA, on the same two cores in the same run.

Both learn from the same articles and are scored by document completion on the same held-out ones.
Spark's time begins with the documents in its memory and its code compiled; that of a fit on Ray
includes the start of its workers, which then read Parquet files.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from functools import partial

import scipy.sparse as sp

from benchmarks import corpora
from benchmarks.cluster.kept import keep
from benchmarks.harness.rows import Row, Setup, information
from benchmarks.peers import curves
from benchmarks.peers.methods import spark_online
from benchmarks.peers.recorder import Recorder, Scorer
from trustream import LatentDirichletAllocation
from trustream.cluster import connected, fit, write_counts

FILES = ("wiki_en.npz",)
_PARTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)


def measure(setup: Setup) -> Iterator[Row]:
    """Seconds of Spark over ours, to Spark's best score."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise FileNotFoundError("Spark is not here: pip install -e '.[spark]'") from None
    obstacle = spark_online.obstacle()
    if obstacle is not None:
        raise FileNotFoundError(obstacle)
    n_documents, n_topics = setup.choose(5_000, 500), setup.choose(100, 10)
    counts = sp.csr_matrix(corpora.wiki(setup.data, "wiki_en"))
    scorer = Scorer(counts[n_documents : n_documents + 1_000], 0, setup.n_threads)
    spark = Recorder(scorer, limit=setup.choose(60, 10), name="spark")
    spark_online.run(counts[:n_documents], n_topics, spark_online.BASE, 1.0, _without_chib(spark))
    ours = _curve(setup, counts[:n_documents], n_topics, scorer)
    theirs = [(point.seconds, point.completion) for point in spark.points]
    best = max(score for _, score in theirs)
    reached, taken = curves.time_to(ours, best), curves.time_to(theirs, best)
    details = {"ours": ours, "spark": theirs, "score": best}
    if not setup.quick:
        size = {"n_documents": n_documents, "n_topics": n_topics}
        keep("spark", {**details, **size, "seconds": reached and reached.whole})
    name = f"to Spark's best score, {n_documents:,} articles, K = {n_topics}"
    if reached is None or taken is None:
        yield Row(f"{name}: not reached", None, "", "x", None, details)
        return
    yield information(f"{name}: Spark over two workers", taken.seconds / reached.whole,
                      "x", **details)  # fmt: skip
    yield information(f"{name}: seconds of the cluster", reached.whole, "s")
    yield information(f"{name}: seconds of Spark", taken.seconds, "s")


def _without_chib(recorder: Recorder) -> Recorder:
    """Only completion is compared, and Chib's estimator takes longer than the fits."""
    recorder.scorer.chib = partial(float, "nan")  # type: ignore[method-assign]
    scored = recorder.scorer.chib
    recorder.scorer.chib = lambda *_: scored()  # type: ignore[method-assign]
    return recorder


def _curve(
    setup: Setup, counts: sp.csr_matrix, n_topics: int, scorer: Scorer
) -> list[tuple[float, float]]:
    """(seconds, score) of complete fits on Ray, on growing parts of the articles."""
    found = []
    with tempfile.TemporaryDirectory() as folder, connected("local", n_cpus=3):
        for part in _PARTS:
            path = f"{folder}/{part}.parquet"
            write_counts(path, counts[: round(part * counts.shape[0])], group_size=500)
            lda = LatentDirichletAllocation(n_topics, random_state=0, max_iter=1)
            start = time.perf_counter()
            fit(lda, path, workers=2)
            seconds = time.perf_counter() - start
            topics = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
            found.append((seconds, scorer.completion(topics, lda.doc_topic_prior_)))
    return found
