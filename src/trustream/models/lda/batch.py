"""Documents of a batch, with the words that occur in them numbered from 0."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.kernels import threads
from trustream.models.protocol import Rows


class CountRows(NamedTuple):
    """The arrays of a CSR matrix of counts, for who has them: SciPy looks at them again, which
    takes as long as drawing a batch from a store."""

    indptr: Array
    indices: Array
    data: Array
    shape: tuple[int, int]


@dataclass(frozen=True, slots=True)
class WordBatch:
    """B documents with W different words and nnz (document, word) pairs.

    Attributes:
        indptr: (B+1,) where each document's words begin in `ids` and `counts`.
        ids: (nnz,) the batch's own number of each word, 0 to W-1.
        counts: (nnz,) how often it occurs there, in the model's dtype.
        words: (W,) the vocabulary's number of each of the batch's words.
        word_ptr: (W+1,) where each word's documents begin in `documents` and `positions`.
        documents: (nnz,) the documents of a word, in order.
        positions: (nnz,) where that pair stands in `ids` and `counts`.
        lengths: (B,) tokens of each document, float64.
        word_counts: (W,) tokens of each word, float64.
        parts: ranges of documents for threads to share.
    """

    indptr: Array
    ids: Array
    counts: Array
    words: Array
    word_ptr: Array
    documents: Array
    positions: Array
    lengths: Array
    word_counts: Array
    parts: list[threads.Part]

    @property
    def size(self) -> int:
        """B, the number of documents."""
        return self.indptr.size - 1

    @property
    def n_words(self) -> int:
        """W, the number of different words."""
        return self.words.size

    @property
    def by_document(self) -> tuple[Array, Array, Array]:
        """indptr, ids and counts."""
        return self.indptr, self.ids, self.counts

    @property
    def by_word(self) -> tuple[Array, Array, Array]:
        """word_ptr, documents and positions."""
        return self.word_ptr, self.documents, self.positions


class BatchMaker:
    """Makes batches from the rows of a CSR matrix.

    Keeps a table of the vocabulary's size between calls, one for each thread that calls, so that
    making a batch costs only what the batch holds.
    """

    def __init__(self, backend: str, n_words: int, dtype: str, n_threads: int = 1) -> None:
        self._settings = (backend, n_words, dtype, n_threads)
        self._n_threads = n_threads
        self._kernels = kernels.get("lda", backend)
        self._n_words = n_words
        self._dtype = dtype
        self._local = threading.local()

    def __reduce__(self) -> Any:
        return BatchMaker, self._settings

    def __call__(self, counts: Any, rows: Rows | slice) -> WordBatch:
        """Rows of a CSR matrix (N, V), SciPy's or `CountRows`, whose entries were validated."""
        with np.errstate(over="ignore"):  # a step with infinite counts is refused
            indptr, global_ids, weights = self._entries(counts, rows)
        n = weights.size
        words, ids = np.empty(n, np.int32), np.empty(n, np.int32)
        word_ptr, positions = np.empty(n + 1, np.int64), np.empty(n, np.int64)
        documents = np.empty(n, np.int32)
        lengths, word_counts = np.empty(indptr.size - 1), np.empty(n)
        out = (words, ids, word_ptr, documents, positions, lengths, word_counts)
        w = self._kernels.index_words(indptr, global_ids, weights, self._lookup(), *out)
        words, word_ptr, word_counts = words[:w], word_ptr[: w + 1], word_counts[:w]
        pairs = (documents, positions, lengths)
        parts = document_parts(indptr, self._n_threads)
        return WordBatch(indptr, ids, weights, words, word_ptr, *pairs, word_counts, parts)

    def _entries(self, counts: Any, rows: Rows | slice) -> tuple[Array, Array, Array]:
        """indptr, words and counts of some rows."""
        indptr = counts.indptr
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(indptr.size - 1)
            first = indptr[start : max(start, stop) + 1].astype(np.int64)
            entries = slice(int(first[0]), int(first[-1]))
            return (
                first - first[0],
                counts.indices[entries].astype(np.int32, copy=False),
                counts.data[entries].astype(self._dtype, copy=False),
            )
        new = np.zeros(rows.size + 1, np.int64)
        np.cumsum(indptr[rows + 1] - indptr[rows], out=new[1:])
        words, weights = np.empty(new[-1], np.int32), np.empty(new[-1], self._dtype)
        self._kernels.take_entries(indptr, counts.indices, counts.data, rows, words, weights)
        return new, words, weights

    def _lookup(self) -> Array:
        if not hasattr(self._local, "lookup"):
            self._local.lookup = np.full(self._n_words, -1, np.int32)
        lookup: Array = self._local.lookup
        return lookup


def document_parts(indptr: Array, n_threads: int) -> list[threads.Part]:
    """Ranges of documents with about the same number of words, the longest first.

    A few for each thread, and the short ones last, so that all threads end at about the same time.
    """
    n_documents = indptr.size - 1
    if n_threads == 1:
        return [(0, n_documents)]
    n_parts = min(5 * n_threads, n_documents)
    goals = np.arange(1, n_parts) * indptr[-1] // max(n_parts, 1)
    edges = [0, *np.searchsorted(indptr, goals).tolist(), n_documents]
    places = indptr[edges].tolist()
    parts = zip(pairwise(places), pairwise(edges), strict=True)
    longest = sorted(((a - b, part) for (a, b), part in parts if part[1] > part[0]))
    return [part for _, part in longest]


def segment_sums(values: Array, pointers: Array) -> Float64:
    """Sums of values[pointers[i] : pointers[i+1]] along the first axis, in float64.

    >>> segment_sums(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 3.])
    """
    sums = np.zeros((pointers.size - 1, *values.shape[1:]))
    starts = pointers[:-1]
    filled = pointers[1:] > starts  # `reduceat` takes the next value for the sum of none
    if filled.any():
        values = values[: pointers[-1]]
        sums[filled] = np.add.reduceat(values, starts[filled], axis=0, dtype=np.float64)
    return sums
