"""Data points of a mixture of Bernoullis, and the products that a step takes with them.

Rows of which at most a third is not zero are kept as CSR, and their products cost as much as
they have entries; the other rows are kept dense and go through matrix products
(`feature_blocks`). Which it is depends on the entries of a row alone, so its phi is the same in
any batch, and whether the data came dense or as CSR.

Parameters have a row for each feature: `weights` are (D, width), K filled up to whole vectors of
the compiled kernels (`pad`), and sums over data points are (D, K).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.kernels import LANES, threads
from trustream.models.mixture import feature_blocks
from trustream.models.mixture.feature_blocks import ComponentMoments, Scores
from trustream.models.protocol import Rows

Which = slice | NDArray[np.intp]

# Data points that share their sums: fixed, so that threads do not change a result.
_BLOCK = 256
_LARGEST_DENSITY = 1 / 3
# What dense data may be made of (`numpy.dtype.char`) without a copy.
_KERNEL_TYPES = "bBhHiIlLfd"
# An entry of a CSR row takes the time of so many multiplications of a matrix product.
_ENTRY_WORK = 4


class SparseRows(NamedTuple):
    """CSR rows, and which rows of the batch they are."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: Array
    which: Which

    @property
    def size(self) -> int:
        """Number of rows."""
        return self.indptr.size - 1

    @property
    def data(self) -> tuple[Array, Array, Array]:
        """(indptr, indices, values)."""
        return self[:3]


class DenseRows(NamedTuple):
    """Dense rows, zeros after them to make whole blocks, and which rows of the batch they are."""

    values: Array
    size: int
    which: Which

    @property
    def n_columns(self) -> int:
        """D."""
        return int(self.values.shape[1])

    def block(self, start: int, stop: int) -> Array:
        """Rows start:stop, then zeros."""
        return self.values[start : start + feature_blocks.block_rows(self.n_columns)]


@dataclass(frozen=True, eq=False)
class BernoulliBatch:
    """B data points of D features; either part may be missing."""

    size: int
    n_features: int
    sparse: SparseRows | None
    dense: DenseRows | None


