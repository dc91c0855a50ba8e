"""The trust-region step of LDA with a vocabulary of a million words next to 7,702 words."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.core import articles
from benchmarks.core.trust_region import N_TOPICS, batches, steps
from benchmarks.harness.rows import Row, Setup, at_most
from benchmarks.harness.timing import seconds, sum_of_best
from trustream.models.lda import LdaModel

FILES = articles.FILES
WIDE = 1_000_000


def measure(setup: Setup) -> Iterator[Row]:
    """Time of a step on the same documents, wide over narrow, priors learned."""
    narrow = articles.load(setup)
    rows, n_rounds = batches(setup, narrow.shape[0])
    runs = {}
    for counts in (narrow, articles.widened(narrow, WIDE)):
        model = LdaModel(N_TOPICS, counts.shape[1], n_threads=setup.n_threads)
        state = articles.start(model, counts)
        runs[counts.shape[1]] = steps(model, state, counts, rows * (n_rounds + 1))
    times: dict[int, list[list[float]]] = {n_words: [[] for _ in rows] for n_words in runs}
    for i_round in range(n_rounds + 1):
        for i in range(len(rows)):
            for n_words, run in runs.items():
                taken = seconds(run.__next__)
                # The first round warms up.
                if i_round > 0:
                    times[n_words][i].append(taken)
    best = {n_words: sum_of_best(parts) for n_words, parts in times.items()}
    yield at_most(
        f"the same step, {WIDE:,} words against {narrow.shape[1]:,}",
        best[WIDE] / best[narrow.shape[1]],
        1.3,
        "x",
        best_ms={n_words: 1e3 * total / len(rows) for n_words, total in best.items()},
        timings=times,
    )
