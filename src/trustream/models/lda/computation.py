"""The LDA kernels on whole batches: outputs allocated, work shared out among threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from scipy import special

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.kernels import BLOCK, LANES, threads
from trustream.kernels.lda import ALL_TOPICS
from trustream.models.lda.batch import WordBatch
from trustream.models.lda.lazy_rows import LazyRows, word_parts
from trustream.models.lda.prior import LdaPrior

# Words, or other rows, at a time where there are many.
ROWS_AT_ONCE = 8192
# Logarithms of how far apart the sums of topics may be before small numbers need care: the table of
# words has 1e-30 at least and float32 1e-38, and a topic without tokens explains nothing anyway.
_WIDE_RANGE, _MOST_RANGE = 12.0, 32.0


@dataclass(frozen=True)
class LdaComputation:
    """What each kernel computes, for all words or documents of a batch.

    Attributes:
        backend: which kernels compute, "compiled" or "reference".
        collapsed: whether the local step takes expected counts as they are (`lda.collapsed`).
        most: most topics of a document in the local step, or ALL_TOPICS.
        strides: whether the local step extrapolates.
    """

    backend: str
    n_topics: int
    dtype: str
    n_threads: int
    collapsed: bool = False
    most: int = ALL_TOPICS
    strides: bool = False

    @property
    def kernels(self) -> ModuleType:
        """The kernels of the backend."""
        return kernels.get("lda", self.backend)

    def get_rows(self, lambda_: LazyRows, prior: LdaPrior, words: Array) -> Array:
        """lambda of the given words, (W, K)."""
        return lambda_.get(self.kernels, words, prior.pattern, self.n_threads)

    def put_rows(self, lambda_: LazyRows, prior: LdaPrior, words: Array, rows: Array) -> None:
        """Store lambda of the given words; the caller keeps its totals right."""
        lambda_.put(self.kernels, words, prior.pattern, rows, self.n_threads)

    def table(self, rows: Array) -> tuple[Array, Array]:
        """exp(psi(rows) + offset), or with `collapsed` the rows, (W, padded K), and offset (W,)."""
        table, offset = self.empty_table(rows.shape[0])

        def work(start: int, stop: int) -> None:
            self.fill_table(rows, table, offset, start, stop)

        self.over_words(work, rows.shape[0])
        return table, offset

    def fill_table(self, rows: Array, table: Array, offset: Array, start: int, stop: int) -> None:
        """The words [start, stop) of `table`."""
        if self.collapsed:
            part = slice(start, stop)
            table[part, : self.n_topics], offset[part] = rows[part], 0
            table[part, self.n_topics :] = 0
        else:
            self.kernels.exp_digamma(rows, table, offset, start, stop)

    def empty_table(self, n_words: int) -> tuple[Array, Array]:
        """Memory for `table` of so many words."""
        width = -(-self.n_topics // LANES) * LANES
        return np.empty((n_words, width), self.dtype), np.empty(n_words, self.dtype)

    @np.errstate(over="ignore", invalid="ignore")  # an infinite step is refused at its end
    def factor(self, totals: Float64) -> tuple[Array, float]:
        """exp(offset - psi(totals)), (K,), and that offset; with `collapsed` log in place of psi.

        The largest entry is 1, unless the others would be so small that a word of which only
        topics that a document has left are known has no belief at all in float32. Then the smallest
        entry is about 1, and topics with next to no tokens get no more than e^MOST_RANGE. Offsets
        differ by a power of two, which leaves all digits as they are.
        """
        psi = self.expected_log(totals)
        least, largest, power = float(psi.min()), float(psi.max()), 0
        if np.isfinite(largest) and largest - least > _WIDE_RANGE:
            psi = np.maximum(psi, largest - _MOST_RANGE)
            least = float(psi.min())
            power = round((largest - least) / np.log(2.0))
        factor = np.ldexp(np.exp(least - psi), power)
        return factor.astype(self.dtype), least + power * float(np.log(2.0))

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
        arrays = (*batch.by_document, table, factor, prior, gamma, theta, ratio)
        settings = (self.collapsed, self.most, n_local, tol, self.strides)

        def work(start: int, stop: int) -> None:
            self.kernels.lda_local(*arrays, *settings, start, stop)

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
                *batch.by_word, ratio, theta, table, rows, totals, start, stop
            )

        self.over_words(work, batch.n_words)
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
                *batch.by_document, table, offset, factor, alpha, gamma, bound, start, stop
            )

        self._over_documents(work, batch)
        return bound

    def dirichlet_terms(self, rows: Array, other: Array) -> Float64:
        """(3, K): sums over words of log G(rows), log G(other), (rows - other) psi(rows)."""
        blocks = np.zeros((-(-rows.shape[0] // BLOCK), 3, self.n_topics))

        def work(start: int, stop: int) -> None:
            self.kernels.dirichlet_terms(rows, other, blocks, start, stop)

        self.over_words(work, rows.shape[0])
        return np.asarray(blocks.sum(axis=0))

    def digamma(self, x: Array) -> Array:
        """psi of every entry."""
        out = np.empty(x.size, x.dtype)
        self.kernels.digamma(x.reshape(-1), out)
        return out.reshape(x.shape)

    def left_out(
        self,
        batch: WordBatch,
        rows: Array,
        weights: Float64,
        put_in: Float64,
        level: Float64,
        extra: Float64 | None,
    ) -> tuple[Array, Float64]:
        """Counts without each document (nnz, K), and sums (D, 2, K) of what it takes and leaves.

        Args:
            rows: (W, K) lambda of the batch's words.
            weights: (D, K) what phi is proportional to, times `rows`.
            put_in: (nnz,) tokens that each pair has put into lambda.
            level: (1,) or (W,) the prior's part of lambda.
            extra: (W, K) what each token of a word has put in beside; None for nothing.
        """
        kept = np.empty((batch.ids.size, self.n_topics), self.dtype)
        sums = np.empty((batch.size, 2, self.n_topics))
        beside = np.empty((0, 0)) if extra is None else extra
        own = (a.astype(self.dtype) for a in (put_in, weights, rows, level, beside))
        arrays = (batch.indptr, batch.ids, *own, kept, sums)

        def work(start: int, stop: int) -> None:
            self.kernels.leave_out(*arrays, start, stop)

        self._over_documents(work, batch)
        return kept, sums

    def expected_log(self, x: Array) -> Array:
        """What log lambda is expected to be, up to a topic's constant: psi, or log if `collapsed`.

        Sums over all words, (K,), come in float64 and get SciPy's digamma.
        """
        if self.collapsed:
            return np.log(x)
        return self.digamma(x) if x.ndim > 1 else np.asarray(special.digamma(x))

    def over_words(self, work: Any, n_words: int) -> None:
        """Call work(start, stop) for parts of the words, shared out among threads."""
        threads.run(work, word_parts(n_words, self.n_threads), self.n_threads)

    def _over_documents(self, work: Any, batch: WordBatch) -> None:
        threads.run(work, batch.parts, self.n_threads)


def word_blocks(n_words: int) -> Iterator[Array]:
    """All words, some at a time.

    >>> [words.size for words in word_blocks(10_000)]
    [8192, 1808]
    """
    for first in range(0, n_words, ROWS_AT_ONCE):
        yield np.arange(first, min(first + ROWS_AT_ONCE, n_words))
