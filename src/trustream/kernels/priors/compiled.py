"""Steps on the parameters of a Dirichlet prior, in Numba; twins in `reference`."""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

import math

from trustream.kernels import elementary
from trustream.kernels.jit import njit

# Without fastmath, which takes all numbers for finite: a step looks whether they are.
_OPTIONS = {**elementary.KERNEL, "fastmath": False}
# psi'(x) = 1/x + 1/(2 x^2) + sum_j B_2j / x^(2j+1), right to 1e-15 from here on.
_LARGE = 10.0


@njit(**{**elementary.INSIDE, "fastmath": False})
def _trigamma(x):
    """psi'(x) = 1/x^2 + psi'(x + 1), and the asymptotic series."""
    value = 0.0
    while x < _LARGE:
        value += 1 / (x * x)
        x += 1
    q = 1 / (x * x)
    series = 1 / 42 + q * (-1 / 30 + q * (5 / 66 + q * (-691 / 2730 + q * 7 / 6)))
    return value + (1 + q * (1 / 6 + q * (-1 / 30 + q * series))) / x + q / 2


@njit(**_OPTIONS)
def dirichlet_evidence(parameter, mean_log, multiplicity, rest):
    """Expected log-density of a draw from Dir(a), in nats; see `models.capabilities`.

    log G(rest + m sum_i a_i) - m sum_i log G(a_i) + m sum_i a_i l_i
    """
    total = terms = 0.0
    for i in range(parameter.size):
        total += parameter[i]
        terms += parameter[i] * mean_log[i] - math.lgamma(parameter[i])
    return math.lgamma(rest + multiplicity * total) + multiplicity * terms


@njit(**_OPTIONS)
def dirichlet_direction(parameter, mean_log, multiplicity, rest, direction):
    """direction = I(a)^-1 g, with g the evidence's gradient and

        I = m diag(psi'(a)) - m^2 psi'(total) 1 1^T.

    The rank-one part is inverted by Sherman and Morrison's formula.
    """
    m = multiplicity
    total = 0.0
    for i in range(parameter.size):
        total += parameter[i]
    total = rest + m * total
    psi = elementary.digamma(total)
    inverses = ratios = 0.0
    for i in range(parameter.size):
        diagonal = m * _trigamma(parameter[i])
        direction[i] = m * (psi - elementary.digamma(parameter[i]) + mean_log[i]) / diagonal
        ratios += direction[i]
        inverses += 1 / diagonal
    rank_one = m * m * _trigamma(total)
    shared = rank_one * ratios / (1 - rank_one * inverses)
    for i in range(parameter.size):
        direction[i] += shared / (m * _trigamma(parameter[i]))


@njit(**_OPTIONS)
def dirichlet_step(
    old, mean_log, multiplicity, rest, rho, smallest, largest, n_halvings, direction, new
):
    """new = old + rho direction, no further than a factor of two and the bounds allow.

    rho is halved until the evidence does not fall; returns whether that came about.
    """
    dirichlet_direction(old, mean_log, multiplicity, rest, direction)
    start = dirichlet_evidence(old, mean_log, multiplicity, rest)
    for i in range(old.size):
        if not math.isfinite(direction[i]):
            return False
    if not math.isfinite(start):
        return False
    for _ in range(n_halvings):
        for i in range(old.size):
            # A prior that was given outside the bounds may stay there, but not go further.
            lowest = max(old[i] / 2, min(old[i], smallest))
            highest = min(old[i] * 2, max(old[i], largest))
            new[i] = min(max(old[i] + rho * direction[i], lowest), highest)
        if dirichlet_evidence(new, mean_log, multiplicity, rest) >= start:
            return True
        rho /= 2
    return False
