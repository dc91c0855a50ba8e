"""lambda of Poisson factorisation: a shape for each item and component, a rate for each component.

q(beta_ik) = Gamma(shape_ik, rate_k). The rate's statistic, the sum of E[theta_uk] over users, is
the same for all items, and so is what a step does to it: one vector for all of them. Shapes are
kept as `models.lda.lazy_rows.LazyRows` keeps the rows of words: those of items outside of a batch
only decay, all at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from trustream.array_types import Array, Float64
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.row_journal import RowJournal

# The same for all items and components: shapes have one prior.
PATTERN = np.ones((1, 1))


@dataclass(frozen=True, slots=True)
class FactorRows:
    """Shapes (V, K) = scale * stored + shift, and rates (K,).

    Attributes:
        stored, scale, shift, totals, journal: of the shapes, as in `LazyRows`; totals (K,) are
            sums of shapes over all items.
        rates: (K,) float64.
        rate_shift: the part of each rate that the prior has put there, as `shift` is of shapes.
    """

    stored: Array
    scale: float
    shift: float
    totals: Float64
    rates: Float64
    rate_shift: float
    journal: RowJournal = field(default_factory=RowJournal, repr=False, compare=False)

    @classmethod
    def of(cls, shapes: LazyRows, rates: Float64, rate_shift: float) -> FactorRows:
        """From the table of shapes, which it takes over."""
        parts = (shapes.stored, shapes.scale, shapes.shift, shapes.totals)
        return cls(*parts, rates, float(rate_shift), shapes.journal)

    @property
    def shapes(self) -> LazyRows:
        """The table of shapes, in the same memory."""
        return LazyRows(self.stored, self.scale, self.shift, self.totals, self.journal)

    @property
    def item_sums(self) -> Float64:
        """S_k = sum_i E[beta_ik] over all items, (K,)."""
        return np.asarray(self.totals / self.rates)

    def dense_shapes(self) -> Array:
        """All shapes (V, K), as an array of their own."""
        return self.shapes.dense(PATTERN)

    def decayed(
        self, rho: float, shape: float, rate: float, totals: Float64, rates: Float64
    ) -> FactorRows:
        """All items' way to the prior, with the totals and rates that they will have."""
        rate_shift = (1 - rho) * self.rate_shift + rho * rate
        return FactorRows.of(self.shapes.decayed(rho, shape, totals), rates, rate_shift)

    def rescaled(self, factor: float) -> FactorRows:
        """With so many times the data, the prior's part being the same; in the same memory."""
        n_items, n_components = self.stored.shape
        shapes = self.shapes.rescaled(factor, np.full(n_components, float(n_items)))
        rates = factor * (self.rates - self.rate_shift) + self.rate_shift
        return FactorRows.of(shapes, rates, self.rate_shift)

    def with_items(self, n_new: int, shape: float) -> FactorRows:
        """With so many more items behind the others, at the prior; in memory of its own."""
        n_components = self.stored.shape[1]
        level = np.full((n_new, n_components), (shape - self.shift) / self.scale)
        stored = np.concatenate([self.stored, level.astype(self.stored.dtype)])
        shapes = LazyRows(stored, self.scale, self.shift, self.totals + n_new * shape)
        return FactorRows.of(shapes, self.rates.copy(), self.rate_shift)
