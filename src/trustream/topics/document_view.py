"""See the topics of a document, and which of its words speak for which topic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream.topics.documents import ReadBatch, read
from trustream.topics.inference import TopicProportion
from trustream.topics.topic_set import as_topics


@dataclass(frozen=True, slots=True)
class WordTopics:
    """A word of a document, and the topics that it speaks for there.

    Attributes:
        word: the word.
        count: how often it occurs in the document.
        topic: id of the topic that it most probably comes from.
        phi: the probability of each topic, in the order of the model's rows; sums to one.
    """

    word: str
    count: float
    topic: int
    phi: list[float]


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document with its topics, and the topics that its words speak for.

    Attributes:
        row: number of the document in the input, from 0.
        key, title: as they came, or None.
        n_tokens: tokens of words that the model knows.
        topics: all topics with their proportions E[theta], largest first, by id.
        words: its words, by falling count, and in the order of columns where counts are equal.
            Empty for a document without known words, whose proportions are those of the prior.
    """

    row: int
    key: Any
    title: Any
    n_tokens: float
    topics: list[TopicProportion]
    words: list[WordTopics]


def view_documents(model: Any, documents: Any, **given: Any) -> Iterator[DocumentView]:
    """Yield each document with its topics, and which of its words speak for which topic.

    The beliefs are those of the model's local step: phi_dwk is proportional to
    exp E[log theta_dk] exp E[log beta_kw], and the proportions are those of `transform`.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    documents : matrix of shape (n_documents, n_words), or batches of documents
        As in `trustream.topics.documents.as_batches`.
    **given
        `keys` and `titles` of the rows of a matrix.

    Examples
    --------
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[50.0, 40.0, 1.0], [1.0, 1.0, 90.0]], 0.1, ["cat", "dog", "bank"])
    >>> (view,) = view_documents(topics, np.array([[2, 0, 1]]))
    >>> [(found.word, found.topic) for found in view.words]
    [('cat', 0), ('bank', 1)]
    """
    topics = as_topics(model)
    for part in read(topics, documents, **given):
        yield from _views(part)


def _views(part: ReadBatch) -> Iterator[DocumentView]:
    topics, batch, documents = part.topics, part.words, part.documents
    ids = topics.names.ids
    every = np.arange(topics.n_topics)[np.newaxis, :]
    for d, theta in enumerate(part.proportions):
        pairs = np.arange(batch.indptr[d], batch.indptr[d + 1])
        pairs = pairs[batch.counts[pairs] > 0]
        phi = part.phi(pairs, every)
        phi /= phi.sum(axis=1, keepdims=True)
        columns = batch.words[batch.ids[pairs]]
        counts = batch.counts[pairs].astype(np.float64)
        words = [
            WordTopics(
                topics.words[columns[i]],
                float(counts[i]),
                ids[int(phi[i].argmax())],
                phi[i].tolist(),
            )
            for i in np.lexsort((columns, -counts))
        ]
        order = np.argsort(-theta, kind="stable")
        yield DocumentView(
            row=part.first + d,
            key=None if documents.keys is None else documents.keys[d],
            title=None if documents.titles is None else documents.titles[d],
            n_tokens=float(part.lengths[d]),
            topics=[TopicProportion(ids[k], float(theta[k])) for k in order],
            words=words,
        )
