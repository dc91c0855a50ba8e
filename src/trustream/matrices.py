"""Check matrices that users give, once, before anything reads them.

A sparse matrix is a few arrays that point into each other. SciPy does not look at all of them when
it makes one, and cannot know if they are changed later; its compiled functions and the kernels
here trust them, and read and write outside of arrays if they are wrong. `csr` is the edge: what
it returns can be trusted as long as nobody changes the arrays while a function works with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

from trustream import _sparse_formats, _texts
from trustream.array_types import Array

# Kernels number columns by int32.
MOST_COLUMNS = 2**31 - 1
# Most tokens L of a document. Up to here whole numbers and their sums are exact in float64, and
# what kernels compute in float32 stays below 3e38: the sum of squares of gamma's moves, which add
# up to 124 L at most where they are extrapolated (`kernels.lda.LONGEST_STRIDE`), below 2e36, and
# statistics scaled to as many as 1e22 documents below 1e38.
MOST_TOKENS = 2**53
# And of all documents: sums of whole numbers are int64.
_MOST_IN_ALL = 2**63 - 2**10
# With fewer tokens per document, rounding is not small against what is divided by their number.
_FEWEST_TOKENS = 1e-10

# By format, what SciPy saves of a matrix beside its shape and its data.
_SAVED = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "dia": ("offsets",),
    "coo": ("row", "col"),
}
_ADVICE = "make it again from its entries (SciPy's check_format() finds most such faults)"


def csr(matrix: Any, name: str = "X", *, summed: bool = False) -> sparse.csr_array:
    """Return a matrix as a CSR array whose arrays fit together; the given matrix is not changed.

    Arrays are shared with a CSR matrix where that is possible. Entries at the same place are
    allowed, and so are any order and zeros.

    Parameters
    ----------
    matrix : sparse matrix of any format, or array-like of shape (rows, columns)
    name : str, default="X"
        What to call it in an error.
    summed : bool, default=False
        Whether to add up entries at the same place, and sort those of a row.

    Raises
    ------
    ValueError
        Its arrays do not fit together, it has more than two dimensions or more than 2^31 - 1
        columns, its entries are no real numbers, or whole numbers at the same place have a sum
        that does not fit in 64 bits.

    Examples
    --------
    >>> matrix = sparse.csr_array(np.eye(3))
    >>> matrix.indices[1] = 7
    >>> csr(matrix)
    Traceback (most recent call last):
    ...
    ValueError: X is a damaged csr matrix: row 1 has column 7 (entry 1), expected 0 to 2; make it \
