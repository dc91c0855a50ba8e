"""Estimate the log-likelihood of held-out documents, with theta integrated out.

The likelihood of a document's tokens w, with topics beta and alpha fixed, is

    p(w) = integral Dir(theta; alpha) prod_i sum_k theta_k beta_{k, w_i} d theta

The integral has no closed form; `chib`, `left_to_right` and `importance` estimate it with random
numbers. Each document has a stream of its own, so results depend neither on the number of threads
nor on which other documents come after.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trustream.array_types import Array
from trustream.evaluation.document_blocks import DocumentBlock, Progress
from trustream.evaluation.held_out_result import HeldOut
from trustream.evaluation.held_out_run import HeldOutRun
from trustream.evaluation.standard_errors import log_mean_exp
from trustream.evaluation.validation import whole_number


def chib(
    counts: Any,
    topics: ArrayLike,
    alpha: ArrayLike,
    *,
    n_iter: int = 25,
    n_burn: int = 30,
    n_repeats: int = 12,
    max_document_tokens: int = 1_000_000,
    random_state: Any = None,
    first_document: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    backend: str = "compiled",
) -> HeldOut:
    """Estimate the log-likelihood of held-out documents by Chib's method.

    For any assignment z* of the tokens to topics p(w) = p(w, z*) / p(z* | w). The numerator is
    exact. Let T be a sweep of Gibbs sampling over the tokens in order, and T' one in reverse
    order, which is T run backwards: T'(z <- z') p(z' | w) = T(z' <- z) p(z | w). A chain of
    ``n_iter`` states is drawn with z^s from T'(. <- z*) at a random place s, T onwards from there
    and T' back. Then (Murray and Salakhutdinov, 2008; Wallach et al., 2009)

        p_hat(w) = p(w, z*) / mean_s T(z* <- z^s).

    The chain's probability given z* is that of a chain in equilibrium, times mean_s T(z* <- z^s) /
    p(z* | w), so that **E[p_hat(w)] = p(w)** whatever z* is. The logarithm is therefore too low on
    average, E[log p_hat] <= log p(w): by little where the chain forgets z* within ``n_iter``
    sweeps, by a few nats per document where it does not (thousands of tokens, many topics). The
    standard error does not include that bias. z* is a draw after burn-in, not a peak: in long
    documents a peak is far from where the chain stays, and would lower the estimate by tens of
    nats.

    Time grows with tokens x (2 n_iter + n_burn) x n_repeats x topics in use in a document.

    Parameters
    ----------
    counts : (documents, words) matrix, dense or sparse
        Whole numbers.
    topics : (topics, words) array
        E[beta]: rows sum to one, up to rounding.
    alpha : float or (topics,) array
        Parameter of the Dirichlet prior of a document's topics.
    n_iter : int, default=25
        States of a chain, S.
    n_burn : int, default=30
        Passes of a fixed point for theta, and sweeps after it, that lead to z*.
    n_repeats : int, default=12
        Independent estimates of p(w), which are averaged.
    max_document_tokens : int, default=1_000_000
        Longer documents are refused: tokens are visited one by one, which takes minutes for a
        document of this length. The time of `completion` and `importance` does not grow with the
        counts.
    random_state : int, generator or None
    first_document : int, default=0
        The number of the first document, which decides on the random numbers of each: parts of a
        corpus that are scored on their own, with the same `random_state`, get the scores that they
        have in the whole.
    n_jobs : int or None
        Threads; None is all cores. The result does not depend on it.
    progress : callable, optional
        Called as progress(documents done, documents) from time to time.
    backend : {"compiled", "reference"}

    Returns
    -------
    HeldOut
        ``standard_error`` is the jackknife over repetitions.

    Examples
    --------
    >>> topics = [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]
    >>> result = chib([[3, 1, 0], [0, 0, 2]], topics, 0.5, random_state=0)
    >>> result.per_document.round(2)
    array([-4.04, -1.33])
    """
    held_out = HeldOutRun.of(
        counts, topics, alpha, random_state, n_jobs, progress, backend, first_document
    )
    settings = (whole_number("n_burn", n_burn, 0), whole_number("n_iter", n_iter))
    n_repeats = whole_number("n_repeats", n_repeats)
    held_out.check_lengths(max_document_tokens)

    def estimate(block: DocumentBlock, run: Callable[..., None]) -> tuple[Array, Array | None]:
        values = np.empty((block.size, n_repeats))
        run(held_out.kernels.chib, *settings, values)
        return log_mean_exp(values)

    return held_out.run("chib", estimate, n_repeats)


def left_to_right(
    counts: Any,
    topics: ArrayLike,
    alpha: ArrayLike,
    *,
    n_particles: int = 20,
    n_resampled: int | None = None,
    unbiased: bool = False,
    max_document_tokens: int = 100_000,
    random_state: Any = None,
    first_document: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    backend: str = "compiled",
) -> HeldOut:
    """Estimate the log-likelihood of held-out documents token by token, from left to right.

    Tokens come one after the other, in random order. Each of R particles holds topics of the
    earlier tokens; before token i it draws each of them afresh given the others (a sweep of Gibbs
    sampling for p(z_<i | w_<i)), then p_ir = p(w_i | z_<i of particle r), and z_i is drawn given
    w_i. From the same run:

    - ``unbiased=False`` (Wallach et al., 2009): p_hat(w) = prod_i mean_r p_ir. Its error is small,
      but it is biased, and more particles do not help: after z_i has been drawn, particles that
      predicted w_i should have more weight, and only the sweeps compensate for that. The estimate
      is too high where the sweeps do not mix.
    - ``unbiased=True`` (in the sense of Buntine, 2009): p_hat(w) = mean_r prod_i p_ir. Each
      product is the weight of annealed importance sampling that takes in one token at a time, so
      that **E[p_hat(w)] = p(w)** for any number of particles. The logarithm is too low on average,
      and the spread over particles is larger: more particles do help.

    Time grows with the **square of a document's length**: N^2 / 2 draws for each particle. With
    ``n_resampled`` only that many earlier tokens, picked at random for each i, are drawn afresh:
    N x n_resampled draws. Each such draw leaves p(z_<i | w_<i) as it is, so that the unbiased form
    stays unbiased; its spread grows, and the plain form's bias as well.

    Parameters
    ----------
    counts, topics, alpha, random_state, first_document, n_jobs, progress, backend
        As in `chib`.
    n_particles : int, default=20
        R.
    n_resampled : int or None
        Earlier tokens to draw afresh for each token; None is all.
    unbiased : bool, default=False
    max_document_tokens : int, default=100_000
        Longer documents are refused, because of the time and memory that they take.

    Returns
    -------
    HeldOut
        ``standard_error`` comes from the spread over particles: by the jackknife for the unbiased
        form, to first order for the plain one. There it leaves out what the random order of the
        tokens adds, and can be two or three times too small where the bias is large. None for one
        particle.

    Examples
    --------
    >>> topics = [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]
    >>> result = left_to_right([[3, 1, 0], [0, 0, 2]], topics, 0.5, random_state=0)
    >>> result.per_document.round(1)
    array([-4. , -1.3])
    """
    held_out = HeldOutRun.of(
        counts, topics, alpha, random_state, n_jobs, progress, backend, first_document
    )
    n_particles = whole_number("n_particles", n_particles)
    few = -1 if n_resampled is None else whole_number("n_resampled", n_resampled, 0)
    held_out.check_lengths(max_document_tokens)

    def estimate(block: DocumentBlock, run: Callable[..., None]) -> tuple[Array, Array | None]:
        shape = (block.size, n_particles)
        value, influence, weights = np.empty(block.size), np.empty(shape), np.empty(shape)
        run(held_out.kernels.left_to_right, few, value, influence, weights)
        if unbiased:
            return log_mean_exp(weights)
        if n_particles == 1:
            return value, None
        return value, influence.var(axis=1, ddof=1) / n_particles

    method = "left to right" + (", unbiased" if unbiased else "")
    return held_out.run(method, estimate, 2 * n_particles, power=2.0 if few < 0 else 1.0)


def importance(
    counts: Any,
    topics: ArrayLike,
    alpha: ArrayLike,
    *,
    n_samples: int = 1000,
    random_state: Any = None,
    first_document: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    backend: str = "compiled",
) -> HeldOut:
    """Estimate the log-likelihood by importance sampling from the prior, as a negative control.

    The estimate

        p_hat(w) = mean_s prod_i sum_k theta_sk beta_{k, w_i},   theta_s ~ Dir(alpha)

    is unbiased, but hardly any theta_s fits a long document, so that its logarithm is far too low,
    which the standard error does not show. If no sample gives a document a positive probability,
    its log-likelihood is minus infinity.

    Parameters
    ----------
    counts, topics, alpha, random_state, first_document, n_jobs, progress, backend
        As in `chib`.
    n_samples : int, default=1000

    Returns
    -------
    HeldOut
        ``standard_error`` is the jackknife over samples.

    Examples
    --------
    >>> topics = [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]
    >>> result = importance([[3, 1, 0], [0, 0, 2]], topics, 0.5, random_state=0)
    >>> result.per_document.round(1)
    array([-4.1, -1.3])
    """
    held_out = HeldOutRun.of(
        counts, topics, alpha, random_state, n_jobs, progress, backend, first_document
    )
    n_samples = whole_number("n_samples", n_samples)

    def estimate(block: DocumentBlock, run: Callable[..., None]) -> tuple[Array, Array | None]:
        values = np.empty((block.size, n_samples))
        run(held_out.kernels.importance, values)
        return log_mean_exp(values)

    return held_out.run("importance", estimate, n_samples)
