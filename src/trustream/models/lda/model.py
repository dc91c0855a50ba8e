"""Latent Dirichlet allocation (section 4.3 and supplement 3 of the paper).

    beta_k ~ Dir(eta_k),  theta_d ~ Dir(alpha),  z_dm ~ theta_d,  x_dm ~ beta_{z_dm}

with q(beta_k) = Dir(lambda_k), q(theta_d) = Dir(gamma_d), q(z) = phi. Words come first in memory:
lambda is (V, K) here and (K, V), as `components_`, only for people.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from trustream.array_types import Array, Float64
from trustream.kernels.lda import ALL_TOPICS
from trustream.models.dirichlet_evidence import DirichletEvidence
from trustream.models.lda import bound, evidence, seeds, smoothing, starts
from trustream.models.lda.batch import BatchMaker, WordBatch
from trustream.models.lda.blend import BlendedNatural, Natural, Statistics
from trustream.models.lda.computation import LdaComputation
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.natural import (
    BeliefStatistics,
    LdaNatural,
    StoredNatural,
    with_extra,
)
from trustream.models.lda.prior import LdaPrior
from trustream.models.lda.seeds import SeedCounts
from trustream.models.lda.total import LdaTotal
from trustream.models.protocol import Rows


@dataclass(frozen=True)
class LdaModel:
    """LDA as a `ConjugateModel` with all of `models.capabilities`.

    Attributes:
        n_components: K.
        n_words: V.
        dtype: "float32" or "float64", of lambda, gamma and the statistics.
        backend: "compiled" or "reference".
        n_threads: threads to use; no result depends on it.
        eta_per_word: learn a prior for each word instead of one for all.
        max_doc_topics: a local step goes on with so many topics of a document at most, the ones
            it uses (`kernels.lda.compiled_active_topics`); None goes on with all.
        strides: local steps extrapolate. They end where they would without, in half of the
            iterations, which pays where topics are given. Steps that learn are better without:
            topics gain from documents that are not quite decided (docs/notes/performance.md).
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
    def computation(self) -> LdaComputation:
        """The kernels on whole batches, with this model's settings."""
        return LdaComputation(
            self.backend,
            self.n_components,
            self.dtype,
            self.n_threads,
            self.collapsed,
            self.max_doc_topics or ALL_TOPICS,
            self.strides,
        )

    @cached_property
    def _make_batch(self) -> BatchMaker:
        return BatchMaker(self.backend, self.n_words, self.dtype, self.n_threads)

    def batch(self, data: Any, rows: Rows | slice) -> WordBatch:
        """Rows of a CSR matrix of counts (N, V).

        Nothing is checked here: the matrix is one that `trustream.matrices.csr` returned, or as
        sound, with finite counts that are not negative; `rows` are rows that it has.
        """
        return self._make_batch(data, rows)

    # --- global parameters

    def initial(self, prior: LdaPrior, rng: np.random.Generator) -> LazyRows:
        """lambda_vk ~ Gamma(100, 0.01), as in the paper: mean 1, standard deviation 0.1.

        Seed words start in their topics (`lda.seeds`).
        """
        return starts.initial((self.n_words, self.n_components), self.dtype, rng, prior.seeds)

    def random_start(
        self, prior: LdaPrior, batch: WordBatch, rng: np.random.Generator
    ) -> LdaNatural:
        """What `initial` would draw, of the batch's words only."""
        n_others, shape = self.n_words - batch.n_words, (batch.n_words, self.n_components)
        return starts.of_batch(shape, n_others, self.dtype, rng, prior.seeds, batch.words)

    def restrict(self, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch) -> StoredNatural:
        """lambda of the batch's words, where it is stored."""
        return StoredNatural(lambda_, prior, batch.words)

    def blend(
        self,
        anchor: Natural,
        prior: LdaPrior,
        batch: WordBatch,
        statistics: Statistics,
        rho: float,
        scale: float,
    ) -> BlendedNatural:
        """(1 - rho) lambda_t + rho (eta + scale s), equation 14: see `lda.blend`."""
        return BlendedNatural(anchor, prior.rows(batch.words), prior.totals, statistics, rho, scale)

    def add(
        self, anchor: Natural, prior: LdaPrior, batch: WordBatch, statistics: Statistics
    ) -> BlendedNatural:
        """lambda_t + s: the full step (rho = 1) of a batch whose prior is lambda_t."""
        return BlendedNatural(anchor, *self.materialise(anchor), statistics, 1.0, 1.0)

    def materialise(self, natural: Natural | Statistics) -> LdaNatural:
        """Rows and totals; see `lda.natural` for what they are computed from."""
        return natural.materialise(self.computation)

    def gradient(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch,
        statistics: Statistics,
        scale: float,
    ) -> Float64:
        """eta + scale s - lambda, (V K,): of all words, since those without s decay."""
        values = prior.rows(slice(None)) - lambda_.dense(prior.pattern)
        values[batch.words] += scale * self.materialise(statistics).rows.astype(np.float64)
        return np.asarray(values.reshape(-1))

    def commit(
        self, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch, natural: Natural, rho: float
    ) -> LazyRows:
        """The batch's words as given; all others decay lazily, seed words to what is held."""
        rows, totals = self.materialise(natural)
        table = lambda_.decayed(rho, prior.eta, totals)
        self.computation.put_rows(table, prior, batch.words, rows)
        return _holding(table, prior, batch, rho)

    @property
    def can_average(self) -> bool:
        """Not where rows are stored anew when the prior of their word changes."""
        return not self.eta_per_word

    def averaged(
        self,
        mean: LazyRows,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch,
        natural: Natural,
        rho: float,
        weight: float,
    ) -> LazyRows:
        """(1 - w) mean + w (eta + scale s), in time for the batch's words: see `LazyRows`."""
        rows, totals = self.materialise(natural)
        kernels = self.computation.kernels
        table = mean.averaged(
            kernels, lambda_, batch.words, rows, totals, prior.eta, prior.pattern, rho, weight,
            self.n_threads,
        )  # fmt: skip
        return _holding(table, prior, batch, weight)

    def with_gains(self, lambda_: LazyRows, places: Array, gains: Float64) -> LazyRows:
        """Of words that came late into a mean: so many times what the data have put in."""
        return lambda_.with_gains(places, gains)

    def rescaled(self, lambda_: LazyRows, prior: LdaPrior, factor: float) -> LazyRows:
        """eta + factor (lambda - eta), in the same memory and a time that does not depend on V.

        eta is what lambda has of it, if it was another one in earlier steps.
        """
        return lambda_.rescaled(factor, prior.pattern_sums)

    # --- what is shown

    def smoothing(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        data: Any,
        weight: float,
        before: float | None,
        rng: np.random.Generator,
    ) -> float | None:
        """eta by which documents that are left out are predicted best: see `lda.smoothing`.

        None where eta says more than how much to smooth: with seeded topics and etas that are
        learned for each word, and with one word.
        """
        if prior.pattern.shape[1] > 1 or self.eta_per_word or self.n_words < 2:
            return None
        if not data.data.size:
            return before
        return smoothing.found(self, lambda_, prior, data, weight, before or prior.eta, rng)

    def smoothing_batches(self, data: Any) -> int:
        """Twice as many as have a whole sample together, since each moves eta a part of the way."""
        share = smoothing.sample_share(self.n_components, data.data.size)
        return 1 if share <= 1 else math.ceil(2 * share)

    def smoothed(self, lambda_: LazyRows, prior: LdaPrior, eta: float) -> tuple[LazyRows, LdaPrior]:
        """lambda and prior with another eta, the counts lambda - eta being the same."""
        return lambda_.with_prior(eta, prior.pattern_sums), replace(prior, eta=eta)

    def unseeded(self, prior: LdaPrior) -> LdaPrior:
        """The prior for those who do not learn: seeds have done their part."""
        return replace(prior, seeds=None)

    def savepoint(self, lambda_: LazyRows, prior: LdaPrior, batch: WordBatch) -> Callable[[], None]:
        """Rows of lambda that will be overwritten, and of a prior that is learned word by word."""
        restore_rows = lambda_.savepoint()
        if not self.eta_per_word or prior.pattern.shape != (self.n_words, 1):
            return restore_rows
        words, pattern = batch.words, prior.pattern[batch.words]

        def restore() -> None:
            restore_rows()
            prior.pattern[words] = pattern

        return restore

    def is_finite(self, value: LdaNatural | LazyRows) -> bool:
        """Entries are not negative, so a bad one shows in the totals."""
        return bool(np.all(value.totals < np.finfo(self.dtype).max))

    # --- local beliefs

    @np.errstate(over="ignore", invalid="ignore")  # such a step is refused later
    def beliefs(
        self, prior: LdaPrior, batch: WordBatch, phi: Array | None
    ) -> tuple[Array, LdaNatural]:
        """gamma = alpha + sum_w n_dw phi_dw, and s_wk = sum_d n_dw phi_dwk.

        phi is (nnz, K) in the batch's order of (document, word) pairs; None is 1/K. Seeds add to s
        (`lda.seeds`).
        """
        if phi is None:
            gamma, s = starts.uniform_beliefs(prior, batch, self.n_components, self.dtype)
        else:
            gamma, s = starts.given_beliefs(prior, batch, phi, self.dtype)
        return gamma, with_extra(s, SeedCounts.of(prior.seeds, batch))

    def local_step(
        self,
        natural: Natural,
        prior: LdaPrior,
        batch: WordBatch,
        local: Array,
        n_local: int,
        tol: float,
    ) -> tuple[Array, BeliefStatistics]:
        """gamma after at most n_local rounds from `local`, and the statistics of its phi."""
        computation = self.computation
        table, _, totals = natural.table(computation)
        factor, _ = computation.factor(totals)
        gamma, theta, ratio = computation.local(
            batch, table, factor, prior.alpha, local, n_local, tol
        )
        extra = SeedCounts.of(prior.seeds, batch)
        return gamma, BeliefStatistics(batch, table, theta, ratio, extra)

    def local_bound(
        self, natural: Natural, prior: LdaPrior, batch: WordBatch, local: Array
    ) -> Float64:
        """Lower bound of each document given beta's beliefs, shape (B,).

        With seeds, of the document and of the extra tokens that its seed words stand for.
        """
        computation = self.computation
        table, offset, totals = natural.table(computation)
        factor, factor_offset = computation.factor(totals)
        offset = offset.astype(np.float64) + factor_offset
        bounds = computation.bound(batch, table, offset, factor, prior.alpha, local)
        if prior.seeds is not None:
            ids, weights = prior.seeds.among(batch.words)
            rows = self.materialise(natural).rows[ids]
            expected = computation.expected_log(rows) - computation.expected_log(totals)
            bounds += seeds.document_terms(batch, ids, weights, expected)
        return bounds

    # --- terms of the bound

    def divergence(
        self, natural: Natural, prior: LdaPrior, batch: WordBatch, anchor: Natural | None
    ) -> float:
        """KL(lambda || anchor or eta) summed over topics, without terms of other words."""
        other = self._other(prior, batch, anchor)
        return bound.divergence(self.computation, self.materialise(natural), other)

    def _other(self, prior: LdaPrior, batch: WordBatch, anchor: Natural | None) -> LdaNatural:
        """What a divergence is from: the anchor, or eta without one."""
        if anchor is not None:
            return self.materialise(anchor)
        return LdaNatural(prior.rows(batch.words), prior.totals)

    def global_bound(self, lambda_: LazyRows, prior: LdaPrior) -> float:
        """-KL(lambda || eta) over all words."""
        return -bound.prior_divergence(self.computation, lambda_, prior)

    # --- whole-data statistics

    def zero_statistics(self) -> Array:
        """(V, K) of zeros."""
        return np.zeros((self.n_words, self.n_components), self.dtype)

    def add_statistics(self, total: Array, batch: WordBatch, statistics: Statistics) -> Array:
        """Add the batch's rows; each of its words occurs once in `batch.words`."""
        total[batch.words] += self.materialise(statistics).rows
        return total

    def posterior(self, prior: LdaPrior, total: Array) -> LazyRows:
        """lambda = eta + s, in the memory of s."""
        totals = total.sum(axis=0, dtype=np.float64) + prior.totals
        if prior.seeds is not None:
            total[prior.seeds.places] += prior.seeds.held.astype(total.dtype)
        return LazyRows(total, 1.0, prior.eta, totals)

    # --- running totals of memoized inference

    @property
    def exact_local(self) -> bool:
        """A local step has only so many iterations, and more than one optimum."""
        return False

    def running_total(self) -> LdaTotal:
        """Zeros."""
        return LdaTotal.zeros(self.n_words, self.n_components)

    def exchange(
        self, total: LdaTotal, batch: WordBatch, old: Statistics | None, new: Statistics
    ) -> LdaTotal:
        """total - old + new in the batch's rows."""
        if old is not None:
            total.add(batch.words, self.materialise(old), -1.0)
        total.add(batch.words, self.materialise(new), 1.0)
        return total

    def restrict_total(self, total: LdaTotal, prior: LdaPrior, batch: WordBatch) -> LdaNatural:
        """eta + total of the batch's words."""
        return total.natural(prior, batch.words, self.dtype)

    def lambda_of_total(self, total: LdaTotal, prior: LdaPrior) -> LazyRows:
        """eta + total of all words."""
        return total.lambda_(prior, self.dtype)

    def inner(self, natural: Natural, batch: WordBatch, statistics: Statistics) -> float:
        """sum_wk s_wk (psi(lambda_wk) - psi(sum_v lambda_vk))."""
        parts = self.materialise(natural), self.materialise(statistics)
        return bound.inner(self.computation, *parts)

    def inner_total(self, lambda_: LazyRows, prior: LdaPrior, total: LdaTotal) -> float:
        """The same over all words."""
        return total.inner(self.computation, lambda_, prior)

    # --- empirical Bayes

    def prior_evidence(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch | None,
        locals_: list[Array],
        rng: np.random.Generator | None,
        equal: float = 0.0,
        least_separation: float = 0.0,
    ) -> dict[str, DirichletEvidence]:
        """alpha from the documents' gamma, eta from lambda.

        eta is learned from a sample of words drawn with `rng` (all words without it), or with
        `eta_per_word` for the words of the batch (all words without one). A (V, K) prior is
        given by the user and not changed. One topic, or one word, has nothing to learn from.
        """
        words = self._words(batch) if self.eta_per_word else None
        return evidence.of_prior(
            self.computation, lambda_, prior, words, locals_, rng, equal, least_separation
        )

    def _words(self, batch: WordBatch | None) -> Array:
        return np.arange(self.n_words) if batch is None else batch.words

    def replace_prior(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        batch: WordBatch | None,
        values: dict[str, Float64],
    ) -> tuple[LazyRows, LdaPrior]:
        """New alpha and eta; rows whose pattern changes are stored anew, lambda stays."""
        new = replace(prior, alpha=values.get("alpha", prior.alpha))
        if "eta" not in values:
            return lambda_, new
        if not self.eta_per_word:
            return lambda_, replace(new, eta=float(values["eta"][0]))
        words = self._words(batch)
        rows = self.computation.get_rows(lambda_, prior, words)
        new = new.with_word_eta(
            words, values["eta"], n_words=self.n_words, in_place=batch is not None
        )
        self.computation.put_rows(lambda_, new, words, rows)
        return lambda_, new

    # --- for people

    def expected(self, lambda_: LazyRows, prior: LdaPrior) -> Array:
        """E[beta] = lambda / its sum over words, (K, V)."""
        rows = lambda_.dense(prior.pattern)
        return np.ascontiguousarray((rows / rows.sum(axis=0, dtype=np.float64)).T)


def _holding(table: LazyRows, prior: LdaPrior, batch: WordBatch, rho: float) -> LazyRows:
    """A table that decayed by rho, with what seeds hold of the words that the batch lacks."""
    if prior.seeds is not None:
        places, held = prior.seeds.missing(batch.words)
        table.add(places, (rho / table.scale * held).astype(table.stored.dtype))
    return table
