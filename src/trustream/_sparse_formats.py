"""Make CSR arrays of sparse matrices of any format, with a look at their arrays first.

Each format has a function that says what is wrong, as `DamagedArrays`, before SciPy's conversion,
which trusts the arrays, sees them. `trustream.matrices` is the way in.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import sparse

from trustream.array_types import Array


class DamagedArrays(ValueError):
    """What is wrong with the arrays of a sparse matrix."""


class NotNumbers(ValueError):
    """Entries that are not real numbers, or whose sums at a place do not fit in a number."""


def csr(matrix: Any) -> sparse.csr_array:
    """A sparse matrix of two dimensions as a CSR array that shares memory where it can.

    It may be any object that has the format, the shape and the arrays of one.

    Raises:
        NotNumbers: its entries are no real numbers, or their sum at a place does not fit.
        DamagedArrays, or whatever looking at broken parts raises: its arrays do not fit together.
    """
    return _BY_FORMAT[matrix.format](matrix)


def numbers(array: Array) -> Array:
    """Real numbers of the machine's own kinds, as kernels and SciPy take them."""
    dtype = array.dtype
    if dtype.kind not in "biufO":
        raise NotNumbers(f"entries of type {dtype}, expected real numbers")
    if dtype.kind == "O" or dtype.itemsize > 8:
        try:
            return array.astype(np.float64)
        except (OverflowError, TypeError, ValueError) as error:
            raise NotNumbers(f"entries that are no real numbers: {error}") from error
    if dtype.kind == "f" and dtype.itemsize < 4:
        return array.astype(np.float32)
    return array.astype(dtype.newbyteorder("="), copy=False)


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which to add up entries at the same place: int64 for smaller integers.

    >>> wide(np.dtype("uint8")), wide(np.dtype("float32"))
    (dtype('int64'), dtype('float32'))
    """
    return np.dtype(np.int64) if dtype.kind in "iu" and dtype.itemsize < 8 else dtype


def check_sums(data: Array, rows: Array, columns: Array) -> None:
    """Refuse whole numbers at the same place with a sum that would wrap around in their type.

    >>> check_sums(np.array([2**62, 2**62]), np.array([0, 0]), np.array([3, 3]))
    Traceback (most recent call last):
    ...
    trustream._sparse_formats.NotNumbers: entries at row 0 and column 3 that add up to \
9223372036854775808, which does not fit in int64: look for extreme values, or scale them down
    """
    if may_wrap(data):
        _check_each_place(data, rows, columns)


def may_wrap(data: Array) -> bool:
    """Whether sums of some of these numbers might not fit in their type.

    >>> may_wrap(np.array([2**40] * 3)), may_wrap(np.array([2**62] * 3))
    (False, True)
    """
    if data.dtype.kind not in "iu" or data.size < 2:
        return False
    # As Python's integers, which do not wrap.
    largest = max(int(data.max()), -int(data.min()))
    return largest * data.size > np.iinfo(data.dtype).max


def _check_each_place(data: Array, rows: Array, columns: Array) -> None:
    limits = np.iinfo(data.dtype)
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    first = (np.diff(rows, prepend=-1) != 0) | (np.diff(columns, prepend=-1) != 0)
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], data.size)
    # Rounded, so only those far below the limit are left out.
    near = np.add.reduceat(np.abs(data[order].astype(np.float64)), starts) > limits.max / 2
    for start, end in zip(starts[near].tolist(), ends[near].tolist(), strict=True):
        total = sum(data[order[start:end]].tolist())
        if not limits.min <= total <= limits.max:
            raise NotNumbers(
                f"entries at row {rows[start]} and column {columns[start]} that add up to {total}, "
                f"which does not fit in {data.dtype}: look for extreme values, or scale them down"
            )


def _integers(array: Any, what: str) -> Array:
    """An array of indices as int32 or int64."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
        found = type(array).__name__
        if isinstance(array, np.ndarray):
            found = f"an array of shape {array.shape} and type {array.dtype}"
        raise DamagedArrays(f"{what} is {found}, expected a one-dimensional array of integers")
    # An unsigned number that does not fit turns negative, which is found.
    small = array.dtype.itemsize < 4 or array.dtype == np.int32
    return np.require(array, np.int32 if small else np.int64, ["C", "A"])


def _compressed(
    matrix: Any, n_entries: int, n_rows: int, n_columns: int, words: tuple[str, str]
) -> tuple[Array, Array, bool]:
    """indices and indptr of a compressed matrix, checked, and whether they are in order."""
    from trustream import kernels

    first_fault = kernels.get("sparse", "compiled").first_fault

    indices, indptr = _integers(matrix.indices, "indices"), _integers(matrix.indptr, "indptr")
    if indptr.size != n_rows + 1:
        raise DamagedArrays(f"indptr has {indptr.size} numbers, expected {n_rows + 1}")
    if indices.size != n_entries:
        raise DamagedArrays(f"indices has {indices.size} numbers, data has {n_entries}")
    row, place, canonical = first_fault(indptr.astype(np.int64, copy=False), indices, n_columns)
    line, across = words
    if place >= 0:
        raise DamagedArrays(
            f"{line} {row} has {across} {indices[place]} (entry {place}), expected "
            f"{f'0 to {n_columns - 1}' if n_columns else 'none'}"
        )
    if row >= 0:
        begin, *end = indptr[row : row + 2].tolist()
        reach = f" to {end[0]}" if end else ""
        raise DamagedArrays(
            f"indptr has {line} {row} from {begin}{reach}, expected it to rise from 0 to at most "
            f"{n_entries}, the number of entries"
        )
    kind = np.result_type(indices, indptr)
    n_used = int(indptr[-1])
    return indices[:n_used].astype(kind, copy=False), indptr.astype(kind, copy=False), canonical


