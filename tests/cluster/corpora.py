"""Documents for tests of a cluster, in a store and in Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.helpers import planted_lda
from trustream import StreamTrainer, open_store
from trustream.cluster.parquet_counts import write_counts
from trustream.store.records import Record
from trustream.streaming.checkpoint import Checkpoint

N_WORDS = 400
COUNTS, _ = planted_lda(np.random.default_rng(0), 8, N_WORDS, 1500, 50, 0.1, 0.05)


def records(first: int = 0, last: int = 1500) -> list[Record]:
    found = []
    for row in range(first, last):
        entries = slice(COUNTS.indptr[row], COUNTS.indptr[row + 1])
        words = zip(COUNTS.indices[entries], COUNTS.data[entries], strict=True)
        found.append(Record(str(row), {f"word{w}": int(n) for w, n in words}))
    return found


def fill(address: str, n: int = 1500) -> str:
    """A store with the documents; returns its address."""
    with open_store(address, min_documents=1, held_out=0.1) as store:
        store.append(records(0, n))
    return address


def write(folder: Path) -> str:
    """Three files with several row groups each; returns the pattern of their names."""
    for number, rows in enumerate(np.array_split(np.arange(COUNTS.shape[0]), 3)):
        write_counts(folder / f"{number}.parquet", COUNTS[rows], n_words=N_WORDS, group_size=150)
    return str(folder / "*.parquet")


def trained(
    address: str, engine: Any, *, n_topics: int = 20, steps: int = 14, name: str = "model"
) -> Checkpoint:
    """The checkpoint of a model after some steps, scored and smoothed on the way."""
    options = {"batch_size": 120, "score_every": 5, "random_state": 3}
    with open_store(address, create=False) as store:
        with StreamTrainer(store, n_topics, name=name, engine=engine, **options) as trainer:
            trainer.run(steps=steps)
            checkpoint = trainer.checkpoint()
    assert checkpoint is not None
    return checkpoint
