"""The LDA kernels on whole batches: outputs allocated, work shared out among threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from trustream.kernels import BLOCK, LANES, threads
from trustream.models.lazy_rows import word_parts
from trustream.models.lda_batch import WordBatch
from trustream.models.protocol import Float64

Array = NDArray[Any]

# anchor (W, K), eta (1, 1), (W, 1) or (W, K), statistics (W, 1) or (W, K), rho, scale
Recipe = tuple[Array, Array, Array, float, float]


class LdaNatural:
    """lambda of a batch's words (W, K), and its sums over all words (K,) in float64.

    A blend is kept as its recipe until its rows are asked for: a local step makes them together
    with exp E[log beta], in one pass over memory.
    """

    __slots__ = ("_arrays", "_rows", "recipe", "totals")

    def __init__(self, rows: Array, totals: Float64) -> None:
        self._rows: Array | None = rows
        self.recipe: Recipe | None = None
        self._arrays: LdaArrays | None = None
        self.totals = totals

    @classmethod
    def blended(cls, arrays: LdaArrays, recipe: Recipe, totals: Float64) -> LdaNatural:
        """(1 - rho) anchor + rho (eta + scale * statistics), when needed."""
        natural = cls(recipe[0], totals)
        natural._rows, natural.recipe, natural._arrays = None, recipe, arrays
        return natural

    def __iter__(self) -> Iterator[Array]:
        return iter((self.rows, self.totals))

    @property
    def n_words(self) -> int:
        """W."""
        return int((self._rows if self.recipe is None else self.recipe[0]).shape[0])  # type: ignore[union-attr]

    @property
    def rows(self) -> Array:
        """lambda of the batch's words, (W, K)."""
        if self._rows is None:
            self.keep(self._arrays.blend(self.recipe))  # type: ignore[union-attr, arg-type]
        return self._rows  # type: ignore[return-value]

    def keep(self, rows: Array) -> None:
        """Take the rows that the recipe gives."""
        self._rows, self.recipe = rows, None


@dataclass(frozen=True)
class LdaArrays:
    """What each kernel computes, for all words or documents of a batch."""

    kernels: ModuleType
    n_topics: int
    dtype: str
    n_threads: int

    def table(self, natural: LdaNatural) -> tuple[Array, Array]:
        """exp(psi(lambda) + offset), (W, padded K), and offset (W,)."""
        n_words = natural.n_words
        table = np.empty((n_words, -(-self.n_topics // LANES) * LANES), self.dtype)
        offset = np.empty(n_words, self.dtype)
        recipe = natural.recipe
        if recipe is None:
            rows = natural.rows

            def work(start: int, stop: int) -> None:
                self.kernels.exp_digamma(rows, table, offset, start, stop)

        else:
            made = np.empty_like(recipe[0])

            def work(start: int, stop: int) -> None:
                self.kernels.blend_exp_digamma(*recipe, made, table, offset, start, stop)

        self._over_words(work, n_words)
        if recipe is not None:
            natural.keep(made)
        return table, offset

    @np.errstate(over="ignore", invalid="ignore")  # an infinite step is refused at its end
    def factor(self, totals: Float64) -> tuple[Array, float]:
        """exp(offset - psi(totals)), (K,), largest entry 1, and that offset."""
        psi = special.digamma(totals)
        least = float(psi.min())
        return np.exp(least - psi).astype(self.dtype), least

    def blend(self, recipe: Recipe) -> Array:
        """(1 - rho) anchor + rho (eta + scale * statistics), (W, K)."""
        rows = np.empty_like(recipe[0])

        def work(start: int, stop: int) -> None:
            self.kernels.blend_rows(*recipe, rows, start, stop)

        self._over_words(work, rows.shape[0])
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
        threads.run(work, word_parts(n_words, self.n_threads), self.n_threads)

    def _over_documents(self, work: Any, batch: WordBatch) -> None:
        threads.run(work, document_parts(batch.indptr, self.n_threads), self.n_threads)


def document_parts(indptr: Array, n_threads: int) -> list[threads.Part]:
    """Ranges of documents with about the same number of words, the longest first.

    A few for each thread, and the short ones last, so that all threads end at about the same time.
    """
    n_documents = indptr.size - 1
    if n_threads == 1:
        return [(0, n_documents)]
    n_parts = min(5 * n_threads, n_documents)
    goals = np.linspace(0, indptr[-1], n_parts + 1)[1:-1]
    edges = [0, *np.searchsorted(indptr, goals).tolist(), n_documents]
    parts = [(a, b) for a, b in pairwise(edges) if b > a]
    return sorted(parts, key=lambda part: int(indptr[part[0]] - indptr[part[1]]))
