"""Planted corpora: topics with words of their own, and documents whose topics are known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from tests.helpers import Array
from trustream.topics.documents import DocumentBatch
from trustream.topics.topic_set import TopicSet


def planted_topics(
    rng: np.random.Generator, n_topics: int, n_words: int = 200, eta: float = 0.05
) -> TopicSet:
    """Topics as after a fit to a large corpus, with one alpha for all of them."""
    beta = rng.dirichlet(np.full(n_words, eta), n_topics)
    words = [f"w{v}" for v in range(n_words)]
    return TopicSet.of(1e5 * beta + 0.1, 0.1, words, eta=0.1)


def documents_of(
    rng: np.random.Generator, topics: TopicSet, theta: Array, length: float = 60
) -> sparse.csr_array:
    """Documents with these topic proportions, (documents, words), of Poisson lengths."""
    beta = topics.weights / topics.weights.sum(axis=1, keepdims=True)
    lengths = 1 + rng.poisson(length - 1, len(theta))
    rows = [rng.multinomial(n, p / p.sum()) for n, p in zip(lengths, (theta @ beta), strict=True)]
    return sparse.csr_array(np.array(rows))


def in_batches(
    counts: sparse.csr_array, size: int, **given: list[object]
) -> Iterator[DocumentBatch]:
    """A matrix, some rows at a time, with what is known of the rows."""
    for first in range(0, counts.shape[0], size):
        rows = slice(first, first + size)
        yield DocumentBatch(counts[rows], **{name: v[rows] for name, v in given.items()})
