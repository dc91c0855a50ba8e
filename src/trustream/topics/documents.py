"""Read documents under given topics, batch by batch, once for everything that looks at them.

What is computed from documents here never needs all of them at once. Documents come as batches,
`read` infers the topics of each batch, and what is to be known is gathered by objects with an
`add` method, such as `TableCounts` or `TimeCounts`. `gather` feeds several of them in one pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from trustream import matrices
from trustream.array_types import Array, Float64
from trustream.kernels import threads
from trustream.models.lda.batch import CountRows, WordBatch
from trustream.models.lda.natural import BeliefStatistics
from trustream.topics.topic_set import TopicSet, as_topics

# Documents that are read together.
_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class DocumentBatch:
    """Some documents, with what else is known of them.

    Attributes:
        counts: counts of words, (documents, words): a sparse matrix or an array. Rows of a store
            may come as `CountRows`, which are not checked.
        keys: of the documents, by which their owner knows them; None without.
        titles: for people; None without.
        times: when each was made, as `as_seconds` takes them; None without.
        excerpts: the beginning of each text; None without.
    """

    counts: Any
    keys: Any = None
    titles: Any = None
    times: Any = None
    excerpts: Any = None

    def __post_init__(self) -> None:
        if not hasattr(self.counts, "shape") or len(self.counts.shape) != 2:
            raise ValueError(
                f"counts are of type {type(self.counts).__name__}, expected a matrix (documents, "
                "words)"
            )
        for name in ("keys", "titles", "times", "excerpts"):
            values = getattr(self, name)
            if values is None:
                continue
            # Places count, not what a frame calls its rows.
            values = values if isinstance(values, np.ndarray) else list(values)
            object.__setattr__(self, name, values)
            if len(values) != self.size:
                raise ValueError(
                    f"{name} are {len(values)}, but there are {self.size} documents: give one for "
                    "each, or None"
                )

    @property
    def size(self) -> int:
        """The number of documents."""
        return int(self.counts.shape[0])

    def part(self, first: int, last: int) -> DocumentBatch:
        """Return the documents first, ..., last - 1 of this batch, which is a CSR matrix."""
        if first == 0 and last >= self.size:
            return self
        rows = slice(first, last)
        known = (self.keys, self.titles, self.times, self.excerpts)
        some = [None if v is None else v[rows] for v in known]
        return DocumentBatch(_rows(self.counts, first, last), *some)


@dataclass(frozen=True, eq=False)
class ReadBatch:
    """A batch of documents, and what they are about.

    Attributes:
        documents: the batch, with counts as a CSR matrix.
        first: the number of its first document, from 0 on.
        topics: the topics by which it was read.
        gamma: (B, K) Dirichlet parameters of the documents' topic proportions.
        beliefs: phi of words in documents, in the form that the kernels keep it.
    """

    documents: DocumentBatch
    first: int
    topics: TopicSet
    gamma: Array
    beliefs: BeliefStatistics

    @property
    def words(self) -> WordBatch:
        """The batch as the model takes it."""
        return self.beliefs.batch

    @property
    def lengths(self) -> Float64:
        """(B,) tokens of each document."""
        return self.words.lengths

    @property
    def proportions(self) -> Array:
        """E[theta], (B, K); rows sum to one. What `transform` returns."""
        return np.asarray(self.gamma / self.gamma.sum(axis=1, keepdims=True))

    @property
    def tokens(self) -> Float64:
        """Expected numbers of tokens of each topic, gamma - alpha, (B, K)."""
        alpha = self.topics.alpha.astype(self.gamma.dtype)
        return np.maximum(self.gamma.astype(np.float64) - alpha, 0.0)

    def phi(self, pairs: Any, topics: Any) -> Float64:
        """Return n_dw phi_dwk for pairs of document and word, and rows of topics.

        Parameters
        ----------
        pairs : array of shape (n,)
            Numbers of pairs, in the order of the batch's `ids`.
        topics : array that broadcasts against (n,) or (n, 1)
            Rows of topics.
        """
        of = self.beliefs
        documents = np.repeat(np.arange(self.words.size), np.diff(self.words.indptr))[pairs]
        words = self.words.ids[pairs]
        if np.ndim(topics) == 2:
            pairs, documents, words = pairs[:, None], documents[:, None], words[:, None]
        ratio = of.ratio[pairs].astype(np.float64)
        return np.asarray(ratio * of.theta[documents, topics] * of.table[words, topics])


class Gatherer(Protocol):
    """What `gather` feeds: something that is computed from documents, bit by bit."""

    def add(self, part: ReadBatch) -> None:
        """Take in some documents."""


def as_batches(
    documents: Any,
    *,
    keys: Sequence[Any] | None = None,
    titles: Sequence[Any] | None = None,
    times: Any = None,
) -> Iterator[DocumentBatch]:
    """Yield documents in batches of a size that can be read at once.

    Parameters
    ----------
    documents : matrix of shape (n_documents, n_words), DocumentBatch, or iterable of either
        An iterable is consumed batch by batch.
    keys, titles, times : sequences, default=None
        One for each row of a matrix; batches have their own.

    Examples
    --------
    >>> [batch.size for batch in as_batches([np.ones((2, 3)), np.ones((1500, 3))])]
    [2, 1024, 476]
    """
    if hasattr(documents, "shape"):
        documents = DocumentBatch(documents, keys, titles, times)
    elif any(value is not None for value in (keys, titles, times)):
        raise ValueError(
            "keys, titles and times go with a single matrix: give batches as DocumentBatch, each "
            "with its own"
        )
    if isinstance(documents, DocumentBatch):
        documents = [documents]
    elif isinstance(documents, str | bytes) or not isinstance(documents, Iterable):
        raise ValueError(
            f"documents are of type {type(documents).__name__}, expected a matrix of counts or "
            "batches of documents (trustream.topics.documents.DocumentBatch)"
        )
    for number, batch in enumerate(documents):
        if hasattr(batch, "shape"):
            batch = DocumentBatch(batch)
        if not isinstance(batch, DocumentBatch):
            raise ValueError(
                f"batch {number} is of type {type(batch).__name__}, expected a matrix of counts or "
                "a DocumentBatch; trustream.text.count_matrix counts words"
            )
        batch = replace(batch, counts=_checked(batch.counts))
        for first in range(0, batch.size, _AT_ONCE):
            yield batch.part(first, first + _AT_ONCE)


def read(model: Any, documents: Any, *, first: int = 0, **given: Any) -> Iterator[ReadBatch]:
    """Infer the topics of documents, batch by batch; nothing is learned from them.

    Parameters
    ----------
    model : LatentDirichletAllocation or TopicSet
    documents, **given
        As `as_batches` takes them.
    first : int, default=0
        The number of the first document, where these are a part of more.

    Examples
    --------
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1)
    >>> (part,) = read(topics, np.array([[3, 0], [0, 2]]))
    >>> part.proportions.argmax(axis=1).tolist()
    [0, 1]
    """
    topics = as_topics(model)
    for batch in as_batches(documents, **given):
        if batch.counts.shape[1] != topics.n_words:
            raise ValueError(
                f"documents have {batch.counts.shape[1]} columns, the topics {topics.n_words} "
                "words: count with the vocabulary of the model"
            )
        yield _read(topics, batch, first)
        first += batch.size


def gather(model: Any, documents: Any, *into: Gatherer, **given: Any) -> int:
    """Feed everything that is to be computed from documents in one pass; returns their number.

    Examples
    --------
    >>> from trustream.topics.representatives import RunningTop
    >>> topics = TopicSet.of([[5.0, 1.0], [1.0, 9.0]], 0.1)
    >>> best = RunningTop(topics, n=1)
    >>> gather(topics, np.array([[3, 0], [0, 2], [9, 0]]), best)
    3
    >>> best.documents(0)[0].row
    2
    """
    n_documents = 0
    for part in read(model, documents, **given):
        for gatherer in into:
            gatherer.add(part)
        n_documents += part.documents.size
    return n_documents


def _read(topics: TopicSet, documents: DocumentBatch, first: int) -> ReadBatch:
    model = topics.model
    with threads.one_blas_thread():
        batch = model.batch(documents.counts, slice(0, documents.size))
        natural = model.restrict(topics.lambda_, topics.prior, batch)
        start, _ = model.beliefs(topics.prior, batch, None)
        steps = topics.n_local, topics.tol
        gamma, beliefs = model.local_step(natural, topics.prior, batch, start, *steps)
    return ReadBatch(documents, first, topics, gamma, beliefs)


def _checked(counts: Any) -> Any:
    """Counts as CSR, sound, finite and not negative."""
    if isinstance(counts, CountRows):
        return counts
    found = matrices.csr(counts, "documents", summed=True)
    least, most = found.data.min(initial=0), found.data.max(initial=0)
    if not (np.isfinite(least) and np.isfinite(most)) or least < 0:
        raise ValueError(
            f"documents have entries from {least} to {most}, expected finite counts of at least 0"
        )
    matrices.check_tokens(found, "documents")
    return found


def _rows(counts: Any, first: int, last: int) -> Any:
    if not isinstance(counts, CountRows):
        return counts[first:last]
    indptr = counts.indptr[first : last + 1]
    part = slice(int(indptr[0]), int(indptr[-1]))
    shape = indptr.size - 1, counts.shape[1]
    return CountRows(indptr - indptr[0], counts.indices[part], counts.data[part], shape)


def as_matrix(counts: Any) -> sparse.csr_array:
    """Return the counts of a batch that was read as SciPy's matrix."""
    if not isinstance(counts, CountRows):
        return counts
    return sparse.csr_array((counts.data, counts.indices, counts.indptr), shape=counts.shape)
