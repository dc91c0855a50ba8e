"""Ids and labels of a store's topics, through training, edits, retraining and files."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trustream
from tests.forking import Forked
from tests.helpers import wait_for
from tests.pets_and_money import MONEY, PETS, records
from trustream import open_store
from trustream.store import DocumentStore, LeaseHeldError
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.fitted_models import export_model, load_fitted
from trustream.streaming.held_model import HeldModel
from trustream.streaming.published import (
    MissingModelError,
    check_model_name,
    load_checkpoint,
    load_model,
    load_settings,
    model_names,
    save_settings,
)
from trustream.streaming.retraining import retrain
from trustream.streaming.setup import init_store
from trustream.streaming.training_run import prepared_trainer
from trustream.topic_names import TopicNames, UnknownTopicError
from trustream.topics import as_topics
from trustream.topics.stored_topics import (
    delete_stored_topics,
    label_stored_topics,
    merge_stored_topics,
    split_stored_topic,
    stored_topics,
)
from trustream.topics.stored_trends import stored_trends


@pytest.fixture
def store(address: str) -> Iterator[DocumentStore]:
    """Documents about two subjects, and a model of four topics."""
    init_store(address, 4, batch_size=20, min_documents=1, held_out=0.2)
    with open_store(address, create=False) as found:
        found.append(records(300))
        learn(found)
        yield found


def learn(store: DocumentStore, n_steps: int = 30) -> None:
    with prepared_trainer(store) as trainer:
        trainer.run(steps=n_steps)


def test_ids_and_labels_stay_while_a_stream_goes_on(store: DocumentStore, tmp_path: Path) -> None:
    label_stored_topics(store, {0: "pets", 2: " money ", 3: "<b>\x1b[31mred"})
    before = stored_topics(store)
    change = merge_stored_topics(store, ["Money", 1])
    assert [topic.topic for topic in change.before] == [2, 1]
    assert [(topic.topic, topic.label) for topic in change.after] == [(2, "money")]
    # lambda_2 + lambda_1 - eta, in the place of topic 2, up to the dtype.
    after = stored_topics(store)
    assert after.names.ids == (0, 2, 3)
    merged = before.weights[2] + before.weights[1] - before.prior.eta
    np.testing.assert_allclose(after.weights, [before.weights[0], merged, before.weights[3]], 1e-4)
    # The settings that a trainer begins with are saved together with it.
    settings = load_settings(store)
    assert settings is not None and settings.settings()["n_components"] == 3
    learn(store)
    delete_stored_topics(store, [0])
    names = stored_topics(store).names
    assert names.ids == (2, 3) and names.labels == {2: "money", 3: "<b>\x1b[31mred"}
    label_stored_topics(store, {"money": None})
    parts = split_stored_topic(store, 2)
    assert [topic.topic for topic in parts.after] == [4, 5]
    assert not any(topic.labelled for topic in parts.after)
    learn(store)
    names = stored_topics(store).names
    assert names.ids == (4, 3, 5) and names.labels == {3: "<b>\x1b[31mred"}
    # The file has them, for Python and for commands.
    path = export_model(store, tmp_path / "topics.safetensors").path
    assert (
        as_topics(trustream.load(path)).names == names == load_fitted(path).estimator.topic_names_
    )
    assert load_model(store).topic_names_ == names
    # Another model of the store is not concerned.
    save_settings(store, load_settings(store), "other")
    with prepared_trainer(store, "other") as trainer:
        trainer.run(steps=2)
    assert stored_topics(store, "other").names.labels == {}
    assert model_names(store) == ["model", "other"]


def test_a_model_that_is_learned_afresh_inherits_no_label(store: DocumentStore) -> None:
    label_stored_topics(store, {0: "pets", 3: "money"})
    merge_stored_topics(store, [0, 1])
    retrain(store, force=True)
    names = stored_topics(store).names
    assert names.ids == (4, 5, 6) and names.labels == {}
    with pytest.raises(UnknownTopicError, match="there is no topic 'pets'"):
        label_stored_topics(store, {"pets": "cats"})
    label_stored_topics(store, {5: "anew"})
    learn(store, 5)
    assert stored_topics(store).names.labels == {5: "anew"}
    retrain(store, force=True)
    assert stored_topics(store).names.ids == (7, 8, 9)


def test_a_trainer_takes_up_new_topics_and_gives_none_a_label(store: DocumentStore) -> None:
    label_stored_topics(store, {0: "pets"})
    with prepared_trainer(store) as trainer:
        trainer.run(steps=2)
        retrain(store, force=True)
        trainer.run(steps=2)
        assert trainer.n_replaced == 1
        trainer.run(steps=2)
    names = stored_topics(store).names
    assert names.ids == (4, 5, 6, 7) and names.labels == {}


def test_a_running_trainer(store: DocumentStore, address: str) -> None:
    """A real process: labels can be given meanwhile, edits are refused and name it."""
    process = Forked(None, "train", address, "--checkpoint-every", 0.05)
    try:
        wait_for(lambda: store.lease("model") is not None)
        version = store.saved_version("model") or 0
        assert label_stored_topics(store, {1: "pets"}).after[0].label == "pets"
        edits: list[Any] = [
            lambda: merge_stored_topics(store, [0, 1]),
            lambda: delete_stored_topics(store, ["pets"]),
            lambda: split_stored_topic(store, 0),
        ]
        for edit in edits:
            with pytest.raises(
                LeaseHeldError, match=f"is running: process {process.pid} on .*"
            ) as e:
                edit()
            assert "stop it first (Ctrl-C saves" in str(e.value)
        # The trainer saves on, and no label is lost.
        wait_for(lambda: (store.saved_version("model") or 0) > version + 1)
        assert stored_topics(store).names.labels == {1: "pets"}
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    merge_stored_topics(store, [0, "pets"])
    names = stored_topics(store).names
    assert names.ids == (0, 2, 3) and names.labels == {}
    learn(store, 3)


def test_an_edit_is_refused_if_the_model_is_replaced_meanwhile(
    store: DocumentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = HeldModel.load

    def late(self: HeldModel) -> Checkpoint | None:
        found = load(self)
        monkeypatch.undo()
        retrain(store, force=True)
        return found

    monkeypatch.setattr(HeldModel, "load", late)
    with pytest.raises(ValueError, match=r"was replaced meanwhile.*nothing was changed"):
        merge_stored_topics(store, [0, 1])
    assert stored_topics(store).names.ids == (4, 5, 6, 7)
    assert store.lease("model") is None


def test_several_people_label_at_once(store: DocumentStore, address: str) -> None:
    """Each with a connection of their own: nobody's label is lost."""
    barrier = threading.Barrier(3)

    def label(topic: int) -> None:
        with open_store(address, create=False) as mine:
            barrier.wait()
            for number in range(5):
                label_stored_topics(mine, {topic: f"label {number} of {topic}"})

    with ThreadPoolExecutor(3) as people:
        list(people.map(label, range(3)))
    expected = {topic: f"label 4 of {topic}" for topic in range(3)}
    assert stored_topics(store).names.labels == expected


