"""Products of a mixture's batch with its parameters, in blocks of data points.

In an exponential family both halves of a mixture's step are matrix products (supplement 4):

    scores    E_q[log pi_k] + E_q[t(beta_k)]' f(x_n)        phi = softmax over k
    moments   sum_n phi_nk f(x_n)

Data points are taken in blocks whose size depends only on the number of features, the last one
filled up with zeros, BLAS runs on one thread in each, and sums over blocks are taken in order.
So a row of phi is the same whatever else is in the batch, and everything is the same bit for bit
whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import NamedTuple, Protocol

import numpy as np

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.kernels import threads

# Data points in a block, and about how many numbers its features and its moments may hold. Batch
# sizes are often multiples of 100, and then nothing has to be filled up.
_MOST_ROWS = 100
_LEAST_ROWS = 10
_BLOCK_NUMBERS = 2**21
_PARTIAL_NUMBERS = 2**22
_MOST_PARTIALS = 8
# Products with fewer multiplications (about a millisecond) are not worth waking more threads for.
_LEAST_WORK = 2**24


class Features(Protocol):
    """f(x_n) of the B data points of a batch."""

    @property
    def size(self) -> int:
        """B."""

    @property
    def n_columns(self) -> int:
        """F, the number of features."""

    def block(self, start: int, stop: int) -> Array:
        """Features of the points start:stop, then zeros: (block_rows(F), F), contiguous."""


class Scores(NamedTuple):
    """Linear functions of the features: weights (K, F), constants (K,) in float64."""

    weights: Array
    constants: Float64


class ComponentMoments(NamedTuple):
    """sum_n phi_nk (K,) in float64 and sum_n phi_nk f(x_n) (K, F) in the features' type."""

    counts: Float64
    sums: Array


