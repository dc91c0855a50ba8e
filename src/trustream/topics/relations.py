"""See how topics relate: which are alike, which occur together, and where they are on a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster import hierarchy as clustering
from scipy.spatial.distance import squareform

from trustream.array_types import Float64, Index
from trustream.evaluation import validation
from trustream.evaluation.topic_comparison import topic_distances
from trustream.kernels.threads import one_blas_thread
from trustream.topics import characteristic_words
from trustream.topics.documents import ReadBatch, gather
from trustream.topics.topic_set import as_topics

LINKAGES = ("average", "complete", "single")


@dataclass(frozen=True, slots=True)
class TopicMerger:
    """Two groups of topics that become one in a hierarchy.

    Attributes:
        left, right: ids of the topics in the two groups, in the order of the leaves.
        distance: between the groups, from 0 (the same) to 1.
        share: of all tokens, of both together.
        label: the most relevant words of both together.
    """

    left: tuple[int, ...]
    right: tuple[int, ...]
    distance: float
    share: float
    label: str


@dataclass(frozen=True, eq=False)
class TopicHierarchy:
    """Topics joined step by step, the most alike first.

    Attributes:
        topics: ids of the topics, by row of `linkage`'s numbers.
        mergers: K - 1 of them, in the order of their distances.
        order: ids in the order in which a drawing has no crossing lines.
        linkage: (K - 1, 4), as SciPy's `dendrogram` takes it.
        distance: name of the distance.
    """

    topics: tuple[int, ...]
    mergers: list[TopicMerger]
    order: tuple[int, ...]
    linkage: Float64
    distance: str

    def groups(self, n: int) -> list[tuple[int, ...]]:
        """Return the topics in n groups, the groups in the order of the leaves.

        >>> from trustream.topics.topic_set import TopicSet
        >>> topics = TopicSet.of([[8.0, 1.0, 1.0], [7.0, 2.0, 1.0], [1.0, 1.0, 8.0]], 0.1)
        >>> topic_hierarchy(topics).groups(2)
        [(2,), (0, 1)]
        """
        n = validation.whole_number("n", n)
        if n > len(self.topics):
            raise ValueError(f"n is {n}, but there are {len(self.topics)} topics")
        group: dict[int, tuple[int, ...]] = {topic: (topic,) for topic in self.topics}
        for merger in self.mergers[: len(self.topics) - n]:
            both = merger.left + merger.right
            group.update(dict.fromkeys(both, both))
        return list(dict.fromkeys(group[topic] for topic in self.order))


def topic_hierarchy(
    model: Any, distance: str = "hellinger", linkage: str = "average"
) -> TopicHierarchy:
    """Join topics step by step, by how alike their words are.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    distance : {"hellinger", "jensen-shannon", "cosine", "total-variation"}, default="hellinger"
        Between topics, as in `trustream.evaluation.match_topics`; all lie between 0 and 1.
    linkage : {"average", "complete", "single"}, default="average"
        The distance of two groups: the mean, the largest or the smallest of those between their
        topics.

    Examples
    --------
    >>> words = ["cat", "dog", "bank"]
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[8.0, 1.0, 1.0], [7.0, 2.0, 1.0], [1.0, 1.0, 8.0]], 0.1, words)
    >>> first, last = topic_hierarchy(topics).mergers
    >>> first.left, first.right, first.label
    ((0,), (1,), 'cat, dog, bank')
    """
    if linkage not in LINKAGES:
        raise ValueError(f"linkage must be one of {LINKAGES}, got {linkage!r}")
    topics = as_topics(model)
    ids = topics.names.ids
    distances = topic_distances(topics.weights, distance)
    if topics.n_topics == 1:
        return TopicHierarchy(ids, [], ids, np.empty((0, 4)), distance)
    table = clustering.linkage(squareform(distances, checks=False), linkage)
    leaves = clustering.leaves_list(table)
    place = {int(row): i for i, row in enumerate(leaves)}
    groups: list[list[int]] = [[row] for row in range(topics.n_topics)]
    shares, mergers = topics.shares, []
    for first, second, height, _ in table:
        left, right = sorted((groups[int(first)], groups[int(second)]), key=lambda g: place[g[0]])
        both = left + right
        groups.append(both)
        mergers.append(
            TopicMerger(
                tuple(ids[row] for row in left),
                tuple(ids[row] for row in right),
                float(height),
                float(shares[both].sum()),
                characteristic_words.joint_label(topics, both),
            )
        )
    return TopicHierarchy(ids, mergers, tuple(ids[row] for row in leaves), table, distance)


class CorrelationCounts:
    """ShareSums of topic proportions over documents, for `topic_correlation`.

    Kept as means and centred products, so that they stay accurate over any number of documents.

    Parameters
    ----------
    topics : TopicSet or LatentDirichletAllocation
    """

    def __init__(self, topics: Any) -> None:
        self.topics = as_topics(topics)
        k = self.topics.n_topics
        self.n, self.mean, self.products = 0, np.zeros(k), np.zeros((k, k))

    def add(self, part: ReadBatch) -> None:
        """Take in some documents; those without words are left out."""
        theta = part.proportions[part.lengths > 0].astype(np.float64)
        if len(theta):
            mean = theta.mean(axis=0)
            centred = theta - mean
            with one_blas_thread():
                products = centred.T @ centred
            self._combine(len(theta), mean, products)

    def merge(self, other: CorrelationCounts) -> None:
        """Take in what another one has counted, of the same topics."""
        if other.topics.names.ids != self.topics.names.ids:
            raise ValueError("the other counts are of other topics")
        if other.n:
            self._combine(other.n, other.mean, other.products)

    def _combine(self, n: int, mean: Float64, products: Float64) -> None:
        total, step = self.n + n, mean - self.mean
        self.products = self.products + products + np.outer(step, step) * (self.n * n / total)
        self.mean = self.mean + step * (n / total)
        self.n = total

    def result(self) -> Float64:
        """Return the correlations, (K, K); see `topic_correlation`."""
        if self.n < 2:
            raise ValueError(f"{self.n} documents with words, correlations need at least 2")
        spread = np.sqrt(self.products.diagonal())
        # What is left of a constant proportion is rounding.
        varies = spread > 1e-6 * np.sqrt(self.n) * np.maximum(self.mean, 1e-300)
        scale = np.where(varies, spread, np.nan)
        found = np.clip(self.products / np.outer(scale, scale), -1.0, 1.0)
        found[np.diag_indices_from(found)] = np.where(varies, 1.0, np.nan)
        return np.asarray(found)


def topic_correlation(model: Any, documents: Any) -> Float64:
    """Return the correlations of topics over documents, (K, K), from one pass.

    Pearson's correlation of the proportions E[theta_dj] and E[theta_dk] over documents with words.
    Proportions of a document sum to one, so that topics that have nothing to do with each other
    are correlated a little negatively: about -1 / (K - 1) if all are alike.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    documents : matrix of shape (n_documents, n_words), or batches of documents
        As in `trustream.topics.documents.as_batches`; at least two with words.

    Returns
    -------
    array of shape (n_topics, n_topics)
        In the order of the model's rows. NaN for a topic that has the same proportion in all
        documents.

    Examples
    --------
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[90.0, 1.0], [1.0, 90.0]], 0.1)
    >>> topic_correlation(topics, np.array([[9, 0], [0, 9], [4, 5]])).round(2).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    counts = CorrelationCounts(model)
    gather(counts.topics, documents, counts)
    return counts.result()


