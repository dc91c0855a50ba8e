"""The number of topics: planted ones are found, and texts are told to be undecided."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy
from scipy import sparse

from tests.helpers import planted_lda
from tests.topics.planted import planted_topics
from trustream.demo import docstrings
from trustream.text import build_vocabulary, count_matrix
from trustream.topics.choosing import (
    ComponentsScore,
    choice_of,
    choose_n_components,
    grid,
)
from trustream.topics.reduction import reducing
from trustream.topics.topic_set import TopicSet


def planted(n_topics: int, n_documents: int, n_words: int, length: float, alpha: float) -> object:
    rng = np.random.default_rng(n_topics)
    counts, _ = planted_lda(rng, n_topics, n_words, n_documents, length, alpha, 0.05)
    return sparse.csr_array(counts)


@pytest.mark.parametrize(
    "n_topics, n_documents, n_words, length, alpha",
    [
        (5, 800, 400, 60, 0.2),
        (20, 1500, 800, 70, 0.1),
        pytest.param(50, 4000, 2000, 100, 0.05, marks=pytest.mark.slow),
    ],
)
def test_planted_numbers_are_found(
    n_topics: int, n_documents: int, n_words: int, length: float, alpha: float
) -> None:
    choice = choose_n_components(planted(n_topics, n_documents, n_words, length, alpha))
    assert abs(choice.n_components - n_topics) <= 0.2 * n_topics
    assert not choice.at_edge and choice.flat[0] <= choice.n_components <= choice.flat[1]
    numbers = [score.n_components for score in choice.scores]
    assert numbers == sorted(numbers) and numbers[0] == 2 and numbers[-1] >= 2 * n_topics
    assert {*grid(2, numbers[-1])} <= {*numbers}
    assert str(choice.n_components) in choice.reason
    frame = choice.frame()
    assert frame["n_components"].tolist() == numbers and frame["standard_error"].min() > 0
    assert np.isfinite(frame.to_numpy(float)).all()


def test_on_text_it_says_how_flat_the_curve_is() -> None:
    documents: list[list[str]] = []
    for found in docstrings.stream([Path(scipy.__file__).parent]):
        documents += [docstring.words for docstring in found]
        if len(documents) >= 1000:
            break
    vocabulary = build_vocabulary(documents, max_words=1500)
    choice = choose_n_components(count_matrix(documents, vocabulary), [2, 5, 10, 20, 40])
    best = next(score for score in choice.scores if score.n_components == choice.best)
    low, high = choice.flat
    for score in choice.scores:
        if low <= score.n_components <= high:
            assert score.held_out >= best.held_out - best.standard_error
    assert low <= choice.best <= high
    if high >= 2 * low:
        assert f"The curve is flat: from {low} to {high} topics" in choice.reason
    assert "Topics are most coherent with" in choice.reason


def scores(values: dict[int, float], error: float = 0.03) -> list[ComponentsScore]:
    return [ComponentsScore(k, value, error, k / 100, 0.02) for k, value in values.items()]


def test_the_rule_and_its_words() -> None:
    flat = choice_of(scores({2: -6.5, 4: -6.02, 8: -6.01, 16: -6.0, 32: -6.01}))
    assert (flat.n_components, flat.best, flat.flat) == (4, 16, (4, 32))
    assert "4 topics are the fewest that predict documents as well as 16" in flat.reason
    assert "The curve is flat: from 4 to 32 topics" in flat.reason and not flat.at_edge
    assert "The range ends with the largest candidate" in flat.reason
    assert "With 2 topics the score is 0.5000 below the best." in flat.reason
    peak = choice_of(scores({2: -6.5, 4: -6.0, 8: -6.2}))
    assert (peak.n_components, peak.flat) == (4, (4, 4)) and "clear peak" in peak.reason
    assert "largest candidate" not in peak.reason
    edge = choice_of(scores({2: -6.5, 4: -6.2, 8: -6.0}))
    assert edge.at_edge and "try larger ones too" in edge.reason
    assert "The curve still rises" in edge.reason and "peak" not in edge.reason
    broad = choice_of(scores({4: -6.5, 5: -6.02, 6: -6.0}))
    assert "a broad peak: from 5 to 6" in broad.reason
    # What is good again below a gap is the fewest, but not in a row with the best.
    gap = choice_of(scores({2: -6.01, 4: -6.2, 8: -6.0, 16: -6.3}))
    assert (gap.n_components, gap.flat) == (2, (8, 8))
    unknown = choice_of(scores({2: -6.01, 4: -6.0}, float("nan")))
    assert unknown.n_components == 4
    assert choice_of(scores({3: -6.0})).n_components == 3


def test_candidates_come_in_any_order_and_are_told() -> None:
    counts = planted(3, 200, 60, 30, 0.2)
    seen: list[int] = []
    choice = choose_n_components(
        counts, [6, 2, 3, 2], progress=lambda score: seen.append(score.n_components)
    )
    assert seen == [6, 3, 2] and [s.n_components for s in choice.scores] == [2, 3, 6]
    again = choose_n_components(counts, [2, 3, 6], n_jobs=1)
    assert again == choice
    assert choose_n_components(counts, [1]).n_components == 1
    small = choose_n_components(counts, [2, 4], max_documents=50, held_out=0.5)
    assert len(small.scores) == 2


def test_topics_that_tell_least_apart_are_merged_first() -> None:
    rng = np.random.default_rng(0)
    base = planted_topics(rng, 3).weights
    twice = np.vstack([base, 0.5 * base + rng.uniform(0, 1, base.shape), base[:1] * 1e-4 + 0.01])
    topics = TopicSet.of(twice, 0.1)
    groups = reducing(topics, 3).groups
    assert sorted(sorted(group[:2]) for group in groups) == [[0, 3], [1, 4], [2, 5]]
    assert sorted(row for group in groups for row in group) == list(range(7))
    reduced = reducing(topics, 3).of_topics(topics)
    assert reduced.names.ids == (0, 1, 2)
    np.testing.assert_allclose(reduced.weights.sum(), twice.sum())
    assert reducing(topics, 7).groups == tuple((row,) for row in range(7))
    assert len(reducing(topics, 1).groups) == 1
    for bad in (0, 8):
        with pytest.raises(ValueError, match="expected 1 to 7"):
            reducing(topics, bad)


def test_bad_input() -> None:
    counts = planted(3, 100, 60, 30, 0.2)
    with pytest.raises(ValueError, match="X has 10 documents with two words or more"):
        choose_n_components(np.ones((10, 5)))
    with pytest.raises(ValueError, match="X has 0 documents with two words"):
        choose_n_components(np.eye(50))
    with pytest.raises(ValueError, match="must be whole numbers"):
        choose_n_components(np.full((50, 5), 0.5))
    with pytest.raises(ValueError, match="candidates are empty"):
        choose_n_components(counts, [])
    for bad in (0, -2, 2.5, "3"):
        with pytest.raises(ValueError, match="a candidate must be an integer of at least 1"):
            choose_n_components(counts, [bad])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="held_out is 1"):
        choose_n_components(counts, held_out=1)
    with pytest.raises(ValueError, match="max_documents must be an integer of at least 20"):
        choose_n_components(counts, max_documents=5)
    with pytest.raises(ValueError, match="cannot be given: they are decided here"):
        choose_n_components(counts, [2], n_components=3)
