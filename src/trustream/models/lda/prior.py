"""Priors of LDA: alpha of topic proportions, eta of topics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trustream.array_types import Array, Float64
from trustream.models.lda.seeds import SeedRows


@dataclass(frozen=True, slots=True)
class LdaPrior:
    """alpha (K,) of theta, and eta_vk = eta * pattern_vk of beta, with seeds beside it.

    Attributes:
        alpha: (K,) float64.
        eta: the part of eta that is the same for all words and topics.
        pattern: (1, 1), (V, 1) for a prior per word, or (V, K) for seeded topics.
        pattern_sums: (K,) sum of the pattern over all words.
        seeds: words that count more in some topics than documents say (`lda.seeds`).
    """

    alpha: Float64
    eta: float
    pattern: Float64
    pattern_sums: Float64
    seeds: SeedRows | None = None

    @classmethod
    def of(cls, alpha: Any, eta: Any, n_topics: int, n_words: int) -> LdaPrior:
        """From a scalar or (K,) alpha and a scalar, (V,) or (K, V) eta.

        >>> LdaPrior.of(0.1, 0.01, n_topics=2, n_words=50).pattern_sums
        array([50., 50.])
        """
        alpha = np.broadcast_to(np.asarray(alpha, np.float64), (n_topics,)).copy()
        eta = np.asarray(eta, np.float64)
        if eta.ndim == 0:
            sums = np.full(n_topics, float(n_words))
            return cls(alpha, float(eta), np.ones((1, 1)), sums)
        # A copy: learning changes the pattern in place.
        pattern = np.array(eta.T if eta.ndim == 2 else eta[:, np.newaxis], order="C")
        sums = np.broadcast_to(pattern.sum(axis=0), (n_topics,)).copy()
        return cls(alpha, 1.0, pattern, sums)

    @property
    def totals(self) -> Float64:
        """(K,) sum over words of eta_vk, what seeds hold included."""
        sums = self.eta * self.pattern_sums
        return sums if self.seeds is None else sums + self.seeds.held.sum(axis=0)

    def rows(self, words: Array | slice) -> Float64:
        """eta of the given words, what seeds hold included: (1, 1), (W, 1) or (W, K)."""
        rows = self.plain_rows(words)
        if self.seeds is None:
            return rows
        if isinstance(words, slice):
            words = np.arange(self.n_words)[words]
        return np.asarray(self.seeds.added_to(rows, words))

    def plain_rows(self, words: Array | slice) -> Float64:
        """eta of the given words without seeds: (1, 1), (W, 1) or (W, K)."""
        pattern = self.pattern if self.pattern.shape[0] == 1 else self.pattern[words]
        return np.asarray(self.eta * pattern)

    @property
    def n_words(self) -> int:
        """V."""
        n_rows = self.pattern.shape[0]
        return n_rows if n_rows > 1 else round(float(self.pattern_sums[0] / self.pattern[0, 0]))

    def with_word_eta(
        self, words: Array, eta: Float64, *, n_words: int, in_place: bool
    ) -> LdaPrior:
        """This prior with eta (W,) for these of the `n_words` words, the same for all topics.

        Args:
            in_place: whether a pattern of one entry a word may be changed where it is.
        """
        pattern = self.pattern
        if pattern.shape[0] == 1:
            # The first time: every word gets an entry of its own, with the value it had.
            pattern = np.ones((n_words, 1))
        elif not in_place:
            pattern = pattern.copy()
        old = pattern[words, 0]
        pattern[words, 0] = eta / self.eta
        sums = self.pattern_sums + (pattern[words, 0] - old).sum()
        return replace(self, pattern=pattern, pattern_sums=sums)

    def dense(self) -> Float64:
        """eta for people: a scalar array, (V,) or (K, V)."""
        values = self.eta * self.pattern
        if self.pattern.shape[0] == 1:
            return np.asarray(values[0, 0])
        return values[:, 0] if self.pattern.shape[1] == 1 else values.T
