"""Sparse matrices of all formats, sound and damaged, and what they mean.

`matrices` makes them; `meaning` reads one in plain Python, looking at every number, and is what
the library is compared with.
"""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import scipy.sparse as sp

N_ROWS, N_COLUMNS = 5, 6
FORMATS = ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")
# Just outside, far outside, and beyond what 32 bits hold.
PLACES = st.integers(-2, 8) | st.sampled_from(
    [30, -7, 10**6, 10**8, -(10**8), 2**31 - 1, -(2**31), 2**31, 2**32 + 1, 2**40, 2**62, -(2**62)]
)
PLAIN = [1, 1, 1, 2, 3, 5]
ODD = [0, -0.0, -1, 0.5, 0.25, 255, 1e-40, 1e-300, 1e15, 2.0**53, 2.0**63, 1e30, 1e38, 1e300]
VALUES = st.sampled_from(PLAIN * 4 + ODD + [np.nan, np.inf, -np.inf])
DTYPES = st.sampled_from(
    "f8 f4 f2 i8 i4 i2 i1 u1 u2 u4 u8 ? >f8 >i4 longdouble complex128 O U3 M8[s]".split()
)
KINDS = st.sampled_from(["i4", "i8", "i2", "i1", "u1", "u4", "u8", ">i4", ">i8", "f8", "?", "O"])
NONSENSE = st.sampled_from([None, 3, "abc", [0, 1], np.zeros((2, 2)), np.zeros(0, np.int32)])


def listed() -> dict[str, Any]:
    """One matrix for each kind of damage, of a width and height that the entry points take."""
    sound = np.arange(N_ROWS * N_COLUMNS).reshape(N_ROWS, N_COLUMNS) % 3.0

    def made(format: str, name: str, change: Any) -> Any:
        matrix = getattr(sp, f"{format}_array")(sound)
        array = getattr(matrix, name)
        if isinstance(change, dict):
            for place, value in change.items():
                array.reshape(-1)[place] = value
        else:
            _put(matrix, name, change(array))
        return matrix

    return {
        "a column just outside": made("csr", "indices", {0: N_COLUMNS}),
        "a column far outside": made("csr", "indices", {0: 10**8}),
        "a negative column": made("csr", "indices", {3: -1}),
        "a column far below": made("csr", "indices", {3: -(10**8)}),
        "indptr that falls": made("csr", "indptr", {2: 1}),
        "indptr that reaches too far": made("csr", "indptr", {-1: 10**8}),
        "indptr that starts late": made("csr", "indptr", {0: 2}),
        "indptr that is too long": made("csr", "indptr", lambda x: np.r_[x, x[-1]]),
        "indptr of 64 bits that overflows": made(
            "csr", "indptr", lambda x: np.array([0, *[2**62] * (N_ROWS - 1), 3])
        ),
        "fewer data than indices": made("csr", "data", lambda x: x[:3]),
        "indices that are floats": made("csr", "indices", lambda x: x + 0.0),
        "a row outside of csc": made("csc", "indices", {0: 10**8}),
        "indptr of csc that falls": made("csc", "indptr", {3: 1}),
        "indptr of bsr that reaches too far": made("bsr", "indptr", {2: 10**8}),
        "a block outside of bsr": made("bsr", "indices", {0: 10**8}),
        "a row outside of coo": made("coo", "row", {0: 10**8}),
        "a negative column of coo": made("coo", "col", {0: -(10**8)}),
        "a diagonal of dia twice": made("dia", "offsets", {0: 0, 1: 0}),
        "lists of lil that differ": made("lil", "data", {0: [1.0] * 10_000}),
        "a column outside of lil": made("lil", "rows", {0: [10**8] * 4}),
    }


@st.composite
def matrices(draw: Any, format: str | None = None) -> Any:
    """A sparse matrix, most often with something wrong."""
    shape = (
        draw(st.sampled_from([N_ROWS] * 8 + [0, 1, 2])),
        draw(st.sampled_from([N_COLUMNS] * 8 + [0, 1, 7])),
    )
    matrix = _sound(draw, format or draw(st.sampled_from(FORMATS)), shape)
    for _ in range(draw(st.sampled_from([0, 1, 1, 1, 1, 2, 3]))):
        _damage(draw, matrix)
    return matrix