def test_bad_input(store: DocumentStore, address: str, empty_store: DocumentStore) -> None:
    saved = store.load("model")
    label_stored_topics(store, {0: "Pets", 1: "pets", 2: "2024"})
    for topics, message in (
        ([0, 99], "there is no topic 99"),
        ([0, "99"], "there is no topic '99'"),
        ([0, "mony"], "there is no topic 'mony'"),
        ([0, "PETS"], "label 'PETS' is that of topics 0 and 1"),
        ([0, ""], "there is no topic ''"),
        ([0, True], "there is no topic True"),
        ([0], "expected at least 2"),
        ([0, "Pets"], "twice"),
        ("01", "expected a list"),
    ):
        with pytest.raises(ValueError, match=message):
            merge_stored_topics(store, topics)
    word = (PETS + MONEY)[0]
    with pytest.raises(UnknownTopicError, match=r"near (is|are) \d \("):
        merge_stored_topics(store, [0, word])
    with pytest.raises(ValueError, match="all topics"):
        delete_stored_topics(store, range(4))
    for label in ("", "x" * 201, 7):
        with pytest.raises(ValueError, match="label of topic 0"):
            label_stored_topics(store, {0: label})  # type: ignore[dict-item]
    # A label that looks like a number, where there is no such id.
    assert delete_stored_topics(store, ["2024"]).before[0].topic == 2
    assert store.load("model") != saved
    for call in (stored_topics, lambda s: merge_stored_topics(s, [0, 1])):
        with pytest.raises(MissingModelError, match="no model 'model' yet"):
            call(empty_store)
    with pytest.raises(ValueError, match=r"end in .settings, .labels, .cluster or .retrain"):
        check_model_name("model.labels")
    store.save("model.labels", b"[]")
    with pytest.raises(ValueError, match="labels of the model 'model'"):
        stored_topics(store)


def test_old_checkpoints_have_rows_for_ids(store: DocumentStore) -> None:
    checkpoint = load_checkpoint(store)
    assert checkpoint is not None and checkpoint.names is None
    assert stored_topics(store).names.ids == (0, 1, 2, 3)


def test_damaged_ids(store: DocumentStore) -> None:
    checkpoint = load_checkpoint(store)
    assert checkpoint is not None
    names = TopicNames((7, 8, 9, 5))
    content = replace(checkpoint, names=names).to_bytes()
    assert Checkpoint.from_bytes(content, "it").names == names
    for wrong in ((7, 8, 9, 7), (7, 8, 9), (7, 8, 9, "5"), (7, 8, 9, -1), (7, 8, 9, 10, 11)):
        object.__setattr__(names, "ids", wrong)  # what the class itself refuses
        content = replace(checkpoint, names=names).to_bytes()
        with pytest.raises(ValueError, match="cannot read the checkpoint: it is damaged"):
            Checkpoint.from_bytes(content, "the checkpoint")


def test_trends_of_a_store(store: DocumentStore) -> None:
    found = stored_trends(store, bins=3).over_time
    assert found is not None
    assert found.n_documents.tolist() == [100, 100, 100] and found.n_outside == 0
    assert {trend.kind for trend in found.trends} == {"steady"}
    late = stored_trends(store, bins=2, since=200.0).over_time
    assert late is not None
    assert late.edges[0] == 200.0 and late.n_documents.sum() == 100 and late.n_outside == 200
    with pytest.raises(ValueError, match="no documents from 2024-01-01 on"):
        stored_trends(store, since="2024-01-01")
