"""Terms of LDA's lower bound in which lambda enters: Dirichlet divergences and inner products."""

from __future__ import annotations

import numpy as np
from scipy import special

from trustream.array_types import Float64
from trustream.models.lda.computation import LdaComputation, word_blocks
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.natural import LdaNatural
from trustream.models.lda.prior import LdaPrior


def divergence(computation: LdaComputation, natural: LdaNatural, other: LdaNatural) -> float:
    """KL(lambda || lambda') summed over topics, without terms of words that have no row.

    KL = sum_k { log G(T_k) - log G(T'_k) - (T_k - T'_k) psi(T_k) }
         + sum_vk { log G(lambda'_vk) - log G(lambda_vk)
                    + (lambda_vk - lambda'_vk) psi(lambda_vk) },    T_k = sum_v lambda_vk
    """
    terms = computation.dirichlet_terms(natural.rows, other.rows)
    return _divergence(terms, natural.totals, other.totals)


def prior_divergence(computation: LdaComputation, lambda_: LazyRows, prior: LdaPrior) -> float:
    """KL(lambda || eta) over all words."""
    terms = prior_terms(computation, lambda_, prior)
    return _divergence(terms, lambda_.totals, prior.totals)


def prior_terms(computation: LdaComputation, lambda_: LazyRows, prior: LdaPrior) -> Float64:
    """`LdaComputation.dirichlet_terms` of lambda and eta over all words, some at a time, (3, K)."""
    terms = np.zeros((3, computation.n_topics))
    for words in word_blocks(lambda_.stored.shape[0]):
        rows = computation.get_rows(lambda_, prior, words)
        terms += computation.dirichlet_terms(rows, prior.rows(words))
    return terms


def inner(computation: LdaComputation, natural: LdaNatural, statistics: LdaNatural) -> float:
    """sum_wk s_wk E[log beta_wk] = sum_wk s_wk (psi(lambda_wk) - psi(T_k))."""
    psi = computation.expected_log(natural.rows).astype(np.float64)
    topics = statistics.totals @ computation.expected_log(natural.totals)
    return float((psi * statistics.rows).sum() - topics)


def _divergence(terms: Float64, totals: Float64, other_totals: Float64) -> float:
    normalisers = special.gammaln(totals) - special.gammaln(other_totals)
    linear = (totals - other_totals) * special.digamma(totals)
    return float((normalisers - linear + terms[1] - terms[0] + terms[2]).sum())
