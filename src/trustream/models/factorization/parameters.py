"""lambda of Poisson factorisation: how it starts and how a step changes it.

The local step, the bound, whole-data statistics and empirical Bayes are in `factorization.model`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trustream.array_types import Float64
from trustream.models.factorization.computation import FactorComputation
from trustream.models.factorization.factor_rows import PATTERN, FactorRows
from trustream.models.factorization.natural import (
    DescribedNatural,
    FactorNatural,
    Natural,
    Statistics,
)
from trustream.models.factorization.prior import FactorPrior
from trustream.models.lda import starts
from trustream.models.lda.batch import BatchMaker, WordBatch
from trustream.models.lda.blend import BlendedNatural
from trustream.models.lda.computation import LdaComputation
from trustream.models.lda.natural import StoredNatural
from trustream.models.protocol import Rows


@dataclass(frozen=True)
class FactorParameters:
    """What lambda starts from, and becomes in a step.

    Attributes:
        n_components: K.
        n_items: V.
        dtype: "float32" or "float64", of shapes and statistics; rates are float64.
        backend: "compiled" or "reference".
        n_threads: threads to use; no result depends on it.
    """

    n_components: int
    n_items: int
    dtype: str = "float32"
    backend: str = "compiled"
    n_threads: int = 1

    @cached_property
    def computation(self) -> FactorComputation:
        """The kernels of users, with this model's settings."""
        return FactorComputation(self.backend, self.n_components, self.dtype, self.n_threads)

    @cached_property
    def row_computation(self) -> LdaComputation:
        """The kernels of items' shapes, which are those of LDA's words."""
        return LdaComputation(self.backend, self.n_components, self.dtype, self.n_threads)

    @cached_property
    def _make_batch(self) -> BatchMaker:
        return BatchMaker(self.backend, self.n_items, self.dtype, self.n_threads)

    def batch(self, data: Any, rows: Rows | slice) -> WordBatch:
        """Rows of a CSR matrix of counts (N, V), which is not checked again."""
        return self._make_batch(data, rows)

    def initial(self, prior: FactorPrior, rng: np.random.Generator) -> FactorRows:
        """Shapes of Gamma(100, 0.01), mean 1, as LDA's; the prior's mean of beta, a / b."""
        shapes = starts.initial((self.n_items, self.n_components), self.dtype, rng)
        return FactorRows.of(shapes, self._start_rates(prior), 0.0)

    def random_start(
        self, prior: FactorPrior, batch: WordBatch, rng: np.random.Generator
    ) -> FactorNatural:
        """What `initial` would draw, of the batch's items only."""
        n_others, shape = self.n_items - batch.n_words, (batch.n_words, self.n_components)
        shapes = starts.of_batch(shape, n_others, self.dtype, rng, None, batch.words)
        return FactorNatural(*shapes, self._start_rates(prior))

    def _start_rates(self, prior: FactorPrior) -> Float64:
        return np.full(self.n_components, prior.item_rate / prior.item_shape)

    def restrict(
        self, lambda_: FactorRows, prior: FactorPrior, batch: WordBatch
    ) -> DescribedNatural:
        """Shapes of the batch's items, where they are stored, and the rates."""
        shapes = prior.of_shapes(self.n_components)
        return DescribedNatural(StoredNatural(lambda_.shapes, shapes, batch.words), lambda_.rates)

    @np.errstate(over="ignore", invalid="ignore")  # such a step is refused later
    def blend(
        self,
        anchor: Natural,
        prior: FactorPrior,
        batch: WordBatch,
        statistics: Statistics,
        rho: float,
        scale: float,
    ) -> DescribedNatural:
        """(1 - rho) lambda_t + rho (eta + scale s), equation 14, of shapes and rates."""
        eta = prior.of_shapes(self.n_components)
        shapes = BlendedNatural(
            anchor.shapes, eta.rows(batch.words), eta.totals, statistics.shapes, rho, scale
        )
        rates = (1 - rho) * anchor.rates + rho * (prior.item_rate + scale * statistics.rates)
        return DescribedNatural(shapes, rates)

    def add(
        self, anchor: Natural, prior: FactorPrior, batch: WordBatch, statistics: Statistics
    ) -> DescribedNatural:
        """lambda_t + s: the full step (rho = 1) of a batch whose prior is lambda_t."""
        given = anchor.shapes.materialise(self.row_computation)
        shapes = BlendedNatural(anchor.shapes, *given, statistics.shapes, 1.0, 1.0)
        return DescribedNatural(shapes, anchor.rates + statistics.rates)

    def materialise(self, natural: Natural | Statistics) -> FactorNatural:
        """Rows, totals and rates."""
        return FactorNatural(*natural.shapes.materialise(self.row_computation), natural.rates)

    def gradient(
        self,
        lambda_: FactorRows,
        prior: FactorPrior,
        batch: WordBatch,
        statistics: Statistics,
        scale: float,
    ) -> Float64:
        """eta + scale s - lambda, (V K + K,): shapes of all items, then rates."""
        s = self.materialise(statistics)
        shapes = prior.item_shape - lambda_.dense_shapes().astype(np.float64)
        shapes[batch.words] += scale * s.rows.astype(np.float64)
        rates = prior.item_rate + scale * s.rates - lambda_.rates
        return np.concatenate([shapes.reshape(-1), rates])

    def commit(
        self,
        lambda_: FactorRows,
        prior: FactorPrior,
        batch: WordBatch,
        natural: Natural,
        rho: float,
    ) -> FactorRows:
        """The batch's items as given; all others decay lazily."""
        rows, totals, rates = self.materialise(natural)
        table = lambda_.decayed(rho, prior.item_shape, prior.item_rate, totals, rates)
        shapes = prior.of_shapes(self.n_components)
        self.row_computation.put_rows(table.shapes, shapes, batch.words, rows)
        return table

    def savepoint(
        self, lambda_: FactorRows, prior: FactorPrior, batch: WordBatch
    ) -> Callable[[], None]:
        """Rows of shapes that will be overwritten."""
        return lambda_.shapes.savepoint()

    def is_finite(self, value: FactorNatural | FactorRows) -> bool:
        """Entries are not negative, so a bad one shows in the totals."""
        most = np.finfo(self.dtype).max
        return bool(np.all(value.totals < most) and np.all(value.rates < most))

    # --- what is shown

    @property
    def can_average(self) -> bool:
        """Always."""
        return True

    def commit_averaged(
        self,
        mean: FactorRows,
        lambda_: FactorRows,
        prior: FactorPrior,
        batch: WordBatch,
        natural: Natural,
        rho: float,
        weight: float,
    ) -> tuple[FactorRows, FactorRows]:
        """`commit`, and (1 - w) mean + w (eta + scale s): see `LazyRows.put_averaged`."""
        rows, totals, rates = self.materialise(natural)
        shapes, means = lambda_.shapes.put_averaged(
            self.row_computation.kernels, mean.shapes, batch.words, rows, totals, prior.item_shape,
            PATTERN, rho, weight, self.n_threads,
        )  # fmt: skip
        gain, rate = weight / rho, prior.item_rate
        mean_rates = (1 - weight) * mean.rates + gain * (rates - (1 - rho) * lambda_.rates)
        shift = (1 - rho) * lambda_.rate_shift + rho * rate
        mean_shift = (1 - weight) * mean.rate_shift + weight * rate
        return FactorRows.of(shapes, rates, shift), FactorRows.of(means, mean_rates, mean_shift)

    def rescaled(self, lambda_: FactorRows, prior: FactorPrior, factor: float) -> FactorRows:
        """eta + factor (lambda - eta), in the same memory and a time that does not depend on V."""
        return lambda_.rescaled(factor)