def pad(n_components: int) -> int:
    """K filled up to whole vectors.

    >>> pad(40), pad(41)
    (40, 48)
    """
    return -(-n_components // LANES) * LANES


def batch_of(data: Any, rows: Rows | slice, dtype: str, backend: str) -> BernoulliBatch:
    """Rows of data (N, D), dense or CSR, as a batch.

    >>> x = np.array([[0, 0, 0, 1], [1, 1, 1, 1]])
    >>> batch = batch_of(x, slice(None), "float32", "reference")
    >>> batch.sparse.which, batch.dense.which
    (array([0]), array([1]))
    """
    d = data.shape[1]
    if sparse.issparse(data):
        chosen = _canonical(data[rows])
        rows = np.arange(chosen.shape[0])
        indptr, indices = chosen.indptr.astype(np.int64), chosen.indices.astype(np.int32)
        found = SparseRows(indptr, indices, chosen.data.astype(dtype), slice(0, rows.size))
    else:
        chosen = data
        rows = np.arange(data.shape[0])[rows] if isinstance(rows, slice) else rows
        found = _compressed(data, rows, dtype, backend)
    n_entries = found.indptr[1:] - found.indptr[:-1]
    is_dense = n_entries > _LARGEST_DENSITY * d
    if not is_dense.any():
        return BernoulliBatch(rows.size, d, found, None)
    which, light = np.flatnonzero(is_dense), np.flatnonzero(~is_dense)
    full = chosen[rows[which]]
    full = full.toarray() if sparse.issparse(full) else full
    values = feature_blocks.padded(full, feature_blocks.block_rows(d), dtype)
    if light.size == 0:
        every = DenseRows(values, rows.size, slice(0, rows.size))
        return BernoulliBatch(rows.size, d, None, every)
    dense = DenseRows(values, which.size, which)
    n_all = int(found.indptr[-1])
    kept = np.repeat(~is_dense, n_entries)
    indptr = np.concatenate([[0], np.cumsum(n_entries[light])])
    part = SparseRows(indptr, found.indices[:n_all][kept], found.values[:n_all][kept], light)
    return BernoulliBatch(rows.size, d, part, dense)


def _canonical(rows: Any) -> Any:
    """CSR with sorted indices and no stored zeros, so that equal rows look the same."""
    rows = rows.tocsr()
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def _compressed(data: Array, rows: Rows, dtype: str, backend: str) -> SparseRows:
    """Rows of dense data as CSR."""
    d = data.shape[1]
    if data.dtype == np.bool_:
        data = data.view(np.uint8)
    known = data.dtype.char in _KERNEL_TYPES
    if not known or not data.flags.c_contiguous or d * data.itemsize % 8:
        # The kernel wants whole words, one row after the other.
        whole = np.zeros((rows.size, -(-d // 8) * 8), dtype=data.dtype if known else dtype)
        whole[:, :d] = data[rows]
        data, rows = whole, np.arange(rows.size)
    # Memory that is not written to costs nothing.
    n_most = rows.size * data.shape[1] + 1
    indptr = np.empty(rows.size + 1, dtype=np.int64)
    indices, values = np.empty(n_most, dtype=np.int32), np.empty(n_most, dtype=dtype)
    kernels.get("mixture", backend).compress(data, rows, indptr, indices, values)
    return SparseRows(indptr, indices, values, slice(0, rows.size))


def assign(
    batch: BernoulliBatch, scores: Scores, backend: str, n_threads: int
) -> tuple[Array, ComponentMoments]:
    """phi (B, K) = softmax(x weights + constants), and sum_n phi_n and sum_n x_n phi_n' (D, K+)."""
    weights, n_components = scores.weights, scores.constants.size
    phi = np.empty((batch.size, n_components), dtype=weights.dtype)
    counts, sums = np.zeros(n_components), np.zeros((0, 0))
    if batch.sparse is not None:
        mine, counts, sums = _assign_sparse(batch.sparse, scores, backend, n_threads)
        phi[batch.sparse.which] = mine
        if batch.dense is None:
            return mine, ComponentMoments(counts, sums)
    if batch.dense is not None:
        linear = Scores(weights[:, :n_components].T, scores.constants)
        mine, (counts2, sums2) = feature_blocks.assign(batch.dense, linear, backend, n_threads)
        phi[batch.dense.which] = mine
        counts, sums = counts + counts2, sums2.T + (sums[:, :n_components] if sums.size else 0)
    return phi, ComponentMoments(counts, sums)


def _assign_sparse(
    rows: SparseRows, scores: Scores, backend: str, n_threads: int
) -> tuple[Array, Float64, Array]:
    kernel = feature_blocks.mixture_kernels(backend)
    weights, constants = scores.weights, scores.constants.astype(scores.weights.dtype)
    phi = np.empty((rows.size, constants.size), dtype=weights.dtype)
    blocks = threads.split(rows.size, _BLOCK)
    counts = np.empty((len(blocks), constants.size))

    def work(start: int, stop: int) -> Array:
        sums = np.empty_like(weights)
        kernel.products(*rows.data, weights, phi, start, stop)
        kernel.softmax(phi, constants, counts[start // _BLOCK], start, stop)
        kernel.moments(*rows.data, phi, sums, start, stop)
        return sums

    n_threads = _worthwhile(rows, constants.size, n_threads)
    sums = feature_blocks.ordered_sum(work, blocks, weights.size, n_threads)
    return phi, counts.sum(axis=0), sums


def moments(batch: BernoulliBatch, phi: Float64, dtype: str, backend: str, n_threads: int) -> Array:
    """sum_n x_n phi_n' for the given phi (B, K): (D, K), or with columns after those."""
    parts: list[Array] = []
    if batch.sparse is not None:
        rows, mine = batch.sparse, phi[batch.sparse.which].astype(dtype)
        kernel = kernels.get("mixture", backend).moments

        def work(start: int, stop: int) -> Array:
            sums = np.empty((batch.n_features, pad(phi.shape[1])), dtype=dtype)
            kernel(*rows.data, mine, sums, start, stop)
            return sums

        blocks = threads.split(rows.size, _BLOCK)
        n_numbers = batch.n_features * pad(phi.shape[1])
        n_used = _worthwhile(rows, phi.shape[1], n_threads)
        parts.append(feature_blocks.ordered_sum(work, blocks, n_numbers, n_used))
    if batch.dense is not None:
        given = phi[batch.dense.which]
        parts.append(feature_blocks.moments(batch.dense, given, n_threads).sums.T)
    if not parts:
        raise ValueError("a batch needs at least one data point, got an empty one")
    if len(parts) == 1:
        return parts[0]
    return np.asarray(parts[0][:, : phi.shape[1]] + parts[1])


def totals(batch: BernoulliBatch, backend: str, n_threads: int) -> Float64:
    """sum_n x_n, shape (D,)."""
    sums = np.zeros(batch.n_features)
    if batch.sparse is not None:
        n_all = int(batch.sparse.indptr[-1])
        kernel = kernels.get("mixture", backend).totals
        kernel(batch.sparse.indices[:n_all], batch.sparse.values[:n_all], sums)
    if batch.dense is not None:
        sums += feature_blocks.totals(batch.dense, n_threads)
    return sums


def log_scores(batch: BernoulliBatch, scores: Scores, backend: str, n_threads: int) -> Float64:
    """x weights + constants, (B, K) in float64."""
    weights, n_components = scores.weights, scores.constants.size
    values = np.empty((batch.size, n_components))
    if batch.sparse is not None:
        rows = batch.sparse
        out = np.empty((rows.size, n_components), dtype=weights.dtype)
        kernel = kernels.get("mixture", backend).products

        def work(start: int, stop: int) -> None:
            kernel(*rows.data, weights, out, start, stop)

        n_used = _worthwhile(rows, n_components, n_threads)
        threads.run(work, threads.split(rows.size, _BLOCK), n_used)
        values[rows.which] = out + scores.constants
    if batch.dense is not None:
        linear = Scores(weights[:, :n_components].T, scores.constants)
        values[batch.dense.which] = feature_blocks.log_scores(batch.dense, linear, n_threads)
    return values


def _worthwhile(rows: SparseRows, n_components: int, n_threads: int) -> int:
    n_entries = int(rows.indptr[-1])
    return feature_blocks.worthwhile(_ENTRY_WORK * n_entries * n_components, n_threads)
