"""Terms of the bound of Poisson factorisation in which lambda enters."""

from __future__ import annotations

import numpy as np

from trustream.array_types import Float64
from trustream.models.factorization.factor_rows import FactorRows
from trustream.models.factorization.natural import FactorNatural
from trustream.models.factorization.prior import FactorPrior
from trustream.models.lda.bound import prior_terms
from trustream.models.lda.computation import LdaComputation


def divergence(computation: LdaComputation, natural: FactorNatural, other: FactorNatural) -> float:
    """KL(lambda || lambda') of gamma distributions, without shapes of items that have no row.

    KL = sum_k { T'_k (log r_k - log r'_k) + T_k (r'_k - r_k) / r_k }
         + sum_ik { log G(lambda'_ik) - log G(lambda_ik) + (lambda_ik - lambda'_ik) psi(lambda_ik) }

    with T_k = sum_i lambda_ik over all items (`families.gamma.kl` has it for one pair).
    """
    terms = computation.dirichlet_terms(natural.rows, np.asarray(other.rows))
    return _combined(terms, natural.totals, natural.rates, other.totals, other.rates)


def prior_divergence(computation: LdaComputation, lambda_: FactorRows, prior: FactorPrior) -> float:
    """KL(lambda || prior) over all items."""
    k = computation.n_topics
    shapes = prior.of_shapes(k)
    terms = prior_terms(computation, lambda_.shapes, shapes)
    rates = np.full(k, prior.item_rate)
    return _combined(terms, lambda_.totals, lambda_.rates, shapes.totals, rates)


def _combined(
    terms: Float64, totals: Float64, rates: Float64, other_totals: Float64, other_rates: Float64
) -> float:
    of_rates = other_totals * np.log(rates / other_rates) + totals * (other_rates - rates) / rates
    return float((of_rates + terms[1] - terms[0] + terms[2]).sum())


def inner(computation: LdaComputation, natural: FactorNatural, statistics: FactorNatural) -> float:
    """sum_ik s_ik (psi(lambda_ik) - log r_k) - sum_k E[theta_k] sum_i lambda_ik / r_k."""
    psi = computation.expected_log(natural.rows).astype(np.float64)
    value = float((psi * statistics.rows.astype(np.float64)).sum())
    value -= float(statistics.totals @ np.log(natural.rates))
    return value - float(statistics.rates @ (natural.totals / natural.rates))
