"""Documents that are deleted for good: models lose the names of their words, and go on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import trustream
from trustream.store import DocumentStore, Record, open_store
from trustream.streaming.fitted_models import export_model
from trustream.streaming.forgetting import forget
from trustream.streaming.published import load_checkpoint, load_model

SECRET = "zanzibarsecret"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DocumentStore]:
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(30)])
    with open_store(tmp_path / "topics.db", min_documents=1, held_out=0.0) as store:
        store.append(Record(f"{i}", rng.choice(words, 20).tolist()) for i in range(60))
        store.append([Record("person", [SECRET, "w1"], append_id="mail of person")])
        yield store


def train(store: DocumentStore, steps: int = 4) -> trustream.StreamTrainer:
    trainer = trustream.StreamTrainer(store, n_components=3, batch_size=30)
    trainer.run(steps=steps)
    return trainer


def test_a_saved_model_loses_the_name_and_nothing_else(
    store: DocumentStore, tmp_path: Path
) -> None:
    train(store).close()
    before = load_checkpoint(store)
    assert before is not None and SECRET in before.words
    column = before.words.index(SECRET)
    version = store.saved_version("model")
    forgotten = forget(store, ["person", "nobody"])
    assert (forgotten.n_documents, forgotten.unknown) == (1, ("nobody",))
    assert (forgotten.models, forgotten.n_model_words) == (("model",), 1)
    assert forgotten.overwritten and not forgotten.rewritten
    after = load_checkpoint(store)
    assert after is not None
    assert store.saved_version("model") == (version or 0) + 1
    assert after.words == [None if word == SECRET else word for word in before.words]
    assert (after.clock, after.draws, after.others) == (before.clock, before.draws, before.others)
    assert SECRET.encode() not in (tmp_path / "topics.db").read_bytes()
    model, others = load_model(store), np.arange(len(before.words)) != column
    assert SECRET not in model.feature_names_in_
    old = trustream.streaming.published.as_estimator(before)
    np.testing.assert_array_equal(model.components_[:, others], old.components_[:, others])
    assert np.ptp(model.components_[:, column]) < 1e-6, "its own row is the prior's"
    exported = export_model(store, tmp_path / "model.safetensors")
    assert SECRET.encode() not in Path(exported.path).read_bytes()
    # It goes on from there.
    trainer = train(store, 3)
    assert trainer.n_steps == 7
    trainer.close()
    assert store.check().ok


def test_a_trainer_that_runs_follows(store: DocumentStore) -> None:
    with train(store) as trainer:
        forget(store, ["person"])
        trainer.run(steps=1)
    checkpoint = load_checkpoint(store)
    assert checkpoint is not None
    assert checkpoint.state.n_steps == 5
    assert SECRET not in checkpoint.words


def test_other_bytes_are_left_alone(store: DocumentStore) -> None:
    store.save("notes", f"{SECRET} in bytes of somebody".encode())
    forgotten = forget(store, ["person"])
    assert (forgotten.models, forgotten.n_model_words) == ((), 0)
    assert store.load("notes") == f"{SECRET} in bytes of somebody".encode()
    assert store.saved_version("notes") == 1


def test_append_ids_and_a_rewrite(store: DocumentStore, tmp_path: Path) -> None:
    forgotten = forget(store, ["person"], append_ids_before=time.time() + 3600, rewrite=True)
    assert (forgotten.n_append_ids, forgotten.rewritten, forgotten.overwritten) == (1, True, True)
    content = (tmp_path / "topics.db").read_bytes()
    assert b"person" not in content and SECRET.encode() not in content
    assert store.check().ok


def test_a_trainer_draws_what_was_replaced(store: DocumentStore) -> None:
    """Also one that has seen the document before, and one whose store wrote it."""
    with train(store) as trainer, open_store(store.url) as other:
        other.append(Record(f"{i}", ["new", "w1"], replace=True) for i in range(60))
        trainer.run(steps=6)
        checkpoint = trainer.checkpoint()
    assert checkpoint is not None
    named = {word for word in checkpoint.words if word is not None}
    assert named == {"new", "w1", SECRET}
    drawn = store.draw(100, np.random.default_rng(0))
    words = store.vocabulary().words
    assert {words[i] for i in drawn.indices} == named