def _sound(draw: Any, format: str, shape: tuple[int, int]) -> Any:
    n = draw(st.integers(0, 12)) if 0 not in shape else 0
    rows, columns = (np.array([draw(st.integers(0, size - 1)) for _ in range(n)], np.int64)
                     for size in shape)  # fmt: skip
    plain = draw(st.booleans())
    values = np.array([draw(st.sampled_from(PLAIN) if plain else VALUES) for _ in range(n)])
    values = values.astype(np.float64)
    kind = draw(st.sampled_from(["i4", "i8"]))
    if format == "csr":  # in any order, and some places twice
        order = np.argsort(rows, kind="stable")
        indptr = np.r_[0, np.cumsum(np.bincount(rows, minlength=shape[0]))].astype(kind)
        matrix = sp.csr_array(shape)
        matrix.data, matrix.indices = values[order], columns[order].astype(kind)
        matrix.indptr = indptr
    elif format == "csc":
        matrix = sp.csc_array(shape)
        order = np.argsort(columns, kind="stable")
        matrix.data, matrix.indices = values[order], rows[order].astype(kind)
        matrix.indptr = np.r_[0, np.cumsum(np.bincount(columns, minlength=shape[1]))].astype(kind)
    else:
        matrix = sp.coo_array((values, (rows, columns)), shape=shape)
        if format == "bsr":
            blocks = [(1, 1)] if 0 in shape else [(1, 2), (5, 3), (1, 1)]
            fits = [(h, w) for h, w in blocks if shape[0] % h == shape[1] % w == 0]
            matrix = matrix.tobsr(blocksize=draw(st.sampled_from(fits)))
        elif format != "coo":
            matrix = matrix.asformat(format)
    if draw(st.booleans()):
        matrix = getattr(sp, f"{format}_matrix")(matrix)
    if draw(st.booleans()) and format in ("csr", "csc"):
        _ = matrix.has_canonical_format, matrix.has_sorted_indices  # which SciPy remembers
    return matrix


def _damage(draw: Any, matrix: Any) -> None:
    if matrix.format == "lil":
        _damage_lists(draw, matrix)
    elif matrix.format == "dok":
        dictionary = getattr(matrix, "_dict", matrix)
        try:
            dictionary[draw(PLACES), draw(PLACES)] = draw(VALUES)
        except (IndexError, OverflowError):
            pass
    else:
        _damage_arrays(draw, matrix)


def _damage_lists(draw: Any, matrix: Any) -> None:
    if not len(matrix.rows):
        return
    i = draw(st.integers(0, len(matrix.rows) - 1))
    which = draw(st.sampled_from(["rows", "data"]))
    lists = getattr(matrix, which)
    what = draw(st.sampled_from(["append", "longer", "nonsense"]))
    if not all(isinstance(part[i], list) for part in (matrix.rows, matrix.data)):
        return
    if what == "append":
        matrix.rows[i] = [*matrix.rows[i], draw(PLACES)]
        matrix.data[i] = [*matrix.data[i], draw(VALUES)]
    elif what == "longer":
        lists[i] = [*lists[i], 1] * draw(st.sampled_from([1, 1000]))
    else:
        lists[i] = draw(st.sampled_from([None, 3, "abc", [None], [0.5], ["a"], []]))


def _damage_arrays(draw: Any, matrix: Any) -> None:
    names = {
        "coo": ["row", "col", "data"],
        "dia": ["offsets", "data"],
    }.get(matrix.format, ["indices", "indptr", "data"])
    name = draw(st.sampled_from(names))
    array = getattr(matrix, name)
    what = draw(
        st.sampled_from(["set", "set", "set", "set", "length", "dtype", "nonsense", "turn"])
    )
    if what == "set" and isinstance(array, np.ndarray) and array.size and array.dtype.kind in "iuf":
        place = draw(st.integers(0, array.size - 1))
        value = draw(VALUES if name == "data" else PLACES)
        try:
            with np.errstate(all="ignore"):
                array.reshape(-1)[place] = value
        except (OverflowError, ValueError):
            pass
    elif what == "length" and isinstance(array, np.ndarray):
        longer = np.concatenate([array, array, array, array[:1]])
        _put(matrix, name, longer[: draw(st.sampled_from([0, 1, array.shape[0] - 1, 3, 999]))])
    elif what == "dtype" and isinstance(array, np.ndarray):
        try:
            with np.errstate(all="ignore"):
                _put(matrix, name, array.astype(draw(DTYPES if name == "data" else KINDS)))
        except (TypeError, ValueError, OverflowError):
            pass
    elif what == "nonsense":
        _put(matrix, name, draw(NONSENSE))
    elif what == "turn" and isinstance(array, np.ndarray):
        _put(matrix, name, array[::-1])


