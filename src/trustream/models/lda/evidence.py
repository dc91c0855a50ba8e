"""What LDA's priors are learned from: alpha from gamma, eta from lambda (section 3.1).

Documents are draws of theta ~ Dir(alpha) and topics draws of beta ~ Dir(eta), so that
`DirichletEvidence` needs the mean of E[log theta_dk] over documents and that of E[log beta_kv] over
topics.
"""

from __future__ import annotations

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
    locals_: list[Array],
    rng: np.random.Generator | None,
    equal: float = 0.0,
    least_separation: float = 0.0,
) -> dict[str, DirichletEvidence]:
    """What there is to learn alpha and eta from, by name; see `LdaModel.prior_evidence`.

    Args:
        words: those whose eta is learned, each for itself; None learns one eta for all.
        equal: see `of_alpha`.
        least_separation: of topics in the documents (`separation`), without which these have
            nothing to say of alpha; 0 does not look.
    """
    n_words, found = lambda_.stored.shape[0], {}
    several = computation.n_topics > 1
    if several and (least_separation == 0.0 or separation(locals_) > least_separation):
        found["alpha"] = of_alpha(computation, prior, locals_, equal)
    if n_words > 1 and prior.pattern.shape[1] == 1:
        if words is not None:
            found["eta"] = of_words(computation, lambda_, prior, words)
        elif prior.pattern.shape[0] == 1:
            found["eta"] = of_eta(computation, lambda_, prior, rng)
    return found


def separation(locals_: list[Array]) -> float:
    """How well documents tell topics apart: 0 if all have all topics in equal parts, 1 if one each.

    It is the mean over documents of their largest proportion, as a part of the way from 1/K to 1.
    While topics are alike, as they are in the first steps, it is near 0. To empirical Bayes this is
    evidence of a large alpha, under which they stay alike.

    >>> separation([np.array([[1.0, 1.0]])]), separation([np.array([[3.0, 1.0], [0.0, 2.0]])])
    (0.0, 0.75)
    """
    largest = [gamma.max(axis=1) / gamma.sum(axis=1) for gamma in locals_ if gamma.shape[0]]
    if not largest:
        return 1.0
    equal = 1.0 / locals_[0].shape[1]
    share = float(np.concatenate(largest).mean(dtype=np.float64))
    return float((share - equal) / (1.0 - equal))


def of_alpha(
    computation: LdaComputation, prior: LdaPrior, locals_: list[Array], equal: float = 0.0
) -> DirichletEvidence:
    """The documents are draws of theta: l_k, the mean over them of E[log theta_k].

    A part w = `equal` of the evidence is that of documents in which all topics are equally
    frequent, and which are about as many topics each as the others are:

        l_k <- (1 - w) l_k + w mean_j l_j.

    This is a prior of alpha, conjugate to the Dirichlet distribution. It does not change how large
    the alphas are by much, but how unequal, while documents are few: K of them are no evidence that
    some of K topics are ten times as frequent as others.
    """
    count = sum(gamma.shape[0] for gamma in locals_)
    total = np.zeros(computation.n_topics)
    for gamma in locals_:
        if computation.collapsed:
            lengths = gamma.sum(axis=1, dtype=np.float64)
            total += _uncertain_psi(computation, gamma, prior.alpha).sum(axis=0, dtype=np.float64)
            total -= special.digamma(lengths).sum()
        else:
            by_topic = np.empty(computation.n_topics)
            of_sums = computation.kernels.psi_sums(np.ascontiguousarray(gamma), by_topic)
            total += by_topic - of_sums
    mean_log = total / max(count, 1)
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
