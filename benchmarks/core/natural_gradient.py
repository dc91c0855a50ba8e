"""A natural-gradient step next to scikit-learn's, the same iterations on the same documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sklearn.decomposition import LatentDirichletAllocation as Peer

from benchmarks.core import articles
from benchmarks.harness.rows import Row, Setup, at_least
from benchmarks.harness.timing import interleaved
from trustream import LatentDirichletAllocation

FILES = articles.FILES
N_DOCUMENTS, N_LOCAL = 500, 20
_STEPS = 10


def measure(setup: Setup) -> Iterator[Row]:
    """At 100 and at 400 topics: scikit-learn's time over ours."""
    counts = articles.load(setup)
    # In single precision the peer is faster as well.
    batch = counts[:N_DOCUMENTS].astype("float32")
    for n_topics in (100, 400):
        settings = {
            "n_components": n_topics,
            "total_samples": counts.shape[0],
            "max_doc_update_iter": N_LOCAL,
            "mean_change_tol": 0.0,
            # One partial_fit of scikit-learn is one step only if the batch is that large.
            "batch_size": N_DOCUMENTS,
            "random_state": 0,
        }
        ours = LatentDirichletAllocation(
            learning_method="natural-gradient",
            learn_priors=False,
            n_jobs=setup.n_threads,
            **settings,
        )
        peers = {f"scikit-learn, n_jobs={n}": Peer(n_jobs=n, **settings) for n in (1, 2)}
        tasks = {name: _steps(peer, batch, 1) for name, peer in peers.items()}
        # Runs of about the same length: the best of short ones would be too good.
        tasks["trustream"] = _steps(ours, batch, _STEPS)
        timings = interleaved(tasks, setup.choose(5, 2))
        timings["trustream"] = [run / _STEPS for run in timings["trustream"]]
        best = {name: min(runs) for name, runs in timings.items()}
        peer = min(best[name] for name in peers)
        yield at_least(
            f"natural-gradient step, K={n_topics}, against scikit-learn",
            peer / best["trustream"],
            12,
            "x faster",
            best_seconds=best,
            timings=timings,
        )


def _steps(
    estimator: Peer | LatentDirichletAllocation, batch: object, n_steps: int
) -> Callable[[], None]:
    def run() -> None:
        for _ in range(n_steps):
            estimator.partial_fit(batch)

    return run
