"""Distances, hierarchy, correlation and map of topics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon, pdist, squareform

from tests.topics.planted import documents_of, in_batches, planted_topics
from trustream.evaluation import topic_distances
from trustream.topics.documents import gather, read
from trustream.topics.relations import (
    CorrelationCounts,
    topic_correlation,
    topic_hierarchy,
    topic_map,
)
from trustream.topics.topic_set import TopicSet


def families() -> TopicSet:
    """Two families of topics, 0, 2, 4 and 1, 3, with words of their own."""
    rng = np.random.default_rng(0)
    base = rng.dirichlet(np.full(60, 0.1), 2)
    mixed = [0.8 * base[k % 2] + 0.2 * rng.dirichlet(np.full(60, 0.1)) for k in range(5)]
    return TopicSet.of(1000 * np.array(mixed) + 0.1, 0.1)


def test_distances() -> None:
    weights = families().weights
    beta = weights / weights.sum(axis=1, keepdims=True)
    hellinger = squareform(pdist(np.sqrt(beta))) / np.sqrt(2)
    np.testing.assert_allclose(topic_distances(weights), hellinger, atol=1e-9)
    js = [[jensenshannon(p, q, 2) for q in beta] for p in beta]
    np.testing.assert_allclose(topic_distances(weights, "jensen-shannon"), js, atol=1e-7)
    with pytest.raises(ValueError, match="distance must be one of"):
        topic_distances(weights, "euclid")


@pytest.mark.parametrize("distance", ["hellinger", "jensen-shannon"])
def test_families_are_found(distance: str) -> None:
    topics = families()
    tree = topic_hierarchy(topics, distance)
    assert {frozenset(group) for group in tree.groups(2)} == {
        frozenset({0, 2, 4}),
        frozenset({1, 3}),
    }
    assert len(tree.mergers) == 4 and tree.mergers[-1].share == pytest.approx(1)
    assert [m.distance for m in tree.mergers] == sorted(m.distance for m in tree.mergers)
    last = tree.mergers[-1]
    distances = topic_distances(topics.weights, distance)
    assert last.distance == pytest.approx(distances[np.ix_(last.left, last.right)].mean())
    assert last.left + last.right == tree.order
    assert [len(tree.groups(n)) for n in range(1, 6)] == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="n is 6, but there are 5 topics"):
        tree.groups(6)


def test_ids_not_rows_are_told() -> None:
    topics = families()
    names = topics.names.restarted([0, 1])
    tree = topic_hierarchy(topics.with_names(names))
    assert sorted(tree.order) == [2, 3, 4, 5, 6]
    assert {frozenset(g) for g in tree.groups(2)} == {frozenset({5, 2, 4}), frozenset({6, 3})}
    assert topic_map(topics.with_names(names)).topics == (5, 6, 2, 3, 4)


def test_the_map_keeps_distances() -> None:
    # Three topics have a plane of their own, in which the map is exact.
    topics = TopicSet.of(families().weights[:3], 0.1)
    found = topic_map(topics)
    np.testing.assert_allclose(
        squareform(pdist(found.positions)), topic_distances(topics.weights), atol=1e-7
    )
    assert found.explained == pytest.approx(1) and found.shares.sum() == pytest.approx(1)
    again = topic_map(TopicSet.of(topics.weights[::-1], 0.1))
    np.testing.assert_allclose(found.positions, again.positions[::-1], atol=1e-7)
    whole = topic_map(families())
    first = whole.positions[:, 0] > 0
    assert first[[0, 2, 4]].all() != first[[1, 3]].all() and 0.5 < whole.explained < 1


def test_few_and_equal_topics() -> None:
    one = TopicSet.of([[1.0, 2.0]], 0.1)
    assert topic_hierarchy(one).mergers == [] and topic_hierarchy(one).groups(1) == [(0,)]
    np.testing.assert_array_equal(topic_map(one).positions, [[0.0, 0.0]])
    two = topic_map(TopicSet.of([[1.0, 9.0], [9.0, 1.0]], 0.1))
    np.testing.assert_allclose(two.positions[:, 1], 0.0)
    assert two.explained == pytest.approx(1)
    equal = TopicSet.of(np.tile([5.0, 3.0, 2.1], (4, 1)), 0.1)
    assert (topic_map(equal).positions == 0).all() and topic_map(equal).explained == 0
    assert all(merger.distance == 0 for merger in topic_hierarchy(equal).mergers)
    assert np.isnan(topic_correlation(equal, np.array([[1, 2, 3], [4, 0, 0], [0, 1, 0]]))).all()


def test_correlation_is_pearsons_of_the_proportions() -> None:
    rng = np.random.default_rng(0)
    topics = planted_topics(rng, 5)
    theta = rng.dirichlet(np.full(5, 0.3), 1500)
    # Topic 1 comes with topic 0.
    theta[:, 1] = 0.5 * theta[:, 0]
    theta /= theta.sum(axis=1, keepdims=True)
    counts = documents_of(rng, topics, theta)
    found = topic_correlation(topics, in_batches(counts, 100))
    inferred = np.concatenate([part.proportions for part in read(topics, counts)])
    np.testing.assert_allclose(found, np.corrcoef(inferred.T), atol=1e-6)
    assert found[0, 1] > 0.7 > 0 > found[0, 2]
    halves = [CorrelationCounts(topics), CorrelationCounts(topics)]
    gather(topics, counts[:100], halves[0])
    gather(topics, counts[100:], halves[1])
    halves[0].merge(halves[1])
    np.testing.assert_allclose(halves[0].result(), found, atol=1e-12)
    with pytest.raises(ValueError, match="1 documents with words"):
        topic_correlation(topics, counts[:1])
    with pytest.raises(ValueError, match="linkage must be one of"):
        topic_hierarchy(topics, linkage="ward")
