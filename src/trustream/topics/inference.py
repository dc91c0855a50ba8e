"""Infer which topics new documents have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from trustream.store.protocol import Record
from trustream.streaming.fitted_models import column_words, without_column_names
from trustream.text import count_matrix

# Documents that are counted and inferred together.
_CHUNK = 1000

Words = Sequence[str] | Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TopicProportion:
    """How much of a document is about a topic.

    Attributes:
        topic: number of the topic, from 0.
        proportion: its proportion, between 0 and 1.
    """

    topic: int
    proportion: float


@dataclass(frozen=True, slots=True)
class DocumentTopics:
    """The topics of one document.

    Attributes:
        row: number of the document in the input, from 0.
        id: key of the document; None if it came without one.
        proportions: of all topics, in their order; they sum to one. A document without words that
            the model knows has the proportions of the prior.
        topics: the topics with the largest proportions, the largest first.
    """

    row: int
    id: str | None
    proportions: list[float]
    topics: list[TopicProportion]


def infer(
    model: Any,
    documents: Any,
    *,
    top: int = 5,
    vocabulary: Sequence[str] | None = None,
) -> Iterator[DocumentTopics]:
    """Yield the topics of each of some new documents.

    The model is not changed, and does not learn from the documents.

    Parameters
    ----------
    model : LatentDirichletAllocation
        A fitted model, for example from `trustream.load` or
        `trustream.streaming.published.load_model`.
    documents : matrix of shape (n_documents, n_words), or iterable of documents
        A matrix has counts in the columns of the model. A document of an iterable is a
        `trustream.store.Record`, whose key becomes the `id`; or its words, in any order; or a
        mapping from words to counts. Words that the model does not know are left out. An iterable
        is consumed in chunks of 1,000 documents, so it may be longer than fits into memory.
    top : int, default=5
        How many topics to list for each document.
    vocabulary : sequence of str, default=None
        Words by column; None takes the names of the model's columns. A matrix needs none.

    Examples
    --------
    >>> from trustream import LatentDirichletAllocation
    >>> counts = np.array([[3, 2, 0, 0], [2, 3, 0, 0], [0, 0, 4, 1], [0, 0, 1, 4]] * 10)
    >>> lda = LatentDirichletAllocation(n_components=2, random_state=0).fit(counts)
    >>> words = ["cat", "dog", "bank", "rate"]
    >>> new = [Record("pets", ["dog", "cat", "dog"]), {"bank": 2, "bond": 1}]
    >>> pets, money = infer(lda, new, top=1, vocabulary=words)
    >>> pets.id, money.id, len(pets.proportions)
    ('pets', None, 2)
    >>> pets.topics[0].topic != money.topics[0].topic
    True
    """
    if top < 1:
        raise ValueError(f"top is {top}; give 1 or more")
    unnamed = without_column_names(model)
    if hasattr(documents, "shape"):
        return _document_topics(unnamed, documents, top)
    words = column_words(model) if vocabulary is None else vocabulary
    if words is None:
        raise ValueError("the model has no names of columns: give a vocabulary, or a matrix")
    return _in_chunks(unnamed, documents, top, words)


def _in_chunks(
    model: Any, documents: Iterable[Any], top: int, vocabulary: Sequence[str]
) -> Iterator[DocumentTopics]:
    remaining, first = iter(documents), 0
    while chunk := list(islice(remaining, _CHUNK)):
        words = [_words(document, first + i) for i, document in enumerate(chunk)]
        ids = [document.key if isinstance(document, Record) else None for document in chunk]
        yield from _document_topics(model, count_matrix(words, vocabulary), top, ids, first)
        first += len(chunk)


def _words(document: Record | Words, row: int) -> Words:
    words = document.words if isinstance(document, Record) else document
    if isinstance(words, str | bytes) or not isinstance(words, Sequence | Mapping):
        raise ValueError(
            f"document {row} is of type {type(words).__name__}; give a list of its words, for "
            "instance by trustream.text.tokenise, or a mapping from words to counts"
        )
    return words


def _document_topics(
    model: Any,
    matrix: Any,
    top: int,
    ids: Sequence[str | None] | None = None,
    first: int = 0,
) -> Iterator[DocumentTopics]:
    for i, theta in enumerate(model.transform(matrix)):
        largest = np.argsort(-theta, kind="stable")[:top].tolist()
        yield DocumentTopics(
            row=first + i,
            id=None if ids is None else ids[i],
            proportions=theta.tolist(),
            topics=[TopicProportion(k, float(theta[k])) for k in largest],
        )