def _data(matrix: Any, ndim: int = 1) -> Array:
    if not isinstance(matrix.data, np.ndarray) or matrix.data.ndim != ndim:
        raise DamagedArrays(f"data is not an array of {ndim} dimension{'s' if ndim > 1 else ''}")
    return np.require(numbers(matrix.data), requirements=["C", "A"])


def _from_csr(matrix: Any) -> sparse.csr_array:
    data = _data(matrix)
    n_rows, n_columns = matrix.shape
    words = ("row", "column")
    indices, indptr, canonical = _compressed(matrix, data.size, n_rows, n_columns, words)
    if not sparse.issparse(matrix):
        return sparse.csr_array((data[: indices.size], indices, indptr), shape=matrix.shape)
    # A new one, which knows nothing of the old one's order; made from arrays, SciPy would go
    # through them again.
    rows = sparse.csr_array(matrix)
    rows.data, rows.indices, rows.indptr = data[: indices.size], indices, indptr
    rows.has_canonical_format = canonical
    return rows


def _from_csc(matrix: Any) -> sparse.csr_array:
    data, (n_rows, n_columns) = _data(matrix), matrix.shape
    indices, indptr, _ = _compressed(matrix, data.size, n_columns, n_rows, ("column", "row"))
    parts = (data[: indices.size], indices, indptr)
    return sparse.csc_array(parts, shape=matrix.shape).tocsr()


def _from_bsr(matrix: Any) -> sparse.csr_array:
    data, (n_rows, n_columns) = _data(matrix, 3), matrix.shape
    n_blocks, height, width = data.shape
    if not (height and width) or n_rows % height or n_columns % width:
        raise DamagedArrays(f"blocks of {height} x {width} do not fill {n_rows} x {n_columns}")
    n_rows, n_columns = n_rows // height, n_columns // width
    words = ("row of blocks", "column of blocks")
    indices, indptr, _ = _compressed(matrix, n_blocks, n_rows, n_columns, words)
    parts = (data[: indices.size], indices, indptr)
    return sparse.bsr_array(parts, shape=matrix.shape, blocksize=(height, width)).tocsr()


def _from_coo(matrix: Any) -> sparse.csr_array:
    data = _data(matrix)
    coords = [_integers(axis, "an axis of coords") for axis in matrix.coords]
    if len(coords) != 2 or any(axis.size != data.size for axis in coords):
        sizes = [axis.size for axis in coords]
        raise DamagedArrays(f"coords has {sizes} numbers, expected {data.size} rows and columns")
    for axis, size, word in zip(coords, matrix.shape, ("row", "column"), strict=True):
        outside = np.flatnonzero((axis < 0) | (axis >= size))
        if outside.size:
            raise DamagedArrays(f"entry {outside[0]} has {word} {axis[outside[0]]} of {size}")
    data = data.astype(wide(data.dtype), copy=False)
    check_sums(data, *coords)
    return sparse.coo_array((data, tuple(coords)), shape=matrix.shape).tocsr()


def _from_dia(matrix: Any) -> sparse.csr_array:
    offsets, data = _integers(matrix.offsets, "offsets"), _data(matrix, 2)
    if data.shape[0] != offsets.size:
        raise DamagedArrays(f"data has shape {data.shape} for {offsets.size} diagonals")
    n_rows, n_columns = matrix.shape
    # Of a diagonal that does not meet the matrix nothing is in it, and its number may not fit.
    inside = (offsets > -n_rows) & (offsets < n_columns)
    return sparse.dia_array((data[inside], offsets[inside]), shape=matrix.shape).tocsr()


def _from_lil(matrix: Any) -> sparse.csr_array:
    rows, data = list(matrix.rows), list(matrix.data)
    lengths = [len(row) for row in rows]
    if len(rows) != matrix.shape[0] or lengths != [len(values) for values in data]:
        raise DamagedArrays("its lists of columns and of values have different lengths")
    columns = np.array([*chain.from_iterable(rows)] or np.empty(0, np.int64))
    values = np.array([*chain.from_iterable(data)] or np.empty(0), matrix.dtype)
    coords = (np.repeat(np.arange(len(rows)), lengths), columns)
    return _from_coo(SimpleNamespace(data=values, coords=coords, shape=matrix.shape))


def _from_dok(matrix: Any) -> sparse.csr_array:
    # SciPy looks at what it makes of a dictionary's keys.
    return _from_coo(matrix.tocoo())


_BY_FORMAT: dict[str, Callable[[Any], sparse.csr_array]] = {
    "csr": _from_csr,
    "csc": _from_csc,
    "bsr": _from_bsr,
    "coo": _from_coo,
    "dia": _from_dia,
    "lil": _from_lil,
    "dok": _from_dok,
}
