"""Training from a store next to training from a matrix in memory, on the same articles."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora
from benchmarks.harness.rows import Row, Setup, at_most
from trustream import StreamTrainer, open_store
from trustream.inference.state import State
from trustream.models.lda import LdaModel, LdaPrior
from trustream.store.protocol import Record
from trustream.streaming.clock import Clock
from trustream.streaming.settings import TrainerSettings
from trustream.streaming.stepping import take_step

FILES = ("wiki_en.npz",)
N_TOPICS, BATCH_SIZE = 100, 100


def measure(setup: Setup) -> Iterator[Row]:
    """Time per step with the store over that with the matrix; both learn the priors."""
    n_articles = setup.choose(20_000, 3_000)
    counts = corpora.wiki(setup.data, "wiki_en")[:n_articles]
    n_steps, n_rounds = setup.choose(50, 20), setup.choose(6, 3)
    with tempfile.TemporaryDirectory() as folder:
        with open_store(Path(folder, "wiki.db"), min_documents=1, held_out=0.0) as store:
            for first in range(0, n_articles, 1000):
                store.append(_records(counts[first : first + 1000], first))
            options: dict[str, Any] = {"batch_size": BATCH_SIZE, "score_every": 0}
            with StreamTrainer(
                store, N_TOPICS, checkpoint_every=1e9, n_jobs=setup.n_threads, **options
            ) as trainer:
                memory = _InMemory(counts, trainer.settings, setup.n_threads)
                times: dict[str, list[float]] = {"store": [], "memory": []}
                steps = trainer.steps()
                for _ in range(n_rounds + 1):  # the first round warms up
                    start = time.perf_counter()
                    for _ in range(n_steps):
                        next(steps)
                    middle = time.perf_counter()
                    for _ in range(n_steps):
                        memory.step()
                    times["store"].append(middle - start)
                    times["memory"].append(time.perf_counter() - middle)
    best = {name: min(runs[1:]) / n_steps for name, runs in times.items()}
    yield at_most(
        f"training from a store of {n_articles} articles, K={N_TOPICS}, B={BATCH_SIZE}, "
        "against memory",
        best["store"] / best["memory"],
        1.1,
        "x",
        best_ms={name: 1e3 * value for name, value in best.items()},
        timings=times,
    )


class _InMemory:
    """The same steps on rows of a matrix."""

    def __init__(self, counts: Any, settings: TrainerSettings, n_threads: int) -> None:
        self._counts, self._settings = counts, settings
        self._model = LdaModel(N_TOPICS, counts.shape[1], n_threads=n_threads)
        prior = LdaPrior.of(0.1, 0.1, N_TOPICS, counts.shape[1])
        self._rng = np.random.default_rng(0)
        self._state = State(self._model.initial(prior, self._rng), prior)
        self._clock = Clock(counts.shape[0], 0, 0)

    def step(self) -> None:
        s, n = self._settings, self._counts.shape[0]
        rows = self._rng.choice(n, BATCH_SIZE, replace=False)
        looked_at = self._clock.looked_at + BATCH_SIZE
        self._clock = Clock(n, 0, 0, looked_at)
        rho = self._clock.rate(s.learning_offset, s.learning_decay, BATCH_SIZE)
        self._state, _ = take_step(
            s, self._model, self._state, self._counts[rows], rho, n, self._rng
        )


def _records(counts: Any, first: int) -> Iterator[Record]:
    for d in range(counts.shape[0]):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        words = {
            f"w{v}": int(n) for v, n in zip(counts.indices[row], counts.data[row], strict=True)
        }
        yield Record(f"article-{first + d}", words, float(first + d))
