"""Kernels of LDA for documents that are left out of the counts they helped to make, in Numba."""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,untyped-decorator"
from __future__ import annotations

import numpy as np

from trustream.kernels import elementary
from trustream.kernels.jit import njit


@njit(**elementary.KERNEL)
def leave_out(indptr, ids, put_in, weights, rows, level, extra, kept, sums, start, stop):
    """Counts of topics and words without each of the documents, for documents [start, stop).

    A document d puts put_in_i phi_ik into its pair i, of word w, with phi_ik proportional to
    weights_dk rows_wk, and put_in_i extra_wk on top, but no more than is there:

        there_wk = max(rows_wk - level_w, 0)
        taken_ik = min(put_in_i (phi_ik + extra_wk), there_wk)
        kept_ik = there_wk - taken_ik.

    rows (W, K); level (1,) or (W,); extra (W, K), or (0, 0) for none. sums (D, 2, K) are those of
    taken_ik and of kept_ik over the pairs of a document, in float64.
    """
    n_topics, kind = rows.shape[1], rows.dtype.type
    zero, has_extra = kind(0), extra.size > 0
    for d in range(start, stop):
        # A loop: an assignment to a slice takes longer to compile than the rest.
        for k in range(n_topics):
            sums[d, 0, k] = sums[d, 1, k] = 0.0
        for i in range(indptr[d], indptr[d + 1]):
            w = ids[i]
            total = zero
            for k in range(n_topics):
                total += weights[d, k] * rows[w, k]
            factor = kind(put_in[i] / total) if total > 0 else zero
            low = level[min(w, level.size - 1)]
            for k in range(n_topics):
                there = max(rows[w, k] - low, zero)
                share = factor * weights[d, k] * rows[w, k]
                if has_extra:
                    share += put_in[i] * extra[w, k]
                taken = min(share, there)
                kept[i, k] = there - taken
                sums[d, 0, k] += np.float64(taken)
                sums[d, 1, k] += np.float64(there - taken)


@njit(**elementary.KERNEL)
def weighted_sums(rows, weights, documents, values):
    """values_i = sum_k rows_ik weights_dk of document d = documents_i; rows (nnz, K)."""
    for i in range(documents.size):
        d = documents[i]
        value = rows.dtype.type(0)
        for k in range(rows.shape[1]):
            value += rows[i, k] * weights[d, k]
        values[i] = value
