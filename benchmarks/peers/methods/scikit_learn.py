"""scikit-learn's online variational Bayes."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn.decomposition import LatentDirichletAllocation

from benchmarks.peers.recorder import Enough, Progress, Recorder

PACKAGE = "scikit-learn"
ABOUT = 'LatentDirichletAllocation(learning_method="online"), fixed priors'
BASE: dict[str, Any] = {
    "batch_size": 128,
    "learning_decay": 0.7,
    "learning_offset": 10.0,
    "doc_topic_prior": 0.01,
    "topic_word_prior": 0.01,
    "max_doc_update_iter": 100,
    "n_jobs": 1,
}
GRID: dict[str, list[Any]] = {
    "batch_size": [128, 256, 1024],
    "learning_decay": [0.7, 0.5],
    "learning_offset": [10.0, 1.0],
    "doc_topic_prior": [0.01, 0.05, 0.1],
    "topic_word_prior": [0.01, 0.1],
    "max_doc_update_iter": [100, 20],
    "n_jobs": [1, 2],
}
EFFORT, REFERENCE = 2.0, "1 pass"


class _Watched(LatentDirichletAllocation):
    """Looks up after each batch; `fit` would also go over all documents at its end."""

    def watch(self, progress: Progress) -> _Watched:
        self.progress = progress
        return self

    def _em_step(self, X: Any, *args: Any, **options: Any) -> None:
        super()._em_step(X, *args, **options)
        self.progress.step(X.shape[0], lambda: (self.components_, self.doc_topic_prior_))


def run(
    counts: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    effort: float,
    recorder: Recorder,
) -> None:
    """`effort` passes."""
    model = _Watched(
        n_topics, learning_method="online", max_iter=10**6, **{"random_state": 0, **settings}
    ).watch(Progress(recorder, counts.shape[0], effort))
    with recorder.clock:
        try:
            model.fit(counts)
        except Enough:
            pass
