"""The edge: matrices of any format become CSR arrays that can be trusted, or are refused."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.reliability.damaged_matrices import FORMATS
from trustream import LatentDirichletAllocation, matrices
from trustream.streaming.simulator import ticks

DENSE = np.array([[0.0, 2.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 4.0, 0.0]])


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?", "longdouble"])
def test_every_format_means_the_same(format: str, kind: str, dtype: str) -> None:
    matrix = getattr(sp, f"{format}_{kind}")(DENSE.astype(dtype))
    found = matrices.csr(matrix)
    assert isinstance(found, sp.csr_array)
    np.testing.assert_array_equal(found.toarray(), DENSE.astype(dtype))
    found.check_format()


def test_nothing_is_copied_without_need() -> None:
    matrix = sp.csr_array(DENSE)
    found = matrices.csr(matrix)
    for name in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(found, name), getattr(matrix, name))
    assert found is not matrix and matrices.with_summed_entries(found) is found


def test_what_scipy_remembers_of_the_order_is_forgotten() -> None:
    matrix = sp.csr_array(DENSE)
    assert matrix.has_canonical_format
    matrix.indices[:2] = [3, 3]
    assert not matrices.csr(matrix).has_canonical_format
    assert matrices.csr(matrix, summed=True).toarray()[0].tolist() == [0, 0, 0, 3]
    assert matrix.indices.tolist() == [3, 3, 0, 2]


def test_small_numbers_are_added_as_large_ones() -> None:
    parts = (np.array([200, 100], np.uint8), np.array([1, 1]), np.array([0, 2]))
    matrix = sp.csr_array(parts, shape=(1, 2))
    assert matrices.csr(matrix, summed=True).toarray().tolist() == [[0, 300]]
    entries = sp.coo_array((parts[0], (np.zeros(2, int), parts[1])), shape=(1, 2))
    assert matrices.csr(entries).toarray().tolist() == [[0, 300]]


WIDE = {"i8": (-(2**63), 2**63 - 1), "u8": (0, 2**64 - 1), "i4": (-(2**31), 2**31 - 1)}


@st.composite
def entries(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, int]]]:
    """A type, and entries of 2 x 2 matrices of it, among them the largest ones."""
    dtype = draw(st.sampled_from([*WIDE]))
    least, most = WIDE[dtype]
    near = st.sampled_from([most, most // 2, most // 2 + 1, most // 4 + 1, least, least // 2, 1])
    value = near | st.integers(least, most) | st.integers(0, 9)
    place = st.integers(0, 1)
    return dtype, draw(st.lists(st.tuples(place, place, value), min_size=1, max_size=8))


@given(entries(), st.sampled_from(["coo", "saved coo", "csr", "csc", "lil"]))
def test_sums_are_those_of_python_or_refused(
    given: tuple[str, list[tuple[int, int, int]]], format: str
) -> None:
    dtype, parts = given
    sums = Counter[tuple[int, int]]()
    for row, column, value in parts:
        sums[row, column] += value
    data = np.array([value for *_, value in parts], dtype)
    rows, columns = (np.array([part[axis] for part in parts]) for axis in (0, 1))
    matrix: Any = sp.coo_array((data, (rows, columns)), shape=(2, 2))
    if format in ("csr", "csc"):
        order = np.argsort(rows if format == "csr" else columns, kind="stable")
        lines, across = (rows, columns) if format == "csr" else (columns, rows)
        indptr = np.searchsorted(lines[order], [0, 1, 2])
        kind = getattr(sp, f"{format}_array")
        matrix = kind((data[order], across[order], indptr), shape=(2, 2))
    elif format == "lil":
        matrix = sp.lil_array((2, 2), dtype=dtype)
        for row in range(2):
            mine = np.flatnonzero(rows == row)
            matrix.rows[row], matrix.data[row] = columns[mine].tolist(), data[mine].tolist()

    def found() -> sp.csr_array:
        if format != "saved coo":
            return matrices.csr(matrix, summed=True)
        saved = {"row": rows, "col": columns, "data": data, "shape": (2, 2), "format": "coo"}
        return matrices.from_parts(saved)

    limits = WIDE["u8" if dtype == "u8" else "i8"]
    if all(limits[0] <= total <= limits[1] for total in sums.values()):
        assert found().toarray().tolist() == [[sums[i, j] for j in range(2)] for i in range(2)]
    else:
        with pytest.raises(ValueError, match=r"X has entries at row \d .* that add up to -?\d+, "):
            found()


def test_counts_that_wrap_to_nothing_are_refused() -> None:
    data, columns = np.array([2**62] * 4 + [1]), np.array([0, 0, 0, 0, 1])
    coo = sp.coo_array((data, (np.zeros(5, int), columns)), shape=(1, 2))
    csr = sp.csr_array((data, columns, np.array([0, 5])), shape=(1, 2))
    message = "^counts has entries at row 0 and column 0 that add up to 18446744073709551616, which"
    for matrix in (coo, csr):
        with pytest.raises(ValueError, match=message):
            matrices.csr(matrix, "counts", summed=True)
    # Too many tokens only when they are added: nothing is summed before it was looked at.
    model = LatentDirichletAllocation(2, max_iter=1)
    for matrix in (coo, csr):
        with pytest.raises(ValueError, match=r"add up to|1\.84467e\+19 tokens"):
            model.fit(matrix)


def test_more_entries_than_are_used() -> None:
    matrix = sp.csr_array(DENSE)
    matrix.data, matrix.indices = np.r_[matrix.data, np.nan], np.r_[matrix.indices, 99]
    np.testing.assert_array_equal(matrices.csr(matrix).toarray(), DENSE)


@pytest.mark.parametrize("dtype", ["i1", "i2", "u1", "u4", "u8", ">i4", ">i8"])
@pytest.mark.filterwarnings("ignore:.*non-integer dtype")
def test_indices_of_other_kinds(dtype: str) -> None:
    matrix = sp.csr_array(DENSE)
    matrix.indices, matrix.indptr = matrix.indices.astype(dtype), matrix.indptr.astype(dtype)
    found = matrices.csr(matrix)
    assert found.indices.dtype == found.indptr.dtype and found.indices.dtype in (np.int32, np.int64)
    np.testing.assert_array_equal(found.toarray(), DENSE)


def test_arrays_with_gaps_and_of_foreign_order() -> None:
    matrix = sp.csr_array(DENSE)
    matrix.indices, matrix.data = np.repeat(matrix.indices, 2)[::2], matrix.data.astype(">f8")
    found = matrices.csr(matrix)
    assert found.indices.flags.c_contiguous and found.data.dtype.isnative
    np.testing.assert_array_equal(found.toarray(), DENSE)


def broken(format: str, **parts: Any) -> Any:
    matrix = getattr(sp, f"{format}_array")(DENSE)
    for name, value in parts.items():
        array = getattr(matrix, name)
        if isinstance(value, tuple):
            array.reshape(-1)[value[0]] = value[1]
        else:
            setattr(matrix, name, value(array))
    return matrix


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (broken("csr", indices=(1, 4)), r"row 0 has column 4 \(entry 1\), expected 0 to 3"),
        (broken("csr", indices=(2, -1)), r"row 2 has column -1 \(entry 2\)"),
        (broken("csr", indptr=(0, 1)), "indptr has row 0 from 1 to 2, expected it to rise from 0"),
        (broken("csr", indptr=(2, 1)), "indptr has row 1 from 2 to 1, expected"),
        (broken("csr", indptr=(3, 5)), "indptr has row 2 from 2 to 5, .* at most 4, the number"),
        (broken("csr", indptr=lambda x: np.r_[x, 4]), "indptr has 5 numbers, expected 4"),
        (broken("csr", indptr=lambda x: x[:0]), "indptr has 0 numbers, expected 4"),
        (broken("csr", data=lambda x: x[:3]), "indices has 4 numbers, data has 3"),
        (broken("csr", data=lambda x: x.reshape(2, 2)), "data is not an array of 1 dimension"),
        (broken("csr", data=lambda x: None), "csr matrix"),
        (broken("csr", indices=lambda x: x + 0.5), "indices is an array .* float64, expected"),
        (broken("csr", indices=lambda x: x.tolist()), "indices is list, expected"),
        (broken("csr", indices=lambda x: x.astype(np.uint64) + 2**63), "has column -"),
        (broken("csc", indices=(0, 3)), r"column 0 has row 3 \(entry 0\), expected 0 to 2"),
        (broken("csc", indptr=(1, 9)), "indptr has column 0 from 0 to 9"),
        (broken("bsr", indices=(0, 9)), "damaged bsr matrix: row of blocks 0 has column"),
        (broken("bsr", data=lambda x: np.zeros((4, 2, 2))), "blocks of 2 x 2 do not fill 3 x 4"),
        (broken("coo", coords=lambda x: (x[0] + 1, x[1])), "entry 2 has row 3 of 3"),
        (broken("coo", coords=lambda x: (x[0], -x[1])), "entry 0 has column -1 of 4"),
        (broken("coo", coords=lambda x: (x[0][:1], x[1])), r"coords has \[1, 4\] numbers"),
        (broken("dia", offsets=lambda x: 0 * x), "damaged dia matrix"),
        (broken("dia", offsets=lambda x: x[:1]), "for 1 diagonals"),
        (broken("lil", rows=(0, [1])), "different lengths"),
        (broken("lil", rows=(0, [1, 7])), "entry 1 has column 7 of 4"),
        (broken("lil", rows=(0, None)), "damaged lil matrix"),
    ],
)
def test_damage_is_named(matrix: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        matrices.csr(matrix, "counts")
    assert str(caught.value).startswith("counts is a damaged ")
    assert "make it again from its entries" in str(caught.value)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sp.csr_array(DENSE * 1j), "X has entries of type complex128, expected real numbers"),
        (sp.coo_array(np.ones((2, 2, 2))), "two dimensions"),
        (sp.coo_array(np.ones(3)), "two dimensions"),
        (sp.csr_array((2, 2**31)), "has 2,147,483,648 columns, at most"),
        (DENSE[0], r"shape \(4,\), expected two dimensions"),
        ([["a", "b"]], "array of numbers, got a list of lists of words"),
        ([[1, 2], [3]], "must be a sparse matrix or array of numbers"),
        ("text", "must be a sparse matrix or array of numbers, got a single string"),
        (np.array([[{}]]), "matrix or array of numbers"),
    ],
)
def test_what_is_no_matrix_of_numbers(matrix: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrices.csr(matrix)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 3)])
@pytest.mark.parametrize("format", FORMATS)
def test_empty_matrices(format: str, shape: tuple[int, int]) -> None:
    found = matrices.csr(getattr(sp, f"{format}_array")(shape))
    assert found.shape == shape and found.nnz == 0


# --- frames


def frame(kind: str) -> pd.DataFrame:
    columns = {
        name: pd.arrays.SparseArray(DENSE[:, i], fill_value=0.0, kind=kind)
        for i, name in enumerate("abcd")
    }
    return pd.DataFrame(columns)


@pytest.mark.parametrize("kind", ["integer", "block"])
def test_sparse_columns_of_a_frame(kind: str) -> None:
    sound = frame(kind)
    matrices.check_frame(sound)
    np.testing.assert_array_equal(matrices.csr(sound).toarray(), DENSE)
    index = sound["c"].array.sp_index
    places = index.blengths if kind == "block" else index.indices
    for wrong in (10**6, -1, 3):
        places[0] = wrong
        with pytest.raises(ValueError, match="column 2 of X is a damaged sparse column"):
            matrices.check_frame(sound)


# --- tokens


def test_no_more_tokens_than_numbers_hold() -> None:
    most = float(matrices.MOST_TOKENS)
    matrices.check_tokens(sp.csr_array([[most, 0.0], [1.0, most - 1]]))
    for X in ([[1.0, 0.0], [most, 2.0]], [[0.0, 0.0], [1e300, 1e308]]):
        with pytest.raises(ValueError, match=r"document 1 of X has .* tokens, at most 2\^53"):
            matrices.check_tokens(sp.csr_array(X))
    with pytest.raises(ValueError, match="user 0 of ratings has"):
        matrices.check_tokens(sp.csr_array([[1e30]]), "ratings", "user")
    with pytest.raises(ValueError, match=r"X has 9.22337e\+18 tokens, at most 2\^63"):
        matrices.check_tokens(sp.csr_array(np.full((1024, 1), most)))
    whole = sp.csr_array(np.full((2, 2), 2**62, np.int64))
    with pytest.raises(ValueError, match=r"document 0 of X has 9.22337e\+18 tokens"):
        matrices.check_tokens(whole)


def test_too_few_tokens_for_a_mean() -> None:
    assert matrices.n_tokens(sp.csr_array([[0.25], [0.0]])) == 0.25
    with pytest.raises(ValueError, match="not a single word in counts"):
        matrices.n_tokens(sp.csr_array((2, 3)), "counts")
    with pytest.raises(ValueError, match="the 2 documents of X have 1e-40 words in all"):
        matrices.n_tokens(sp.csr_array([[1e-40], [0.0]]))


def test_the_simulator_looks_as_well() -> None:
    matrix = sp.csc_array(DENSE)
    matrix.indices[0] = 10**8
    with pytest.raises(ValueError, match="counts is a damaged csc matrix"):
        next(ticks(matrix, list("abcd"), rate=1.0, p=1.0, rng=np.random.default_rng(0)))
