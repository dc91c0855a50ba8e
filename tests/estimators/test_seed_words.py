"""Topics that begin by words, in the estimator."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import trustream
from tests.helpers import Array
from trustream import LatentDirichletAllocation
from trustream.topics import as_topics, merging, topic_info

K, V = 8, 160
WORDS = [f"w{v}" for v in range(V)]
# Topic k has the words 20 k, ..., 20 k + 19, and a little of all others.
BETA = np.kron(np.eye(K), np.full((1, V // K), 0.95 * K / V)) + 0.05 / V
SEEDS = {"five": ["w101", "w107"], "two": ["w45", "w50"], "seven": ["w140", "w151", "w159"]}
TOPICS = [5, 2, 7]


def corpus(seed: int, n_documents: int = 400) -> Array:
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(K, 0.1), n_documents)
    return np.array([rng.multinomial(40, p / p.sum()) for p in theta @ BETA])


def nearest(lda: LatentDirichletAllocation) -> list[int]:
    """The planted topic that each topic is nearest to."""
    beta = lda.components_ / lda.components_.sum(axis=1, keepdims=True)
    return np.sqrt(beta[:, None] * BETA[None]).sum(axis=2).argmax(axis=1).tolist()


def seeded(**options: Any) -> LatentDirichletAllocation:
    options = {"seed_words": SEEDS, "words": WORDS, "random_state": 0} | options
    return LatentDirichletAllocation(K, **options)


@pytest.mark.parametrize("seed", range(6))
def test_seeded_topics_are_found_at_their_rows(seed: int) -> None:
    counts = corpus(seed)
    lda = seeded(random_state=seed).fit(counts)
    assert nearest(lda)[:3] == TOPICS
    assert lda.seed_labels_ == {0: "five", 1: "two", 2: "seven"}
    # The control: without seeds they are anywhere.
    free = LatentDirichletAllocation(K, random_state=seed).fit(counts)
    assert nearest(free)[:3] != TOPICS


@pytest.mark.parametrize(
    "options",
    [
        {"learning_method": "natural-gradient"},
        {"learning_method": "batch", "max_iter": 50},
        {"learning_method": "streaming-vb"},
        {"learning_method": "streaming-batch"},
        {"learning_method": "memoized", "max_iter": 20},
        {"local": "collapsed"},
        {"population": None},
        {"learn_priors": "per-word"},
        {"learning_rate": "adaptive"},
    ],
    ids=lambda options: next(iter(options.values())),
)
def test_any_algorithm_finds_them(options: dict[str, Any]) -> None:
    lda = seeded(**options).fit(corpus(0))
    assert nearest(lda)[:3] == TOPICS


def test_partial_fit_and_files_go_on_with_seeds(tmp_path: Path) -> None:
    counts = corpus(1, 1000)
    lda = seeded()
    for first in range(0, 500, 100):
        lda.partial_fit(counts[first : first + 100])
    assert nearest(lda)[:3] == TOPICS
    lda.save(tmp_path / "lda.safetensors")
    again = trustream.load(tmp_path / "lda.safetensors")
    assert again.seed_labels_ == lda.seed_labels_ and again.words_ == WORDS
    assert again.get_params()["seed_words"] == SEEDS
    np.testing.assert_array_equal(again._state.prior.seeds.weights, lda._state.prior.seeds.weights)
    for model in (lda, again):
        for first in range(500, 1000, 100):
            model.partial_fit(counts[first : first + 100])
    np.testing.assert_array_equal(lda.components_, again.components_)
    # The control: seeds count in these steps.
    other = trustream.load(tmp_path / "lda.safetensors")
    other._state = replace(other._state, prior=replace(other._state.prior, seeds=None))
    for first in range(500, 1000, 100):
        other.partial_fit(counts[first : first + 100])
    assert other.components_[0, 101] < 0.9 * lda.components_[0, 101]


def test_the_columns_of_a_frame_are_words_too() -> None:
    lda = LatentDirichletAllocation(K, seed_words=SEEDS, random_state=0)
    lda.fit(pd.DataFrame(corpus(2), columns=WORDS))
    assert nearest(lda)[:3] == TOPICS


def test_a_wrong_or_rare_word_does_little_harm() -> None:
    counts = corpus(3)
    # w3 is of topic 0; w999 is in one document.
    counts = np.hstack([counts, np.zeros((len(counts), 1), int)])
    counts[7, V] = 1
    words = [*WORDS, "w999"]
    good = seeded(words=words).fit(counts)
    seeds = {**SEEDS, "five": [*SEEDS["five"], "w3", "w999"]}
    wrong = seeded(words=words, seed_words=seeds).fit(counts)
    nearest_of = [nearest_without(lda) for lda in (good, wrong)]
    assert nearest_of[1][:3] == TOPICS
    # The wrong word is still most of all in its own topic.
    assert nearest_of[1][int(wrong.components_[:, 3].argmax())] == 0
    change = good.completion(counts, random_state=0).per_word
    change -= wrong.completion(counts, random_state=0).per_word
    assert change < 0.01


def nearest_without(lda: LatentDirichletAllocation) -> list[int]:
    beta = lda.components_[:, :V]
    beta = beta / beta.sum(axis=1, keepdims=True)
    return np.sqrt(beta[:, None] * BETA[None]).sum(axis=2).argmax(axis=1).tolist()


def test_topics_are_labelled_and_merged_with_their_seeds() -> None:
    lda = seeded().fit(corpus(4))
    assert dict(as_topics(lda).names.labels) == {0: "five", 1: "two", 2: "seven"}
    assert topic_info(lda).topic(1).label == "two"
    edited = merging(as_topics(lda).names, [2, 0]).of_estimator(lda)
    assert edited.seed_labels_ == {0: "two", 1: "seven"}
    weights = edited._state.prior.seeds.weights
    assert weights.shape == (7, K - 1)
    np.testing.assert_allclose(weights.sum(axis=0)[:2], [1.0, 2.5])
    edited.partial_fit(corpus(5))
    assert nearest(edited)[0] == 2


def test_what_is_wrong_is_said() -> None:
    counts = corpus(0)
    with pytest.warns(UserWarning, match="'w999', 'x' of seed_words are not in the vocabulary"):
        lda = seeded(seed_words={"five": ["w101", "w999", "x"]}).fit(counts)
    assert lda.seed_labels_ == {0: "five"}
    for options, message in [
        ({"seed_words": {"a": ["x", "y"]}}, "none of the words of the seed 'a'"),
        ({"words": None}, "seed_words needs the word of each column"),
        ({"words": WORDS[:3]}, "words has 3 words, the model has 160 columns"),
        ({"seed_words": {str(k): ["w1"] for k in range(9)}}, "9 seeds for 8 topics"),
        ({"seed_words": {"a": "team"}}, "expected a list of words"),
        ({"seed_words": {"a": []}}, "the seed 'a' has no words"),
        ({"seed_words": {"a": [3]}}, "expected a text"),
        ({"seed_words": {"": ["w1"]}}, "is called ''"),
        ({"seed_words": {}}, "seed_words is empty"),
        ({"seed_words": [["w1"]]}, "seed_words"),
        ({"seed_strength": 0}, "seed_strength"),
        ({"seed_strength": np.inf}, "seed_strength"),
    ]:
        with pytest.raises(ValueError, match=message):
            seeded(**options).fit(counts)
    # A word of two seeds, or twice in one, is no error.
    lda = seeded(seed_words={"a": ["w1", "w1"], "b": ["w1"]}).fit(counts)
    assert lda._state.prior.seeds.weights[0, :2].tolist() == [0.5, 0.5]


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    from trustream import persist

    lda = seeded().fit(corpus(0))
    lda.save(tmp_path / "lda.safetensors")
    arrays, header = persist.read(tmp_path / "lda.safetensors")
    for name, value in [
        ("seeds.places", arrays["seeds.places"] + V),
        ("seeds.places", arrays["seeds.places"][::-1].copy()),
        ("seeds.weights", arrays["seeds.weights"][:, :2].copy()),
        ("seeds.weights", -arrays["seeds.weights"]),
    ]:
        persist.write(tmp_path / "bad.safetensors", {**arrays, name: value}, header)
        with pytest.raises(ValueError):
            trustream.load(tmp_path / "bad.safetensors")
    topics = [{"topic": 99, "name": "a", "words": ["b"]}]
    bad = {**header, "seed_topics": {"weight": 0.5, "seeds": topics}}
    persist.write(tmp_path / "bad.safetensors", arrays, bad)
    with pytest.raises(ValueError, match="topic 99"):
        trustream.load(tmp_path / "bad.safetensors")
