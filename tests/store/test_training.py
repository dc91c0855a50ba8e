"""A trainer on both databases, and on a server that is restarted under it."""

from __future__ import annotations

import threading
import time

import numpy as np

from tests.helpers import planted_lda
from tests.store.server import Server
from trustream import StreamTrainer, open_store
from trustream.store import Record
from trustream.streaming.published import load_checkpoint, load_model


def fill(address: str, n_documents: int = 150) -> None:
    counts, _ = planted_lda(np.random.default_rng(0), 3, 40, n_documents, 25, 0.1, 0.1)
    with open_store(address, min_documents=1, held_out=0.1) as store:
        store.append(
            Record(f"d{d}", {f"word{v}": int(n) for v, n in enumerate(row) if n}, float(d))
            for d, row in enumerate(counts.toarray())
        )


def test_training_and_resuming(address: str) -> None:
    """As in memory: a run in two parts ends where one in one part does."""
    fill(address)
    with open_store(address, create=False) as store:
        for name, parts in (("whole", [12]), ("parts", [5, 7])):
            for n in parts:
                with StreamTrainer(store, 3, batch_size=20, name=name, score_every=4) as trainer:
                    trainer.run(steps=n)
        assert store.load("whole") == store.load("parts")
        assert load_checkpoint(store, "whole").state.n_steps == 12  # type: ignore[union-attr]
        assert load_model(store, "whole").n_features_in_ == store.totals().words


def test_both_databases_give_the_same_model(server: Server, tmp_path: object) -> None:
    contents = []
    for address in (f"{tmp_path}/same.db", f"{server.url}&schema=same_model"):
        fill(address)
        with (
            open_store(address, create=False) as store,
            StreamTrainer(store, 3, batch_size=20, prefetch=False) as trainer,
        ):
            trainer.run(steps=10)
            contents.append(store.load("model"))
    assert contents[0] == contents[1]


def test_the_server_is_restarted_while_a_trainer_runs(server: Server) -> None:
    address = f"{server.url}&schema=training_restarted"
    fill(address)

    def restart() -> None:
        time.sleep(1.0)
        server.stop()
        time.sleep(0.3)
        server.start()

    thread = threading.Thread(target=restart)
    with (
        open_store(address, create=False) as store,
        StreamTrainer(store, 3, batch_size=20, checkpoint_every=0.1) as trainer,
    ):
        thread.start()
        trainer.run(seconds=4.0)
        thread.join()
        n_steps = trainer.n_steps
        assert n_steps > 20
        assert load_checkpoint(store).state.n_steps == n_steps  # type: ignore[union-attr]
        assert store.totals().documents == 150
