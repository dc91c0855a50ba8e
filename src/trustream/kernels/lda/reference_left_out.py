"""Kernels of LDA for documents that are left out of the counts they helped to make, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def leave_out(
    indptr: Array,
    ids: Array,
    put_in: Array,
    weights: Array,
    rows: Array,
    level: Array,
    extra: Array,
    kept: Array,
    sums: Array,
    start: int,
    stop: int,
) -> None:
    """kept = there - min(put_in (phi + extra), there), and the sums of what is taken and kept."""
    for d in range(start, stop):
        pairs = slice(indptr[d], indptr[d + 1])
        words, n_put_in = ids[pairs], put_in[pairs, np.newaxis]
        phi = weights[d] * rows[words]
        total = phi.sum(axis=1, keepdims=True)
        phi = np.divide(phi, total, out=np.zeros_like(phi), where=total > 0)
        if extra.size:
            phi = phi + extra[words]
        there = np.maximum(rows[words] - (level[words, np.newaxis] if level.size > 1 else level), 0)
        taken = np.minimum(n_put_in * phi, there)
        kept[pairs] = there - taken
        sums[d] = taken.sum(axis=0, dtype=np.float64), kept[pairs].sum(axis=0, dtype=np.float64)


def weighted_sums(rows: Array, weights: Array, documents: Array, values: Array) -> None:
    """values_i = sum_k rows_ik weights_dk of document d = documents_i."""
    values[:] = np.einsum("ij,ij->i", rows, weights[documents])
