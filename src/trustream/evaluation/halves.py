"""Random halves of documents, in time that does not grow with how often a word occurs."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The tokens of a document up to this long are taken one by one, which is quick, and which keeps the
# halves that a seed has always given. A longer one may have billions.
MAX_WALKED = 2**17


def observed_halves(
    indptr: Array, counts: Array, keys: Array, repeat: int, kernels: ModuleType
) -> NDArray[np.int64]:
    """Counts (nnz,) of a random half of each document's tokens, which takes the odd one.

    Every half of a document is as likely as any other. It depends on the document, its key and
    `repeat` alone.

    Args:
        indptr, counts: documents as CSR, whole numbers.
        keys: (B,), from `inputs.stream_keys`.
        repeat: which of several halves.
        kernels: those of the likelihood.

    >>> from trustream.kernels.likelihood import reference
    >>> keys = np.array([7, 8], dtype=np.uint64)
    >>> counts = np.array([2**31 - 1, 2**31 - 1, 3])
    >>> half = observed_halves(np.array([0, 2, 3]), counts, keys, 0, reference)
    >>> int(half[:2].sum()), int(half[2])
    (2147483647, 2)
    """
    ends = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    long = np.flatnonzero(ends[indptr[1:]] - ends[indptr[:-1]] > MAX_WALKED)
    walked = counts if not long.size else counts.copy()
    for d in long:
        walked[indptr[d] : indptr[d + 1]] = 0
    observed = np.empty_like(counts)
    kernels.split_tokens(indptr, walked, keys, repeat, observed, 0, indptr.size - 1)
    for d in long:
        words = slice(indptr[d], indptr[d + 1])
        observed[words] = _half(counts[words], np.random.default_rng([int(keys[d]), repeat]))
    return observed


def _half(counts: Array, rng: np.random.Generator) -> Array:
    """Counts (W,) of a random half of a document's tokens.

    Each token is taken with probability one half, by a binomial draw for each word. That is too
    many or too few by about the square root of their number; so many are put back, or taken from
    the rest, in the same way, until it is none. No step treats a token otherwise than another, so
    that all halves are as likely.
    """
    observed = np.zeros_like(counts)
    missing = (int(counts.sum()) + 1) // 2
    while missing:
        pool = counts - observed if missing > 0 else observed
        moved = rng.binomial(pool, abs(missing) / pool.sum())
        observed = observed + moved if missing > 0 else observed - moved
        missing = (int(counts.sum()) + 1) // 2 - int(observed.sum())
    return observed
