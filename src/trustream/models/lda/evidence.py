"""What LDA's priors are learned from: alpha from gamma, eta from lambda (section 3.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from trustream.models.lda.computation import LdaArrays
from trustream.models.lda.lazy_rows import LazyRows
from trustream.models.lda.prior import LdaPrior
from trustream.models.protocol import DirichletEvidence, Float64

Array = NDArray[Any]

# Words whose lambda is looked at in one step to learn eta: enough for a steady estimate, few
# enough for the step's cost not to depend on the vocabulary.
_SAMPLED_WORDS = 256
# Words at a time where all of lambda is visited.
VISITED_WORDS = 8192


def of_alpha(arrays: LdaArrays, prior: LdaPrior, locals_: list[Array]) -> DirichletEvidence:
    """The documents are draws of theta: mean over them of E[log theta_k]."""
    count = sum(gamma.shape[0] for gamma in locals_)
    total = np.zeros(arrays.n_topics)
    for gamma in locals_:
        if arrays.collapsed:
            lengths = gamma.sum(axis=1, dtype=np.float64)
            total += _uncertain_psi(arrays, gamma, prior.alpha).sum(axis=0, dtype=np.float64)
            total -= special.digamma(lengths).sum()
        else:
            by_topic = np.empty(arrays.n_topics)
            of_sums = arrays.kernels.psi_sums(np.ascontiguousarray(gamma), by_topic)
            total += by_topic - of_sums
    return DirichletEvidence(prior.alpha, total / max(count, 1), 1.0, 0.0, float(count))


def of_eta(
    arrays: LdaArrays,
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
    mean_log = _mean_psi(arrays, lambda_, prior, words).sum() / words.size
    mean_log -= special.digamma(lambda_.totals).sum() / arrays.n_topics
    parameter = np.array([prior.eta])
    count = float(arrays.n_topics)
    return DirichletEvidence(parameter, np.array([mean_log]), n_words, 0.0, count)


def of_words(
    arrays: LdaArrays, lambda_: LazyRows, prior: LdaPrior, words: Array
) -> DirichletEvidence:
    """The same with a parameter for each of the given words, the others held fixed."""
    parameter = np.broadcast_to(prior.rows(words)[:, 0], (words.size,)).copy()
    mean_log = _mean_psi(arrays, lambda_, prior, words) - special.digamma(lambda_.totals).mean()
    rest = max(float(prior.totals[0] - parameter.sum()), 0.0)
    return DirichletEvidence(parameter, mean_log, 1.0, rest, float(arrays.n_topics))


def _mean_psi(arrays: LdaArrays, lambda_: LazyRows, prior: LdaPrior, words: Array) -> Float64:
    """Mean over topics of psi(lambda_vk), (W,)."""
    sums = np.empty(words.size)
    if arrays.collapsed:
        for first in range(0, words.size, VISITED_WORDS):
            part = words[first : first + VISITED_WORDS]
            rows = lambda_.get(arrays.kernels, part, prior.pattern, arrays.n_threads)
            psi = _uncertain_psi(arrays, rows, prior.rows(part))
            sums[first : first + part.size] = psi.sum(axis=1, dtype=np.float64)
    else:
        lambda_.psi_sums(arrays.kernels, words, prior.pattern, sums, arrays.n_threads)
    return sums / arrays.n_topics


def _uncertain_psi(arrays: LdaArrays, parameters: Array, prior: Float64) -> Array:
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
    psi = arrays.digamma(np.ascontiguousarray(a))
    return np.asarray(psi + some * (arrays.digamma(a + counts / some) - psi))
