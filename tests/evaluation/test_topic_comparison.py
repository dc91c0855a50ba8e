"""Top words, diversity, and the matching of two models' topics."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import distance as scipy_distance

from trustream.evaluation import topic_comparison as module
from trustream.evaluation.topic_comparison import DISTANCES, diversity, match_topics
from trustream.evaluation.word_lists import top_words


def random_topics(seed: int, n_topics: int, n_features: int = 30) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(n_features, 0.2), n_topics)


def slow_distance(p: np.ndarray, q: np.ndarray, name: str) -> float:
    """Of two rows, by formulas that are not those of the module."""
    p, q = p / p.sum(), q / q.sum()
    if name == "hellinger":
        return float(np.sqrt(1 - np.sqrt(p * q).sum()))
    if name == "cosine":
        return float(scipy_distance.cosine(p, q))
    if name == "jensen-shannon":
        return float(scipy_distance.jensenshannon(p, q, base=2))
    return float(np.maximum(p - q, 0).sum())


# --- top words


def test_ties_go_to_the_first() -> None:
    weights = np.array([[1, 3, 1, 3, 1], [0, 0, 0, 0, 0]])
    assert top_words(weights, 4) == [[1, 3, 0, 2], [0, 1, 2, 3]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int64", "bool"])
def test_top_words_are_those_of_a_stable_sort(dtype: str) -> None:
    weights = np.random.default_rng(0).integers(0, 5, (20, 50)).astype(dtype)
    order = np.argsort(-weights.astype(float), axis=1, kind="stable")
    for n in (1, 10, 50):
        assert top_words(weights, n) == order[:, :n].tolist()
    assert top_words(sp.csr_array(weights), 7) == order[:, :7].tolist()


# --- diversity


@pytest.mark.parametrize("dtype", ["uint64", "int64", "uint8", "int8"])
def test_the_largest_and_the_smallest_whole_numbers(dtype: str) -> None:
    """None has its sign turned round: -128 is no int8, and 2^64 - 1 no int64."""
    limits = np.iinfo(dtype)
    weights = np.array([[5, limits.min, limits.max, 7]], dtype)
    assert top_words(weights, 4) == [[2, 3, 0, 1]]


def test_diversity() -> None:
    assert diversity([[0, 1], [2, 3]], 2) == 1.0
    assert diversity(np.tile([0.5, 0.3, 0.2], (4, 1)), 2) == 0.25
    assert diversity([["a", "b", "c"], ["c", "a", "d"]], 3) == pytest.approx(4 / 6)


def test_diversity_refuses() -> None:
    with pytest.raises(ValueError, match="n_words is 25, but topics have 3"):
        diversity(np.ones((2, 3)))
    with pytest.raises(ValueError, match="at least 1, got 0"):
        diversity([[0, 1]], 0)


# --- matching


@pytest.mark.parametrize("name", DISTANCES)
def test_the_same_topics_in_another_order(name: str) -> None:
    topics = random_topics(0, 12)
    order = np.random.default_rng(1).permutation(12)
    # Counts and proportions of the same model are the same.
    match = match_topics(topics, 64 * topics[order], name)
    np.testing.assert_array_equal(order[match.pairs[:, 1]], match.pairs[:, 0])
    assert match.distances.tolist() == [0.0] * 12
    assert match.similarity.tolist() == [1.0] * 12
    assert match.mean_distance == 0.0


@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize("block", [1, 40, 2**20])
def test_the_best_of_all_matchings(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    first, second = random_topics(2, 4), random_topics(3, 6)
    table = np.array([[slow_distance(p, q, name) for q in second] for p in first])
    best = min(permutations(range(6), 4), key=lambda chosen: table[range(4), chosen].sum())
    match = match_topics(first, second, name)
    assert match.pairs.tolist() == [[k, j] for k, j in enumerate(best)]
    np.testing.assert_allclose(match.distances, table[range(4), best], rtol=0, atol=1e-12)
    assert match.n_topics == (4, 6)
    # And the other way round.
    other = match_topics(second, first, name)
    assert sorted(other.pairs[:, ::-1].tolist()) == match.pairs.tolist()
    np.testing.assert_allclose(np.sort(other.distances), np.sort(match.distances), atol=1e-12)


@pytest.mark.parametrize("name", DISTANCES)
def test_topics_without_a_common_word_are_one_apart(name: str) -> None:
    match = match_topics(np.array([[1, 2, 0, 0]]), np.array([[0, 0, 5, 5]]), name)
    assert match.distances == pytest.approx([1.0], abs=1e-15)


def test_matching_is_described() -> None:
    text = repr(match_topics(random_topics(0, 3), random_topics(1, 5), "cosine"))
    assert text.startswith("TopicMatch(3 pairs of 3 and 5 topics, mean cosine distance 0.")


GOOD = np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (GOOD, GOOD, {"distance": "euclidean"}, "distance must be one of"),
        (GOOD, np.ones((2, 3)), {}, "first has 2 words and second 3"),
        (GOOD, -GOOD, {}, "second: topic 0 has weights from -2.0"),
        (GOOD * [[1], [0]], GOOD, {}, "first: topic 1 has weights from 0.0 to 0.0"),
        (GOOD, GOOD * [[1], [np.inf]], {}, "second: topic 1 .* inf"),
        (GOOD * np.nan, GOOD, {}, "first: topic 0 has NaN"),
        ([[0, 1]], GOOD, {}, "first is .* expected an array"),
        (GOOD, np.ones(2), {}, "second: topics have shape"),
        (GOOD, np.ones((0, 2)), {}, "second: topics have shape"),
    ],
)
def test_bad_input(first: Any, second: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        match_topics(first, second, **options)
