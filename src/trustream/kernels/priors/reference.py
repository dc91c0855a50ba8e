"""Steps on the parameters of a Dirichlet prior, in NumPy: the equations as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[Any]


def dirichlet_evidence(
    parameter: Array, mean_log: Array, multiplicity: float, rest: float
) -> float:
    """log G(rest + m sum_i a_i) - m sum_i log G(a_i) + m sum_i a_i l_i."""
    total = rest + multiplicity * parameter.sum()
    terms = parameter @ mean_log - special.gammaln(parameter).sum()
    return float(special.gammaln(total) + multiplicity * terms)


def dirichlet_direction(
    parameter: Array, mean_log: Array, multiplicity: float, rest: float, direction: Array
) -> None:
    """I(a)^-1 g, with g the gradient and I = m diag(psi'(a)) - m^2 psi'(total) 1 1^T."""
    a, m = parameter, multiplicity
    total = rest + m * a.sum()
    gradient = m * (special.digamma(total) - special.digamma(a) + mean_log)
    # psi'(x) = zeta(2, x), Hurwitz' zeta function.
    diagonal = m * special.zeta(2.0, a)
    rank_one = m * m * special.zeta(2.0, total)
    remaining = 1 - rank_one * (1 / diagonal).sum()
    shared = rank_one * (gradient / diagonal).sum() / remaining
    direction[:] = (gradient + shared) / diagonal


@np.errstate(all="ignore")
def dirichlet_step(
    old: Array,
    mean_log: Array,
    multiplicity: float,
    rest: float,
    rho: float,
    smallest: float,
    largest: float,
    n_halvings: int,
    direction: Array,
    new: Array,
) -> bool:
    """new = old + rho direction, rho halved until the evidence does not fall."""
    dirichlet_direction(old, mean_log, multiplicity, rest, direction)
    start = dirichlet_evidence(old, mean_log, multiplicity, rest)
    if not (np.isfinite(direction).all() and np.isfinite(start)):
        return False
    lowest = np.maximum(old / 2, np.minimum(old, smallest))
    highest = np.minimum(old * 2, np.maximum(old, largest))
    for _ in range(n_halvings):
        new[:] = np.minimum(np.maximum(old + rho * direction, lowest), highest)
        if dirichlet_evidence(new, mean_log, multiplicity, rest) >= start:
            return True
        rho /= 2
    return False
