"""Split the tokens of documents at random into an observed and a hidden half."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trustream import kernels
from trustream.array_types import Array
from trustream.evaluation import validation

# The tokens of a document up to this long are drawn one by one, which is quick, and which keeps
# the halves that a seed has always given. A longer document may have billions.
MAX_DRAWN_ONE_BY_ONE = 2**17


def split_tokens(
    counts: Any, random_state: Any = None, *, backend: str = "compiled"
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Split each document's tokens at random into two halves; the first takes the odd one.

    A document's halves depend on its index and the seed, not on the other documents, and
    `completion` with the same seed uses the same halves. The time grows with the number of
    distinct words, not with their counts.

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
    documents = validation.as_counts(counts)
    keys = validation.stream_keys(validation.seed_of(random_state), 0, documents.shape[0])
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


def observed_halves(
    indptr: Array, counts: Array, keys: Array, repeat: int, module: ModuleType
) -> NDArray[np.int64]:
    """Return the counts (nnz,) of a random half of each document's tokens.

    The half takes the odd token. All halves of a document are equally likely, and which one is
    drawn depends only on the document, its key and `repeat`.

    Args:
        indptr, counts: documents in CSR form, whole numbers.
        keys: (B,), from `validation.stream_keys`.
        repeat: the index of the split, for several splits of the same documents.
        module: kernels of the likelihood.

    >>> module = kernels.get("likelihood", "reference")
    >>> keys = np.array([7, 8], dtype=np.uint64)
    >>> counts = np.array([2**31 - 1, 2**31 - 1, 3])
    >>> half = observed_halves(np.array([0, 2, 3]), counts, keys, 0, module)
    >>> int(half[:2].sum()), int(half[2])
    (2147483647, 2)
    """
    ends = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    long = np.flatnonzero(ends[indptr[1:]] - ends[indptr[:-1]] > MAX_DRAWN_ONE_BY_ONE)
    short = counts if not long.size else counts.copy()
    for d in long:
        short[indptr[d] : indptr[d + 1]] = 0
    observed = np.empty_like(counts)
    module.split_tokens(indptr, short, keys, repeat, observed, 0, indptr.size - 1)
    for d in long:
        words = slice(indptr[d], indptr[d + 1])
        observed[words] = _random_half(counts[words], np.random.default_rng([int(keys[d]), repeat]))
    return observed


def _random_half(counts: Array, rng: np.random.Generator) -> Array:
    """Counts (W,) of a random half of a document's tokens, by binomial draws for each word.

    Each token is taken with probability one half. The result is too large or too small by about
    the square root of the number of tokens; that many are put back, or taken from the rest, in
    the same way, until the number is exact. Every step treats all tokens alike, so all halves are
    equally likely.
    """
    observed = np.zeros_like(counts)
    missing = (int(counts.sum()) + 1) // 2
    while missing:
        pool = counts - observed if missing > 0 else observed
        moved = rng.binomial(pool, abs(missing) / pool.sum())
        observed = observed + moved if missing > 0 else observed - moved
        missing = (int(counts.sum()) + 1) // 2 - int(observed.sum())
    return observed
