"""Latent Dirichlet allocation (section 4.3 and supplement 3 of the paper).

    beta_k ~ Dir(eta_k),  theta_d ~ Dir(alpha),  z_dm ~ theta_d,  x_dm ~ beta_{z_dm}

with q(beta_k) = Dir(lambda_k), q(theta_d) = Dir(gamma_d), q(z) = phi. Words come first in memory:
lambda is (V, K) here and (K, V), as `components_`, only for people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from trustream import kernels
from trustream.models import lda_evidence
from trustream.models.lazy_rows import LazyRows
from trustream.models.lda_arrays import Beliefs, Blend, LdaArrays, LdaNatural
from trustream.models.lda_batch import BatchMaker, WordBatch
from trustream.models.lda_prior import LdaPrior
from trustream.models.protocol import DirichletEvidence, Float64, Rows

__all__ = ["LdaModel", "LdaNatural", "LdaPrior", "sample_prior"]

Array = NDArray[Any]

# Documents at a time in sampling, which needs their distributions over all words.
_SAMPLED_DOCUMENTS = 256


@dataclass(frozen=True)
class LdaModel:
    """LDA behind the protocol of `models.protocol`.

    Attributes:
        n_components: K.
        n_words: V.
        dtype: "float32" or "float64", of lambda, gamma and the statistics.
        backend: "compiled" or "reference".
        n_threads: threads to use; no result depends on it.
        eta_per_word: learn a prior for each word instead of one for all.
    """

    n_components: int
    n_words: int
    dtype: str = "float32"
    backend: str = "compiled"
    n_threads: int = 1
    eta_per_word: bool = False

    @cached_property
    def _arrays(self) -> LdaArrays:
        module = kernels.get(self.backend)
        return LdaArrays(module, self.n_components, self.dtype, self.n_threads)

    @cached_property
    def _make_batch(self) -> BatchMaker:
        return BatchMaker(self._arrays.kernels, self.n_words, self.dtype)

    def batch(self, data: Any, rows: Rows | slice) -> WordBatch:
        """Rows of a CSR matrix of counts (N, V)."""
        return self._make_batch(data, rows)

    # --- global parameters

    def initial(self, prior: LdaPrior, rng: np.random.Generator) -> LazyRows:
        """lambda_vk ~ Gamma(100, 0.01), as in the paper: mean 1, standard deviation 0.1."""
        draws = np.empty((self.n_words, self.n_components), self.dtype)
        rng.standard_gamma(100.0, dtype=draws.dtype.type, out=draws)
        draws *= draws.dtype.type(0.01)
        return LazyRows.of(draws)

    def restrict(self, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch) -> LdaNatural:
        """lambda of the batch's words."""
        rows = self._get(lambda_, prior, batch.words)
        return LdaNatural(rows, lambda_.totals)

    def blend(
        self,
        anchor: LdaNatural,
        prior: LdaPrior,
        batch: WordBatch,
        statistics: LdaNatural,
        rho: float,
        scale: float,
    ) -> LdaNatural:
        """(1 - rho) lambda_t + rho (eta + scale s) (equation 14), rows and totals alike."""
        eta = prior.rows(batch.words).astype(self.dtype)
        parts = Blend(anchor, eta, prior.totals, statistics, rho, scale)
        return LdaNatural(None, None, self._arrays, parts)

    def commit(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch,
        natural: LdaNatural,
        rho: float,
    ) -> LazyRows:
        """The batch's words as given; all others decay lazily."""
        table = lambda_.decayed(rho, prior.eta, prior.pattern, natural.totals)
        self._put(table, prior, batch.words, natural.rows)
        return table

    def _get(self, lambda_: LazyRows, prior: LdaPrior, words: Array) -> Array:
        return lambda_.get(self._arrays.kernels, words, prior.pattern, self.n_threads)

    def _put(self, lambda_: LazyRows, prior: LdaPrior, words: Array, rows: Array) -> None:
        lambda_.put(self._arrays.kernels, words, prior.pattern, rows, self.n_threads)

    def is_finite(self, natural: LdaNatural | LazyRows) -> bool:
        """Entries are not negative, so a bad one shows in the totals."""
        return bool(np.all(natural.totals < np.finfo(self.dtype).max))

    # --- local beliefs

    @np.errstate(over="ignore", invalid="ignore")  # such a step is refused later
    def beliefs(
        self, prior: LdaPrior, batch: WordBatch, phi: Array | None
    ) -> tuple[Array, LdaNatural]:
        """gamma = alpha + sum_w n_dw phi_dw, and s_wk = sum_d n_dw phi_dwk.

        phi is (nnz, K) in the batch's order of (document, word) pairs; None is 1/K.
        """
        if phi is None:
            share = 1.0 / self.n_components
            gamma = prior.alpha + share * batch.lengths[:, np.newaxis]
            rows = (share * batch.word_counts[:, np.newaxis]).astype(self.dtype)
            totals = np.full(self.n_components, share * batch.word_counts.sum())
            return gamma.astype(self.dtype), LdaNatural(rows, totals)
        weighted = batch.counts[:, np.newaxis] * np.asarray(phi, np.float64)
        gamma = prior.alpha + _segment_sums(weighted, batch.indptr)
        rows = _segment_sums(weighted[batch.positions], batch.word_ptr)
        return gamma.astype(self.dtype), LdaNatural(rows.astype(self.dtype), rows.sum(axis=0))

    def local_step(
        self,
        natural: LdaNatural,
        prior: LdaPrior,
        batch: WordBatch,
        local: Array,
        n_local: int,
        tol: float,
    ) -> tuple[Array, LdaNatural]:
        """gamma after at most n_local rounds from `local`, and the statistics of its phi."""
        table, _ = natural.table(self._arrays)
        factor, _ = self._arrays.factor(natural.totals)
        gamma, theta, ratio = self._arrays.local(
            batch, table, factor, prior.alpha, local, n_local, tol
        )
        beliefs = Beliefs(batch, table, theta, ratio)
        return gamma, LdaNatural(None, None, self._arrays, beliefs)

    def local_bound(
        self, natural: LdaNatural, prior: LdaPrior, batch: WordBatch, local: Array
    ) -> Float64:
        """Lower bound of each document given beta's beliefs, shape (B,)."""
        table, offset = natural.table(self._arrays)
        factor, factor_offset = self._arrays.factor(natural.totals)
        offset = offset.astype(np.float64) + factor_offset
        return self._arrays.bound(batch, table, offset, factor, prior.alpha, local)

    # --- terms of the bound

    def divergence(
        self,
        natural: LdaNatural,
        prior: LdaPrior,
        batch: WordBatch,
        anchor: LdaNatural | None,
    ) -> float:
        """KL(lambda || anchor or eta) summed over topics, without terms of other words.

        KL = sum_k { log G(T_k) - log G(T'_k) - (T_k - T'_k) psi(T_k) }
             + sum_vk { log G(lambda'_vk) - log G(lambda_vk)
                        + (lambda_vk - lambda'_vk) psi(lambda_vk) }
        """
        if anchor is None:
            other, other_totals = prior.rows(batch.words), prior.totals
        else:
            other, other_totals = anchor
        terms = self._arrays.dirichlet_terms(natural.rows, other)
        return _divergence(terms, natural.totals, other_totals)

    def global_bound(self, lambda_: LazyRows, prior: LdaPrior) -> float:
        """-KL(lambda || eta) over all words."""
        terms = np.zeros((3, self.n_components))
        for first in range(0, self.n_words, lda_evidence.VISITED_WORDS):
            words = np.arange(first, min(first + lda_evidence.VISITED_WORDS, self.n_words))
            rows = self._get(lambda_, prior, words)
            terms += self._arrays.dirichlet_terms(rows, prior.rows(words))
        return -_divergence(terms, lambda_.totals, prior.totals)

    # --- whole-data statistics

    def zero_statistics(self) -> Array:
        """(V, K) of zeros."""
        return np.zeros((self.n_words, self.n_components), self.dtype)

    def add_statistics(self, total: Array, batch: WordBatch, statistics: LdaNatural) -> Array:
        """Add the batch's rows; each of its words occurs once in `batch.words`."""
        total[batch.words] += statistics.rows
        return total

    def posterior(self, prior: LdaPrior, total: Array) -> LazyRows:
        """lambda = eta + s."""
        total += (prior.eta * prior.pattern).astype(self.dtype)
        return LazyRows.of(total)

    # --- empirical Bayes

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
            evidence["alpha"] = lda_evidence.of_alpha(self._arrays, prior, locals_)
        if self.n_words > 1 and prior.pattern.shape[1] == 1:
            if self.eta_per_word:
                words = self._eta_words(batch)
                evidence["eta"] = lda_evidence.of_words(self._arrays, lambda_, prior, words)
            elif prior.pattern.shape[0] == 1:
                evidence["eta"] = lda_evidence.of_eta(self._arrays, lambda_, prior, rng)
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
        if "alpha" in values:
            prior = replace(prior, alpha=values["alpha"])
        if "eta" not in values:
            return lambda_, prior
        if not self.eta_per_word:
            return lambda_, replace(prior, eta=float(values["eta"][0]))
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

    # --- for people

    def expected(self, lambda_: LazyRows, prior: LdaPrior) -> Array:
        """E[beta] = lambda / its sum over words, (K, V)."""
        rows = lambda_.dense(prior.pattern)
        return np.ascontiguousarray((rows / rows.sum(axis=0, dtype=np.float64)).T)


