"""The LDA kernels on whole batches: outputs allocated, work shared out among threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from trustream.kernels import BLOCK, LANES, threads
from trustream.models.lazy_rows import PART
from trustream.models.lda_batch import WordBatch
from trustream.models.protocol import Float64

Array = NDArray[Any]


@dataclass(frozen=True)
class LdaArrays:
    """What each kernel computes, for all words or documents of a batch."""

    kernels: ModuleType
    n_topics: int
    dtype: str
    n_threads: int

    def table(self, rows: Array) -> tuple[Array, Array]:
        """exp(psi(rows) + offset), (W, padded K), and offset (W,)."""
        table = np.empty((rows.shape[0], -(-self.n_topics // LANES) * LANES), self.dtype)
        offset = np.empty(rows.shape[0], self.dtype)

        def work(start: int, stop: int) -> None:
            self.kernels.exp_digamma(rows, table, offset, start, stop)

        self._over_words(work, rows.shape[0])
        return table, offset

    @np.errstate(over="ignore", invalid="ignore")  # an infinite step is refused at its end
    def factor(self, totals: Float64) -> tuple[Array, float]:
        """exp(offset - psi(totals)), (K,), largest entry 1, and that offset."""
        psi = special.digamma(totals)
        least = float(psi.min())
        return np.exp(least - psi).astype(self.dtype), least

    def blend(
        self, anchor: Array, eta: Array, statistics: Array, rho: float, scale: float
    ) -> Array:
        """(1 - rho) anchor + rho (eta + scale * statistics), (W, K)."""
        rows = np.empty_like(anchor)
        prior = eta.astype(self.dtype)

        def work(start: int, stop: int) -> None:
            self.kernels.blend_rows(anchor, prior, statistics, rho, scale, rows, start, stop)

        self._over_words(work, anchor.shape[0])
        return rows

    def local(
        self,
        batch: WordBatch,
        table: Array,
        factor: Array,
        alpha: Float64,
        start_gamma: Array,
        n_local: int,
        tol: float,
    ) -> tuple[Array, Array, Array]:
        """(gamma, theta, ratio) after the local step from `start_gamma`."""
        gamma, prior = start_gamma.copy(), alpha.astype(self.dtype)
        theta = np.empty((batch.size, table.shape[1]), self.dtype)
        ratio = np.empty_like(batch.counts)

        def work(start: int, stop: int) -> None:
            self.kernels.lda_local(
                batch.indptr,
                batch.ids,
                batch.counts,
                table,
                factor,
                prior,
                gamma,
                theta,
                ratio,
                n_local,
                tol,
                start,
                stop,
            )

        self._over_documents(work, batch)
        return gamma, theta, ratio

    def statistics(
        self, batch: WordBatch, table: Array, theta: Array, ratio: Array
    ) -> tuple[Array, Float64]:
        """s_wk (W, K), and its sums over words (K,) in float64."""
        rows = np.empty((batch.n_words, self.n_topics), self.dtype)
        totals = np.zeros((-(-batch.n_words // BLOCK), self.n_topics))

        def work(start: int, stop: int) -> None:
            self.kernels.lda_statistics(
                batch.word_ptr,
                batch.documents,
                batch.positions,
                ratio,
                theta,
                table,
                rows,
                totals,
                start,
                stop,
            )

        self._over_words(work, batch.n_words)
        return rows, totals.sum(axis=0)

    def bound(
        self,
        batch: WordBatch,
        table: Array,
        offset: Float64,
        factor: Array,
        alpha: Float64,
        gamma: Array,
    ) -> Float64:
        """Lower bound of each document, (B,)."""
        bound = np.empty(batch.size)

        def work(start: int, stop: int) -> None:
            self.kernels.lda_bound(
                batch.indptr,
                batch.ids,
                batch.counts,
                table,
                offset,
                factor,
                alpha,
                gamma,
                bound,
                start,
                stop,
            )

        self._over_documents(work, batch)
        return bound

    def dirichlet_terms(self, rows: Array, other: Array) -> Float64:
        """(3, K): sums over words of log G(rows), log G(other), (rows - other) psi(rows)."""
        blocks = np.zeros((-(-rows.shape[0] // BLOCK), 3, self.n_topics))

        def work(start: int, stop: int) -> None:
            self.kernels.dirichlet_terms(rows, other, blocks, start, stop)

        self._over_words(work, rows.shape[0])
        return np.asarray(blocks.sum(axis=0))

    def digamma(self, x: Array) -> Array:
        """psi of every entry."""
        out = np.empty(x.size, x.dtype)
        self.kernels.digamma(x.reshape(-1), out)
        return out.reshape(x.shape)

    def _over_words(self, work: Any, n_words: int) -> None:
        threads.run(work, threads.split(n_words, PART), self.n_threads)

    def _over_documents(self, work: Any, batch: WordBatch) -> None:
        threads.run(work, document_parts(batch.indptr, self.n_threads), self.n_threads)


def document_parts(indptr: Array, n_threads: int) -> list[threads.Part]:
    """Ranges of documents with about the same number of words, a few for each thread."""
    n_documents = indptr.size - 1
    if n_threads == 1:
        return [(0, n_documents)]
    n_parts = min(4 * n_threads, n_documents)
    goals = np.linspace(0, indptr[-1], n_parts + 1)[1:-1]
    edges = [0, *np.searchsorted(indptr, goals).tolist(), n_documents]
    return [(a, b) for a, b in pairwise(edges) if b > a]
