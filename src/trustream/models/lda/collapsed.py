"""LDA with the zeroth-order collapsed local step (CVB0 without leaving the word itself out).

Asuncion et al. (2009) compared inference for LDA and found the algorithms to differ mostly in how
they smooth counts. The collapsed local step takes expected counts as they are,

    phi_dwk  proportional to  gamma_dk lambda_kw / sum_v lambda_kv,
    gamma_dk = alpha_k + sum_w n_dw phi_dwk,      lambda_kw = eta + sum_d n_dw phi_dwk,

where mean field has exp(psi(.)) of each. No digamma is needed. It is EM for the mode of beta and
theta under Dir(eta + 1) and Dir(alpha + 1): with beta_kw = lambda_kw / sum_v lambda_kv and
theta_dk = gamma_dk / sum_j gamma_dj each update raises

    J = sum_d { sum_w n_dw log sum_k theta_dk beta_kw + log Dir(theta_d; alpha + 1) }
        - D(eta, lambda),

    D(a, lambda) = sum_k A_k KL(a_k / A_k || beta_k),   A_k = sum_v a_kv,

in which -D is the log-density of the topics under Dir(eta + 1) below its highest. In a trust-region
step the blend (1 - rho) lambda_t + rho (eta + N/B s) is the M-step with the penalty
xi D(lambda_t, lambda), xi = 1/rho - 1, in place of the divergence. So the trust region stands as it
is. J is not a bound on the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import special

from trustream.array_types import Array, Float64
from trustream.models.lda.batch import WordBatch, segment_sums
from trustream.models.lda.blend import Natural
from trustream.models.lda.computation import ROWS_AT_ONCE, word_blocks
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.model import LdaModel
from trustream.models.lda.prior import LdaPrior


@dataclass(frozen=True)
class CollapsedLdaModel(LdaModel):
    """LDA whose local steps are the ones above and whose bounds are terms of J."""

    collapsed: ClassVar[bool] = True

    def local_bound(
        self, natural: Natural, prior: LdaPrior, batch: WordBatch, local: Array
    ) -> Float64:
        """The documents' terms of J, (B,)."""
        theta = local.astype(np.float64)
        theta /= theta.sum(axis=1, keepdims=True)
        rows, totals = self.materialise(natural)
        beta = rows / totals
        documents = np.repeat(np.arange(batch.size), np.diff(batch.indptr))
        likelihood = np.empty(batch.ids.size)
        for first in range(0, batch.ids.size, ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            likelihood[part] = (theta[documents[part]] * beta[batch.ids[part]]).sum(axis=1)
        weighted = batch.counts.astype(np.float64) * np.log(likelihood)
        density = np.log(theta) @ prior.alpha + _log_normaliser(prior.alpha, self.n_components)
        return np.asarray(segment_sums(weighted[:, np.newaxis], batch.indptr)[:, 0] + density)

    def divergence(
        self,
        natural: Natural,
        prior: LdaPrior,
        batch: WordBatch,
        anchor: Natural | None,
    ) -> float:
        """D(lambda_t or eta, lambda) without terms of other words."""
        rows, totals = self.materialise(natural)
        other, other_totals = self._other(prior, batch, anchor)
        return _divergence(other, rows) - _divergence(other_totals, totals)

    def global_bound(self, lambda_: LazyRows, prior: LdaPrior) -> float:
        """-D(eta, lambda) over all words."""
        value = _divergence(prior.totals, lambda_.totals)
        for words in word_blocks(self.n_words):
            rows = self.computation.get_rows(lambda_, prior, words)
            value -= _divergence(prior.rows(words), rows)
        return value


def _divergence(weights: Array, values: Array) -> float:
    """sum a log(a / lambda)."""
    a = np.broadcast_to(weights, values.shape).astype(np.float64)
    return float((a * (np.log(a) - np.log(values.astype(np.float64)))).sum())


def _log_normaliser(alpha: Float64, n: int) -> float:
    """Of Dir(alpha + 1) in n dimensions."""
    return float(special.gammaln(alpha.sum() + n) - special.gammaln(alpha + 1).sum())