def block_rows(n_columns: int) -> int:
    """Data points in a block of features with so many columns.

    >>> block_rows(784), block_rows(10**6)
    (100, 10)
    """
    return min(_MOST_ROWS, max(_LEAST_ROWS, _BLOCK_NUMBERS // n_columns))


def worthwhile(n_multiplications: int, n_threads: int) -> int:
    """`n_threads`, or 1 if there is little to do.

    >>> worthwhile(1000, 4), worthwhile(10**9, 4)
    (1, 4)
    """
    return n_threads if n_multiplications >= _LEAST_WORK else 1


def parts(features: Features) -> list[threads.Part]:
    """The blocks of a batch, as ranges of data points."""
    return threads.split(features.size, block_rows(features.n_columns))


def padded(rows: Array, multiple: int, dtype: str) -> Array:
    """`rows` in `dtype`, with zeros added to make their number a multiple of `multiple`.

    >>> padded(np.ones((1, 2)), 2, "float32")
    array([[1., 1.],
           [0., 0.]], dtype=float32)
    """
    n_rows = -(-rows.shape[0] // multiple) * multiple
    if n_rows == rows.shape[0]:
        return np.ascontiguousarray(rows, dtype=dtype)
    result = np.empty((n_rows, rows.shape[1]), dtype=dtype)
    result[: rows.shape[0]] = rows
    result[rows.shape[0] :] = 0
    return result


@cache
def mixture_kernels(backend: str) -> ModuleType:
    """The mixtures' kernels of that backend."""
    # A step makes and drops arrays of a few hundred kilobytes. The C library gives such memory
    # back to the system each time, to be handed out again page by page, until it has seen a
    # larger array dropped: this one, which is never written to.
    np.empty(2**21)
    return kernels.get("mixture", backend)


def assign(
    features: Features, scores: Scores, backend: str, n_threads: int
) -> tuple[Array, ComponentMoments]:
    """phi (B, K), of the weights' type, and the moments under it."""
    weights, n_components = scores.weights, scores.constants.size
    constants = scores.constants.astype(weights.dtype)
    softmax = mixture_kernels(backend).softmax
    n_rows = block_rows(features.n_columns)
    # Whole blocks, so that every product has the same shape.
    phi = np.empty((-(-features.size // n_rows) * n_rows, n_components), dtype=weights.dtype)

    def belief(block: Array, counts: Float64, start: int, stop: int) -> Array:
        np.matmul(block, weights.T, out=phi[start : start + n_rows])
        softmax(phi, constants, counts, start, stop)
        return phi[start:stop]

    return phi[: features.size], _moments(features, belief, n_components, n_threads)


def moments(features: Features, phi: Float64, n_threads: int) -> ComponentMoments:
    """The moments under the given phi (B, K)."""

    def belief(block: Array, counts: Float64, start: int, stop: int) -> Array:
        np.sum(phi[start:stop], axis=0, out=counts)
        return phi[start:stop].astype(block.dtype)

    return _moments(features, belief, phi.shape[1], n_threads)


def totals(features: Features, n_threads: int) -> Array:
    """sum_n f(x_n), shape (F,)."""

    def belief(block: Array, counts: Float64, start: int, stop: int) -> Array:
        return np.ones((stop - start, 1), dtype=block.dtype)

    return np.asarray(_moments(features, belief, 1, n_threads).sums[0])


def _moments(
    features: Features,
    belief: Callable[[Array, Float64, int, int], Array],
    n_components: int,
    n_threads: int,
) -> ComponentMoments:
    """The moments under phi[start:stop] = belief(block, counts, start, stop).

    `belief` also writes sum_n phi_nk of its block to counts (K,).
    """
    n_columns = features.n_columns
    n_rows = block_rows(n_columns)
    blocks = parts(features)
    counts = np.zeros((len(blocks), n_components))

    def work(start: int, stop: int) -> Array:
        block = features.block(start, stop)
        phi = belief(block, counts[start // n_rows], start, stop)
        return np.asarray(np.matmul(phi.T, block[: stop - start]))

    n_threads = worthwhile(features.size * n_columns * n_components, n_threads)
    with threads.one_blas_thread():
        sums = ordered_sum(work, blocks, n_components * n_columns, n_threads)
    return ComponentMoments(counts.sum(axis=0), sums)


def ordered_sum(
    work: Callable[[int, int], Array], blocks: list[threads.Part], n_numbers: int, n_threads: int
) -> Array:
    """work(start, stop) summed over the blocks in their order, whichever thread does which.

    Args:
        n_numbers: about how many numbers a block's result has; memory for these bounds how many
            blocks are worked on between two additions.
    """
    if not blocks:
        raise ValueError("a batch needs at least one data point, got an empty one")
    n_partials = max(1, min(_MOST_PARTIALS, _PARTIAL_NUMBERS // n_numbers))
    partials: dict[int, Array] = {}

    def keep(start: int, stop: int) -> None:
        partials[start] = work(start, stop)

    total: Array | None = None
    for first in range(0, len(blocks), n_partials):
        wave = blocks[first : first + n_partials]
        threads.run(keep, wave, n_threads)
        for start, _ in wave:
            part = partials.pop(start)
            total = part if total is None else np.add(total, part, out=total)
    return np.asarray(total)


def log_scores(features: Features, scores: Scores, n_threads: int) -> Float64:
    """The scores themselves, (B, K) in float64."""
    values = np.empty((features.size, scores.constants.size))

    def work(start: int, stop: int) -> None:
        block = np.matmul(features.block(start, stop), scores.weights.T)
        np.add(block[: stop - start], scores.constants, out=values[start:stop])

    n_threads = worthwhile(scores.weights.size * features.size, n_threads)
    with threads.one_blas_thread():
        threads.run(work, parts(features), n_threads)
    return values


def log_sum(values: Float64) -> Float64:
    """log sum_k exp(values_nk), shape (B,).

    >>> log_sum(np.zeros((1, 4))) == np.log(4)
    array([ True])
    """
    top = values.max(axis=1)
    return np.asarray(top + np.log(np.exp(values - top[:, None]).sum(axis=1)))
