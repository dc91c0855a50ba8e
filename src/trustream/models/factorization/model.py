"""Poisson factorisation of counts (Gopalan, Hofman and Blei 2015), in the paper's class.

    beta_ik ~ Gamma(a, b),  xi_u ~ Gamma(c', d'),  theta_uk ~ Gamma(c, xi_u),
    x_ui ~ Poisson(sum_k theta_uk beta_ik)

Items i have global factors beta, users u local factors theta and an activity xi. A count is the sum
of K counts z_uik ~ Poisson(theta_uk beta_ik), and given their sum the z_ui are multinomial. With
these the model is conjugate: the sufficient statistics of beta are t = (log beta_ik, beta_ik), and
a user adds f = (z_uik, -theta_uk), so that

    q(beta_ik) = Gamma(lambda_ik, r_k),
    lambda_ik = a + sum_u x_ui phi_uik,        r_k = b + sum_u E[theta_uk].

r_k is one number for all items. Items that a batch does not contain have s_ik = 0 there, and their
shapes decay like the words of LDA that a batch does not contain (`factorization.factor_rows`); what
happens to shapes is computed by LDA's kernels. The local step needs the other items only through

    S_k = sum_i E[beta_ik] = sum_i lambda_ik / r_k,

whose numerator is kept from step to step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from trustream.array_types import Array, Float64
from trustream.models.factorization import bound
from trustream.models.factorization.computation import balanced_activity
from trustream.models.factorization.factor_rows import FactorRows
from trustream.models.factorization.natural import (
    DescribedStatistics,
    FactorLocal,
    FactorNatural,
    Natural,
    Statistics,
)
from trustream.models.factorization.parameters import FactorParameters
from trustream.models.factorization.prior import FactorPrior
from trustream.models.factorization.total import FactorTotal
from trustream.models.gamma_evidence import GammaEvidence
from trustream.models.lda import starts
from trustream.models.lda.batch import WordBatch
from trustream.models.lda.natural import BeliefStatistics


@dataclass(frozen=True)
class FactorModel(FactorParameters):
    """Poisson factorisation as a `ConjugateModel`.

    Its attributes are those of `FactorParameters`, which has what happens to lambda.
    """

    # --- local beliefs

    def beliefs(
        self, prior: FactorPrior, batch: WordBatch, phi: Array | None
    ) -> tuple[FactorLocal, FactorNatural]:
        """shape = c + sum_i x_ui phi_ui, and the statistics of phi.

        phi is (nnz, K) in the batch's order of (user, item) pairs; None is 1/K. theta and the
        activity are those that go with phi where each S_k is what the prior expects of it: beliefs
        to start from owe nothing to lambda.
        """
        shapes = prior.of_shapes(self.n_components)
        if phi is None:
            shape, s = starts.uniform_beliefs(shapes, batch, self.n_components, self.dtype)
        else:
            shape, s = starts.given_beliefs(shapes, batch, phi, self.dtype)
        totals = self.n_components * prior.user_shape + batch.lengths
        activity = balanced_activity(prior, self.n_components, totals)
        local = FactorLocal(shape, activity)
        sums = np.full(self.n_components, prior.item_sum)
        means = self.computation.means(prior, local, sums)
        return local, FactorNatural(*s, means.sum(axis=0))

    def local_step(
        self,
        natural: Natural,
        prior: FactorPrior,
        batch: WordBatch,
        local: FactorLocal,
        n_local: int,
        tol: float,
    ) -> tuple[FactorLocal, DescribedStatistics]:
        """Beliefs after at most n_local rounds from `local`, and the statistics of their phi."""
        table = natural.shapes.table(self.row_computation)
        rates = natural.rates
        local, theta, ratio = self.computation.local(
            batch, table, rates, prior, local, n_local, tol
        )
        means = self.computation.means(prior, local, table.totals / rates)
        counts = BeliefStatistics(batch, table.table, theta, ratio)
        return local, DescribedStatistics(counts, means.sum(axis=0))

    def local_bound(
        self, natural: Natural, prior: FactorPrior, batch: WordBatch, local: FactorLocal
    ) -> Float64:
        """Lower bound of each user given beta's beliefs, shape (B,)."""
        table = natural.shapes.table(self.row_computation)
        return self.computation.bound(batch, table, natural.rates, prior, local)

    def user_factors(self, lambda_: FactorRows, prior: FactorPrior, local: FactorLocal) -> Float64:
        """E[theta], (B, K), of beliefs that were fitted to lambda."""
        return self.computation.means(prior, local, lambda_.item_sums)

    # --- terms of the bound

    def divergence(
        self, natural: Natural, prior: FactorPrior, batch: WordBatch, anchor: Natural | None
    ) -> float:
        """KL(lambda || anchor or prior), without terms of shapes of other items."""
        if anchor is not None:
            other = self.materialise(anchor)
        else:
            shapes = prior.of_shapes(self.n_components)
            rates = np.full(self.n_components, prior.item_rate)
            other = FactorNatural(shapes.rows(batch.words), shapes.totals, rates)
        return bound.divergence(self.row_computation, self.materialise(natural), other)

    def global_bound(self, lambda_: FactorRows, prior: FactorPrior) -> float:
        """-KL(lambda || prior) over all items."""
        return -bound.prior_divergence(self.row_computation, lambda_, prior)

    # --- whole-data statistics

    def zero_statistics(self) -> FactorTotal:
        """Nothing."""
        return FactorTotal.zeros(self.n_items, self.n_components)

    def add_statistics(
        self, total: FactorTotal, batch: WordBatch, statistics: Statistics
    ) -> FactorTotal:
        """Add the batch's statistics, in place."""
        total.add(batch.words, self.materialise(statistics), 1.0)
        return total

    def posterior(self, prior: FactorPrior, total: FactorTotal) -> FactorRows:
        """Prior + statistics."""
        return total.lambda_(prior, self.dtype)

    # --- running totals of memoized inference

    @property
    def exact_local(self) -> bool:
        """A local step has only so many iterations, and more than one optimum."""
        return False

    def running_total(self) -> FactorTotal:
        """Nothing."""
        return self.zero_statistics()

    def exchange(
        self, total: FactorTotal, batch: WordBatch, old: Statistics | None, new: Statistics
    ) -> FactorTotal:
        """total - old + new."""
        if old is not None:
            total.add(batch.words, self.materialise(old), -1.0)
        return self.add_statistics(total, batch, new)

    def restrict_total(
        self, total: FactorTotal, prior: FactorPrior, batch: WordBatch
    ) -> FactorNatural:
        """Prior + total of the batch's items."""
        return total.natural(prior, batch.words, self.dtype)

    def lambda_of_total(self, total: FactorTotal, prior: FactorPrior) -> FactorRows:
        """Prior + total of all items."""
        return total.lambda_(prior, self.dtype)

    def inner(self, natural: Natural, batch: WordBatch, statistics: Statistics) -> float:
        """sum_ik s_ik (psi(lambda_ik) - log r_k) - sum_uk E[theta_uk] S_k."""
        parts = self.materialise(natural), self.materialise(statistics)
        return bound.inner(self.row_computation, *parts)

    def inner_total(self, lambda_: FactorRows, prior: FactorPrior, total: FactorTotal) -> float:
        """The same over all items."""
        return total.inner(self.row_computation, lambda_, prior)

    # --- empirical Bayes

    def prior_evidence(
        self,
        lambda_: FactorRows,
        prior: FactorPrior,
        batch: WordBatch | None,
        locals_: list[FactorLocal],
        rng: np.random.Generator | None,
        equal: float = 0.0,
        least_separation: float = 0.0,
    ) -> dict[str, GammaEvidence]:
        """The rate b from all items' factors, and d' from the users' activities.

        Both are known from K numbers and the users at hand: nothing is sampled. A batch without
        counts has nothing to learn from.
        """
        if batch is not None and not batch.n_words:
            return {}
        k = self.n_components
        item_mean = float(lambda_.item_sums.sum() / (self.n_items * k))
        items = GammaEvidence(prior.item_rate, prior.item_shape, item_mean, float(self.n_items * k))
        n_users = sum(local.activity.size for local in locals_)
        total = sum(float((1.0 / local.activity).sum()) for local in locals_)
        activity = prior.activity_posterior_shape(k) * total / max(n_users, 1)
        users = GammaEvidence(prior.activity_rate, prior.activity_shape, activity, float(n_users))
        return {"item_rate": items, "activity_rate": users}

    def replace_prior(
        self,
        lambda_: FactorRows,
        prior: FactorPrior,
        batch: WordBatch | None,
        values: dict[str, Float64],
    ) -> tuple[FactorRows, FactorPrior]:
        """New rates; lambda stays."""
        old = {"item_rate": prior.item_rate, "activity_rate": prior.activity_rate}
        new = old | {name: float(value[0]) for name, value in values.items()}
        return lambda_, replace(
            prior, item_rate=new["item_rate"], activity_rate=new["activity_rate"]
        )

    # --- for people

    def expected(self, lambda_: FactorRows, prior: FactorPrior) -> Array:
        """E[beta] = shapes / rates, (K, V)."""
        rows = lambda_.dense_shapes() / lambda_.rates
        return np.ascontiguousarray(rows.T.astype(self.dtype))
