"""tomotopy's collapsed Gibbs sampling, which learns both priors at intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.recorder import Recorder

PACKAGE = "tomotopy"
ABOUT = "LDAModel, Gibbs sampling; alpha is learned every optim_interval iterations"
BASE: dict[str, Any] = {
    "alpha": 0.1,
    "eta": 0.01,
    "optim_interval": 10,
    "parallel": "DEFAULT",
    "workers": 2,
}
GRID: dict[str, list[Any]] = {
    "eta": [0.01, 0.05, 0.1, 0.2],
    "alpha": [0.1, 0.05, 0.01],
    "optim_interval": [10, 5, 0],
    "parallel": ["DEFAULT", "COPY_MERGE", "PARTITION"],
    "workers": [2, 1],
}
EFFORT, REFERENCE = 200.0, "50 iterations"
_MARKS = (2, 5, 10, 20, 35, 50, 75, 100, 150, 200)


def run(
    counts: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    effort: float,
    recorder: Recorder,
) -> None:
    """`effort` iterations. Handing the documents over is not counted."""
    import tomotopy

    model = tomotopy.LDAModel(
        k=n_topics, alpha=settings["alpha"], eta=settings["eta"], seed=1, tw=tomotopy.TermWeight.ONE
    )
    model.optim_interval = settings["optim_interval"]
    edges = zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    for a, b in edges:
        tokens = np.repeat(counts.indices[a:b], counts.data[a:b])
        if tokens.size:
            model.add_doc([str(word) for word in tokens.tolist()])
    options = {
        "workers": settings["workers"],
        "parallel": getattr(tomotopy.ParallelScheme, settings["parallel"]),
    }
    model.train(0, **options)
    n_iterations = int(effort)
    before = () if recorder.only_last else _MARKS
    marks = [mark for mark in before if mark < n_iterations] + [n_iterations]
    done = 0
    recorder.clock.start()
    for mark in marks:
        # In small pieces, so that the time limit is kept.
        while done < mark and not (recorder.over and done):
            n = min(5, mark - done)
            model.train(n, **options)
            done += n
        last = recorder.over or mark == n_iterations
        recorder.take(f"{done} iterations", *_fitted(model, counts.shape[1]), last=last)
        if last:
            break
    recorder.clock.stop()


def _fitted(model: Any, n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Topics (K, V) with columns in our order; a word that no document has gets the prior."""
    columns = np.array([int(word) for word in model.used_vocabs])
    n_tokens = np.asarray(model.get_count_by_topics(), np.float64)
    total = n_tokens + model.eta * columns.size
    given = np.stack([model.get_topic_word_dist(k) for k in range(model.k)])
    topics = np.repeat((model.eta / total)[:, np.newaxis], n_words, axis=1)
    topics[:, columns] = given
    return topics, np.asarray(model.alpha, np.float64)
