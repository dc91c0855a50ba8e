"""Find documents that are about the same topics as another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trustream.array_types import Array

# What searches need not load what infers topics.
if TYPE_CHECKING:
    from trustream.topics.documents import ReadBatch


@dataclass(frozen=True, slots=True)
class NearDocument:
    """A document that is near another one.

    Attributes:
        key: of the document.
        title, excerpt: as they came, or None.
        similarity: 1 minus the Hellinger distance of their topic proportions, from 0 to 1.
    """

    key: Any
    title: Any
    excerpt: Any
    similarity: float


class NearestDocuments:
    """Topic proportions of documents, to find those that are nearest to others by their topics.

    The distance of documents with proportions p and q is that of Hellinger,

        h(p, q) = sqrt(1 - sum_k sqrt(p_k q_k)),

    which is between 0 and 1. Roots of proportions are kept, K numbers of 4 bytes for each document,
    so that all distances from a document are one product. Feed it with `trustream.topics.gather`.
    Documents without words that the model knows have no place: they are left out.

    Examples
    --------
    >>> from trustream.topics.documents import DocumentBatch, gather
    >>> from trustream.topics.topic_set import TopicSet
    >>> topics = TopicSet.of([[9.0, 1.0], [1.0, 9.0]], 0.1, ["cat", "bank"])
    >>> near = NearestDocuments()
    >>> gather(topics, DocumentBatch(np.array([[8, 1], [0, 9], [7, 1]]), ["a", "b", "c"]), near)
    3
    >>> [found.key for found in near.nearest(near.proportions("a"), 2, without="a")]
    ['c', 'b']
    """

    def __init__(self) -> None:
        self._roots: list[Array] = []
        self._documents: list[tuple[Any, Any, Any]] = []
        self._row: dict[Any, int] = {}
        self._all: Array | None = None

    def __len__(self) -> int:
        return len(self._documents)

    def add(self, part: ReadBatch) -> None:
        """Take in some documents."""
        documents, known = part.documents, np.flatnonzero(part.lengths > 0)
        self._roots.append(np.sqrt(part.proportions[known]).astype(np.float32))
        self._all = None
        for i in known.tolist():
            key = part.first + i if documents.keys is None else documents.keys[i]
            title = None if documents.titles is None else documents.titles[i]
            excerpt = None if documents.excerpts is None else documents.excerpts[i]
            self._row[key] = len(self._documents)
            self._documents.append((key, title, excerpt))

    def proportions(self, key: Any) -> Array | None:
        """Return the proportions of a document that was taken in, (K,); None for another."""
        row = self._row.get(key)
        return None if row is None else np.square(self._stacked()[row])

    def nearest(self, proportions: Any, n: int = 10, *, without: Any = None) -> list[NearDocument]:
        """Return the n nearest documents, the nearest first; of equal ones the first to come.

        Parameters
        ----------
        proportions : array of shape (K,)
            Of the document that they should be near to; sum to one.
        n : int, default=10
        without : key, default=None
            A document to leave out: usually the one itself.
        """
        if not self._documents:
            return []
        roots = self._stacked()
        wanted = np.sqrt(np.asarray(proportions, np.float64)).astype(np.float32)
        if wanted.shape != roots.shape[1:]:
            raise ValueError(
                f"proportions have shape {wanted.shape}, expected {roots.shape[1:]}, one number "
                "for each topic"
            )
        distances = np.sqrt(np.maximum(1.0 - roots @ wanted, 0.0))
        left_out = self._row.get(without)
        if left_out is not None:
            distances[left_out] = np.inf
        order = np.argsort(distances, kind="stable")[:n]
        found = []
        for i in order[np.isfinite(distances[order])].tolist():
            key, title, excerpt = self._documents[i]
            found.append(NearDocument(key, title, excerpt, float(1.0 - distances[i])))
        return found

    def _stacked(self) -> Array:
        if self._all is None:
            self._all = np.concatenate(self._roots)
            self._roots = [self._all]
        return self._all
