"""Pieces of work for one version, done on request: names come in, seconds go out.

Run as a process of its own (`python -m benchmarks.against.work DATA`) with the version to measure
first on the path. It uses only what versions have in common.
"""

from __future__ import annotations

import gc
import inspect
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora
from trustream import (
    BernoulliMixture,
    GaussianMixture,
    LatentDirichletAllocation,
    StreamTrainer,
    open_store,
)
from trustream.store.records import Record


def make(data: Path, folder: Path) -> dict[str, Callable[[], Any]]:
    """The pieces of work by name."""
    counts = corpora.wiki(data, "wiki_en")[:20_000]
    some, batch = counts[:3000], counts[:500].astype("float32")
    small = [counts[first : first + 50].astype("float32") for first in range(0, 1000, 50)]
    lda = LatentDirichletAllocation
    total = {"total_samples": 20_000, "random_state": 0}
    step = lda(
        100, learning_method="natural-gradient", max_doc_update_iter=20, mean_change_tol=0.0,
        learn_priors=False, **total,
    )  # fmt: skip
    steps = lda(100, inner_iter=5, max_doc_update_iter=10, **total)
    one, few = lda(100, max_iter=1, random_state=0), lda(20, max_iter=2, random_state=0)
    # As versions without a population learn, in batches of the same size, so that all compute the
    # same.
    has_population = "population" in inspect.signature(lda).parameters
    same = {"population": None} if has_population else {}
    same_step, same_steps, same_one, same_few = (
        lda(**{**estimator.get_params(), **same, "batch_size": batch_size})
        for estimator, batch_size in ((step, None), (steps, None), (one, 142), (few, 60))
    )
    fitted = lda(100, max_iter=1, random_state=0).fit(some)
    rng = np.random.default_rng(0)
    bits, points = (rng.random((6000, 64)) < 0.3).astype(np.uint8), rng.normal(size=(6000, 16))
    bernoulli = BernoulliMixture(20, max_iter=3, random_state=0)
    gaussian = GaussianMixture(10, max_iter=3, random_state=0)
    words = [f"w{v}" for v in range(counts.shape[1])]
    store = open_store(folder / "documents.db", held_out=0.0, vocabulary=words)
    store.append(_record(str(i), counts[[i]], words) for i in range(5000))
    options: dict[str, Any] = {"batch_size": 100, "inner_iter": 5, "max_doc_update_iter": 10}
    trainer = StreamTrainer(store, 100, score_every=0, random_state=0, prefetch=False, **options)
    other = open_store(folder / "appends.db", held_out=0.0, min_documents=1)
    number = iter(range(sys.maxsize))

    def append() -> None:
        prefix = next(number)
        for i in range(200):
            other.append([Record(f"{prefix} {i % 50}", [words[i * 7 % 500]])])

    def bulk() -> None:
        for _ in range(10):
            prefix = next(number)
            other.append(Record(f"{prefix} {i}", words[i % 100 : i % 100 + 80]) for i in range(500))

    return {
        "step": lambda: [step.partial_fit(batch) for _ in range(10)],
        "small-steps": lambda: [steps.partial_fit(rows) for rows in small],
        "pass": lambda: one.fit(counts),
        "small-fit": lambda: few.fit(some),
        "same-step": lambda: [same_step.partial_fit(batch) for _ in range(10)],
        "same-small-steps": lambda: [same_steps.partial_fit(rows) for rows in small],
        "same-pass": lambda: same_one.fit(counts),
        "same-small-fit": lambda: same_few.fit(some),
        "transform": lambda: fitted.transform(some),
        "bernoulli": lambda: bernoulli.fit(bits),
        "gaussian": lambda: gaussian.fit(points),
        "train": lambda: trainer.run(steps=100),
        "append": append,
        "bulk": bulk,
        "draw": lambda: [store.draw(100, rng) for _ in range(20)],
    }


def _record(key: str, row: Any, words: list[str]) -> Record:
    pairs = zip(row.indices, row.data, strict=True)
    return Record(key, {words[v]: int(count) for v, count in pairs})


def main(data: Path) -> None:
    """Do what is asked for, line by line."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        pieces = make(data, Path(folder))
        # What one piece keeps would otherwise be looked through while another is timed.
        gc.collect()
        gc.freeze()
        print("ready", flush=True)
        for line in sys.stdin:
            start = time.perf_counter()
            pieces[line.strip()]()
            print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
