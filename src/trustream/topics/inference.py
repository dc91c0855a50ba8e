"""Infer which topics new documents have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse

from trustream import matrices
from trustream.store.records import Record
from trustream.streaming.fitted_models import column_words, without_column_names
from trustream.text import count_matrix

# Documents that are counted and inferred together.
_CHUNK = 1000

Words = Sequence[str] | Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TopicProportion:
    """How much of a document is about a topic.

    Attributes:
        topic: id of the topic: its row, as long as no topics were merged, split or deleted.
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
        proportions: of all topics, in the order of rows; they sum to one. A document without words
            that the model knows has the proportions of the prior.
        topics: the topics with the largest proportions, the largest first; none if the model knows
            no word of the document, of which it then knows nothing.
        n_tokens: words of the document, repetitions included.
        n_known: those of them that the model knows.
    """

    row: int
    id: str | None
    proportions: list[float]
    topics: list[TopicProportion]
    n_tokens: float
    n_known: float


def infer(
    model: Any,
    documents: Any,
    *,
    top: int = 5,
    vocabulary: Sequence[str] | None = None,
    name: str | None = None,
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
    name : str, default=None
        Name of a matrix, whose rows then have the ids ``name:1``, ``name:2`` and so on, as the
        lines of a file have.

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
    >>> money.n_tokens, money.n_known
    (3, 2)
    """
    if top < 1:
        raise ValueError(f"top is {top}; give 1 or more")
    unnamed = without_column_names(model)
    if hasattr(documents, "shape"):
        return _of_matrix(unnamed, documents, top, name)
    words = column_words(model) if vocabulary is None else vocabulary
    if words is None:
        raise ValueError(
            "the model has no names of columns: set_words gives it some; or give a vocabulary, or "
            "a matrix"
        )
    return _of_documents(unnamed, documents, top, words)


def _of_matrix(model: Any, matrix: Any, top: int, name: str | None) -> Iterator[DocumentTopics]:
    if sparse.issparse(matrix):
        matrix = matrices.csr(matrix)
    # Frames and others are taken as they are.
    sliced = isinstance(matrix, np.ndarray | sparse.csr_array) and matrix.ndim == 2
    # What is no matrix is refused by `transform`.
    n_rows, ids = max([1, *matrix.shape[:1]]), model.topic_names_.ids
    for first in range(0, n_rows, _CHUNK if sliced else n_rows):
        part = matrix[first : first + _CHUNK] if sliced else matrix
        thetas = model.transform(part)
        totals = matrices.csr(part).sum(axis=1).tolist()
        for i, (theta, total) in enumerate(zip(thetas, totals, strict=True), start=first):
            id = None if name is None else f"{name}:{i + 1}"
            yield document_topics(i, id, theta, ids, top, total, total)


def _of_documents(
    model: Any, documents: Iterable[Any], top: int, vocabulary: Sequence[str]
) -> Iterator[DocumentTopics]:
    remaining, first, ids = iter(documents), 0, model.topic_names_.ids
    while chunk := list(islice(remaining, _CHUNK)):
        words = [_words(document, first + i) for i, document in enumerate(chunk)]
        counts = count_matrix(words, vocabulary)
        thetas, known = model.transform(counts), counts.sum(axis=1).tolist()
        for i, document in enumerate(chunk):
            id = document.key if isinstance(document, Record) else None
            n_tokens = _n_tokens(words[i], first + i)
            yield document_topics(first + i, id, thetas[i], ids, top, n_tokens, known[i])
        first += len(chunk)


def _words(document: Record | Words, row: int) -> Words:
    words = document.words if isinstance(document, Record) else document
    if isinstance(words, str | bytes) or not isinstance(words, Sequence | Mapping):
        raise ValueError(
            f"document {row} is of type {type(words).__name__}; give a list of its words, for "
            "instance by trustream.text.tokenise, or a mapping from words to counts"
        )
    return words


def _n_tokens(words: Words, row: int) -> float:
    if not isinstance(words, Mapping):
        return len(words)
    try:
        return sum(words.values())
    except TypeError as error:
        raise ValueError(f"document {row} has a count that is not a number ({error})") from None


def document_topics(
    row: int,
    id: str | None,
    theta: Any,
    ids: Sequence[int],
    top: int,
    n_tokens: float,
    n_known: float,
) -> DocumentTopics:
    """Return what `infer` yields of a document whose topic proportions are known.

    >>> document_topics(0, "a", np.array([0.25, 0.75]), [0, 1], 1, 3.0, 2.0).topics
    [TopicProportion(topic=1, proportion=0.75)]
    """
    largest = np.argsort(-theta, kind="stable")[: top if n_known else 0].tolist()
    return DocumentTopics(
        row=row,
        id=id,
        proportions=theta.tolist(),
        topics=[TopicProportion(ids[k], float(theta[k])) for k in largest],
        n_tokens=_whole(n_tokens),
        n_known=_whole(n_known),
    )


def _whole(number: float) -> float:
    """An integer if it is one: counts of a float array are shown as counts."""
    return int(number) if number == int(number) else number
