"""Files of a few bytes that claim to be large cost no memory."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from trustream.feeds import read_matrix
from trustream.feeds.claimed_rows import MOST_ROWS, ROWS_PER_BYTE, check_rows

BANNER = "%%MatrixMarket matrix "
ONE = np.zeros(1, np.int64)
MANY = 50_000_000
MARKET = {
    "symmetric": "array real symmetric\n4000 4000\n1\n",
    "skew-symmetric": "array integer skew-symmetric\n4000 4000\n1\n",
    "more lines than there are numbers": f"array real symmetric\n{10**17} {10**17}\n1\n",
    "dense": f"array real general\n{10**17} {10**17}\n1\n",
    "rows": f"coordinate integer general\n{MANY} 3 1\n1 1 1\n",
    "pattern": f"coordinate pattern symmetric\n{MANY} {MANY} 1\n1 1\n",
    "no entries": f"coordinate real general\n{10**17} 3 0\n",
    "entries": f"coordinate real general\n3 3 {10**17}\n1 1 1\n",
}
ARRAYS = {
    "coo": {"shape": [MANY, 3], "data": ONE + 1.0, "row": ONE, "col": ONE, "format": "coo"},
    "csc": {
        "shape": [MANY, 1], "data": ONE + 1.0, "indices": ONE, "indptr": np.arange(2),
        "format": b"csc",
    },
    "bsr": {
        "shape": [MANY, 1], "data": np.ones((0, MANY, 1)), "indices": ONE[:0],
        "indptr": np.zeros(2, np.int64), "format": "bsr",
    },
    "dia": {"shape": [MANY, MANY], "data": np.ones((1, 1)), "offsets": ONE, "format": "dia"},
    "csr": {"shape": [MANY, 3], "data": ONE + 1.0, "indices": ONE, "indptr": np.arange(2)},
}  # fmt: skip


def peak_of_refusal(path: Path, message: str) -> int:
    read_matrix_once(path.parent)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            read_matrix(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def read_matrix_once(folder: Path) -> None:
    """What is loaded with the first file is not the second's."""
    path = folder / "small.npz"
    sparse.save_npz(path, sparse.coo_array(np.eye(3)))
    assert read_matrix(path).nnz == 3


@pytest.mark.parametrize("name", [*MARKET])
def test_matrix_market(name: str, tmp_path: Path) -> None:
    for suffix in ("mtx", "mtx.gz"):
        path = tmp_path / f"x.{suffix}"
        text = (BANNER + MARKET[name]).encode()
        path.write_bytes(gzip.compress(text) if suffix == "mtx.gz" else text)
        assert peak_of_refusal(path, r"x\.mtx.*(claims .* rows, too many|it has 1 lines)") < 3e6


@pytest.mark.parametrize("format", [*ARRAYS])
def test_numpy_archives(format: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, **ARRAYS[format])
    assert peak_of_refusal(path, "claims 50,000,000 rows, too many|indptr has 2 numbers") < 3e6


def test_many_documents_without_a_word(tmp_path: Path) -> None:
    """Not all that is nearly empty is refused: of CSR the rows themselves stand in the file."""
    path = tmp_path / "x.mtx"
    path.write_text(BANNER + "coordinate integer general\n300000 3 1\n300000 1 7\n")
    assert read_matrix(path).shape == (300_000, 3)
    rows = MOST_ROWS + 1
    empty = sparse.csr_array((ONE, ONE, np.r_[np.zeros(rows, np.int32), 1]), shape=(rows, 2))
    sparse.save_npz(tmp_path / "x.npz", empty)
    assert (tmp_path / "x.npz").stat().st_size < 100_000
    assert read_matrix(tmp_path / "x.npz").shape == (rows, 2)


def test_what_a_larger_file_may_claim(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(MOST_ROWS // ROWS_PER_BYTE + 1))
    check_rows(MOST_ROWS + ROWS_PER_BYTE, path)
    with pytest.raises(ValueError, match="it claims 10,000,101 rows"):
        check_rows(MOST_ROWS + ROWS_PER_BYTE + 1, path)


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("uci", f"{10**17}\n2\n{10**17}\n1 1 1\n", "ends after 1 of 100000000000000000 lines"),
        ("ldac", f"{10**17} 1:1\n", "says 100000000000000000 terms and has 1"),
    ],
)
def test_bags_of_words(format: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{format}"
    path.write_text(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=message):
            read_matrix(path, ["a", "b"], format=format)
        assert tracemalloc.get_traced_memory()[1] < 3e6
    finally:
        tracemalloc.stop()
