"""Whether the arrays of a CSR matrix fit together, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def first_fault(indptr: Array, indices: Array, n_columns: int) -> tuple[int, int, bool]:
    """(row, place, canonical): the first row that nothing may read, or -1.

    A row is sound if its entries, indptr[row] up to indptr[row + 1], are among those that there
    are, not before those of the last row, and have columns from 0 to n_columns - 1. `place` is the
    entry with a wrong column, or -1 if indptr is wrong. `canonical` says whether the columns of
    every row rise, so that no place is there twice; it is false if there is a fault.

    >>> first_fault(np.array([0, 1, 3]), np.array([0, 1, 7]), 2)
    (1, 2, False)
    """
    if indptr[0] != 0:
        return 0, -1, False
    wrong = np.flatnonzero((indptr[1:] < indptr[:-1]) | (indptr[1:] > indices.size))
    n_sound = int(wrong[0]) if wrong.size else indptr.size - 1
    entries = indices[: indptr[n_sound]]
    outside = np.flatnonzero((entries < 0) | (entries >= n_columns))
    if outside.size:
        row = np.searchsorted(indptr[: n_sound + 1], outside[0], side="right") - 1
        return int(row), int(outside[0]), False
    if wrong.size:
        return n_sound, -1, False
    rises = entries[1:] > entries[:-1]
    begins = indptr[1:-1]
    # Where a row begins, nothing need rise.
    rises[begins[(begins > 0) & (begins < entries.size)] - 1] = True
    return -1, -1, bool(rises.all())
