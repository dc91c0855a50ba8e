"""Topic proportions of new articles, next to scikit-learn with the same topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import digamma
from sklearn.decomposition import LatentDirichletAllocation as Peer

from benchmarks.core import articles
from benchmarks.harness.rows import Row, Setup, at_least
from benchmarks.harness.timing import interleaved
from trustream import LatentDirichletAllocation

FILES = articles.FILES
N_TOPICS, ALPHA = 100, 0.1
# Both stop at a document when gamma moves by less than this on average, or after so many rounds.
TOLERANCE, MOST_ROUNDS = 1e-3, 100


def measure(setup: Setup) -> Iterator[Row]:
    """Time of scikit-learn, one or two workers, whichever is faster, over ours."""
    n_documents = setup.choose(10_000, 1_000)
    # In single precision the peer is faster as well.
    counts = articles.load(setup).astype(np.float32)
    new, old = counts[:n_documents], counts[n_documents : 2 * n_documents]
    ours = LatentDirichletAllocation(
        N_TOPICS,
        doc_topic_prior=ALPHA,
        learn_priors="eta",
        max_iter=1,
        max_doc_update_iter=MOST_ROUNDS,
        mean_change_tol=TOLERANCE,
        n_jobs=setup.n_threads,
        random_state=0,
    ).fit(old)
    peers = {n: _peer(ours.components_, n) for n in (1, 2)}
    difference = np.abs(ours.transform(new) - peers[1].transform(new)).max(axis=1)
    tasks = {"trustream": lambda: ours.transform(new)}
    tasks |= {f"scikit-learn, n_jobs={n}": _task(peer, new) for n, peer in peers.items()}
    timings = interleaved(tasks, setup.choose(3, 2))
    best = {name: min(runs) for name, runs in timings.items()}
    theirs = min(best[f"scikit-learn, n_jobs={n}"] for n in peers)
    yield at_least(
        f"transform of {n_documents:,} articles, K={N_TOPICS}, against scikit-learn",
        theirs / best["trustream"],
        8,
        "x faster",
        best_seconds=best,
        # Of a document's proportions, largest over topics: the same optimum, or not.
        difference={"median": float(np.median(difference)), "most": float(difference.max())},
        timings=timings,
    )


def _task(peer: Any, documents: Any) -> Any:
    return lambda: peer.transform(documents)


def _peer(topics: np.ndarray, n_jobs: int) -> Any:
    """scikit-learn's LDA with these lambda (K, V)."""
    peer = Peer(
        n_components=topics.shape[0],
        doc_topic_prior=ALPHA,
        max_doc_update_iter=MOST_ROUNDS,
        mean_change_tol=TOLERANCE,
        n_jobs=n_jobs,
    )
    # Sets what a fitted one has; then topics and their exp E[log beta] are replaced.
    peer.partial_fit(np.eye(1, topics.shape[1], dtype=topics.dtype))
    totals = topics.sum(axis=1, dtype=np.float64, keepdims=True)
    logs = digamma(topics.astype(np.float64)) - digamma(totals)
    peer.components_ = topics
    peer.exp_dirichlet_component_ = np.exp(logs).astype(topics.dtype)
    return peer