def _divergence(terms: Float64, totals: Float64, other_totals: Float64) -> float:
    normalisers = special.gammaln(totals) - special.gammaln(other_totals)
    inner = (totals - other_totals) * special.digamma(totals)
    return float((normalisers - inner + terms[1] - terms[0] + terms[2]).sum())


def _segment_sums(values: Array, pointers: Array) -> Float64:
    """Sums of values[pointers[i] : pointers[i+1]] along the first axis, in float64."""
    padded = np.zeros((values.shape[0] + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, dtype=np.float64, out=padded[1:])
    return np.asarray(padded[pointers[1:]] - padded[pointers[:-1]])


def sample_prior(
    prior: LdaPrior, lengths: Array, n_words: int, rng: np.random.Generator
) -> tuple[Array, Array, sparse.csr_array]:
    """(beta, theta, counts) drawn from the model: topics, proportions and documents.

    Args:
        prior: alpha, and eta of any form.
        lengths: (N,) tokens of each document.
        n_words: V.

    Returns:
        beta (K, V), theta (N, K) and counts, a CSR array (N, V).

    >>> prior = LdaPrior.of(0.5, 0.5, n_topics=2, n_words=4)
    >>> beta, theta, counts = sample_prior(prior, np.full(3, 10), 4, np.random.default_rng(0))
    >>> beta.shape, theta.shape, counts.sum(axis=1).tolist()
    ((2, 4), (3, 2), [10, 10, 10])
    """
    n_topics = prior.alpha.size
    eta = np.broadcast_to(prior.rows(slice(None)), (n_words, n_topics))
    # A draw per topic: each may have a prior of its own.
    beta = np.stack([rng.dirichlet(column) for column in eta.T])
    theta = rng.dirichlet(prior.alpha, size=len(lengths))
    parts = []
    for first in range(0, len(lengths), _SAMPLED_DOCUMENTS):
        part = slice(first, first + _SAMPLED_DOCUMENTS)
        mixed = theta[part] @ beta
        mixed /= mixed.sum(axis=1, keepdims=True)
        parts.append(sparse.csr_array(rng.multinomial(lengths[part], mixed)))
    return beta, theta, sparse.vstack(parts, format="csr")
