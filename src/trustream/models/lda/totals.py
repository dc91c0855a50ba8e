"""Statistics of LDA summed over batches, any of which can be taken out again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.models.lda.batch import WordBatch
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.natural import LdaNatural
from trustream.models.lda.prior import LdaPrior
from trustream.models.lda_evidence import VISITED_WORDS
from trustream.models.protocol import Float64

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class LdaTotal:
    """rows (V, K), and sums (K,) over words, both float64.

    float32 would not do: a word that leaves a topic takes 1e4 tokens out of a number with an error
    of 1e-3, which is more than a small eta, and lambda could become negative.
    """

    rows: Float64
    sums: Float64

    @classmethod
    def zeros(cls, n_words: int, n_topics: int) -> LdaTotal:
        """Nothing.

        >>> LdaTotal.zeros(3, 2).sums
        array([0., 0.])
        """
        return cls(np.zeros((n_words, n_topics)), np.zeros(n_topics))

    def __iter__(self) -> Iterator[Float64]:
        return iter((self.rows, self.sums))

    def add(self, words: Array, statistics: LdaNatural, sign: float) -> None:
        """Add or take away the statistics of a batch with these words, in place."""
        self.rows[words] += sign * statistics.rows.astype(np.float64)
        self.sums[:] += sign * statistics.totals


class RunningTotals:
    """The methods of `LdaModel` for totals; statistics are those of a batch's words."""

    n_components: int
    n_words: int
    dtype: str
    _arrays: Any

    def keep(self, statistics: LdaNatural) -> LdaNatural:
        """s of the batch's words in the model's type, without the beliefs they come from."""
        return LdaNatural(statistics.rows, statistics.totals)

    def running_total(self) -> LdaTotal:
        """Zeros."""
        return LdaTotal.zeros(self.n_words, self.n_components)

    def exchange(
        self, total: LdaTotal, batch: WordBatch, old: LdaNatural | None, new: LdaNatural
    ) -> LdaTotal:
        """total - old + new in the batch's rows."""
        if old is not None:
            total.add(batch.words, old, -1.0)
        total.add(batch.words, new, 1.0)
        return total

    def restrict_total(self, total: LdaTotal, prior: LdaPrior, batch: WordBatch) -> LdaNatural:
        """eta + total of the batch's words."""
        rows = total.rows[batch.words] + prior.rows(batch.words)
        return LdaNatural(rows.astype(self.dtype), total.sums + prior.totals)

    def lambda_of_total(self, total: LdaTotal, prior: LdaPrior) -> LazyRows:
        """eta + total of all words."""
        return LazyRows.of((total.rows + prior.eta * prior.pattern).astype(self.dtype))

    def inner_total(self, lambda_: LazyRows, prior: LdaPrior, total: LdaTotal) -> float:
        """sum_vk total_vk (psi(lambda_vk) - psi(sum_v lambda_vk)), some words at a time."""
        value = -float(total.sums @ self._arrays.expected_log(lambda_.totals))
        for first in range(0, self.n_words, VISITED_WORDS):
            words = np.arange(first, min(first + VISITED_WORDS, self.n_words))
            psi = self._arrays.expected_log(
                lambda_.get(self._arrays.kernels, words, prior.pattern, self._arrays.n_threads)
            )
            value += float((psi.astype(np.float64) * total.rows[words]).sum())
        return value
