"""Statistics of Poisson factorisation summed over batches, any of which can be taken out again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trustream.array_types import Array, Float64
from trustream.models.factorization.factor_rows import FactorRows
from trustream.models.factorization.natural import FactorNatural
from trustream.models.factorization.prior import FactorPrior
from trustream.models.lda.computation import LdaComputation
from trustream.models.lda.natural import LdaNatural
from trustream.models.lda.total import LdaTotal


class FactorTotal(NamedTuple):
    """rows (V, K) and sums (K,) of the shapes' statistics, rates (K,), all float64."""

    rows: Float64
    sums: Float64
    rates: Float64

    @classmethod
    def zeros(cls, n_items: int, n_components: int) -> FactorTotal:
        """Nothing.

        >>> FactorTotal.zeros(3, 2).rates
        array([0., 0.])
        """
        return cls(*LdaTotal.zeros(n_items, n_components), np.zeros(n_components))

    @property
    def shapes(self) -> LdaTotal:
        """What belongs to shapes, which add up like LDA's words."""
        return LdaTotal(self.rows, self.sums)

    def add(self, items: Array, statistics: FactorNatural, sign: float) -> None:
        """Add or take away the statistics of a batch with these items, in place."""
        self.shapes.add(items, LdaNatural(statistics.rows, statistics.totals), sign)
        self.rates[:] += sign * statistics.rates

    def natural(self, prior: FactorPrior, items: Array, dtype: str) -> FactorNatural:
        """Prior + total of these items."""
        shapes = self.shapes.natural(prior.of_shapes(self.sums.size), items, dtype)
        return FactorNatural(*shapes, self.rates + prior.item_rate)

    def lambda_(self, prior: FactorPrior, dtype: str) -> FactorRows:
        """Prior + total of all items."""
        shapes = self.shapes.lambda_(prior.of_shapes(self.sums.size), dtype)
        return FactorRows.of(shapes, self.rates + prior.item_rate, prior.item_rate)

    def inner(self, computation: LdaComputation, lambda_: FactorRows, prior: FactorPrior) -> float:
        """sum_ik total_ik (psi(shape_ik) - log r_k) - sum_k rates_k S_k, some items at a time."""
        shapes = prior.of_shapes(self.sums.size)
        value = self.shapes.psi_inner(computation, lambda_.shapes, shapes)
        value -= float(self.sums @ np.log(lambda_.rates))
        return value - float(self.rates @ lambda_.item_sums)
