"""Statistics of LDA summed over batches, any of which can be taken out again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trustream.array_types import Array, Float64
from trustream.models.lda.computation import LdaComputation, word_blocks
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.natural import LdaNatural
from trustream.models.lda.prior import LdaPrior


class LdaTotal(NamedTuple):
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

    def add(self, words: Array, statistics: LdaNatural, sign: float) -> None:
        """Add or take away the statistics of a batch with these words, in place."""
        self.rows[words] += sign * statistics.rows.astype(np.float64)
        self.sums[:] += sign * statistics.totals

    def natural(self, prior: LdaPrior, words: Array, dtype: str) -> LdaNatural:
        """eta + total of these words."""
        rows = self.rows[words] + prior.rows(words)
        return LdaNatural(rows.astype(dtype), self.sums + prior.totals)

    def lambda_(self, prior: LdaPrior, dtype: str) -> LazyRows:
        """eta + total of all words."""
        totals = self.rows.sum(axis=0) + prior.totals
        rows = self.rows.astype(dtype)
        if prior.seeds is not None:
            rows[prior.seeds.places] += prior.seeds.held.astype(dtype)
        return LazyRows(rows, 1.0, prior.eta, totals)

    def inner(self, computation: LdaComputation, lambda_: LazyRows, prior: LdaPrior) -> float:
        """sum_vk total_vk (psi(lambda_vk) - psi(sum_v lambda_vk))."""
        topics = float(self.sums @ computation.expected_log(lambda_.totals))
        return self.psi_inner(computation, lambda_, prior) - topics

    def psi_inner(self, computation: LdaComputation, lambda_: LazyRows, prior: LdaPrior) -> float:
        """sum_vk total_vk psi(lambda_vk), some words at a time."""
        value = 0.0
        for words in word_blocks(self.rows.shape[0]):
            psi = computation.expected_log(computation.get_rows(lambda_, prior, words))
            value += float((psi.astype(np.float64) * self.rows[words]).sum())
        return value
