"""Two writers and a trainer, three processes on one SQLite file: no error, nothing lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forking import Forked
from trustream import open_store
from trustream.streaming.published import load_checkpoint

WRITER = """
import sys, time
import numpy as np
from trustream.store import open_store
from trustream.store.records import Record
path, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
rng = np.random.default_rng(len(name))
words = [f"word{v}" for v in range(50)]
n_documents = n_tokens = 0
with open_store(path, create=False) as store:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        tokens = rng.choice(words, 20).tolist()
        # The second half of a document comes later, as a part.
        store.append([Record(f"{name}{n_documents}", tokens[:10])])
        store.append([Record(f"{name}{n_documents}", tokens[10:])])
        n_documents += 1
        n_tokens += 20
print(n_documents, n_tokens)
"""
TRAINER = """
import sys
from trustream import StreamTrainer, open_store
with open_store(sys.argv[1], create=False) as store:
    with StreamTrainer(store, 3, batch_size=20, checkpoint_every=0.5) as trainer:
        trainer.run(seconds=float(sys.argv[2]))
        print(trainer.n_steps)
"""


@pytest.mark.parametrize("seconds", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_two_writers_and_a_trainer(tmp_path: Path, seconds: int) -> None:
    path = tmp_path / "topics.db"
    open_store(path, min_documents=1, held_out=0.1).close()
    commands = [
        [WRITER, str(path), "a", str(seconds)],
        [WRITER, str(path), "bb", str(seconds)],
        [TRAINER, str(path), str(seconds)],
    ]
    processes = [Forked(*command) for command in commands]
    outputs = [process.communicate(timeout=seconds + 120) for process in processes]
    for process, (_, error) in zip(processes, outputs, strict=True):
        assert process.returncode == 0, error
    written = [tuple(map(int, out.split())) for out, _ in outputs[:2]]
    n_steps = int(outputs[2][0])
    assert n_steps > 0 and all(n_documents > 0 for n_documents, _ in written)
    with open_store(path, create=False) as store:
        totals = store.totals()
        assert totals.documents == sum(n_documents for n_documents, _ in written)
        assert totals.tokens == sum(n_tokens for _, n_tokens in written)
        seen = [key for documents in store.scan() for key in documents.keys]
        assert len(seen) == len(set(seen)) == totals.documents
        checkpoint = load_checkpoint(store)
        assert checkpoint is not None and checkpoint.state.n_steps == n_steps
