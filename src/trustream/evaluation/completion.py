"""Document completion: half of a document's tokens, given the other half."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from trustream import kernels
from trustream.evaluation import inputs
from trustream.evaluation.blocks import Block, Progress, blocks
from trustream.evaluation.halves import observed_halves
from trustream.evaluation.result import HeldOut
from trustream.kernels import lda, threads

Array = NDArray[Any]


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
    n_jobs: int | None = None,
    progress: Progress | None = None,
    backend: str = "compiled",
) -> HeldOut:
    """Log-likelihood of half of each document's tokens, given the other half.

    A document's topics are inferred from its observed tokens by the mean-field fixed point, the
    local step of variational Bayes with the topics given: up to ``n_iter`` times, until gamma moves
    by less than ``tol`` on average,

        phi_wk proportional to exp(psi(gamma_k)) beta_kw,   gamma_k = alpha_k + sum_w n_w phi_wk.

    The hidden tokens are scored one by one, as sum_w m_w log sum_k E[theta_k] beta_kw with
    E[theta_k] = gamma_k / sum_k gamma_k. That is quick and ranks models well, but it is neither
    an estimate of log p(w) nor a bound. The halves are random and exact: the observed one takes
    the odd token.

    Parameters
    ----------
    counts, topics, alpha, random_state, n_jobs, progress, backend
        As in `chib`.
    hidden : (documents, words) matrix, optional
        Then ``counts`` are the observed tokens, and nothing is random.
    n_repeats : int, default=1
        Random splits; the result is their mean.

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
    given, sums = inputs.as_topics(topics)
    prior = inputs.as_alpha(alpha, given.shape[0])
    n_repeats, n_iter = inputs.positive(n_repeats, "n_repeats"), inputs.positive(n_iter, "n_iter")
    n_threads, module = threads.n_threads(n_jobs), kernels.get("likelihood", backend)
    documents, seen = inputs.as_counts(counts), None
    if hidden is not None:
        documents, seen = _together(inputs.as_counts(counts, "counts", True), hidden)
        n_repeats = 1
    inputs.check_fit(documents, given)
    seed, n_documents = inputs.seed_of(random_state), documents.shape[0]
    scores, n_tokens = np.empty((n_repeats, n_documents)), np.empty(n_documents, np.int64)
    for block in blocks(documents, given, sums, 2 * given.shape[0]):
        keys, here = (
            inputs.stream_keys(seed, block.first, block.last),
            slice(block.first, block.last),
        )
        for repeat in range(n_repeats):
            if seen is None:
                observed = observed_halves(block.indptr, block.counts, keys, repeat, module)
            else:
                first = documents.indptr[block.first]
                observed = seen[first : first + block.counts.size]
            unseen = block.counts - observed
            theta = _theta(block, observed, prior, n_iter, tol, n_threads, backend)
            scores[repeat, here] = _score(block, unseen, theta, n_threads, module)
            n_tokens[here] = block.total(unseen)
            if progress is not None:
                done = block.first * n_repeats + block.size * (repeat + 1)
                progress(done // n_repeats, n_documents)
    if not n_tokens.any():
        raise ValueError("no document has two tokens, so that no half can be hidden")
    variance = None if hidden is None else np.zeros(n_documents)
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
    """Log-likelihood of hidden tokens given the documents' topics, from whatever inference.

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
        Nothing is random: ``standard_error`` is 0.

    Examples
    --------
    >>> result = completion_from([[0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]], [[3, 1]])
    >>> bool(np.isclose(result.per_word, np.log(0.5)))
    True
    """
    given, sums = inputs.as_topics(topics)
    documents = inputs.as_counts(hidden, "hidden")
    inputs.check_fit(documents, given, "hidden")
    weights, theta_sums = inputs.as_topics(theta, "theta")
    if weights.shape != (documents.shape[0], given.shape[0]):
        raise ValueError(
            f"theta must be documents x topics, {documents.shape[0]} x {given.shape[0]}, "
            f"got shape {weights.shape}"
        )
    n_threads, module = threads.n_threads(n_jobs), kernels.get("likelihood", backend)
    scores, n_tokens = np.empty(documents.shape[0]), np.empty(documents.shape[0], np.int64)
    for block in blocks(documents, given, sums, given.shape[0]):
        here = slice(block.first, block.last)
        mine = weights[here] / theta_sums[here, np.newaxis]
        scores[here] = _score(block, block.counts, mine, n_threads, module)
        n_tokens[here] = block.n_tokens
    return HeldOut("completion", scores, n_tokens, np.zeros(scores.size))


def split_tokens(
    counts: Any, random_state: Any = None, *, backend: str = "compiled"
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Split each document's tokens at random into two halves; the first takes the odd one.

    Time grows with the number of different words, whatever their counts.

    A document's halves depend on its number and the seed, not on the other documents. `completion`
    with the same seed takes the same halves.

    Parameters
    ----------
    counts : (documents, words) matrix, dense or sparse
        Whole numbers.
    random_state : int, generator or None

    Returns
    -------
    observed, hidden : (documents, words) CSR arrays
        Their sum is ``counts``; neither shares memory with it.

    Examples
    --------
    >>> observed, hidden = split_tokens([[2, 0, 3], [0, 1, 0]], 0)
    >>> observed.sum(axis=1).tolist(), hidden.sum(axis=1).tolist()
    ([3, 1], [2, 0])
    >>> (observed + hidden).toarray().tolist()
    [[2, 0, 3], [0, 1, 0]]
    """
    documents = inputs.as_counts(counts)
    keys = inputs.stream_keys(inputs.seed_of(random_state), 0, documents.shape[0])
    indptr = documents.indptr.astype(np.int64)
    module = kernels.get("likelihood", backend)
    observed = observed_halves(indptr, documents.data, keys, 0, module)
    halves = []
    for data in (observed, documents.data - observed):
        arrays = (data, documents.indices.copy(), documents.indptr.copy())
        half = sparse.csr_array(arrays, shape=documents.shape)
        half.eliminate_zeros()
        halves.append(half)
    return halves[0], halves[1]


def _theta(
    block: Block,
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
    gamma = alpha + (n_tokens / n_topics)[:, np.newaxis]
    counts, ratio = observed.astype(np.float64), np.empty(observed.size)
    theta, factor = np.empty((block.size, block.table.shape[1])), np.ones(n_topics)
    arrays = (block.indptr, block.ids, counts, block.table, factor, alpha, gamma, theta, ratio)
    settings = (False, lda.ALL_TOPICS, n_iter, tol, False)
    block.share(lambda start, stop: local(*arrays, *settings, start, stop), n_threads)
    return np.asarray(gamma / gamma.sum(axis=1, keepdims=True))


def _score(
    block: Block, counts: Array, theta: Array, n_threads: int, module: ModuleType
) -> NDArray[np.float64]:
    """(B,) sum_w m_dw log sum_k theta_dk beta_kw."""
    scores = np.empty(block.size)
    arrays = (block.indptr, block.ids, counts, block.table, theta, scores)
    block.share(lambda start, stop: module.mixture_score(*arrays, start, stop), n_threads)
    return scores + block.offset(counts)


def _together(observed: sparse.csr_array, hidden: Any) -> tuple[sparse.csr_array, Array]:
    """observed + hidden, and the observed part of its entries."""
    unseen = inputs.as_counts(hidden, "hidden")
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
