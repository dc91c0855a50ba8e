"""Topics of a store that begin by words, which become active over time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.topics.test_seeded_texts import SUBJECTS, texts
from trustream import open_store
from trustream.estimators.seed_topics import SeedTopics
from trustream.store.records import Record
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import load_checkpoint, load_model, load_settings
from trustream.streaming.setup import init_store
from trustream.streaming.trainer import StreamTrainer
from trustream.topics import as_topics, merging

SEEDS = {"Health care": ["doctor", "virus", "vaccine"], "Sports": ["team", "league"]}


def records(some: list[str], first: int = 0) -> Iterator[Record]:
    for number, text in enumerate(some, start=first):
        yield Record(f"d{number}", text.split(), time=float(number))


def trainer_of(store: Any, **options: Any) -> StreamTrainer:
    options = {"seed_words": SEEDS, "batch_size": 40, "prefetch": False} | options
    return StreamTrainer(store, 4, **options)


def top(model: Any, row: int, n: int = 8) -> set[str]:
    return set(model.top_words(n)[row])


@pytest.mark.parametrize("seed", range(4))
def test_seeded_topics_are_found_at_their_rows(tmp_path: Path, seed: int) -> None:
    with open_store(tmp_path / "topics.db", min_documents=2) as store:
        store.append(records(texts(seed)))
        with trainer_of(store, random_state=seed) as trainer:
            trainer.run(steps=60)
        model = load_model(store)
    assert top(model, 0) <= set(SUBJECTS["health"]) and top(model, 1) <= set(SUBJECTS["sports"])
    assert dict(as_topics(model).names.labels) == {0: "Health care", 1: "Sports"}


def test_a_word_gets_its_weight_when_it_becomes_active(tmp_path: Path) -> None:
    with open_store(tmp_path / "topics.db", min_documents=3, held_out=0.0) as store:
        store.append(records(texts(0, 200)))
        with trainer_of(store) as trainer:
            trainer.run(steps=20)
            words = load_checkpoint(store).words
            seeds = load_checkpoint(store).state.prior.seeds
            assert {words[p] for p in seeds.places} == {"doctor", "virus", "team", "league"}
            # A word of all documents, so that none of the topics has more of it than others.
            store.append(records([f"{text} vaccine" for text in texts(1, 200)], 200))
            trainer.run(steps=60)
        words, state = load_checkpoint(store).words, load_checkpoint(store).state
        assert {words[p] for p in state.prior.seeds.places} == {
            *SEEDS["Sports"],
            *SEEDS["Health care"],
        }
        model = load_model(store)
        assert model.seed_labels_ == {0: "Health care", 1: "Sports"}
        column = list(model.feature_names_in_).index("vaccine")
        share = model.components_[:, column] / model.components_[:, column].sum()
        assert share.argmax() == 0 and share[0] > 0.4
        assert top(model, 0, 9) <= {"vaccine", *SUBJECTS["health"]}


def test_a_topic_that_is_taken_is_not_called_by_a_seed_that_comes_late(tmp_path: Path) -> None:
    with open_store(tmp_path / "topics.db", min_documents=3, held_out=0.0) as store:
        # Nothing of health yet, and three subjects that take all four topics.
        store.append(records(texts(0, 200, ["sports", "money", "food"])))
        with trainer_of(store) as trainer:
            trainer.run(steps=40)
            assert load_model(store).seed_labels_ == {1: "Sports"}
            store.append(records(texts(1, 400), 200))
            trainer.run(steps=80)
        model = load_model(store)
    # Either the topic has become what the seed asks for, or it does not bear its name.
    is_health = len(top(model, 0) & set(SUBJECTS["health"])) >= 5
    assert (model.seed_labels_.get(0) == "Health care") == is_health
    assert model.seed_labels_[1] == "Sports"


def test_a_word_that_gives_way_takes_its_seed_along() -> None:
    stream = TopicStream(n_components=3, seed_words={"a": ["x", "y"], "b": ["y"]})
    state = stream.follow(stream.start(), [(0, "x"), (1, "q"), (2, "y")])
    assert state.prior.seeds.places.tolist() == [0, 2]
    assert state.prior.seeds.weights.tolist() == [[0.5, 0, 0], [0.5, 0.5, 0]]
    dense = state.lambda_.dense(state.prior.pattern)
    np.testing.assert_allclose(state.lambda_.totals, dense.sum(axis=0), rtol=1e-6)
    assert dense[0, 0] > 10 * dense[0, 1:].max()
    state = stream.follow(state, [(0, None), (2, "z")])
    assert state.prior.seeds is None
    state = stream.follow(state, [(0, "y")])
    assert state.prior.seeds.places.tolist() == [0]
    # Where each document counts once, it starts at the prior, and at what is held.
    once = TopicStream(n_components=3, method="streaming-vb", seed_words={"a": ["x"]})
    state = once.follow(once.start(), [(0, "x"), (1, "q")])
    np.testing.assert_allclose(
        state.lambda_.dense(state.prior.pattern), [[1.6, 0.1, 0.1], [0.1, 0.1, 0.1]], rtol=1e-6
    )


def test_a_checkpoint_goes_on_exactly_and_an_old_one_has_no_seeds(tmp_path: Path) -> None:
    with open_store(tmp_path / "topics.db", min_documents=2) as store:
        store.append(records(texts(0)))
        with trainer_of(store) as trainer:
            trainer.run(steps=10)
        saved = load_checkpoint(store).to_bytes()
        again = Checkpoint.from_bytes(saved, "again")
        assert again.model.seed_words == SeedTopics.of(SEEDS, 0.5, 4)
        np.testing.assert_array_equal(
            again.state.prior.seeds.weights, load_checkpoint(store).state.prior.seeds.weights
        )
        with trainer_of(store) as trainer:
            trainer.run(steps=10)
        in_two = load_model(store).components_
    with open_store(tmp_path / "other.db", min_documents=2) as store:
        store.append(records(texts(0)))
        with trainer_of(store) as trainer:
            trainer.run(steps=20)
        np.testing.assert_array_equal(load_model(store).components_, in_two)
        with pytest.raises(ValueError, match="seed_words"):
            trainer_of(store, seed_words=None).close()
    settings = TopicStream(n_components=4).settings()
    del settings["seed_words"], settings["seed_strength"]
    assert TopicStream.from_settings({"kind": "lda", **settings}) == TopicStream(n_components=4)
    merged = merging(as_topics(again.model.estimator(
        again.state, again.words, np.random.default_rng(0), 1)).names, [3, 1]
    ).of_checkpoint(again)  # fmt: skip
    assert merged.model.seed_words.rows == (0, 2)
    assert Checkpoint.from_bytes(merged.to_bytes(), "merged").model == replace(merged.model)


def test_init_keeps_seeds_and_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "topics.db"
    init_store(path, 4, seed_words=SEEDS, seed_strength=0.7)
    init_store(path, 4, seed_words=SEEDS, seed_strength=0.7)  # the same again
    with open_store(path, create=False) as store:
        found = load_settings(store)
        assert found is not None and found.seed_words.weight == 0.7
        json.dumps(found.settings())
    with pytest.raises(ValueError, match="other settings"):
        init_store(path, 4, seed_words={"Sports": ["team"]})
    for options, message in [
        ({"seed_words": {str(n): ["a"] for n in range(5)}}, "5 seeds for 4 topics"),
        ({"seed_words": {"Sports": "team"}}, "expected a list of words"),
        ({"seed_strength": 2.0}, "give both, or none"),
        ({"seed_words": SEEDS, "seed_strength": -1.0}, "seed_strength is -1.0"),
        # No step could be taken, and settings cannot be changed.
        ({"seed_words": SEEDS, "seed_strength": 1e300}, r"1e\+300, expected .*, up to 1e\+30"),
    ]:
        with pytest.raises(ValueError, match=message):
            init_store(tmp_path / "none.db", 4, **options)
        assert not (tmp_path / "none.db").exists()
    with pytest.warns(UserWarning, match="'Team' of seed_words is not what texts are split into"):
        init_store(tmp_path / "case.db", 4, seed_words={"Sports": ["Team", "game"]})
    with pytest.warns(UserWarning, match="'game' of seed_words is not in the vocabulary"):
        words = {"Sports": ["team", "game"]}
        init_store(tmp_path / "fixed.db", 4, seed_words=words, vocabulary=["team", "bank"])
