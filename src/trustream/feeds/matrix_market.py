"""Read matrices in Matrix Market files.

SciPy's reader is ten times as quick, and ends the process on some files that are damaged, for
example with one number too many, or with bytes that are not text.
"""

from __future__ import annotations

import gzip
import sys
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trustream.feeds.claimed_rows import check_rows

# The line with the sizes stands at the latest here.
_HEAD = 2**20
_SIZES = {"coordinate": 3, "array": 2}
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = {"general": 0, "symmetric": 1, "skew-symmetric": -1}
# Whole numbers from here on are not told apart in float64.
_LARGEST = 2**53


class _Head(NamedTuple):
    """What stands before the numbers; `entries` of a dense matrix are None."""

    field: str
    sign: int
    rows: int
    columns: int
    entries: int | None


def read(path: Path) -> Any:
    """Return the matrix of a ``.mtx`` or ``.mtx.gz`` file, as a COO array or a dense array.

    Symmetric matrices come with both halves; a pattern has ones in it. Complex numbers are refused.

    Raises
    ------
    ValueError
        What is wrong with the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".mtx") as file:
    ...     _ = file.write(b"%%MatrixMarket matrix coordinate integer general\\n2 3 1\\n2 1 7\\n")
    ...     file.flush()
    ...     read(Path(file.name)).toarray()
    array([[0, 0, 0],
           [7, 0, 0]])
    """
    opened: Any = gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")
    with opened as file:
        head = _head(file)
        if head.entries is None:
            return _dense(file, head)
        check_rows(head.rows, path)
        return _sparse(file, head, head.entries)


def _head(file: IO[bytes]) -> _Head:
    banner = file.readline(_HEAD).decode("latin-1").lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"] or banner[2] not in _SIZES:
        raise ValueError("it does not begin with %%MatrixMarket matrix coordinate, or array")
    _, _, layout, field, symmetry = banner
    allowed = _FIELDS if layout == "coordinate" else _FIELDS[:-1]
    if field not in allowed or symmetry not in _SYMMETRIES:
        raise ValueError(
            f"it is {field:.40} and {symmetry:.40}, expected one of {', '.join(allowed)} and one "
            f"of {', '.join(_SYMMETRIES)}"
        )
    line = file.readline(_HEAD)
    while line.startswith(b"%") or (line and not line.strip()):
        line = file.readline(_HEAD)
    sizes = line.split()
    if len(sizes) != _SIZES[layout] or not all(s.isdigit() and len(s) < 19 for s in sizes):
        raise ValueError("the line before its numbers does not say how large it is")
    rows, columns, *entries = map(int, sizes)
    sign = _SYMMETRIES[symmetry]
    if sign and rows != columns:
        raise ValueError(f"it is {symmetry}, and has {rows} rows and {columns} columns")
    return _Head(field, sign, rows, columns, entries[0] if entries else None)


def _sparse(file: IO[bytes], head: _Head, n_entries: int) -> sparse.coo_array:
    table = _numbers(file, n_entries, 2 if head.field == "pattern" else 3)
    for index, size in ((table[:, 0], head.rows), (table[:, 1], head.columns)):
        wrong = (index < 1) | (index > size) | (index != np.floor(index))
        if wrong.any():
            raise ValueError(f"an index is {index[wrong][0]:g}, expected 1 to {size}")
    places = table[:, :2].T.astype(np.int64) - 1
    pattern = head.field == "pattern"
    data = np.ones(n_entries, np.int64) if pattern else _values(table[:, 2], head)
    if head.sign:
        mirrored = places[0] != places[1]
        data = np.concatenate([data, head.sign * data[mirrored]])
        places = np.concatenate([places, places[::-1, mirrored]], axis=1)
    return sparse.coo_array((data, tuple(places)), shape=(head.rows, head.columns))


def _dense(file: IO[bytes], head: _Head) -> NDArray[Any]:
    if not head.sign:
        values = _values(_numbers(file, head.rows * head.columns, 1)[:, 0], head)
        return values.reshape(head.columns, head.rows).T
    # Columns of the lower triangle, which a matrix with another sign above has no diagonal in.
    # Read first: indices of what a file only claims to have may fill the memory.
    n_lines = head.rows * (head.rows + head.sign) // 2
    values = _values(_numbers(file, n_lines, 1)[:, 0], head)
    column, row = np.triu_indices(head.rows, 0 if head.sign > 0 else 1)
    matrix = np.zeros((head.rows, head.columns), values.dtype)
    matrix[row, column] = values
    matrix[column, row] = head.sign * values
    return matrix


def _numbers(file: IO[bytes], n_lines: int, width: int) -> NDArray[np.float64]:
    """The numbers (n_lines, width), one line per row; empty lines are passed over."""
    # One more than there may be, to see that there is one.
    lines = islice((line for line in file if line.strip()), min(n_lines + 1, sys.maxsize))
    first = next(lines, None)
    table = np.empty((0, width))
    if first is not None:
        table = np.loadtxt(chain([first], lines), ndmin=2, comments=None)
    if table.shape != (n_lines, width):
        n = "more" if len(table) > n_lines else str(len(table))
        raise ValueError(
            f"it has {n} lines of {table.shape[1]} numbers, expected {n_lines} of {width}"
        )
    return table


def _values(values: NDArray[np.float64], head: _Head) -> NDArray[Any]:
    if "integer" not in head.field:
        return values
    wrong = ~(np.abs(values) <= _LARGEST) | (values != np.floor(values))
    if wrong.any():
        raise ValueError(f"an entry is {values[wrong][0]:g}, expected a whole number up to 2^53")
    return values.astype(np.int64)
