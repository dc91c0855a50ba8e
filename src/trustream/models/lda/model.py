"""Latent Dirichlet allocation (section 4.3 and supplement 3 of the paper).

    beta_k ~ Dir(eta_k),  theta_d ~ Dir(alpha),  z_dm ~ theta_d,  x_dm ~ beta_{z_dm}

with q(beta_k) = Dir(lambda_k), q(theta_d) = Dir(gamma_d), q(z) = phi. Words come first in memory:
lambda is (V, K) here and (K, V), as `components_`, only for people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from trustream import kernels
from trustream.models.lda import evidence
from trustream.models.lda.batch import BatchMaker, WordBatch, segment_sums
from trustream.models.lda.computation import LdaArrays
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.learned_priors import LearnedPriors
from trustream.models.lda.natural import Beliefs, Blend, LdaNatural, Stored
from trustream.models.lda.prior import LdaPrior
from trustream.models.lda.totals import RunningTotals
from trustream.models.protocol import Float64, Rows

Array = NDArray[Any]


@dataclass(frozen=True)
class LdaModel(LearnedPriors, RunningTotals):
    """LDA behind the protocol of `models.protocol`.

    Attributes:
        n_components: K.
        n_words: V.
        dtype: "float32" or "float64", of lambda, gamma and the statistics.
        backend: "compiled" or "reference".
        n_threads: threads to use; no result depends on it.
        eta_per_word: learn a prior for each word instead of one for all.
        max_doc_topics: a local step goes on with so many topics of a document at most, the ones
            it uses (`kernels.compiled_topics`); None goes on with all.
        strides: local steps extrapolate. They end where they would without, in half of the
            iterations, which pays where topics are given. Steps that learn are better without:
            topics gain from documents that are not quite decided (docs/performance.md).
    """

    collapsed: ClassVar[bool] = False

    n_components: int
    n_words: int
    dtype: str = "float32"
    backend: str = "compiled"
    n_threads: int = 1
    eta_per_word: bool = False
    max_doc_topics: int | None = None
    strides: bool = False

    @cached_property
    def _arrays(self) -> LdaArrays:
        module = kernels.get(self.backend)
        most = self.max_doc_topics or kernels.ALL_TOPICS
        return LdaArrays(
            module,
            self.n_components,
            self.dtype,
            self.n_threads,
            self.collapsed,
            most,
            self.strides,
        )

    @cached_property
    def _make_batch(self) -> BatchMaker:
        return BatchMaker(self._arrays.kernels, self.n_words, self.dtype)

    def batch(self, data: Any, rows: Rows | slice) -> WordBatch:
        """Rows of a CSR matrix of counts (N, V).

        Nothing is checked here: the matrix is one that `trustream.matrices.csr` returned, or as
        sound, with finite counts that are not negative; `rows` are rows that it has.
        """
        return self._make_batch(data, rows)

    # --- global parameters

    def initial(self, prior: LdaPrior, rng: np.random.Generator) -> LazyRows:
        """lambda_vk ~ Gamma(100, 0.01), as in the paper: mean 1, standard deviation 0.1."""
        return LazyRows.of(self._draws(self.n_words, rng))

    def _draws(self, n_words: int, rng: np.random.Generator) -> Array:
        draws = np.empty((n_words, self.n_components), self.dtype)
        rng.standard_gamma(100.0, dtype=draws.dtype.type, out=draws)
        draws *= draws.dtype.type(0.01)
        return draws

    def random_start(
        self, prior: LdaPrior, batch: WordBatch, rng: np.random.Generator
    ) -> LdaNatural:
        """What `initial` would draw, of the batch's words only.

        The other V - W words enter through their sum, which is a Gamma(100 (V - W), 0.01) draw.
        """
        rows = self._draws(batch.n_words, rng)
        others = 0.01 * rng.gamma(100.0 * (self.n_words - batch.n_words), size=self.n_components)
        return LdaNatural(rows, rows.sum(axis=0, dtype=np.float64) + others)

    def restrict(self, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch) -> LdaNatural:
        """lambda of the batch's words, as long as lambda is not changed."""
        source = Stored(lambda_, batch.words, prior.pattern)
        return LdaNatural(None, lambda_.totals, self._arrays, source)

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
        parts = Blend(anchor, prior.rows(batch.words), prior.totals, statistics, rho, scale)
        return LdaNatural(None, None, self._arrays, parts)

    def add(
        self, anchor: LdaNatural, prior: LdaPrior, batch: WordBatch, statistics: LdaNatural
    ) -> LdaNatural:
        """lambda_t + s: the full step (rho = 1) of a batch whose prior is lambda_t."""
        parts = Blend(anchor, anchor.rows, anchor.totals, statistics, 1.0, 1.0)
        return LdaNatural(None, None, self._arrays, parts)

    def gradient(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch,
        statistics: LdaNatural,
        scale: float,
    ) -> Float64:
        """eta + scale s - lambda, (V K,): of all words, since those without s decay."""
        values = prior.rows(slice(None)) - lambda_.dense(prior.pattern)
        values[batch.words] += scale * statistics.rows.astype(np.float64)
        return np.asarray(values.reshape(-1))

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

    def savepoint(self, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch) -> Callable[[], None]:
        """The batch's rows of lambda, and of the prior where it is learned word by word."""
        words = batch.words
        restore_rows = lambda_.savepoint(self._arrays.kernels, words, self.n_threads)
        if not self.eta_per_word or prior.pattern.shape != (self.n_words, 1):
            return restore_rows
        pattern = prior.pattern[words]

        def restore() -> None:
            restore_rows()
            prior.pattern[words] = pattern

        return restore

    def _get(self, lambda_: LazyRows, prior: LdaPrior, words: Array) -> Array:
        return lambda_.get(self._arrays.kernels, words, prior.pattern, self.n_threads)

    def _put(self, lambda_: LazyRows, prior: LdaPrior, words: Array, rows: Array) -> None:
        lambda_.put(self._arrays.kernels, words, prior.pattern, rows, self.n_threads)

    def is_finite(self, natural: LdaNatural | LazyRows) -> bool:
        """Entries are not negative, so a bad one shows in the totals."""
        return bool(np.all(natural.totals < np.finfo(self.dtype).max))

    # --- local beliefs

    @property
    def exact_local(self) -> bool:
        """A local step has only so many iterations, and more than one optimum."""
        return False

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
        gamma = prior.alpha + segment_sums(weighted, batch.indptr)
        rows = segment_sums(weighted[batch.positions], batch.word_ptr)
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
        for first in range(0, self.n_words, evidence.VISITED_WORDS):
            words = np.arange(first, min(first + evidence.VISITED_WORDS, self.n_words))
            rows = self._get(lambda_, prior, words)
            terms += self._arrays.dirichlet_terms(rows, prior.rows(words))
        return -_divergence(terms, lambda_.totals, prior.totals)

    def inner(self, natural: LdaNatural, batch: WordBatch, statistics: LdaNatural) -> float:
        """sum_wk s_wk (psi(lambda_wk) - psi(sum_v lambda_vk))."""
        psi = self._arrays.expected_log(natural.rows).astype(np.float64)
        topics = statistics.totals @ self._arrays.expected_log(natural.totals)
        return float((psi * statistics.rows).sum() - topics)

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

    # --- for people

    def expected(self, lambda_: LazyRows, prior: LdaPrior) -> Array:
        """E[beta] = lambda / its sum over words, (K, V)."""
        rows = lambda_.dense(prior.pattern)
        return np.ascontiguousarray((rows / rows.sum(axis=0, dtype=np.float64)).T)


def _divergence(terms: Float64, totals: Float64, other_totals: Float64) -> float:
    normalisers = special.gammaln(totals) - special.gammaln(other_totals)
    inner = (totals - other_totals) * special.digamma(totals)
    return float((normalisers - inner + terms[1] - terms[0] + terms[2]).sum())
