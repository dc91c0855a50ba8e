"""What `status` says of a store: before and after training, and of models that are not there."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from tests.pets_and_money import records
from trustream import StreamTrainer
from trustream.store import DocumentStore
from trustream.streaming.published import load_checkpoint
from trustream.streaming.status import ModelStatus, StoreStatus, status


def test_an_empty_store(empty_store: DocumentStore) -> None:
    found = status(empty_store)
    assert found == StoreStatus(empty_store.totals(), None)
    assert (found.totals.documents, found.totals.words) == (0, 0)


def test_before_and_after_training(empty_store: DocumentStore) -> None:
    empty_store.append(records(100))
    assert status(empty_store).model is None
    with StreamTrainer(empty_store, 3, batch_size=10, population=10**6) as trainer:
        last = trainer.run(steps=16)
        found = status(empty_store)
    assert last is not None and last.score is not None
    assert found.totals == empty_store.totals() and found.totals.tokens == 1200
    model = found.model
    assert isinstance(model, ModelStatus)
    assert (model.n_topics, model.n_steps) == (3, 16)
    assert model.rho == pytest.approx(last.step.rho)
    assert (model.last_score, model.best_score) == (trainer.last_score, trainer.best_score)
    # The rate is that for what the store holds now: it begins anew when the store has doubled, as
    # long as it has fewer documents than the population.
    empty_store.append(records(1000, first=100))
    with StreamTrainer(empty_store, batch_size=10) as trainer:
        trainer.run(steps=1)
    later = status(empty_store).model
    assert later is not None and later.rho > model.rho


def test_a_model_that_was_not_scored(empty_store: DocumentStore) -> None:
    empty_store.append(records(100))
    with StreamTrainer(empty_store, 2, batch_size=10, score_every=0) as trainer:
        trainer.run(steps=2)
    model = status(empty_store).model
    assert model is not None and (model.last_score, model.best_score) == (None, None)


def test_unknown_and_other_names(trained_store: DocumentStore) -> None:
    assert status(trained_store, "other").model is None
    assert status(trained_store, "other").totals == status(trained_store).totals


def test_it_is_json_and_reads_only(trained_store: DocumentStore) -> None:
    before = trained_store.load("model")
    values = json.loads(json.dumps(asdict(status(trained_store))))
    assert values["totals"]["documents"] == 200 and values["model"]["n_steps"] == 40
    assert trained_store.load("model") == before
    assert load_checkpoint(trained_store) is not None
