"""Writers append and delete while a cluster trains, and workers die: nothing is counted twice.

Each document has one word that no other has, once. So the statistics of a word, summed over topics,
are how often its document was counted. They are written down as they come from workers, beside all
that trustream counts by itself.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from trustream import StreamTrainer, open_store
from trustream.cluster.engine import ClusterEngine
from trustream.cluster.executor import ClusterExecutor
from trustream.cluster.pool import Pool
from trustream.cluster.sources import StoreSource
from trustream.learning.learner import Learner
from trustream.store.records import Record

N_FIRST, N_MOST, BATCH = 500, 4000, 200


@dataclass
class Ledger:
    """What workers counted.

    Attributes:
        batches: for each exchange the words of the batch, and how much there was of each.
        drawn: how often each document was in a batch that was drawn.
    """

    batches: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    drawn: Counter[int] = field(default_factory=Counter)


class NotedParts:
    """Parts whose contributions are written down."""

    def __init__(self, parts: Any, joined: Any, ledger: Ledger) -> None:
        self._parts, self._joined, self._ledger = parts, joined, ledger

    def excerpt(self, excerpt: Any) -> Any:
        return self._parts.excerpt(excerpt)

    def compute(self, model: Any, chain: Any) -> Any:
        found = self._parts.compute(model, chain)
        counts = np.zeros(self._joined.words.size)
        for places, part in zip(self._joined.places, found, strict=True):
            counts[places] += part.statistics.rows.sum(axis=1)
        self._ledger.batches.append((self._joined.words, counts))
        return found

    def bounds(self, *arguments: Any) -> Any:
        return self._parts.bounds(*arguments)


class NotedExecutor(ClusterExecutor):
    ledger: Ledger

    def batch(self, *arguments: Any) -> Any:
        found = super().batch(*arguments)
        self.ledger.drawn.update(found.joined.words.tolist())
        found.parts = NotedParts(found.parts, found.joined, self.ledger)
        return found


class NotedEngine(ClusterEngine):
    def __init__(self, pool: Pool, ledger: Ledger) -> None:
        super().__init__(pool, 4)
        self._ledger = ledger

    def learner(self, learner: Learner) -> Learner:
        executor = NotedExecutor(self._pool, learner.recipe.n_parts, None, self._meter)
        executor.ledger = self._ledger
        return replace(learner, executor=executor)


class Writer(threading.Thread):
    """Appends documents, and deletes some of them, until it is told to end."""

    def __init__(self, address: str, words: list[str], numbers: range, deletes: int) -> None:
        super().__init__()
        self._address, self._words, self._numbers = address, words, numbers
        self._deletes, self.ended = deletes, threading.Event()
        self.there: list[int] = []
        self.added: set[int] = set()

    def run(self) -> None:
        rng = np.random.default_rng(self._numbers.start)
        with open_store(self._address, create=False) as store:
            for first in self._numbers[::20]:
                if self.ended.is_set():
                    return
                more = range(first, min(first + 20, self._numbers.stop))
                self.added.update(more)
                store.append(Record(f"{i}", {self._words[i]: 1}) for i in more)
                self.there += more
                gone = [self.there.pop(rng.integers(len(self.there))) for _ in range(self._deletes)]
                store.delete(f"{i}" for i in gone)


@pytest.mark.parametrize("deletes", [0, 5])
def test_each_document_counts_once(ray_cluster: Any, server: Any, deletes: int) -> None:
    address = f"{server.url}&schema=cluster_ledger_{deletes}"
    words = [f"w{i}" for i in range(N_MOST)]
    ledger, taken = Ledger(), []
    middle = (N_FIRST + N_MOST) // 2
    writers = [
        Writer(address, words, numbers, deletes)
        for numbers in (range(N_FIRST, middle), range(middle, N_MOST))
    ]
    with open_store(address, vocabulary=words, held_out=0.0) as store:
        store.append(Record(f"{i}", {words[i]: 1}) for i in range(N_FIRST))
        with Pool(StoreSource(address), 2) as pool:
            victim = pool.statistics[0].place

            def callback(info: Any) -> bool:
                taken.append(info.step.batch_size)
                if len(taken) == 8 and victim is not None:
                    os.kill(victim.pid, signal.SIGKILL)
                return False

            with StreamTrainer(
                store, 5, batch_size=BATCH, engine=NotedEngine(pool, ledger), random_state=0,
                score_every=0,
            ) as trainer:  # fmt: skip
                for writer in writers:
                    writer.start()
                try:
                    trainer.run(steps=25, callback=callback)
                finally:
                    for writer in writers:
                        writer.ended.set()
                        writer.join()
                clock = trainer.checkpoint().clock
            assert sum(worker.n_deaths for worker in pool.statistics) == 1
        totals = store.totals()
    assert len(taken) == 25 <= len(ledger.batches)
    # In each exchange each document of the batch counts once, whoever computed its part.
    for columns, counts in ledger.batches:
        assert np.unique(columns).size == columns.size <= BATCH
        np.testing.assert_allclose(counts, 1.0, rtol=1e-4)
    # Only what writers added was counted, and some of it was.
    known = {*range(N_FIRST), *writers[0].added, *writers[1].added}
    assert {*ledger.drawn} <= known and len(ledger.drawn) > N_FIRST
    assert totals.added == len(known) and totals.added > N_FIRST
    if not deletes:
        # No batch was drawn in vain: what the trainer says it looked at is what workers counted.
        assert clock.looked_at == sum(taken) == sum(ledger.drawn.values())
