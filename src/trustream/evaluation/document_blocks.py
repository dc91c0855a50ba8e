"""Process documents in blocks of bounded memory, each divided among threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trustream.array_types import Array, Float64
from trustream.kernels import LANES, threads

# Called as progress(documents done, documents).
Progress = Callable[[int, int], object]

# The largest block: nonzero counts in it, and numbers that a kernel writes for it.
_ENTRIES = 1 << 20
_NUMBERS = 1 << 22


@dataclass(frozen=True)
class DocumentBlock:
    """Consecutive documents, and the topics restricted to the words that occur in them.

    Attributes:
        first, last: the block holds documents first, ..., last - 1.
        indptr, ids, counts: the documents in CSR form; ids number the block's own W words.
        table: (W, K padded to a multiple of LANES), beta_kw divided by its maximum over topics.
        log_scale: (W,), the logarithm of that maximum.
        n_tokens: (B,), the length of each document.
    """

    first: int
    last: int
    indptr: Array
    ids: Array
    counts: Array
    table: Array
    log_scale: Array
    n_tokens: Array

    @property
    def size(self) -> int:
        """The number of documents, B."""
        return self.last - self.first

    def total(self, counts: Array) -> NDArray[np.int64]:
        """Return sum_w n_dw for each document, shape (B,)."""
        return _row_sums(self.indptr, counts).astype(np.int64)

    def offset(self, counts: Array) -> Float64:
        """Return sum_w n_dw log_scale_w, (B,), to be added to log-likelihoods under `table`."""
        return _row_sums(self.indptr, counts * self.log_scale[self.ids])

    def run(
        self,
        work: Callable[[int, int], object],
        n_threads: int,
        power: float = 1.0,
        done: Callable[[int], object] | None = None,
    ) -> None:
        """Call work(start, stop) on parts of the block in parallel.

        Args:
            work: processes the block's documents start, ..., stop - 1.
            n_threads: number of threads.
            power: the cost of a document grows with this power of its length.
            done: called as done(documents of this block finished so far), always by the calling
                thread.
        """
        here, lock, finished = threading.get_ident(), threading.Lock(), 0

        def part(start: int, stop: int) -> None:
            nonlocal finished
            work(start, stop)
            with lock:
                finished += stop - start
            if done is not None and threading.get_ident() == here:
                done(finished)

        threads.run(part, _parts(self.n_tokens**power + 1.0, 64 * n_threads), n_threads)


def document_blocks(
    counts: sparse.csr_array, topics: Array, sums: Array, width: int
) -> Iterator[DocumentBlock]:
    """Yield the documents in order, in blocks for a kernel that writes `width` numbers for each.

    `topics` (K, V) divided by `sums` (K,) are the probabilities of the words.
    """
    n_documents, first = counts.shape[0], 0
    indptr = counts.indptr.astype(np.int64)
    n_topics = topics.shape[0]
    while first < n_documents:
        last = int(np.searchsorted(indptr, indptr[first] + _ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), first + max(1, _NUMBERS // width), n_documents)
        part = slice(indptr[first], indptr[last])
        words, ids = np.unique(counts.indices[part], return_inverse=True)
        table = np.zeros((words.size, -(-n_topics // LANES) * LANES))
        table[:, :n_topics] = topics[:, words].T / sums
        largest = table.max(axis=1)
        table /= largest[:, None]
        data, pointers = counts.data[part], indptr[first : last + 1] - indptr[first]
        n_tokens = _row_sums(pointers, data).astype(np.int64)
        scale = np.log(largest)
        ids = ids.astype(np.int64)
        yield DocumentBlock(first, last, pointers, ids, data, table, scale, n_tokens)
        first = last


def _row_sums(indptr: Array, values: Array) -> Float64:
    """Sums of the rows of a CSR matrix; an empty row has 0."""
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    totals = np.bincount(rows, weights=values, minlength=indptr.size - 1)
    return totals.astype(np.float64)


def _parts(cost: Array, n_parts: int) -> list[threads.Part]:
    """Ranges of about the same cost, the most expensive first."""
    total = np.concatenate(([0.0], np.cumsum(cost)))
    goals = np.linspace(0, total[-1], min(n_parts, cost.size) + 1)
    edges = np.unique(np.concatenate((np.searchsorted(total, goals), [0, cost.size])))
    parts = [(int(a), int(b)) for a, b in pairwise(edges)]
    return sorted(parts, key=lambda part: float(total[part[0]] - total[part[1]]))
