"""Priors of Poisson factorisation: shapes and rates of gamma distributions."""

from __future__ import annotations

from dataclasses import dataclass

from trustream.models.lda.prior import LdaPrior


@dataclass(frozen=True, slots=True)
class FactorPrior:
    """beta_ik ~ Gamma(a, b), theta_uk ~ Gamma(c, xi_u) and xi_u ~ Gamma(c', d'), shapes and rates.

    Attributes:
        n_items: V, the number of items.
        item_shape, item_rate: a and b.
        user_shape: c.
        activity_shape, activity_rate: c' and d'.

    >>> FactorPrior(n_items=50, item_shape=0.3, item_rate=15.0).item_sum
    1.0
    """

    n_items: int
    item_shape: float = 0.3
    item_rate: float = 1.0
    user_shape: float = 0.3
    activity_shape: float = 1.0
    activity_rate: float = 1.0

    @property
    def item_sum(self) -> float:
        """V a / b, what the sum of beta_ik over all items is expected to be."""
        return self.n_items * self.item_shape / self.item_rate

    def activity_posterior_shape(self, n_components: int) -> float:
        """c' + K c, the shape of q(xi_u), which no data change."""
        return self.activity_shape + n_components * self.user_shape

    def of_shapes(self, n_components: int) -> LdaPrior:
        """What the shapes of beta and theta are as a prior of topics: eta = a, alpha = c."""
        return LdaPrior.of(self.user_shape, self.item_shape, n_components, self.n_items)
