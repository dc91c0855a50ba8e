"""LDA's priors, learned: what they are learned from, and new ones in their place."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustream.models.lda.batch import WordBatch
from trustream.models.lda.evidence import of_alpha, of_eta, of_words
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.prior import LdaPrior
from trustream.models.protocol import DirichletEvidence, Float64

Array = NDArray[Any]


class LearnedPriors:
    """The methods of `LdaModel` for empirical Bayes."""

    n_components: int
    n_words: int
    eta_per_word: bool
    _arrays: Any

    @abstractmethod
    def _get(self, lambda_: LazyRows, prior: LdaPrior, words: Array) -> Array:
        """lambda of the given words, (W, K)."""

    @abstractmethod
    def _put(self, lambda_: LazyRows, prior: LdaPrior, words: Array, rows: Array) -> None:
        """Store lambda of the given words."""

    def prior_evidence(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch | None,
        locals_: list[Array],
        rng: np.random.Generator | None,
    ) -> dict[str, DirichletEvidence]:
        """alpha from the documents' gamma, eta from lambda.

        eta is learned from a sample of words drawn with `rng` (all words without it), or with
        `eta_per_word` for the words of the batch (all words without one). A (V, K) prior is the
        user's word and stays. One topic, or one word, has nothing to learn from.
        """
        evidence = {}
        if self.n_components > 1:
            evidence["alpha"] = of_alpha(self._arrays, prior, locals_)
        if self.n_words > 1 and prior.pattern.shape[1] == 1:
            if self.eta_per_word:
                words = self._eta_words(batch)
                evidence["eta"] = of_words(self._arrays, lambda_, prior, words)
            elif prior.pattern.shape[0] == 1:
                evidence["eta"] = of_eta(self._arrays, lambda_, prior, rng)
        return evidence

    def _eta_words(self, batch: WordBatch | None) -> Array:
        return np.arange(self.n_words) if batch is None else batch.words

    def replace_prior(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch | None,
        values: dict[str, Float64],
    ) -> tuple[LazyRows, LdaPrior]:
        """New alpha and eta; rows whose pattern changes are stored anew, lambda stays."""
        alpha, eta = values.get("alpha", prior.alpha), prior.eta
        if "eta" in values and not self.eta_per_word:
            eta = float(values["eta"][0])
        prior = LdaPrior(alpha, eta, prior.pattern, prior.pattern_sums)
        if "eta" not in values or not self.eta_per_word:
            return lambda_, prior
        words = self._eta_words(batch)
        rows = self._get(lambda_, prior, words)
        if prior.pattern.shape[0] == 1:
            # The first time: every word gets an entry of its own, with the value it had.
            prior = replace(prior, pattern=np.ones((self.n_words, 1)))
        pattern = prior.pattern.copy() if batch is None else prior.pattern
        old = pattern[words, 0]
        pattern[words, 0] = values["eta"] / prior.eta
        sums = prior.pattern_sums + (pattern[words, 0] - old).sum()
        prior = replace(prior, pattern=pattern, pattern_sums=sums)
        self._put(lambda_, prior, words, rows)
        return lambda_, prior
