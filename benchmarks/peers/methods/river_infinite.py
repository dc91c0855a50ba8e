"""river's online LDA with an infinite vocabulary, one document at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.recorder import Recorder

PACKAGE = "river"
ABOUT = (
    "preprocessing.LDA: plain Python, uses the words of a document without their counts, and "
    "processes a few documents per second; no grid"
)
BASE: dict[str, Any] = {"alpha_theta": 0.1, "alpha_beta": 100.0, "tau": 64.0, "kappa": 0.75}
GRID: dict[str, list[Any]] = {}
EFFORT, REFERENCE = 1.0, "1 pass"
# It would take hours for a pass.
LIMIT = 45.0
_FIRST = 8


def run(
    counts: sp.csr_matrix,
    n_topics: int,
    settings: dict[str, Any],
    effort: float,
    recorder: Recorder,
) -> None:
    """As many documents as the time allows, a point whenever their number has doubled."""
    from river.preprocessing import LDA

    model = LDA(
        n_components=n_topics,
        number_of_documents=counts.shape[0],
        maximum_size_vocabulary=counts.shape[1] + 2,
        seed=0,
        **settings,
    )
    recorder.limit = min(recorder.limit, LIMIT)
    mark = _FIRST
    n_documents = counts.shape[0]
    recorder.clock.start()
    for d in range(n_documents):
        words = counts.indices[counts.indptr[d] : counts.indptr[d + 1]].tolist()
        if words:
            model.learn_one(dict.fromkeys(words, 1))
        last = recorder.over or d + 1 == n_documents
        if d + 1 == mark or last:
            label = "1 pass" if d + 1 == n_documents else f"{d + 1} documents"
            topics = _topics(model, counts.shape[1])
            recorder.take(label, topics, settings["alpha_theta"], last=last)
            mark *= 2
        if last:
            break
    recorder.clock.stop()


def _topics(model: Any, n_words: int) -> np.ndarray:
    """E[beta] (K, V) of its sticks: E[v_i] prod_(j<i) (1 - E[v_j]), v ~ Beta(nu_1, nu_2).

    What is left of a stick is shared by the words that have not come yet.
    """
    topics = np.zeros((model.n_components, n_words))
    columns = np.array(list(model.word_to_index))
    places = np.array(list(model.word_to_index.values()))
    for k in range(model.n_components):
        broken = model.nu_1[k] / (model.nu_1[k] + model.nu_2[k])
        left = np.concatenate([[1.0], np.cumprod(1 - broken)])
        topics[k, columns] = (broken * left[:-1])[places]
    unseen = np.setdiff1d(np.arange(n_words), columns)
    missing = np.clip(1 - topics.sum(axis=1), 1e-9, None)
    topics[:, unseen] = missing[:, np.newaxis] / max(1, unseen.size)
    return np.maximum(topics, 1e-12)
