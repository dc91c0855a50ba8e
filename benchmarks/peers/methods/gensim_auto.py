"""gensim's online variational Bayes that learns both priors; it has one process."""

from __future__ import annotations

import multiprocessing
from typing import Any

import scipy.sparse as sp

from benchmarks.peers.recorder import Enough, Progress, Recorder

PACKAGE = "gensim"
ABOUT = 'LdaModel(alpha="auto", eta="auto"), which runs in one process'
BASE: dict[str, Any] = {
    "chunksize": 2000,
    "decay": 0.5,
    "offset": 1.0,
    "iterations": 50,
    "gamma_threshold": 0.001,
}
GRID: dict[str, list[Any]] = {
    "chunksize": [2000, 1000, 256, 100],
    "decay": [0.5, 0.7],
    "offset": [1.0, 10.0],
    "iterations": [50, 20, 100],
}
EFFORT, REFERENCE = 2.0, "1 pass"
FIXED: dict[str, Any] = {"alpha": "auto", "eta": "auto"}


def run(
    counts: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    effort: float,
    recorder: Recorder,
) -> None:
    """`effort` passes."""
    from gensim.models import LdaModel

    train(LdaModel, counts, n_topics, {**FIXED, **settings}, effort, recorder)


def train(
    base: Any,
    counts: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    effort: float,
    recorder: Recorder,
) -> None:
    """One of gensim's two classes, looked at after each update of the topics."""
    progress = Progress(recorder, counts.shape[0], effort)

    class Watched(base):  # type: ignore[misc]
        def do_mstep(self, rho: float, other: Any, *args: Any, **options: Any) -> None:
            n_documents = other.numdocs
            super().do_mstep(rho, other, *args, **options)
            progress.step(n_documents, lambda: (self.state.get_lambda(), self.alpha))

    # Plain lists are what its documentation feeds it with, and quicker for it than a matrix.
    corpus = bags(counts)
    words = dict.fromkeys(range(counts.shape[1]), "")
    before = set(multiprocessing.active_children())
    with recorder.clock:
        try:
            Watched(
                corpus,
                num_topics=n_topics,
                id2word=words,
                passes=int(effort) + 1,
                eval_every=None,
                random_state=0,
                **settings,
            )
        except Enough:
            pass
    # Workers that were cut short would go on with what they were given.
    for worker in set(multiprocessing.active_children()) - before:
        worker.terminate()
        worker.join()


def bags(counts: sp.csr_matrix) -> list[list[tuple[int, int]]]:
    """Documents as pairs of word and count."""
    edges = zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    return [
        list(zip(counts.indices[a:b].tolist(), counts.data[a:b].tolist(), strict=True))
        for a, b in edges
    ]
