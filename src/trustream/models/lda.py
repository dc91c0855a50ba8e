"""Latent Dirichlet allocation (section 4.3 and supplement 3 of the paper).

    beta_k ~ Dir(eta_k),  theta_d ~ Dir(alpha),  z_dm ~ theta_d,  x_dm ~ beta_{z_dm}

with q(beta_k) = Dir(lambda_k), q(theta_d) = Dir(gamma_d), q(z) = phi. Words come first in memory:
lambda is (V, K) here and (K, V), as `components_`, only for people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from trustream import kernels as kernel_modules
from trustream.kernels import threads
from trustream.models.lazy_rows import PART, LazyRows
from trustream.models.lda_batch import BatchMaker, WordBatch
from trustream.models.protocol import DirichletEvidence, Float64, Rows

Array = NDArray[Any]

# Words whose lambda is looked at in one step to learn eta: enough for a steady estimate, few
# enough for the step's cost not to depend on the vocabulary.
_SAMPLED_WORDS = 256
# Words at a time where all of lambda is visited.
_VISITED_WORDS = 8192


@dataclass(frozen=True, slots=True)
class LdaPrior:
    """alpha (K,) of theta, and eta_vk = eta * pattern_vk of beta.

    Attributes:
        alpha: (K,) float64.
        eta: the part of eta that is the same for all words and topics.
        pattern: (1, 1), (V, 1) for a prior per word, or (V, K) for seeded topics.
        pattern_sums: (K,) sum of the pattern over all words.
    """

    alpha: Float64
    eta: float
    pattern: Float64
    pattern_sums: Float64

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
        """(K,) sum over words of eta_vk."""
        return self.eta * self.pattern_sums

    def rows(self, words: Array | slice) -> Float64:
        """eta of the given words: (1, 1), (W, 1) or (W, K)."""
        pattern = self.pattern if self.pattern.shape[0] == 1 else self.pattern[words]
        return np.asarray(self.eta * pattern)

    def dense(self) -> Float64:
        """eta for people: a scalar array, (V,) or (K, V)."""
        values = self.eta * self.pattern
        if self.pattern.shape[0] == 1:
            return np.asarray(values[0, 0])
        return values[:, 0] if self.pattern.shape[1] == 1 else values.T


class LdaNatural(NamedTuple):
    """lambda of a batch's words (W, K), and its sums over all words (K,) in float64."""

    rows: Array
    totals: Float64


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
    def _kernels(self) -> ModuleType:
        return kernel_modules.get(self.backend)

    @cached_property
    def _make_batch(self) -> BatchMaker:
        return BatchMaker(self._kernels, self.n_words, self.dtype)

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
        rows = lambda_.get(self._kernels, batch.words, prior.pattern, self.n_threads)
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
        """(1 - rho) lambda_t + rho (eta + scale s) (equation 11), rows and totals alike."""
        rows = np.empty_like(anchor.rows)
        eta = prior.rows(batch.words).astype(self.dtype)

        def work(start: int, stop: int) -> None:
            self._kernels.blend_rows(
                anchor.rows, eta, statistics.rows, rho, scale, rows, start, stop
            )

        threads.run(work, threads.split(batch.n_words, PART), self.n_threads)
        with np.errstate(over="ignore", invalid="ignore"):  # such a step is refused later
            totals = (1 - rho) * anchor.totals + rho * (prior.totals + scale * statistics.totals)
        return LdaNatural(rows, totals)

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
        table.put(self._kernels, batch.words, prior.pattern, natural.rows, self.n_threads)
        return table

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
            gamma = prior.alpha + share * batch.lengths()[:, np.newaxis]
            words = share * _segment_sums(batch.counts[batch.positions], batch.word_ptr)
            totals = np.full(self.n_components, words.sum())
            return gamma.astype(self.dtype), LdaNatural(
                words[:, np.newaxis].astype(self.dtype), totals
            )
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
        table, _ = self._table(natural)
        factor, _ = self._factor(natural)
        alpha = prior.alpha.astype(self.dtype)
        gamma = local.copy()
        theta = np.empty((batch.size, table.shape[1]), self.dtype)
        ratio = np.empty_like(batch.counts)

        def documents(start: int, stop: int) -> None:
            self._kernels.lda_local(
                batch.indptr,
                batch.ids,
                batch.counts,
                table,
                factor,
                alpha,
                gamma,
                theta,
                ratio,
                n_local,
                tol,
                start,
                stop,
            )

        threads.run(documents, _document_parts(batch.indptr, self.n_threads), self.n_threads)
        rows = np.empty((batch.n_words, self.n_components), self.dtype)
        totals = np.zeros((-(-batch.n_words // kernel_modules.BLOCK), self.n_components))

        def words(start: int, stop: int) -> None:
            self._kernels.lda_statistics(
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

        threads.run(words, threads.split(batch.n_words, PART), self.n_threads)
        return gamma, LdaNatural(rows, totals.sum(axis=0))

    def local_bound(
        self, natural: LdaNatural, prior: LdaPrior, batch: WordBatch, local: Array
    ) -> Float64:
        """Lower bound of each document given beta's beliefs, shape (B,)."""
        table, offset = self._table(natural)
        factor, factor_offset = self._factor(natural)
        bound = np.empty(batch.size)
        offset = offset.astype(np.float64) + factor_offset

        def work(start: int, stop: int) -> None:
            self._kernels.lda_bound(
                batch.indptr,
                batch.ids,
                batch.counts,
                table,
                offset,
                factor,
                prior.alpha,
                local,
                bound,
                start,
                stop,
            )

        threads.run(work, _document_parts(batch.indptr, self.n_threads), self.n_threads)
        return bound

    def _table(self, natural: LdaNatural) -> tuple[Array, Array]:
        """exp(psi(lambda) + offset) of the batch's words, (W, padded K), and offset (W,)."""
        width = -(-self.n_components // kernel_modules.LANES) * kernel_modules.LANES
        table = np.empty((natural.rows.shape[0], width), self.dtype)
        offset = np.empty(natural.rows.shape[0], self.dtype)

        def work(start: int, stop: int) -> None:
            self._kernels.exp_digamma(natural.rows, table, offset, start, stop)

        threads.run(work, threads.split(offset.size, PART), self.n_threads)
        return table, offset

    def _factor(self, natural: LdaNatural) -> tuple[Array, float]:
        """exp(offset - psi(totals)), (K,), largest entry 1, and that offset."""
        psi = special.digamma(natural.totals)
        least = float(psi.min())
        with np.errstate(invalid="ignore"):  # such a step is refused later
            return np.exp(least - psi).astype(self.dtype), least

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
        terms = self._dirichlet_terms(natural.rows, other)
        return _divergence(terms, natural.totals, other_totals)

    def global_bound(self, lambda_: LazyRows, prior: LdaPrior) -> float:
        """-KL(lambda || eta) over all words."""
        terms = np.zeros((3, self.n_components))
        for first in range(0, self.n_words, _VISITED_WORDS):
            words = np.arange(first, min(first + _VISITED_WORDS, self.n_words))
            rows = lambda_.get(self._kernels, words, prior.pattern, self.n_threads)
            terms += self._dirichlet_terms(rows, prior.rows(words))
        return -_divergence(terms, lambda_.totals, prior.totals)

    def _dirichlet_terms(self, rows: Array, other: Array) -> Float64:
        blocks = np.zeros((-(-rows.shape[0] // kernel_modules.BLOCK), 3, self.n_components))

        def work(start: int, stop: int) -> None:
            self._kernels.dirichlet_terms(rows, other, blocks, start, stop)

        threads.run(work, threads.split(rows.shape[0], PART), self.n_threads)
        return np.asarray(blocks.sum(axis=0))

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
            evidence["alpha"] = self._alpha_evidence(prior, locals_)
        if self.n_words > 1 and prior.pattern.shape[1] == 1:
            if self.eta_per_word:
                evidence["eta"] = self._word_evidence(lambda_, prior, self._eta_words(batch))
            elif prior.pattern.shape[0] == 1:
                evidence["eta"] = self._eta_evidence(lambda_, prior, rng)
        return evidence

    def _eta_words(self, batch: WordBatch | None) -> Array:
        return np.arange(self.n_words) if batch is None else batch.words

    def _alpha_evidence(self, prior: LdaPrior, locals_: list[Array]) -> DirichletEvidence:
        count = sum(gamma.shape[0] for gamma in locals_)
        total = np.zeros(self.n_components)
        for gamma in locals_:
            psi = self._digamma(gamma)
            psi_sum = special.digamma(gamma.sum(axis=1, dtype=np.float64))
            total += psi.sum(axis=0, dtype=np.float64) - psi_sum.sum()
        return DirichletEvidence(prior.alpha, total / max(count, 1), 1.0, 0.0, float(count))

    def _eta_evidence(
        self, lambda_: LazyRows, prior: LdaPrior, rng: np.random.Generator | None
    ) -> DirichletEvidence:
        words = np.arange(self.n_words)
        if rng is not None and self.n_words > _SAMPLED_WORDS:
            words = rng.integers(self.n_words, size=_SAMPLED_WORDS)
        mean_log = self._mean_psi(lambda_, prior, words).mean()
        mean_log -= special.digamma(lambda_.totals).mean()
        parameter = np.array([prior.eta])
        count = float(self.n_components)
        return DirichletEvidence(parameter, np.array([mean_log]), self.n_words, 0.0, count)

    def _word_evidence(self, lambda_: LazyRows, prior: LdaPrior, words: Array) -> DirichletEvidence:
        parameter = np.broadcast_to(prior.rows(words)[:, 0], (words.size,)).copy()
        mean_log = self._mean_psi(lambda_, prior, words) - special.digamma(lambda_.totals).mean()
        rest = float(prior.totals[0] - parameter.sum())
        return DirichletEvidence(parameter, mean_log, 1.0, max(rest, 0.0), self.n_components)

    def _mean_psi(self, lambda_: LazyRows, prior: LdaPrior, words: Array) -> Float64:
        """Mean over topics of psi(lambda_vk), (W,)."""
        means = np.empty(words.size)
        for first in range(0, words.size, _VISITED_WORDS):
            part = words[first : first + _VISITED_WORDS]
            rows = lambda_.get(self._kernels, part, prior.pattern, self.n_threads)
            means[first : first + part.size] = self._digamma(rows).mean(axis=1, dtype=np.float64)
        return means

    def _digamma(self, x: Array) -> Array:
        out = np.empty_like(x)
        self._kernels.digamma(x.reshape(-1), out.reshape(-1))
        return out

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
        rows = lambda_.get(self._kernels, words, prior.pattern, self.n_threads)
        if prior.pattern.shape[0] == 1:
            # The first time: every word gets an entry of its own, with the value it had.
            prior = replace(prior, pattern=np.ones((self.n_words, 1)))
        pattern = prior.pattern.copy() if batch is None else prior.pattern
        old = pattern[words, 0]
        pattern[words, 0] = values["eta"] / prior.eta
        sums = prior.pattern_sums + (pattern[words, 0] - old).sum()
        prior = replace(prior, pattern=pattern, pattern_sums=sums)
        lambda_.put(self._kernels, words, pattern, rows, self.n_threads)
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


def _document_parts(indptr: Array, n_threads: int) -> list[threads.Part]:
    """Ranges of documents with about the same number of words, a few for each thread."""
    n_documents = indptr.size - 1
    if n_threads == 1:
        return [(0, n_documents)]
    n_parts = min(4 * n_threads, n_documents)
    goals = np.linspace(0, indptr[-1], n_parts + 1)[1:-1]
    edges = [0, *np.searchsorted(indptr, goals).tolist(), n_documents]
    return [(a, b) for a, b in pairwise(edges) if b > a]
