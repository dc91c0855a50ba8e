"""Matrix Market files are read as SciPy reads them, where SciPy can."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import io, sparse

from trustream.feeds.matrix_market import read


def dense(matrix: Any) -> Any:
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["integer", "real", "pattern"])
@pytest.mark.parametrize("layout", ["coordinate", "array"])
def test_as_scipy_reads_it(tmp_path: Path, symmetry: str, field: str, layout: str) -> None:
    if field == "pattern" and (layout == "array" or symmetry == "skew-symmetric"):
        pytest.skip("there is no such thing")
    rng = np.random.default_rng(3)
    matrix = rng.poisson(0.7, (6, 6)) * (rng.normal(size=(6, 6)) if field == "real" else 1)
    if symmetry != "general":
        matrix = matrix + matrix.T * (1 if symmetry == "symmetric" else -1)
    else:
        matrix = matrix[:4]
    given = sparse.coo_array(matrix) if layout == "coordinate" else matrix
    path = tmp_path / "x.mtx"
    io.mmwrite(path, given, symmetry=symmetry, field="pattern" if field == "pattern" else None)
    found, expected = read(path), io.mmread(path)
    assert sparse.issparse(found) == (layout == "coordinate")
    np.testing.assert_array_equal(dense(found), dense(expected))
    assert dense(found).dtype.kind == ("f" if field == "real" else "i")
    packed = tmp_path / "x.mtx.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(dense(read(packed)), dense(expected))


BANNER = b"%%MatrixMarket matrix coordinate integer general\n% a comment\n\n"
ARRAY = b"%%MatrixMarket matrix array integer "
WRONG = [
    (b"", "does not begin with %%MatrixMarket"),
    (b"%%MatrixMarket vector coordinate real general\n", "does not begin with %%MatrixMarket"),
    (b"%%MatrixMarket matrix array complex general\n1 1\n1 2\n", "it is complex and general"),
    (b"%%MatrixMarket matrix array pattern general\n1 1\n1\n", "it is pattern and general"),
    (BANNER, "does not say how large it is"),
    (BANNER + b"2 2\n1 1 1\n", "does not say how large it is"),
    (BANNER + b"-2 2 1\n1 1 1\n", "does not say how large it is"),
    (BANNER + b"2 2 %s\n" % (b"9" * 5000), "does not say how large it is"),
    (BANNER + b"2 2 2\n1 1 1\n", "it has 1 lines of 3 numbers, expected 2 of 3"),
    (BANNER + b"2 2 1\n1 1 1\n1 2 1\n", "it has more lines of 3 numbers, expected 1 of 3"),
    (BANNER + b"2 2 1\n1 1\n", "it has 1 lines of 2 numbers, expected 1 of 3"),
    (BANNER + b"2 2 1\n0 1 1\n", "an index is 0, expected 1 to 2"),
    (BANNER + b"2 2 1\n1 3 1\n", "an index is 3, expected 1 to 2"),
    (BANNER + b"2 2 1\n1 1.5 1\n", "an index is 1.5"),
    (BANNER + b"2 2 1\nnan 1 1\n", "an index is nan"),
    (BANNER + b"2 2 1\n1 1 0.5\n", "an entry is 0.5, expected a whole number"),
    (BANNER + b"2 2 1\n1 1 1e300\n", "an entry is 1e\\+300, expected a whole number"),
    (BANNER + b"2 2 1\n1 1 x\n", "could not convert"),
    (BANNER + b"2 2 999999999999999999\n1 1 1\n", "it has 1 lines"),
    # SciPy's reader crashes at these three.
    (ARRAY + b"general\n60 3\n1\0\0\0\0\0\0\0\0" + b"1\n0\n" * 90, "could not convert|it has"),
    (ARRAY + b"general\n0 3\n1\n2\n", "it has more lines of 1 numbers, expected 0 of 1"),
    (ARRAY + b"symmetric\n2 3\n1\n2\n3\n", "it is symmetric, and has 2 rows and 3 columns"),
]


@pytest.mark.parametrize(("content", "problem"), WRONG)
def test_what_is_wrong_is_said(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "x.mtx"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=problem):
        read(path)


def test_empty_lines_and_no_entries(tmp_path: Path) -> None:
    path = tmp_path / "x.mtx"
    path.write_bytes(BANNER + b"2 2 1\n\n  \n2 1 7\n\n")
    assert read(path).toarray().tolist() == [[0, 0], [7, 0]]
    path.write_bytes(BANNER + b"2 3 0\n")
    assert read(path).toarray().tolist() == [[0, 0, 0], [0, 0, 0]]
