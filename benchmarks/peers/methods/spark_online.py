"""Spark's online variational Bayes, on this machine alone."""

from __future__ import annotations

import os
import shutil
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.recorder import Recorder, Stopwatch, passes_label

PACKAGE = "pyspark"
ABOUT = 'ml.clustering.LDA(optimizer="online"), which learns alpha; local[2]'
BASE: dict[str, Any] = {
    "subsamplingRate": 0.05,
    "learningOffset": 10.0,
    "learningDecay": 0.51,
    "topicConcentration": 0.05,
}
GRID: dict[str, list[Any]] = {
    "subsamplingRate": [0.05, 0.02],
    "learningOffset": [10.0, 1024.0],
    "learningDecay": [0.51, 0.7],
    "topicConcentration": [0.05, 0.01],
}
EFFORT, REFERENCE = 2.0, "1 pass"
_PASSES = (0.25, 0.5, 1.0, 2.0, 4.0)


def obstacle() -> str | None:
    """Spark runs in Java."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") or (home and shutil.which("java", path=os.path.join(home, "bin"))):
        return None
    return "no Java on this machine"


def run(
    counts: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    effort: float,
    recorder: Recorder,
) -> None:
    """Complete fits of up to `effort` passes; the documents are in its memory before."""
    from pyspark.ml.clustering import LDA
    from pyspark.ml.linalg import SparseVector
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        edges = zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
        rows = [
            (SparseVector(counts.shape[1], counts.indices[a:b], counts.data[a:b].astype(float)),)
            for a, b in edges
        ]
        frame = session.createDataFrame(rows, ["features"]).repartition(2).cache()
        frame.count()
        # Java compiles what runs often: not counted, as elsewhere.
        with Stopwatch() as warm:
            LDA(k=n_topics, maxIter=2, optimizer="online", seed=0, **settings).fit(frame)
        recorder.notes["first_call"] = warm.seconds
        before = () if recorder.only_last else _PASSES
        marks = [mark for mark in before if mark < effort] + [effort]
        for passes in marks:
            steps = max(1, round(passes / settings["subsamplingRate"]))
            lda = LDA(k=n_topics, maxIter=steps, optimizer="online", seed=0, **settings)
            with Stopwatch() as watch:
                model = lda.fit(frame)
            topics = np.asarray(model.topicsMatrix().toArray()).T
            alpha = np.asarray(model.estimatedDocConcentration())
            last = passes == marks[-1] or 2 * watch.seconds > recorder.limit
            recorder.add(passes_label(passes), watch, topics, alpha, last)
            if last:
                break
    finally:
        session.stop()
