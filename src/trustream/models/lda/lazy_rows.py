"""lambda of LDA as a table of words that can all decay at once, at no cost.

A step on a batch moves every word that is not in it by the same affine map,

    lambda_v = (1 - rho) lambda_v + rho eta_v,

so the table keeps lambda_v = scale * stored_v + shift * pattern_v with eta_v = eta * pattern_v,
and a step touches only the batch's rows, whatever the vocabulary. The shift is what the prior has
put into lambda, also when eta changes from step to step, and scale * stored_v what the data have:
expected counts, never negative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType

import numpy as np

from trustream.array_types import Array, Float64
from trustream.kernels import BLOCK, threads
from trustream.models.lda.row_journal import RowJournal

# The stored numbers are lambda / scale, and float32 holds no more than 1e38.
_SMALLEST_SCALE = 1e-20
# So few words that a second thread would come too late.
_FEW_WORDS = 256


def word_parts(n_words: int, n_threads: int) -> list[threads.Part]:
    """Ranges of whole blocks of words, two for each thread: each call of a kernel has its price.

    >>> word_parts(600, 1), word_parts(600, 2)
    ([(0, 600)], [(0, 192), (192, 384), (384, 576), (576, 600)])
    """
    n_parts = 1 if n_threads == 1 or n_words <= _FEW_WORDS else 2 * n_threads
    size = -(-max(n_words, 1) // (n_parts * BLOCK)) * BLOCK
    return threads.split(n_words, size)


@dataclass(frozen=True, slots=True)
class LazyRows:
    """lambda (V, K) = scale * stored + shift * pattern; the pattern belongs to the prior.

    Attributes:
        stored: (V, K); `put` changes it in place, also for the table that it came from. Who still
            needs that takes a `savepoint` first.
        scale, shift: the affine map; shift * pattern is the prior's part of lambda.
        totals: (K,) float64, sum of lambda over all words.
        journal: notes rows of `stored` before they are overwritten, if somebody holds a savepoint.
    """

    stored: Array
    scale: float
    shift: float
    totals: Float64
    journal: RowJournal = field(default_factory=RowJournal, repr=False, compare=False)

    @classmethod
    def of(cls, lambda_: Array) -> LazyRows:
        """A table that stands for the given values (V, K), which it takes over."""
        return cls(lambda_, 1.0, 0.0, lambda_.sum(axis=0, dtype=np.float64))

    def level(self, words: Array, pattern: Array) -> Array:
        """What is added to scale * stored[words]: (1, 1), (W, 1) or (W, K)."""
        return np.asarray(self.shift * (pattern if pattern.shape[0] == 1 else pattern[words]))

    def get(self, kernels: ModuleType, words: Array, pattern: Array, n_threads: int) -> Array:
        """lambda of the given words, (W, K)."""
        words = words.astype(np.int32, copy=False)  # one kernel to compile, not two
        rows = np.empty((words.size, self.stored.shape[1]), self.stored.dtype)

        def work(start: int, stop: int) -> None:
            kernels.gather_rows(
                self.stored, words, self.scale, self.shift, pattern, rows, start, stop
            )

        threads.run(work, word_parts(words.size, n_threads), n_threads)
        return rows

    def psi_sums(
        self, kernels: ModuleType, words: Array, pattern: Array, sums: Array, n_threads: int
    ) -> None:
        """Sums over topics of psi(lambda) of the given words, (W,); pattern (1, 1) or (V, 1)."""
        words, level = words.astype(np.int32, copy=False), self.level(words, pattern)

        def work(start: int, stop: int) -> None:
            kernels.stored_psi_sums(self.stored, words, self.scale, level, sums, start, stop)

        threads.run(work, word_parts(words.size, n_threads), n_threads)

    def put(
        self, kernels: ModuleType, words: Array, pattern: Array, rows: Array, n_threads: int
    ) -> None:
        """Store lambda of the given words; the caller keeps `totals` right.

        Takes over `rows`, in which the old ones are kept if somebody holds a savepoint.
        """
        words = words.astype(np.int32, copy=False)
        entry = self.journal.exchange(self.stored, words, rows)
        arrays = (self.stored, words, self.scale, self.shift, pattern, entry.rows, entry.noted)

        def work(start: int, stop: int) -> None:
            kernels.scatter_rows(*arrays, start, stop)

        threads.run(work, word_parts(words.size, n_threads), n_threads)

    def decayed(self, rho: float, eta: float, totals: Float64) -> LazyRows:
        """(1 - rho) lambda + rho eta pattern for all words, with the totals it will have."""
        scale, shift = (1 - rho) * self.scale, (1 - rho) * self.shift + rho * eta
        limit = scale * float(np.finfo(self.stored.dtype).max) / 10
        if scale < _SMALLEST_SCALE or totals.max() > limit:
            # Nothing (rho = 1) or next to nothing of `stored` is left, or a huge lambda is to be
            # stored: write the values out, into memory of their own (see `savepoint`).
            return LazyRows(self.stored * self.stored.dtype.type(scale), 1.0, shift, totals)
        return LazyRows(self.stored, scale, shift, totals, self.journal)

    def put_averaged(
        self,
        kernels: ModuleType,
        mean: LazyRows,
        words: Array,
        rows: Array,
        totals: Float64,
        eta: float,
        pattern: Array,
        rho: float,
        weight: float,
        n_threads: int,
    ) -> tuple[LazyRows, LazyRows]:
        """This table decayed, with the given rows put in, and a mean that follows it.

        The table becomes (1 - rho) lambda + rho target and the mean (1 - w) mean + w target. The
        target of all words but the given ones is eta, and lambda of these becomes `rows`. So
        mean + w (target - mean) is reached by

            mean <- (1 - w) mean + w eta                                      for all words
            mean <- mean + (w / rho) (rows - (1 - rho) lambda) - w eta        for the given ones

        and nothing is divided by a small number while w is at most rho.

        Args:
            mean: consumed.
            rows, totals: lambda of the words, and its sums over all words, as they will be; rows
                are taken over, as by `put`.
            rho, weight: of the table, and of the mean.
        """
        gain = weight / rho
        loss = gain * (1 - rho)
        sums = (1 - weight) * mean.totals + gain * totals - loss * self.totals
        table, mean = self.decayed(rho, eta, totals), mean.decayed(weight, eta, sums)
        words, scale = words.astype(np.int32, copy=False), mean.scale
        factors = (
            gain / scale,
            loss * self.scale / scale,
            (loss * self.shift + weight * eta) / scale,
        )
        entry = table.journal.exchange(table.stored, words, rows)
        old = mean.journal.room(mean.stored, words)
        arrays = (
            mean.stored, self.stored, *factors,
            table.stored, words, table.scale, table.shift, pattern, entry.rows, entry.noted,
            old.rows, old.noted,
        )  # fmt: skip

        def work(start: int, stop: int) -> None:
            kernels.average_rows(*arrays, start, stop)

        threads.run(work, word_parts(words.size, n_threads), n_threads)
        return table, mean

    def rescaled(self, factor: float, pattern_sums: Float64) -> LazyRows:
        """With so many times the data, the prior's part being the same; in the same memory."""
        of_prior = self.shift * pattern_sums
        totals = factor * (self.totals - of_prior) + of_prior
        return replace(self, scale=factor * self.scale, totals=totals)

    def with_gains(self, words: Array, gains: Float64) -> LazyRows:
        """With so many times the data in the rows of the given words, in memory of its own."""
        stored = self.stored.copy()
        before = stored[words].astype(np.float64)
        stored[words] = before * gains[:, np.newaxis]
        added = (stored[words].astype(np.float64) - before).sum(axis=0)
        return LazyRows(stored, self.scale, self.shift, self.totals + self.scale * added)

    def with_prior(self, eta: float, pattern_sums: Float64) -> LazyRows:
        """With another prior's part, the data's part being the same; in the same memory."""
        totals = self.totals + (eta - self.shift) * pattern_sums
        return replace(self, shift=eta, totals=totals)

    def add(self, words: Array, values: Array) -> None:
        """Add to the stored rows of these words; the caller keeps `totals` right."""
        self.journal.note(self.stored, words)
        self.stored[words] += values

    def savepoint(self) -> Callable[[], None]:
        """What puts this table back after rows were stored in tables made from it.

        Rows are noted while it is held; it needs no memory for others (`lda.row_journal`). Rows of
        its own only: what follows its last row is not restored.
        """
        return self.journal.begin()

    def dense(self, pattern: Array) -> Array:
        """lambda (V, K) as an array of its own."""
        values: Array = self.stored * self.stored.dtype.type(self.scale)
        values += (self.shift * pattern).astype(self.stored.dtype)
        return values

    def copy(self) -> LazyRows:
        """A table that shares nothing with this one."""
        return LazyRows(self.stored.copy(), self.scale, self.shift, self.totals.copy())