again from its entries (SciPy's check_format() finds most such faults)
    """
    if not sparse.issparse(matrix):
        return sparse.csr_array(_dense(matrix, name))
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} is a sparse array of shape {matrix.shape}, expected two dimensions: a row for "
            "each data point"
        )
    rows = _checked(matrix, name)
    return with_summed_entries(rows, name) if summed else rows


def from_parts(parts: Mapping[str, Any], name: str = "X") -> sparse.csr_array:
    """Return the matrix whose arrays are those that SciPy's `save_npz` writes.

    Parameters
    ----------
    parts : mapping
        Has the arrays "shape" and "data" and, by its "format", the others; without a format it is
        CSR, with "indices" and "indptr".
    name : str, default="X"
        What to call it in an error.

    Raises
    ------
    ValueError
        As for `csr`, or an array is missing.

    Examples
    --------
    >>> eye = sparse.csr_array(np.eye(2))
    >>> parts = {"data": eye.data, "indices": eye.indices, "indptr": eye.indptr, "shape": (2, 2)}
    >>> from_parts(parts).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    saved = np.asarray(parts.get("format", "csr"))
    format = saved.item() if saved.size == 1 else saved.tolist()
    format = format.decode("latin-1") if isinstance(format, bytes) else format
    if not isinstance(format, str) or format not in _SAVED:
        raise ValueError(f"{name} has the format {format!r}, expected one of {(*_SAVED,)}")
    shape = np.asarray(parts["shape"])
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or shape.min() < 0:
        raise ValueError(f"{name} has the shape {shape.tolist()}, expected two whole numbers")
    names = ("coords",) if format == "coo" and "coords" in parts else _SAVED[format]
    missing = [part for part in ("data", *names) if part not in parts]
    if missing:
        raise ValueError(f"{name} lacks the arrays {missing} of a {format} matrix")
    arrays = {part: parts[part] for part in ("data", *names)}
    if "row" in arrays:
        arrays["coords"] = (arrays.pop("row"), arrays.pop("col"))
    rows, columns = shape.tolist()
    return _checked(SimpleNamespace(format=format, shape=(rows, columns), **arrays), name)


def check_frame(frame: Any, name: str = "X") -> None:
    """Refuse a pandas frame with damaged sparse columns; anything else passes.

    Examples
    --------
    >>> check_frame([[1, 2]])
    """
    kinds = getattr(frame, "dtypes", None)
    if getattr(frame, "ndim", 0) != 2 or kinds is None or not hasattr(frame, "iloc"):
        return
    for column, kind in enumerate(kinds):
        if type(kind).__name__ != "SparseDtype":
            continue
        if not _is_sound(frame.iloc[:, column].array, len(frame)):
            raise ValueError(
                f"column {column} of {name} is a damaged sparse column: the places of its values "
                "do not fit; make it again from its values"
            )


def with_summed_entries(rows: sparse.csr_array, name: str = "X") -> sparse.csr_array:
    """Return a CSR array that was checked with its columns in order and each place once.

    Small whole numbers are added as int64; truths stay truths, as everywhere in SciPy. Sums that
    do not fit are refused.

    Examples
    --------
    >>> twice = sparse.csr_array((np.ones(3), [1, 0, 1], [0, 3]), shape=(1, 2))
    >>> with_summed_entries(twice).data
    array([1., 2.])
    """
    if not rows.has_canonical_format:
        # The next works in place, and the arrays may be the caller's.
        rows = rows.astype(_sparse_formats.wide(rows.dtype), copy=True)
        if _sparse_formats.may_wrap(rows.data):
            places = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
            try:
                _sparse_formats.check_sums(rows.data, places, rows.indices)
            except _sparse_formats.NotNumbers as error:
                raise ValueError(f"{name} has {error}") from None
        rows.sum_duplicates()
    return rows


def without_zeros(rows: sparse.csr_array) -> sparse.csr_array:
    """Return a CSR array that was checked without the zeros that it stores.

    Examples
    --------
    >>> without_zeros(sparse.csr_array((np.array([1.0, 0.0]), [0, 1], [0, 2]), shape=(1, 2))).nnz
    1
    """
    if not rows.data.all():
        rows = rows.copy()  # the next works in place, and the arrays may be the caller's
        rows.eliminate_zeros()
    return rows


def check_tokens(counts: sparse.csr_array, name: str = "X", row: str = "document") -> None:
    """Refuse documents with more tokens than `MOST_TOKENS`; counts are finite and not negative.

    A token is what a count counts; `row` says what a row is called in an error.

    Examples
    --------
    >>> check_tokens(sparse.csr_array([[1.0, 2.0], [1e30, 0.0]]))
    Traceback (most recent call last):
    ...
    ValueError: document 1 of X has 1e+30 tokens, at most 2^53 (about 9e15) fit: look for extreme \
values, or scale the counts down
    """
    # As good as always the largest count tells.
    if counts.data.max(initial=0) <= MOST_TOKENS / max(counts.data.size, 1):
        return
    with np.errstate(over="ignore"):
        total = float(counts.data.sum(dtype=np.float64))
        if total <= MOST_TOKENS:
            return
        lengths = np.asarray(counts.astype(np.float64).sum(axis=1)).ravel()
    longest = int(lengths.argmax())
    if not lengths[longest] <= MOST_TOKENS:
        raise ValueError(
            f"{row} {longest} of {name} has {lengths[longest]:g} tokens, at most 2^53 (about 9e15) "
            "fit: look for extreme values, or scale the counts down"
        )
    if not total <= _MOST_IN_ALL:
        raise ValueError(
            f"{name} has {total:g} tokens, at most 2^63 (about 9e18) fit: look for extreme values, "
            "or scale the counts down"
        )


def n_tokens(counts: sparse.csr_array, name: str = "X") -> float:
    """Return the number of tokens of all documents, for a mean over them.

    Examples
    --------
    >>> n_tokens(sparse.csr_array([[1.0, 2.0], [0.0, 4.0]]))
    7.0

    Raises
    ------
    ValueError
        There is none, or so little of one (1e-10 per document) that a mean would be all rounding.
    """
    # By the entries, since SciPy's sum sorts the matrix in place.
    total = float(counts.data.sum())
    if total == 0:
        raise ValueError(f"there is not a single word in {name}: nothing to average over")
    if total < _FEWEST_TOKENS * counts.shape[0]:
        raise ValueError(
            f"the {counts.shape[0]} documents of {name} have {total:g} words in all, too few to "
            "average over: scale the counts up"
        )
    return total


def n_columns_used(counts: sparse.csr_array) -> int:
    """Return the number of columns with an entry.

    Examples
    --------
    >>> n_columns_used(sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 0.0, 4.0]]))
    2
    """
    used = np.zeros(counts.shape[1], bool)
    used[counts.indices] = True
    return int(used.sum())


def _checked(matrix: Any, name: str) -> sparse.csr_array:
    """Something with the format, shape and arrays of a sparse matrix, as CSR."""
    if matrix.shape[1] > MOST_COLUMNS:
        raise ValueError(f"{name} has {matrix.shape[1]:,} columns, at most {MOST_COLUMNS:,} work")
    try:
        return _sparse_formats.csr(matrix)
    except _sparse_formats.NotNumbers as error:
        raise ValueError(f"{name} has {error}") from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(
            f"{name} is a damaged {matrix.format} matrix: {error}; {_ADVICE}"
        ) from error


def _dense(matrix: Any, name: str) -> Array:
    check_frame(matrix, name)
    try:
        array = _sparse_formats.numbers(np.asarray(matrix))
    except (TypeError, ValueError) as error:
        text = _texts.described(matrix)
        if text is not None:
            # Without the error, which may show the whole text.
            raise ValueError(
                f"{name} must be a sparse matrix or array of numbers, got {text}"
            ) from None
        raise ValueError(
            f"{name} must be a sparse matrix or array of numbers, got {type(matrix).__name__}: "
            f"{error}"
        ) from error
    if array.ndim != 2:
        raise ValueError(
            f"{name} has shape {array.shape}, expected two dimensions: a row for each data point"
        )
    return array


def _is_sound(column: Any, n_rows: int) -> bool:
    """Whether the blocks of a pandas sparse array follow each other and hold all its values."""
    index = column.sp_index
    if hasattr(index, "blocs"):
        starts, lengths = index.blocs.astype(np.int64), index.blengths.astype(np.int64)
    else:
        starts = index.indices.astype(np.int64)
        lengths = np.ones_like(starts)
    ends = starts + lengths
    return bool(
        index.length == n_rows
        and lengths.sum() == index.npoints == len(column.sp_values)
        and (lengths > 0).all()
        and (np.r_[0, ends] <= np.r_[starts, n_rows]).all()
    )
