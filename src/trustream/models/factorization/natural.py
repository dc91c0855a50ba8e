"""lambda or statistics of a batch of Poisson factorisation, as numbers and as descriptions."""

from __future__ import annotations

from typing import NamedTuple

from trustream.array_types import Array, Float64
from trustream.models.lda.blend import Natural as Shapes
from trustream.models.lda.blend import Statistics as ShapeStatistics
from trustream.models.lda.natural import LdaNatural


class FactorLocal(NamedTuple):
    """Beliefs about the users of a batch: q(theta_uk) and q(xi_u) = Gamma(c' + K c, activity_u).

    q(theta_uk) = Gamma(shape_uk, E[xi_u] + S_k): its rate follows from the activity and the items.

    Attributes:
        shape: (B, K).
        activity: (B,) float64, the rate of q(xi_u).
    """

    shape: Array
    activity: Float64


class FactorNatural(NamedTuple):
    """Shapes and rates, or statistics, of a batch's items.

    Attributes:
        rows: (W, K), or (W, 1) where they are the same for all components: shapes, or
            sum_u x_ui phi_uik.
        totals: (K,) float64, sums of rows over all items.
        rates: (K,) float64: rates, or sum_u E[theta_uk].
    """

    rows: Array
    totals: Float64
    rates: Float64

    @property
    def shapes(self) -> LdaNatural:
        """Rows and totals."""
        return LdaNatural(self.rows, self.totals)


class DescribedNatural(NamedTuple):
    """The same with rows that are not computed yet (`models.lda.natural`)."""

    shapes: Shapes
    rates: Float64


class DescribedStatistics(NamedTuple):
    """Statistics whose rows are not summed yet."""

    shapes: ShapeStatistics
    rates: Float64


Natural = FactorNatural | DescribedNatural
Statistics = FactorNatural | DescribedStatistics