def _put(matrix: Any, name: str, value: Any) -> None:
    if matrix.format == "coo" and name != "data":
        # The setters would convert it.
        row, column = matrix.coords
        matrix.coords = (value, column) if name == "row" else (row, value)
    else:
        setattr(matrix, name, value)


# --- what a matrix means


def meaning(matrix: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """The matrix as a dense array of float64, and where it has entries, perhaps zeros.

    None if its parts do not fit together.
    """
    try:
        entries = _READ[matrix.format](matrix)
        values = [_value(value) for _, _, value in entries]
        dense, stored = np.zeros(matrix.shape), np.zeros(matrix.shape, bool)
        if any(not (0 <= i < dense.shape[0] and 0 <= j < dense.shape[1]) for i, j, _ in entries):
            return None
        for (i, j, _), value in zip(entries, values, strict=True):
            dense[i, j] += value
            stored[i, j] = True
    except (TypeError, ValueError, IndexError, AttributeError, OverflowError, AssertionError):
        return None
    dense = np.minimum(dense, 1) if matrix.dtype == np.bool_ else dense
    # SciPy leaves zeros on diagonals out when it converts them.
    return dense, stored if matrix.format != "dia" else dense != 0


def _value(value: Any) -> float:
    assert not isinstance(value, str | np.datetime64 | complex | np.complexfloating)
    return float(value)


def _whole(array: Any) -> list[int]:
    assert isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "iu"
    return [int(number) for number in array.tolist()]


def _compressed(matrix: Any, n_lines: int, n_entries: int) -> list[tuple[int, int, int]]:
    """(line, across, number) of every entry."""
    indices, indptr = _whole(matrix.indices), _whole(matrix.indptr)
    assert len(indptr) == n_lines + 1 and indptr[0] == 0 and len(indices) == n_entries
    found = []
    for line in range(n_lines):
        assert 0 <= indptr[line] <= indptr[line + 1] <= n_entries
        found += [(line, indices[p], p) for p in range(indptr[line], indptr[line + 1])]
    return found


def _flat(matrix: Any) -> Any:
    assert isinstance(matrix.data, np.ndarray) and matrix.data.ndim == 1
    return matrix.data


def _csr(matrix: Any) -> list[Any]:
    data = _flat(matrix)
    return [(i, j, data[p]) for i, j, p in _compressed(matrix, matrix.shape[0], len(data))]


def _csc(matrix: Any) -> list[Any]:
    data = _flat(matrix)
    return [(i, j, data[p]) for j, i, p in _compressed(matrix, matrix.shape[1], len(data))]


def _bsr(matrix: Any) -> list[Any]:
    data = matrix.data
    assert isinstance(data, np.ndarray) and data.ndim == 3
    n, height, width = data.shape
    assert height and width and matrix.shape[0] % height == matrix.shape[1] % width == 0
    return [
        (i * height + h, j * width + w, data[p, h, w])
        for i, j, p in _compressed(matrix, matrix.shape[0] // height, n)
        for h in range(height)
        for w in range(width)
    ]


def _coo(matrix: Any) -> list[Any]:
    rows, columns = (_whole(axis) for axis in matrix.coords)
    data = _flat(matrix)
    assert len(rows) == len(columns) == len(data)
    return list(zip(rows, columns, data, strict=True))


def _dia(matrix: Any) -> list[Any]:
    offsets, data = _whole(matrix.offsets), matrix.data
    assert isinstance(data, np.ndarray) and data.ndim == 2 and data.shape[0] == len(offsets)
    n_rows, n_columns = matrix.shape
    inside = [offset for offset in offsets if -n_rows < offset < n_columns]
    assert len(set(inside)) == len(inside)
    return [
        (j - offset, j, data[d, j])
        for d, offset in enumerate(offsets)
        for j in range(min(data.shape[1], n_columns))
        if 0 <= j - offset < n_rows
    ]


def _lil(matrix: Any) -> list[Any]:
    found: list[Any] = []
    assert len(matrix.rows) == len(matrix.data) == matrix.shape[0]
    for i, (columns, values) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        assert len(columns) == len(values)
        for j, value in zip(columns, values, strict=True):
            assert isinstance(j, int | np.integer) and not isinstance(j, bool)
            found.append((i, int(j), value))
    return found


def _dok(matrix: Any) -> list[Any]:
    return [(int(i), int(j), value) for (i, j), value in matrix.items()]


_READ = {
    "csr": _csr, "csc": _csc, "bsr": _bsr, "coo": _coo, "dia": _dia, "lil": _lil, "dok": _dok,
}  # fmt: skip
