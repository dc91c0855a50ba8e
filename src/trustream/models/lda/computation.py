"""The LDA kernels on whole batches: outputs allocated, work shared out among threads."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from trustream.kernels import ALL_TOPICS, BLOCK, LANES, threads
from trustream.models.lda.batch import WordBatch
from trustream.models.lda.lazy_rows import word_parts
from trustream.models.lda.natural import Beliefs, Blend, Stored
from trustream.models.protocol import Float64

Array = NDArray[Any]


@dataclass(frozen=True)
class LdaArrays:
    """What each kernel computes, for all words or documents of a batch.

    Attributes:
        kernels: `kernels.compiled` or `kernels.reference`.
        collapsed: whether the local step takes expected counts as they are (`collapsed`).
        most: most topics of a document in the local step, or ALL_TOPICS.
        strides: whether the local step extrapolates.
    """

    kernels: ModuleType
    n_topics: int
    dtype: str
    n_threads: int
    collapsed: bool = False
    most: int = ALL_TOPICS
    strides: bool = False

    def table(self, rows: Array) -> tuple[Array, Array]:
        """exp(psi(rows) + offset), or with `collapsed` the rows, (W, padded K), and offset (W,)."""
        table, offset = self._empty_table(rows.shape[0])

        def work(start: int, stop: int) -> None:
            self._fill_table(rows, table, offset, start, stop)

        self._over_words(work, rows.shape[0])
        return table, offset

    def stored(self, source: Stored) -> Array:
        """Rows of lambda, (W, K)."""
        return source.lambda_.get(self.kernels, source.words, source.pattern, self.n_threads)

    @np.errstate(over="ignore", invalid="ignore")  # such a step is refused later
    def blend(
        self, parts: Blend, *, rows: bool = False, table: bool = False
    ) -> tuple[Array, Float64, Array, Array]:
        """(rows, totals, table, offset) of a blend; `rows` or `table` are empty if not wanted."""
        statistics, stored = parts.statistics, parts.anchor.stored
        beliefs, rho, scale = statistics.beliefs, parts.rho, parts.scale
        n_words = parts.anchor.rows.shape[0] if stored is None else stored.words.size
        made = np.empty((n_words if rows else 0, self.n_topics), self.dtype)
        out = (made, *self._empty_table(n_words if table else 0))
        if beliefs is not None:
            sums = self._update(parts, beliefs, parts.eta, out)
        elif statistics.rows.shape[1] == parts.eta.shape[1] == 1:
            # What is the same for all topics is added like a prior of the words.
            self._update(parts, None, parts.eta + scale * statistics.rows, out)
            sums = statistics.totals
        else:
            out = self._blend_rows(parts, table, out)
            sums = statistics.totals
        totals = (1 - rho) * parts.anchor.totals + rho * (parts.eta_totals + scale * sums)
        made, exp_psi, offset = out
        return made, totals, exp_psi, offset

    def _update(
        self, parts: Blend, beliefs: Beliefs | None, eta: Array, out: tuple[Array, Array, Array]
    ) -> Float64:
        """Fill `out` (rows, table, offset); the sums over words of the beliefs' statistics."""
        stored, rho = parts.anchor.stored, parts.rho
        if stored is None:
            rows, keep = parts.anchor.rows, 1 - rho
            words, base = np.arange(rows.shape[0], dtype=np.int32), rho * eta
        else:
            rows, keep = stored.lambda_.stored, (1 - rho) * stored.lambda_.scale
            words = stored.words
            base = rho * eta + (1 - rho) * stored.lambda_.level(words, stored.pattern)
        if beliefs is None:
            none = np.empty(0, np.int64)
            walk = (none, none.astype(np.int32), none)
            local = (np.empty(0, self.dtype), *2 * (self._empty_table(0)[0],))
        else:
            batch = beliefs.batch
            walk = (batch.word_ptr, batch.documents, batch.positions)
            local = (beliefs.ratio, beliefs.theta, beliefs.table)
        gain = rho * parts.scale
        recipe = (rows, words, keep, np.asarray(base, self.dtype), gain, self.collapsed)
        blocks = np.empty((0 if beliefs is None else -(-words.size // BLOCK), self.n_topics))

        def work(start: int, stop: int) -> None:
            self.kernels.lda_update(*walk, *local, *recipe, *out, blocks, start, stop)

        self._over_words(work, words.size)
        return np.asarray(blocks.sum(axis=0))

    def _blend_rows(
        self, parts: Blend, table: bool, out: tuple[Array, Array, Array]
    ) -> tuple[Array, Array, Array]:
        """The same with statistics that are summed already, topic by topic."""
        n_words = parts.anchor.rows.shape[0]
        made = np.empty((n_words, self.n_topics), self.dtype)
        eta = np.asarray(parts.eta, self.dtype)
        recipe = (parts.anchor.rows, eta, parts.statistics.rows, parts.rho, parts.scale)

        def work(start: int, stop: int) -> None:
            self.kernels.blend_rows(*recipe, made, start, stop)
            if table:
                self._fill_table(made, *out[1:], start, stop)

        self._over_words(work, n_words)
        return made, *out[1:]

    def _fill_table(self, rows: Array, table: Array, offset: Array, start: int, stop: int) -> None:
        if self.collapsed:
            part = slice(start, stop)
            table[part, : self.n_topics], offset[part] = rows[part], 0
            table[part, self.n_topics :] = 0
        else:
            self.kernels.exp_digamma(rows, table, offset, start, stop)

    def _empty_table(self, n_words: int) -> tuple[Array, Array]:
        width = -(-self.n_topics // LANES) * LANES
        return np.empty((n_words, width), self.dtype), np.empty(n_words, self.dtype)

    @np.errstate(over="ignore", invalid="ignore")  # an infinite step is refused at its end
    def factor(self, totals: Float64) -> tuple[Array, float]:
        """exp(offset - psi(totals)), (K,), largest entry 1, and that offset.

        With `collapsed` log takes the place of psi.
        """
        psi = self.expected_log(totals)
        least = float(psi.min())
        return np.exp(least - psi).astype(self.dtype), least

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
                self.collapsed,
                self.most,
                n_local,
                tol,
                self.strides,
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

    def expected_log(self, x: Array) -> Array:
        """What log lambda is expected to be, up to a topic's constant: psi, or log if `collapsed`.

        Sums over all words, (K,), come in float64 and get SciPy's digamma.
        """
        if self.collapsed:
            return np.log(x)
        return self.digamma(x) if x.ndim > 1 else np.asarray(special.digamma(x))

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
    goals = np.arange(1, n_parts) * indptr[-1] // max(n_parts, 1)
    edges = [0, *np.searchsorted(indptr, goals).tolist(), n_documents]
    places = indptr[edges].tolist()
    parts = zip(pairwise(places), pairwise(edges), strict=True)
    longest = sorted(((a - b, part) for (a, b), part in parts if part[1] > part[0]))
    return [part for _, part in longest]
