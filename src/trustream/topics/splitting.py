"""Split a topic in two, by the documents that use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from trustream.array_types import Array, Float64
from trustream.estimators import LatentDirichletAllocation
from trustream.evaluation import validation
from trustream.topics.documents import ReadBatch, read
from trustream.topics.editing import TopicEdit
from trustream.topics.topic_set import TopicSet, as_topics

# A document with fewer expected tokens of the topic has nothing to say about how to split it.
_LEAST_TOKENS = 2.0
_LEAST_DOCUMENTS = 10


@dataclass(frozen=True, eq=False)
class TopicSplit:
    """How a topic was split.

    Attributes:
        edit: to be applied to topics, states and estimators.
        topics: the topics afterwards. The larger part is in the place of the topic, the smaller one
            comes last; both have new ids and no label.
        ids: of the two parts.
        shares: of the topic's tokens, of the two parts.
        n_documents: documents that decided.
    """

    edit: TopicEdit
    topics: TopicSet
    ids: tuple[int, int]
    shares: tuple[float, float]
    n_documents: int


def split_topic(
    model: Any,
    topic: Any,
    documents: Any,
    *,
    max_documents: int = 10_000,
    max_iter: int = 20,
    random_state: Any = None,
) -> TopicSplit:
    """Split a topic in two, by trust-region steps on what its documents have of it.

    Of each document only the tokens count that are the topic's, n_dw phi_dwk of them, and two
    topics are learned from these, by `LatentDirichletAllocation`. Of the weight that each word has
    in the topic they get what it has in them, so that the two together are just the topic, and
    merging them gives it back; alpha is shared out like tokens.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    topic : int
        Id of the topic.
    documents : matrix of shape (n_documents, n_words), or batches of documents
        As in `trustream.topics.documents.as_batches`; read once.
    max_documents : int, default=10000
        Of the documents with at least two tokens of the topic so many are kept, a random sample.
    max_iter : int, default=20
        Passes over them.
    random_state : int, RandomState, Generator or None, default=None

    Raises
    ------
    ValueError
        Fewer than 10 documents have two tokens of the topic.

    Examples
    --------
    >>> weights = np.array([[50.0, 50, 50, 50, 1, 1], [1.0, 1, 1, 1, 90, 90]])
    >>> topics = TopicSet.of(weights, 0.1, ["cat", "dog", "tree", "leaf", "bank", "rate"])
    >>> counts = np.array([[4, 3, 0, 0, 0, 1], [0, 0, 5, 4, 1, 0]] * 30)
    >>> split = split_topic(topics, 0, counts, random_state=0)
    >>> split.topics.names.ids, split.ids
    ((2, 1, 3), (2, 3))
    """
    topics = as_topics(model)
    row = topics.row(topic)
    rng = np.random.default_rng(validation.seed_of(random_state))
    counts = _tokens_of(topics, row, documents, max_documents, rng)
    if counts.shape[0] < _LEAST_DOCUMENTS:
        raise ValueError(
            f"{counts.shape[0]} documents have {_LEAST_TOKENS:g} tokens or more of topic {topic}, "
            f"expected {_LEAST_DOCUMENTS} at least: give more documents to split it by"
        )
    two = LatentDirichletAllocation(2, max_iter=max_iter, dtype="float64", random_state=rng)
    with_words = np.unique(counts.indices)
    two.fit(counts[:, with_words])
    learned = two.components_
    sizes = learned.sum(axis=1)
    order = np.argsort(-sizes, kind="stable")
    shares = sizes[order] / sizes.sum()
    # Words of which nothing was seen are shared out like all tokens.
    parts = np.repeat(shares[:, np.newaxis], topics.n_words, axis=1)
    parts[:, with_words] = learned[order] / learned.sum(axis=0)
    names = topics.names.split(topic)
    last = topics.n_topics
    edit = TopicEdit(
        groups=(*((k,) for k in range(last)), (row,)),
        names=names,
        parts={row: (parts[0], float(shares[0])), last: (parts[1], float(shares[1]))},
    )
    return TopicSplit(
        edit,
        edit.of_topics(topics),
        (names.ids[row], names.ids[last]),
        (float(shares[0]), float(shares[1])),
        int(counts.shape[0]),
    )


def _tokens_of(
    topics: TopicSet, row: int, documents: Any, max_documents: int, rng: np.random.Generator
) -> sparse.csr_array:
    """What some documents have of a topic, (documents, words), expected numbers of tokens."""
    most = validation.whole_number("max_documents", max_documents, _LEAST_DOCUMENTS)
    kept: list[tuple[Array, Float64]] = []
    n_found = 0
    for part in read(topics, documents):
        for columns, tokens in _rows(part, row):
            n_found += 1
            if len(kept) < most:
                kept.append((columns, tokens))
            elif (place := int(rng.integers(n_found))) < most:
                kept[place] = (columns, tokens)
    indptr = np.concatenate(([0], np.cumsum([columns.size for columns, _ in kept])))
    columns = np.concatenate([np.empty(0, np.int64), *(columns for columns, _ in kept)])
    tokens = np.concatenate([np.empty(0), *(tokens for _, tokens in kept)])
    shape = len(kept), topics.n_words
    return sparse.csr_array((tokens, columns.astype(np.int32), indptr), shape=shape)


def _rows(part: ReadBatch, row: int) -> list[tuple[Array, Float64]]:
    batch = part.words
    tokens = part.phi(np.arange(batch.ids.size), np.full(batch.ids.size, row))
    found = []
    for d in np.flatnonzero(part.tokens[:, row] >= _LEAST_TOKENS):
        words = slice(batch.indptr[d], batch.indptr[d + 1])
        found.append((batch.words[batch.ids[words]], tokens[words]))
    return found
