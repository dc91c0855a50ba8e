"""The kernels of Poisson factorisation on whole batches, work shared out among threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.kernels import threads
from trustream.models.factorization.natural import FactorLocal
from trustream.models.factorization.prior import FactorPrior
from trustream.models.lda.batch import WordBatch
from trustream.models.lda.natural import ExpLogTable


@dataclass(frozen=True)
class FactorComputation:
    """What each kernel computes, for all users of a batch.

    Attributes:
        backend: which kernels compute, "compiled" or "reference".
    """

    backend: str
    n_components: int
    dtype: str
    n_threads: int

    def local(
        self,
        batch: WordBatch,
        table: ExpLogTable,
        rates: Float64,
        prior: FactorPrior,
        start: FactorLocal,
        n_local: int,
        tol: float,
    ) -> tuple[FactorLocal, Array, Array]:
        """(local, theta, ratio) after the local step from `start`."""
        shape, activity = start.shape.copy(), start.activity.copy()
        theta = np.empty((batch.size, table.table.shape[1]), self.dtype)
        ratio = np.empty_like(batch.counts)
        factor = (rates.min() / rates).astype(self.dtype)
        sums = (table.totals / rates).astype(self.dtype)
        arrays = (*batch.by_document, table.table, factor, sums, *self._numbers(prior))
        local = (shape, activity, theta, ratio, n_local, tol)

        def work(start: int, stop: int) -> None:
            kernels.get("factors", self.backend).factor_local(*arrays, *local, start, stop)

        threads.run(work, batch.parts, self.n_threads)
        return FactorLocal(shape, activity), theta, ratio

    def means(self, prior: FactorPrior, local: FactorLocal, item_sums: Float64) -> Float64:
        """E[theta_uk] = shape_uk / (E[xi_u] + S_k), (B, K)."""
        expected = prior.activity_posterior_shape(self.n_components) / local.activity
        return np.asarray(local.shape / (expected[:, np.newaxis] + item_sums))

    def bound(
        self,
        batch: WordBatch,
        table: ExpLogTable,
        rates: Float64,
        prior: FactorPrior,
        local: FactorLocal,
    ) -> Float64:
        """Lower bound of each user, (B,)."""
        bound = np.empty(batch.size)
        offset = table.offset.astype(np.float64)
        items = (table.table, offset, np.log(rates), table.totals / rates)
        numbers = (*self._numbers(prior), prior.activity_shape)

        def work(start: int, stop: int) -> None:
            kernels.get("factors", self.backend).factor_bound(
                *batch.by_document, *items, *numbers, *local, bound, start, stop
            )

        threads.run(work, batch.parts, self.n_threads)
        return bound

    def _numbers(self, prior: FactorPrior) -> tuple[float, float, float]:
        shape = prior.activity_posterior_shape(self.n_components)
        return prior.user_shape, shape, prior.activity_rate


def balanced_activity(prior: FactorPrior, n_components: int, totals: Float64) -> Float64:
    """The rate of q(xi_u) where all components have the same S_k, that of the prior, (B,).

    With A = c' + K c, S = V a / b and T_u = `totals`, sum_k shape_uk, both coordinates

        E[theta_uk] = shape_uk / (E[xi_u] + S),    E[xi_u] = A / (d' + sum_k E[theta_uk])

    agree at the positive root e = E[xi_u] of

        d' e^2 + (d' S + T_u - A) e - A S = 0.
    """
    A, S, d = prior.activity_posterior_shape(n_components), prior.item_sum, prior.activity_rate
    half = 0.5 * (d * S + totals - A)
    root = np.sqrt(half * half + d * A * S)
    # The larger of two ways to write it: the other one cancels.
    e = np.where(half > 0, A * S / (root + np.abs(half)), (root - half) / d)
    return np.asarray(A / e)
