"""Latent Dirichlet allocation (section 4.3 and supplement 3 of the paper).

    beta_k ~ Dir(eta_k),  theta_d ~ Dir(alpha),  z_dm ~ theta_d,  x_dm ~ beta_{z_dm}

with q(beta_k) = Dir(lambda_k), q(theta_d) = Dir(gamma_d), q(z) = phi. Words come first in memory:
lambda is (V, K) here and (K, V), as `components_`, only for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trustream.array_types import Array, Float64
from trustream.models.lda import bound, evidence, seeds, smoothing, starts
from trustream.models.lda.batch import WordBatch
from trustream.models.lda.blend import Natural, Statistics
from trustream.models.lda.evidence import ThetaSums
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.natural import BeliefStatistics, LdaNatural, with_extra
from trustream.models.lda.parameters import LdaParameters
from trustream.models.lda.parts import (
    Contribution,
    Excerpt,
    JoinedBatch,
    WordOutline,
    excerpt_of_prior,
    summed,
)
from trustream.models.lda.prior import LdaPrior
from trustream.models.lda.seeds import SeedCounts
from trustream.models.lda.total import LdaTotal


@dataclass(frozen=True)
class LdaModel(LdaParameters):
    """LDA as a `ConjugateModel` with all of `models.capabilities`.

    Its attributes are those of `LdaParameters`, which has what happens to lambda and the priors.
    """

    # --- local beliefs

    @np.errstate(over="ignore", invalid="ignore")  # such a step is refused later
    def beliefs(
        self, prior: LdaPrior, batch: WordBatch, phi: Array | None
    ) -> tuple[Array, LdaNatural]:
        """gamma = alpha + sum_w n_dw phi_dw, and s_wk = sum_d n_dw phi_dwk.

        phi is (nnz, K) in the batch's order of (document, word) pairs; None is 1/K, and where
        topics are given gamma is then that of equal topics. Seeds add to s (`lda.seeds`).
        """
        if phi is None:
            gamma, s = starts.uniform_beliefs(prior, batch, self.n_components, self.dtype)
            if self.strides:
                gamma = starts.equal_topics(prior, batch.lengths, self.n_components)
                gamma = gamma.astype(self.dtype)
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

    # --- batches in parts

    def outline(self, batch: WordBatch) -> WordOutline:
        """Its words and their tokens."""
        return WordOutline.of(batch)

    def joined(self, outlines: Sequence[WordOutline]) -> JoinedBatch:
        """The words of all parts and their tokens."""
        return JoinedBatch.of(outlines)

    def excerpt(self, natural: Natural, prior: LdaPrior, batch: WordBatch) -> Excerpt:
        """lambda and prior of the batch's words, as those of a smaller vocabulary."""
        rows, totals = self.materialise(natural)
        lambda_ = LazyRows(rows, 1.0, 0.0, totals)
        return Excerpt(lambda_, excerpt_of_prior(prior, batch.words), batch.words)

    def contribution(
        self, prior: LdaPrior, batch: WordBatch, local: Array, statistics: Statistics
    ) -> Contribution:
        """s of the part's words, in rising order, and what alpha is learned from."""
        rows, totals = self.materialise(statistics)
        order = np.argsort(batch.words, kind="stable")
        draws = evidence.theta_sums(self.computation, prior, local)
        return Contribution(LdaNatural(rows[order], totals), draws)

    def summed(
        self, batch: JoinedBatch, contributions: Sequence[Contribution]
    ) -> tuple[ThetaSums, LdaNatural]:
        """Beliefs as they are learned from, and s, of all parts."""
        statistics, draws = summed(batch, contributions, self.n_components, self.dtype)
        return draws, statistics

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

    # --- what is shown

    def smoothing(
        self,
        lambda_: LazyRows,
        prior: LdaPrior,
        data: Any,
        weight: float | Float64,
        before: float | None,
        rng: np.random.Generator,
    ) -> float | None:
        """eta by which documents that are left out are predicted best: see `lda.smoothing`.

        None where eta says more than how much to smooth: with etas that users give for each word
        or for topics, or that are learned for each word, and with one word.
        """
        if not self.can_smooth(prior):
            return None
        if not data.data.size:
            return before
        rows, share = smoothing.drawn(self.n_components, data.shape[0], data.data.size, rng)
        weights = np.broadcast_to(weight, data.shape[0])[rows]
        batch, start = self.batch(data, rows), before or prior.eta
        return smoothing.found(self, lambda_, prior, batch, weights, share, start, rng)

    def can_smooth(self, prior: LdaPrior) -> bool:
        """Whether eta is one number, which says no more than how much to smooth."""
        return prior.pattern.size == 1 and not self.eta_per_word and self.n_words > 1

    def smoothing_batches(self, data: Any) -> int:
        """Twice as many as have a whole sample together, since each moves eta a part of the way."""
        return smoothing.n_batches(self.n_components, data.data.size)

    def smoothed(self, lambda_: LazyRows, prior: LdaPrior, eta: float) -> tuple[LazyRows, LdaPrior]:
        """lambda and prior with another eta, the counts lambda - eta being the same."""
        return lambda_.with_prior(eta, prior.pattern_sums), replace(prior, eta=eta)

    def unseeded(self, prior: LdaPrior) -> LdaPrior:
        """The prior for those who do not learn: seeds have done their part."""
        return replace(prior, seeds=None)

    # --- for people

    def expected(self, lambda_: LazyRows, prior: LdaPrior) -> Array:
        """E[beta] = lambda / its sum over words, (K, V)."""
        rows = lambda_.dense(prior.pattern)
        return np.ascontiguousarray((rows / rows.sum(axis=0, dtype=np.float64)).T)
