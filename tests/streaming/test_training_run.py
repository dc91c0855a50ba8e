"""Training runs on prepared stores: what they return, and what they report on the way."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.pets_and_money import records
from trustream import StreamTrainer, open_store
from trustream.store import DocumentStore, Record
from trustream.store.document_slots import is_held_out
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import MissingModelError
from trustream.streaming.setup import prepare
from trustream.streaming.status import status
from trustream.streaming.training_run import (
    TrainingProgress,
    nothing_to_learn,
    prepared_trainer,
    train,
)


def test_a_store_that_was_not_prepared(empty_store: DocumentStore) -> None:
    empty_store.append(records(10))
    with pytest.raises(MissingModelError, match=r"no settings for a model 'model' \(it has no mod"):
        prepared_trainer(empty_store)
    prepare(empty_store, TopicStream(n_components=2))
    with pytest.raises(ValueError, match=r"empty\.db has no settings .*its models are 'model'\)"):
        prepared_trainer(empty_store, "other")


def test_a_store_without_documents(empty_store: DocumentStore) -> None:
    prepare(empty_store, TopicStream(n_components=2))
    with prepared_trainer(empty_store) as trainer:
        assert train(trainer, until_idle=True) == TrainingProgress(0, None, None, None, None)
    assert status(empty_store).model is None


def test_runs_continue_and_report_each_step(empty_store: DocumentStore) -> None:
    empty_store.append(records(100))
    prepare(empty_store, TopicStream(n_components=2, batch_size=10), "name")
    seen: list[TrainingProgress] = []
    with prepared_trainer(empty_store, "name", n_jobs=1) as trainer:
        result = train(trainer, steps=5, callback=seen.append)
    assert [progress.n_steps for progress in seen] == [1, 2, 3, 4, 5]
    assert result == seen[-1] and result.totals == empty_store.totals()
    assert (result.n_words, result.totals.documents) == (10, 100)
    assert result.last_score is not None and result.rho is not None
    assert json.loads(json.dumps(asdict(result)))["totals"]["tokens"] == 1200
    with prepared_trainer(empty_store, "name") as trainer:
        again = train(trainer, steps=2)
        idle = train(trainer, steps=0)
    assert again.n_steps == 7
    # A run without a step still says how far the model is.
    assert idle == TrainingProgress(7, None, None, None, again.last_score)
    saved = status(empty_store, "name").model
    assert saved is not None and (saved.n_steps, saved.last_score) == (7, again.last_score)


def test_callbacks_and_stop_end_a_run(empty_store: DocumentStore) -> None:
    empty_store.append(records(100))
    prepare(empty_store, TopicStream(n_components=2, batch_size=10))
    with prepared_trainer(empty_store) as trainer:
        assert train(trainer, callback=lambda progress: progress.n_steps >= 3).n_steps == 3
        assert train(trainer, stop=lambda: True).n_steps <= 4
        assert train(trainer, seconds=0.0).n_steps >= 4


def test_what_there_is_to_wait_for(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", min_documents=3, held_out=0.5) as store:
        assert nothing_to_learn(store) == "there are no documents in it yet"
        held_out = next(key for key in map(str, range(100)) if is_held_out(key, 0.5))
        store.append([Record(held_out, ["cat"])])
        assert "its only document is held out" in str(nothing_to_learn(store))
        store.append(Record(f"a{i}", [f"word{i}"]) for i in range(20))
        assert "none of its words is in 3 documents yet" in str(nothing_to_learn(store))
        store.append(Record(f"b{i}", ["dog"]) for i in range(20))
        assert nothing_to_learn(store) is None
    with open_store(tmp_path / "b.db", vocabulary=["cat"], held_out=0.0) as store:
        store.append([Record("a", ["dog"])])
        waited = 0

        def wait() -> None:
            nonlocal waited
            waited += 1

        with StreamTrainer(store, 2) as trainer:
            train(trainer, callback=None, waiting=wait, stop=lambda: waited > 1)
        assert waited == 2
