"""What a look at a document costs a stream, next to `fit` on the same documents, defaults both."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import corpora
from benchmarks.harness.rows import Row, Setup, at_most
from trustream import LatentDirichletAllocation, StreamTrainer, open_store
from trustream.store.records import Record

FILES = ("wiki_en.npz",)
LOOKS = 5


def measure(setup: Setup) -> Iterator[Row]:
    """Time of a look in the stream over that in `fit`, for two numbers of topics.

    A stream looks at its documents as often as `fit` does by default, five times each. What it
    does beside is in its time: draws from the store, scores of held-out documents, checkpoints.
    Each stream opens the store anew, so that nothing of it is in memory when it begins.
    """
    n_articles = setup.choose(20_000, 3_000)
    counts = corpora.wiki(setup.data, "wiki_en")[:n_articles]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "wiki.db")
        with open_store(path, min_documents=1) as store:
            for first in range(0, n_articles, 1000):
                store.append(_records(counts[first : first + 1000], first))
            n_training = store.totals().training
        for n_topics in (100, 400):
            yield _compared(setup, counts, path, n_training, n_topics)


def _compared(setup: Setup, counts: Any, path: Path, n_training: int, n_topics: int) -> Row:
    times: dict[str, list[float]] = {"stream": [], "fit": []}
    n_steps = []
    for seed in range(setup.choose(3, 2) + 1):  # the first round warms up
        start = time.perf_counter()
        options: Any = {"random_state": seed, "n_jobs": setup.n_threads}
        with (
            open_store(path) as store,
            StreamTrainer(store, n_topics, name=f"{n_topics}-{seed}", **options) as trainer,
        ):
            training = trainer._training
            trainer.run(callback=partial(_looked_enough, training, LOOKS * n_training))
            looks = training.learned.clock.looked_at
            n_steps.append(trainer.n_steps)
        times["stream"].append((time.perf_counter() - start) / looks)
        start = time.perf_counter()
        lda = LatentDirichletAllocation(n_topics, random_state=seed, n_jobs=setup.n_threads)
        lda.fit(counts[:n_training])
        times["fit"].append((time.perf_counter() - start) / (lda.n_iter_ * n_training))
    best = {name: min(runs[1:]) for name, runs in times.items()}
    return at_most(
        f"a look at a document, {counts.shape[0]} articles, K={n_topics}: the stream against fit",
        best["stream"] / best["fit"],
        1.3,
        "x",
        best_us={name: 1e6 * value for name, value in best.items()},
        timings=times,
        steps=n_steps,
    )


def _looked_enough(training: Any, n_looks: int, info: Any) -> bool:
    return bool(training.learned.clock.looked_at >= n_looks)


def _records(counts: Any, first: int) -> Iterator[Record]:
    for d in range(counts.shape[0]):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        words = {
            f"w{v}": int(n) for v, n in zip(counts.indices[row], counts.data[row], strict=True)
        }
        yield Record(f"article-{first + d}", words, float(first + d))
