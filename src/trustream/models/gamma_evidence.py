"""What the rate of a gamma prior is learned from, and one step on it.

The part of the bound that depends on the rate b of n draws x_1, ..., x_n from Gamma(a, b) is

    n { a log b - b m },     m the mean over the draws of E_q[x],

which is concave in log b and highest at b = a / m. A step goes a part rho of the way there on the
logarithmic scale, so that the evidence never falls and b stays positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trustream.array_types import Float64

SMALLEST, LARGEST = 1e-12, 1e15


class GammaEvidence(NamedTuple):
    """What the rate of a gamma prior with known shape is learned from (empirical Bayes).

    Attributes:
        rate: b.
        shape: a.
        mean: m, the expected draw, averaged over the draws.
        n_draws: n.
    """

    rate: float
    shape: float
    mean: float
    n_draws: float

    def value(self, rate: float) -> float:
        """n { a log b - b m } in nats, for another rate."""
        return float(self.n_draws * (self.shape * np.log(rate) - rate * self.mean))

    def improved(self, rho: float) -> Float64:
        """The rate after a step of size rho; unchanged without draws.

        >>> GammaEvidence(rate=1.0, shape=2.0, mean=0.5, n_draws=10).improved(0.5)
        array([2.])
        """
        old = np.array([float(self.rate)])
        if self.n_draws == 0 or not self.mean > 0:
            return old
        best = self.shape / self.mean
        return np.clip(old * (best / old) ** rho, SMALLEST, LARGEST)
