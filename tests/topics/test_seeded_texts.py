"""Topics of texts that begin by words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trustream
from trustream import TopicModel

SUBJECTS = {
    "sports": "team game ball player coach season match league goal win".split(),
    "money": "bank rate loan market price stock trade credit bond fund".split(),
    "health": "doctor patient nurse drug virus cell dose organ blood heart".split(),
    "food": "bread cheese apple sugar onion garlic butter salad pasta grill".split(),
}


def texts(seed: int, n: int = 400, subjects: list[str] | None = None) -> list[str]:
    rng = np.random.default_rng(seed)
    names = subjects or list(SUBJECTS)
    return [" ".join(rng.choice(SUBJECTS[names[rng.integers(len(names))]], 12)) for _ in range(n)]


SEEDS = {"Health care": ["doctor", "virus"], "Sports": ["team", "league"]}


@pytest.mark.parametrize("seed", range(4))
def test_seeded_topics_have_their_words_and_names(seed: int, tmp_path: Path) -> None:
    model = TopicModel(4, seed_words=SEEDS, random_state=seed).fit(texts(seed))
    table = model.topic_info()
    assert [table.topic(topic).label for topic in (0, 1)] == ["Health care", "Sports"]
    for topic, subject in enumerate(["health", "sports"]):
        words = {found.word for found in table.topic(topic).words[:8]}
        assert words <= set(SUBJECTS[subject])
    model.save(tmp_path / "model.safetensors")
    again = trustream.load(tmp_path / "model.safetensors")
    assert again.topics_.names == model.topics_.names and again.seed_words == SEEDS
    more = texts(seed + 100)
    np.testing.assert_array_equal(
        again.partial_fit(more).estimator_.components_,
        model.partial_fit(more).estimator_.components_,
    )
    assert again.estimator_._state.prior.seeds is not None


def test_a_seed_word_that_comes_later_counts_from_then_on() -> None:
    seeds = {"Health care": ["doctor", "virus", "vaccine"], "Sports": ["team", "league"]}
    with pytest.warns(UserWarning, match="'vaccine' of seed_words is not in the vocabulary"):
        model = TopicModel(4, seed_words=seeds, random_state=0).fit(texts(0))
    assert "vaccine" not in model.words_
    model.partial_fit([f"{text} vaccine" for text in texts(1, 50)])  # with all subjects
    column = model.words_.index("vaccine")
    prior = model.estimator_._state.prior.seeds
    assert prior.weights[prior.places.tolist().index(column)].tolist() == [0.5, 0, 0, 0]
    weights = model.estimator_.components_[:, column]
    assert weights.argmax() == 0
    # The control: without the seed the word is of no topic in particular.
    free = TopicModel(4, seed_words=SEEDS, random_state=0).fit(texts(0))
    free.partial_fit([f"{text} vaccine" for text in texts(1, 50)])
    others = free.estimator_.components_[:, free.words_.index("vaccine")]
    assert weights[0] / weights.sum() > others[0] / others.sum() + 0.1


def test_merged_topics_keep_their_seeds_for_words_to_come(tmp_path: Path) -> None:
    seeds = {**SEEDS, "Sports": ["team", "league", "stadium"]}
    with pytest.warns(UserWarning, match="'stadium'"):
        model = TopicModel(4, seed_words=seeds, random_state=0).fit(texts(0))
    model.merge_topics([3, 1])
    assert model.topics_.names.ids == (0, 2, 3)
    model.partial_fit([f"{text} stadium" for text in texts(1, 50)])
    prior = model.estimator_._state.prior.seeds
    row = prior.places.tolist().index(model.words_.index("stadium"))
    assert prior.weights[row].tolist() == [0, 0, 0.5]
    model.save(tmp_path / "model.safetensors")
    again = trustream.load(tmp_path / "model.safetensors")
    assert again.estimator_._seeds == model.estimator_._seeds


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="3 seeds for 2 topics"):
        TopicModel(2, seed_words={**SEEDS, "Money": ["bank"]})
    with pytest.raises(ValueError, match="expected a list of words"):
        TopicModel(2, seed_words={"Sports": "team"})
    with pytest.raises(ValueError, match="none of the words of the seed 'Sports'"):
        TopicModel(2, seed_words={"Sports": ["Team"]}).fit(texts(0))
