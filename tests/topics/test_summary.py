"""Topics of a store's model as lists of words."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from tests.pets_and_money import MONEY, PETS, records
from trustream import LatentDirichletAllocation, StreamTrainer
from trustream.store import DocumentStore
from trustream.streaming.published import MissingModelError, load_model
from trustream.topics.summary import summarise


def test_the_topics_of_a_trained_store(trained_store: DocumentStore) -> None:
    model = load_model(trained_store)
    topics = summarise(model, 5)
    assert sorted(sorted(topic.words) for topic in topics) == sorted([sorted(PETS), sorted(MONEY)])
    assert sum(topic.share for topic in topics) == pytest.approx(1)
    assert topics[0].share >= topics[1].share
    totals = model.components_.sum(axis=1)
    for topic in topics:
        assert topic.share == pytest.approx(totals[topic.topic] / totals.sum())
        assert topic.words == model.top_words(5)[topic.topic]
    assert json.loads(json.dumps(asdict(topics[0])))["words"] == topics[0].words


def test_more_words_than_there_are(trained_store: DocumentStore) -> None:
    assert len(summarise(load_model(trained_store), 1000)[0].words) == 10
    with pytest.raises(ValueError, match="n must be at least 1"):
        summarise(load_model(trained_store), 0)


def test_stores_without_the_model(empty_store: DocumentStore) -> None:
    with pytest.raises(MissingModelError, match="holds no model 'model' yet"):
        summarise(load_model(empty_store))
    empty_store.append(records(20))
    with StreamTrainer(empty_store, 2, batch_size=5) as trainer:
        trainer.run(steps=1)
    assert len(summarise(load_model(empty_store))) == 2
    with pytest.raises(MissingModelError, match="holds no model 'other' yet"):
        summarise(load_model(empty_store, "other"))


def test_a_model_that_is_not_fitted() -> None:
    with pytest.raises(ValueError, match="not fitted"):
        summarise(LatentDirichletAllocation(2))


def test_equal_topics_come_in_their_order() -> None:
    lda = LatentDirichletAllocation(3, random_state=0, learn_priors=False)
    lda.fit(np.ones((30, 4), int))
    found = [topic.topic for topic in summarise(lda)]
    shares = lda.components_.sum(axis=1)
    assert found == np.argsort(-shares, kind="stable").tolist()