@dataclass(frozen=True, eq=False)
class TopicMap:
    """Topics in two dimensions.

    Attributes:
        topics: ids, by row.
        positions: (K, 2); topics that are alike are near each other.
        explained: the share of all squared distances that two dimensions show, from 0 to 1.
        shares: (K,) of all tokens, for the size of what is drawn.
    """

    topics: tuple[int, ...]
    positions: Float64
    explained: float
    shares: Float64


def topic_map(model: Any, distance: str = "hellinger") -> TopicMap:
    """Put topics on a map in two dimensions, by classical multidimensional scaling.

    Positions are the first two principal coordinates of the distances: with D2 their squares and
    J = I - 1/K, the eigenvectors of -J D2 J / 2 times the roots of their eigenvalues. Hellinger
    distances are those of points in a Euclidean space, of which the map is a projection. The
    largest coordinate of each dimension is positive, so that a map does not flip from run to run.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    distance : {"hellinger", "jensen-shannon", "cosine", "total-variation"}, default="hellinger"
        As in `topic_hierarchy`.

    Returns
    -------
    TopicMap
        A single topic, and topics that are all equal, are at the origin, and nothing is explained.

    Examples
    --------
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[8.0, 1.0, 1.0], [7.0, 2.0, 1.0], [1.0, 1.0, 8.0]], 0.1)
    >>> found = topic_map(topics)
    >>> found.positions.shape, round(found.explained, 3)
    ((3, 2), 1.0)
    """
    topics = as_topics(model)
    k = topics.n_topics
    squares = topic_distances(topics.weights, distance) ** 2
    centred = squares - squares.mean(axis=0)
    products = -0.5 * (centred - centred.mean(axis=1, keepdims=True))
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    largest: Index = np.argsort(-values)[: min(2, k)]
    positive = np.maximum(values, 0.0)
    # Distances of equal topics are rounding.
    positive[positive < 1e-12] = 0.0
    positions = np.zeros((k, 2))
    positions[:, : largest.size] = vectors[:, largest] * np.sqrt(positive[largest])
    tallest = np.abs(positions).argmax(axis=0)
    positions *= np.where(positions[tallest, [0, 1]] < 0, -1.0, 1.0)
    total = float(positive.sum())
    explained = float(positive[largest].sum()) / total if total > 0 else 0.0
    return TopicMap(topics.names.ids, positions, explained, topics.shares)
