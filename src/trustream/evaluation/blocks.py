"""Documents in blocks, shared out among threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trustream.kernels import LANES, threads

Array = NDArray[Any]
Progress = Callable[[int, int], object]

# Bounds of a block: words of documents, and numbers a kernel writes.
_ENTRIES = 1 << 20
_NUMBERS = 1 << 22


@dataclass(frozen=True)
class Block:
    """Some documents, with the topics of the words that occur in them.

    Attributes:
        first, last: which documents.
        indptr, ids, counts: CSR; ids number the block's own words.
        table: (W, padded K), beta_kw of a word divided by its largest over topics.
        log_scale: (W,) logarithm of what was divided by.
        n_tokens: (B,).
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
        """B."""
        return self.last - self.first

    def total(self, counts: Array) -> NDArray[np.int64]:
        """(B,) sum_w n_dw."""
        return _sums(self.indptr, counts).astype(np.int64)

    def offset(self, counts: Array) -> NDArray[np.float64]:
        """(B,) sum_w n_dw log_scale_w: what the division took from the log-likelihood."""
        return _sums(self.indptr, counts * self.log_scale[self.ids])

    def share(
        self,
        work: Callable[[int, int], object],
        n_threads: int,
        power: float = 1.0,
        done: Callable[[int], object] | None = None,
    ) -> None:
        """work(start, stop) on parts of the block, cost growing with a power of the length.

        done(n) is called by this thread only, with the documents of this block finished so far.
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


def blocks(counts: sparse.csr_array, topics: Array, sums: Array, width: int) -> Iterator[Block]:
    """The documents in order; memory is bounded if a kernel writes `width` numbers a document."""
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
        n_tokens = _sums(pointers, data).astype(np.int64)
        scale = np.log(largest)
        yield Block(first, last, pointers, ids.astype(np.int64), data, table, scale, n_tokens)
        first = last


def _sums(indptr: Array, values: Array) -> NDArray[np.float64]:
    """Sums of CSR rows, empty ones included."""
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    totals = np.bincount(rows, weights=values, minlength=indptr.size - 1)
    return totals.astype(np.float64)


def _parts(cost: Array, n_parts: int) -> list[threads.Part]:
    """Ranges of about the same cost, the dearest first."""
    total = np.concatenate(([0.0], np.cumsum(cost)))
    goals = np.linspace(0, total[-1], min(n_parts, cost.size) + 1)
    edges = np.unique(np.concatenate((np.searchsorted(total, goals), [0, cost.size])))
    parts = [(int(a), int(b)) for a, b in pairwise(edges)]
    return sorted(parts, key=lambda part: float(total[part[0]] - total[part[1]]))
