"""Find the documents that are most about a topic, in a stream of any length."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream.evaluation import validation
from trustream.topics.documents import ReadBatch, gather
from trustream.topics.topic_set import as_topics


@dataclass(frozen=True, slots=True)
class RepresentativeDocument:
    """A document that is about a topic.

    Attributes:
        topic: id of the topic.
        row: number of the document in the stream, from 0.
        key: its key; None if it came without one.
        title: its title; None if it came without one.
        proportion: E[theta], how much of the document is about the topic.
        n_tokens: tokens of the document, of words that the model knows.
        excerpt: the beginning of its text; None if it came without one.
    """

    topic: int
    row: int
    key: Any
    title: Any
    proportion: float
    n_tokens: float
    excerpt: Any = None


class RunningTop:
    """The n documents with the largest proportions of each topic, of all that were added.

    Keeps n documents for each topic, however many come. Of equal proportions, which short documents
    often have, the first come first. Documents without words are not counted.

    Parameters
    ----------
    topics : TopicSet or LatentDirichletAllocation
    n : int, default=5

    Examples
    --------
    >>> from trustream.topics.documents import read
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1)
    >>> best = RunningTop(topics, n=2)
    >>> for part in read(topics, np.array([[3, 0], [0, 2], [9, 0], [1, 1]]), keys="abcd"):
    ...     best.add(part)
    >>> [document.key for document in best.documents(0)]
    ['c', 'a']
    """

    def __init__(self, topics: Any, n: int = 5) -> None:
        self.topics = as_topics(topics)
        self.n = validation.whole_number("n", n)
        # Of each topic a heap of (proportion, -row, key, title, tokens, excerpt), the worst first.
        self._heaps: list[list[tuple[Any, ...]]] = [[] for _ in range(self.topics.n_topics)]

    def add(self, part: ReadBatch) -> None:
        """Take in some documents."""
        filled = np.flatnonzero(part.lengths > 0)
        if not filled.size:
            return
        theta = part.proportions[filled]
        # All that can be among the best. Of equal proportions those that came before stay.
        worst = [heap[0][0] if len(heap) == self.n else -np.inf for heap in self._heaps]
        better = theta > np.array(worst, np.float64)
        if not np.isfinite(worst).all():
            n = min(self.n, filled.size)
            better &= theta >= np.partition(theta, filled.size - n, axis=0)[filled.size - n]
        documents = part.documents
        for d, k in zip(*np.nonzero(better), strict=True):
            i = int(filled[d])
            entry = (
                float(theta[d, k]),
                -(part.first + i),
                None if documents.keys is None else documents.keys[i],
                None if documents.titles is None else documents.titles[i],
                float(part.lengths[i]),
                None if documents.excerpts is None else documents.excerpts[i],
            )
            _push(self._heaps[k], entry, self.n)

    def merge(self, other: RunningTop) -> None:
        """Take in what another one has found, whose documents come after these."""
        if other.topics.names.ids != self.topics.names.ids:
            raise ValueError("the other one is of other topics: both must have the same")
        for heap, more in zip(self._heaps, other._heaps, strict=True):
            for entry in more:
                _push(heap, entry, self.n)

    def documents(self, topic: Any, n: int | None = None) -> list[RepresentativeDocument]:
        """Return the best documents of a topic, the best first; n of them, None all."""
        row = self.topics.row(topic)
        n = self.n if n is None else validation.whole_number("n", n)
        best = sorted(self._heaps[row], key=lambda entry: (-entry[0], -entry[1]))[:n]
        return [
            RepresentativeDocument(int(topic), -place, key, title, share, tokens, text)
            for share, place, key, title, tokens, text in best
        ]


def representative_documents(
    model: Any, topic: Any, documents: Any, n: int = 5, **given: Any
) -> list[RepresentativeDocument]:
    """Return the n documents with the largest proportion of a topic, the largest first.

    All documents are read, once, and n of them are kept at a time. For several topics, or together
    with other results, add to a `RunningTop`.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    topic : int
        Id of the topic: its row, as long as no topics were merged or deleted.
    documents : matrix of shape (n_documents, n_words), or batches of documents
        As in `trustream.topics.documents.as_batches`.
    n : int, default=5
        Fewer are returned if there are fewer documents with words.
    **given
        `keys` and `titles` of the rows of a matrix.

    Examples
    --------
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1)
    >>> counts = np.array([[3, 0], [0, 2], [9, 0]])
    >>> [found.row for found in representative_documents(topics, 0, counts, n=2)]
    [2, 0]
    """
    topics = as_topics(model)
    topics.row(topic)  # refused before anything is read
    best = RunningTop(topics, n)
    gather(topics, documents, best, **given)
    return best.documents(topic)


def _push(heap: list[tuple[Any, ...]], entry: tuple[Any, ...], n: int) -> None:
    """Add an entry (proportion, -row, ...), and drop the worst if there are too many.

    Two entries of the same place can only come from `merge`: then only proportion and place count.
    """
    item = _Entry(entry)
    if len(heap) < n:
        heapq.heappush(heap, item)
    else:
        heapq.heappushpop(heap, item)


class _Entry(tuple[Any, ...]):
    """Compared by proportion and place, never by keys, which may be anything."""

    __slots__ = ()

    def __lt__(self, other: tuple[Any, ...]) -> bool:
        return self[:2] < other[:2]
