"""What LDA's priors are learned from: alpha from gamma, eta from lambda (section 3.1).

Documents are draws of theta ~ Dir(alpha) and topics draws of beta ~ Dir(eta), so that
`DirichletEvidence` needs the mean of E[log theta_dk] over documents and that of E[log beta_kv] over
topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from trustream.array_types import Array, Float64
from trustream.models.dirichlet_evidence import DirichletEvidence
from trustream.models.lda.computation import ROWS_AT_ONCE, LdaComputation
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.prior import LdaPrior

# Words whose lambda is looked at in one step to learn eta: enough for a steady estimate, few
# enough for the step's cost not to depend on the vocabulary.
_SAMPLED_WORDS = 256


def of_prior(
    computation: LdaComputation,
    lambda_: LazyRows,
    prior: LdaPrior,
    words: Array | None,
    locals_: Sequence[Array | ThetaSums],
    rng: np.random.Generator | None,
    equal: float = 0.0,
    least_separation: float = 0.0,
) -> dict[str, DirichletEvidence]:
    """What there is to learn alpha and eta from, by name; see `LdaModel.prior_evidence`.

    Args:
        words: those whose eta is learned, each for itself; None learns one eta for all.
        locals_: gamma of documents, (B, K) each, or what was summed from it already.
        equal: see `of_alpha`.
        least_separation: of topics in the documents (`ThetaSums.separation`), without which these
            have nothing to say of alpha; 0 does not look.
    """
    n_words, found = lambda_.stored.shape[0], {}
    if computation.n_topics > 1:
        draws = ThetaSums.zeros(computation.n_topics)
        for local in locals_:
            if not isinstance(local, ThetaSums):
                local = theta_sums(computation, prior, local)
            draws += local
        if least_separation == 0.0 or draws.separation > least_separation:
            found["alpha"] = of_alpha(computation, prior, draws, equal)
    if n_words > 1 and prior.pattern.shape[1] == 1:
        if words is not None:
            found["eta"] = of_words(computation, lambda_, prior, words)
        elif prior.pattern.shape[0] == 1:
            found["eta"] = of_eta(computation, lambda_, prior, rng)
    return found


@dataclass(frozen=True, slots=True)
class ThetaSums:
    """What alpha is learned from, summed over documents: additive.

    Attributes:
        log_sum: (K,) sum of E[log theta_dk].
        largest: sum of the largest proportion of each document.
        n_documents: how many they are.
    """

    log_sum: Float64
    largest: float
    n_documents: int

    @classmethod
    def zeros(cls, n_topics: int) -> ThetaSums:
        """Of no document."""
        return cls(np.zeros(n_topics), 0.0, 0)

    def __add__(self, other: ThetaSums) -> ThetaSums:
        """Of the documents of both."""
        return ThetaSums(
            self.log_sum + other.log_sum,
            self.largest + other.largest,
            self.n_documents + other.n_documents,
        )

    @property
    def separation(self) -> float:
        """How well documents tell topics apart: 0 if all have all in equal parts, 1 if one each.

        It is the mean over documents of their largest proportion, as a part of the way from 1/K to
        1. While topics are alike, as they are in the first steps, it is near 0. To empirical Bayes
        this is evidence of a large alpha, under which they stay alike.

        >>> ThetaSums(np.zeros(2), 0.5, 1).separation, ThetaSums(np.zeros(2), 1.75, 2).separation
        (0.0, 0.75)
        """
        if not self.n_documents:
            return 1.0
        equal = 1.0 / self.log_sum.size
        return float((self.largest / self.n_documents - equal) / (1.0 - equal))


def theta_sums(computation: LdaComputation, prior: LdaPrior, gamma: Array) -> ThetaSums:
    """Of documents with gamma (B, K), where E[log theta_dk] = psi(gamma_dk) - psi(sum_j gamma_dj).

    >>> computation = LdaComputation("reference", 2, "float64", 1)
    >>> gamma = np.array([[3.0, 1.0], [1e-9, 2.0]])
    >>> round(theta_sums(computation, LdaPrior.of(0.1, 0.1, 2, 5), gamma).largest, 6)
    1.75
    """
    if computation.collapsed:
        lengths = gamma.sum(axis=1, dtype=np.float64)
        log_sum = _uncertain_psi(computation, gamma, prior.alpha).sum(axis=0, dtype=np.float64)
        log_sum -= special.digamma(lengths).sum()
        largest = float((gamma.max(axis=1, initial=0.0) / lengths).sum())
    else:
        by_topic = np.empty(computation.n_topics)
        of_sums, largest = computation.kernels.psi_sums(np.ascontiguousarray(gamma), by_topic)
        log_sum = by_topic - of_sums
    return ThetaSums(log_sum, largest, gamma.shape[0])


def of_alpha(
    computation: LdaComputation, prior: LdaPrior, draws: ThetaSums, equal: float = 0.0
) -> DirichletEvidence:
    """The documents are draws of theta: l_k, the mean over them of E[log theta_k].

    A part w = `equal` of the evidence is that of documents in which all topics are equally
    frequent, and which are about as many topics each as the others are:

        l_k <- (1 - w) l_k + w mean_j l_j.

    This is a prior of alpha, conjugate to the Dirichlet distribution. It does not change how large
    the alphas are by much, but how unequal, while documents are few: K of them are no evidence that
    some of K topics are ten times as frequent as others.
    """
    count = draws.n_documents
    mean_log = draws.log_sum / max(count, 1)
    if equal > 0.0:
        mean_log += equal * (mean_log.mean() - mean_log)
    return DirichletEvidence(prior.alpha, mean_log, 1.0, 0.0, float(count), computation.backend)


def of_eta(
    computation: LdaComputation,
    lambda_: LazyRows,
    prior: LdaPrior,
    rng: np.random.Generator | None,
) -> DirichletEvidence:
    """The topics are draws of beta: mean over them and over words of E[log beta_kv].

    The words are a sample drawn with `rng`, or all of them.
    """
    n_words = lambda_.stored.shape[0]
    if rng is None or n_words <= _SAMPLED_WORDS:
        words = np.arange(n_words)
    else:
        words = rng.integers(n_words, size=_SAMPLED_WORDS)
    mean_log = _mean_psi(computation, lambda_, prior, words).sum() / words.size
    mean_log -= special.digamma(lambda_.totals).sum() / computation.n_topics
    parameter, count = np.array([prior.eta]), float(computation.n_topics)
    return DirichletEvidence(
        parameter, np.array([mean_log]), n_words, 0.0, count, computation.backend
    )


def of_words(
    computation: LdaComputation, lambda_: LazyRows, prior: LdaPrior, words: Array
) -> DirichletEvidence:
    """The same with a parameter for each of the given words, the others held fixed."""
    parameter = np.broadcast_to(prior.plain_rows(words)[:, 0], (words.size,)).copy()
    mean_log = (
        _mean_psi(computation, lambda_, prior, words) - special.digamma(lambda_.totals).mean()
    )
    sum_ = float(prior.eta * prior.pattern_sums[0])
    rest, count = max(sum_ - parameter.sum(), 0.0), float(computation.n_topics)
    return DirichletEvidence(parameter, mean_log, 1.0, rest, count, computation.backend)


def _mean_psi(
    computation: LdaComputation, lambda_: LazyRows, prior: LdaPrior, words: Array
) -> Float64:
    """Mean over topics of psi(lambda_vk), (W,)."""
    sums = np.empty(words.size)
    if computation.collapsed:
        for first in range(0, words.size, ROWS_AT_ONCE):
            part = words[first : first + ROWS_AT_ONCE]
            rows = computation.get_rows(lambda_, prior, part)
            psi = _uncertain_psi(computation, rows, prior.plain_rows(part))
            sums[first : first + part.size] = psi.sum(axis=1, dtype=np.float64)
    else:
        lambda_.psi_sums(computation.kernels, words, prior.pattern, sums, computation.n_threads)
    return sums / computation.n_topics


def _uncertain_psi(computation: LdaComputation, parameters: Array, prior: Float64) -> Array:
    """E[psi(prior + n)] of uncertain counts n, (n, K), for the collapsed local step.

    parameters = prior + E[n], and the counts are close to Poisson ones: zero with
    probability exp(-E[n]), else (Teh, Kurihara and Welling 2008) close to their mean, so that

        E[psi(a + n)] = exp(-E[n]) psi(a) + (1 - exp(-E[n])) psi(a + E[n] / (1 - exp(-E[n]))).

    psi at the mean would take a hundredth of a count, which each topic gets from the prior alone,
    for evidence of a larger prior, which gives each topic more: alpha would grow without end.
    """
    a = np.broadcast_to(prior, parameters.shape).astype(parameters.dtype)
    counts = np.maximum(parameters - a, np.finfo(parameters.dtype).tiny)
    some = -np.expm1(-counts)
    psi = computation.digamma(np.ascontiguousarray(a))
    return np.asarray(psi + some * (computation.digamma(a + counts / some) - psi))
