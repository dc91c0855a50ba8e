"""Score half of each document's tokens given the other half: document completion."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.evaluation import validation
from trustream.evaluation.document_blocks import DocumentBlock, Progress, document_blocks
from trustream.evaluation.held_out_result import HeldOut
from trustream.evaluation.held_out_run import HeldOutRun
from trustream.evaluation.token_split import observed_halves
from trustream.kernels import lda, threads


def completion(
    counts: Any,
    topics: ArrayLike,
    alpha: ArrayLike,
    *,
    hidden: Any = None,
    n_repeats: int = 1,
    n_iter: int = 200,
    tol: float = 1e-4,
    random_state: Any = None,
    first_document: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    backend: str = "compiled",
) -> HeldOut:
    """Compute the log-likelihood of half of each document's tokens, given the other half.

    A document's topics are inferred from its observed tokens by the mean-field fixed point, the
    local step of variational Bayes with the topics given: up to ``n_iter`` times, until gamma moves
    by less than ``tol`` on average,

        phi_wk proportional to exp(psi(gamma_k)) beta_kw,   gamma_k = alpha_k + sum_w n_w phi_wk.

    The hidden tokens are scored one by one, as sum_w m_w log sum_k E[theta_k] beta_kw with
    E[theta_k] = gamma_k / sum_k gamma_k. The score is quick to compute and ranks models well, but
    it is neither an estimate of log p(w) nor a bound. The halves are random and of equal size; the
    observed one takes the odd token.

    Parameters
    ----------
    counts, topics, alpha, random_state, first_document, n_jobs, progress, backend
        As in `chib`.
    hidden : (documents, words) matrix, optional
        The hidden tokens; ``counts`` are then the observed ones, and nothing is random.
    n_repeats : int, default=1
        Number of random splits, over which the result is averaged.

    Returns
    -------
    HeldOut
        ``n_tokens`` are the hidden ones of one split. ``standard_error`` is that of the mean over
        splits: None for a single random split, 0 for given halves.

    Examples
    --------
    >>> topics = [[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]]
    >>> result = completion([[3, 1, 0], [0, 0, 2]], topics, 0.5, random_state=0)
    >>> result.n_tokens
    array([2, 1])
    >>> completion([[2, 0, 0]], topics, 0.5, hidden=[[1, 1, 0]]).standard_error
    0.0
    """
    n_repeats = validation.whole_number("n_repeats", n_repeats)
    n_iter = validation.whole_number("n_iter", n_iter)
    seen = None
    if hidden is not None:
        counts, seen = _merged(validation.as_counts(counts, may_be_empty=True), hidden)
        n_repeats = 1
    run = HeldOutRun.of(
        counts, topics, alpha, random_state, n_jobs, progress, backend, first_document
    )
    scores = np.empty((n_repeats, run.n_documents))
    n_tokens = np.empty(run.n_documents, np.int64)
    for block, keys in run.blocks(2 * run.alpha.size):
        here = slice(block.first, block.last)
        for repeat in range(n_repeats):
            if seen is None:
                observed = observed_halves(block.indptr, block.counts, keys, repeat, run.kernels)
            else:
                first = run.counts.indptr[block.first]
                observed = seen[first : first + block.counts.size]
            unseen = block.counts - observed
            theta = _theta(block, observed, run.alpha, n_iter, tol, run.n_threads, backend)
            scores[repeat, here] = _score(block, unseen, theta, run.n_threads, run.kernels)
            n_tokens[here] = block.total(unseen)
            if progress is not None:
                done = block.first * n_repeats + block.size * (repeat + 1)
                progress(done // n_repeats, run.n_documents)
    if not n_tokens.any():
        raise ValueError("no document has two tokens: no half can be hidden")
    variance = None if hidden is None else np.zeros(run.n_documents)
    if n_repeats > 1:
        variance = scores.var(axis=0, ddof=1) / n_repeats
    return HeldOut("completion", scores.mean(axis=0), n_tokens, variance)


def completion_from(
    theta: ArrayLike,
    topics: ArrayLike,
    hidden: Any,
    *,
    n_jobs: int | None = None,
    backend: str = "compiled",
) -> HeldOut:
    """Compute the log-likelihood of hidden tokens, given topic proportions from any inference.

        sum_w m_dw log sum_k theta_dk beta_kw

    Parameters
    ----------
    theta : (documents, topics) array
        Rows sum to one, up to rounding.
    topics : (topics, words) array
        Rows sum to one, up to rounding.
    hidden : (documents, words) matrix, dense or sparse
        Whole numbers.
    n_jobs, backend
        As in `chib`.

    Returns
    -------
    HeldOut
        ``standard_error`` is 0, because nothing is random.

    Examples
    --------
    >>> result = completion_from([[0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]], [[3, 1]])
    >>> bool(np.isclose(result.per_word, np.log(0.5)))
    True
    """
    given, sums = validation.as_topics(topics)
    documents = validation.as_counts(hidden, "hidden")
    validation.check_fit(documents, given, "hidden")
    weights, theta_sums = validation.as_topics(theta, "theta")
    if weights.shape != (documents.shape[0], given.shape[0]):
        raise ValueError(
            f"theta must be documents x topics, {documents.shape[0]} x {given.shape[0]}, "
            f"got shape {weights.shape}"
        )
    n_threads, module = threads.n_threads(n_jobs), kernels.get("likelihood", backend)
    scores, n_tokens = np.empty(documents.shape[0]), np.empty(documents.shape[0], np.int64)
    for block in document_blocks(documents, given, sums, given.shape[0]):
        here = slice(block.first, block.last)
        mine = weights[here] / theta_sums[here, np.newaxis]
        scores[here] = _score(block, block.counts, mine, n_threads, module)
        n_tokens[here] = block.n_tokens
    return HeldOut("completion", scores, n_tokens, np.zeros(scores.size))


def _theta(
    block: DocumentBlock,
    observed: Array,
    alpha: Array,
    n_iter: int,
    tol: float,
    n_threads: int,
    backend: str,
) -> Array:
    """E[theta] (B, K) of the observed tokens by the mean-field fixed point, from equal topics."""
    n_topics, local = alpha.size, kernels.get("lda", backend).lda_local
    n_tokens = block.total(observed)
    # From alpha itself, alpha would choose the topics of short documents before their words do.
    gamma = np.repeat(((alpha.sum() + n_tokens) / n_topics)[:, np.newaxis], n_topics, axis=1)
    counts, ratio = observed.astype(np.float64), np.empty(observed.size)
    theta, factor = np.empty((block.size, block.table.shape[1])), np.ones(n_topics)
    arrays = (block.indptr, block.ids, counts, block.table, factor, alpha, gamma, theta, ratio)
    settings = (False, lda.ALL_TOPICS, n_iter, tol, False)
    block.run(lambda start, stop: local(*arrays, *settings, start, stop), n_threads)
    return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))


def _score(
    block: DocumentBlock, counts: Array, theta: Array, n_threads: int, module: ModuleType
) -> Float64:
    """(B,) sum_w m_dw log sum_k theta_dk beta_kw."""
    scores = np.empty(block.size)
    arrays = (block.indptr, block.ids, counts, block.table, theta, scores)
    block.run(lambda start, stop: module.mixture_score(*arrays, start, stop), n_threads)
    return scores + block.offset(counts)


def _merged(observed: sparse.csr_array, hidden: Any) -> tuple[sparse.csr_array, Array]:
    """observed + hidden, and the observed part of its stored entries."""
    unseen = validation.as_counts(hidden, "hidden")
    if observed.shape != unseen.shape:
        raise ValueError(
            f"counts and hidden must have the same documents and words, got shapes "
            f"{observed.shape} and {unseen.shape}"
        )
    both = sparse.csr_array(observed + unseen)
    both.sort_indices()

    def places(matrix: sparse.csr_array) -> Array:
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return np.asarray(rows * matrix.shape[1] + matrix.indices)

    seen = np.zeros_like(both.data)
    seen[np.searchsorted(places(both), places(observed))] = observed.data
    return both, seen
