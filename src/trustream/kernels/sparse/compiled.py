"""Whether the arrays of a CSR matrix fit together, in Numba; the twin is in `reference`."""

# Bodies are typed by Numba, per dtype.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
from __future__ import annotations

from trustream.kernels import elementary
from trustream.kernels.jit import njit


@njit(**elementary.KERNEL)
def first_fault(indptr, indices, n_columns):
    """(row, place, canonical): the first row that nothing may read, or -1.

    A row is sound if its entries, indptr[row] up to indptr[row + 1], are among those that there
    are, not before those of the last row, and have columns from 0 to n_columns - 1. `place` is the
    entry with a wrong column, or -1 if indptr is wrong. `canonical` says whether the columns of
    every row rise, so that no place is there twice; it is false if there is a fault.

    indptr (n_rows + 1,) is int64; indices int32 or int64.
    """
    if indptr[0] != 0:
        return 0, -1, False
    n_sound = indptr.size - 1
    for row in range(indptr.size - 1):
        if indptr[row + 1] < indptr[row] or indptr[row + 1] > indices.size:
            n_sound = row
            break
    # Over all rows at once and without a way out, so that the loops are vectorised.
    n_entries = indptr[n_sound]
    least, most, n_falls = 0, 0, 0
    for p in range(n_entries):
        least, most = min(least, indices[p]), max(most, indices[p])
    for p in range(n_entries - 1):
        n_falls += indices[p] >= indices[p + 1]
    if least < 0 or most >= n_columns:
        for row in range(n_sound):
            for p in range(indptr[row], indptr[row + 1]):
                if indices[p] < 0 or indices[p] >= n_columns:
                    return row, p, False
    if n_sound < indptr.size - 1:
        return n_sound, -1, False
    # Where a row begins, columns may fall.
    for row in range(n_sound):
        begin = indptr[row]
        if 0 < begin < indptr[row + 1]:
            n_falls -= indices[begin - 1] >= indices[begin]
    return -1, -1, n_falls == 0
