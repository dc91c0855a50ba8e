"""Parquet files with counts that are none: refused in one sentence before anything reads them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse as sp

from trustream import LatentDirichletAllocation
from trustream.cluster import fit, write_counts
from trustream.cluster.corpora import open_corpus
from trustream.cluster.parquet_counts import N_WORDS

COUNTS = np.random.default_rng(0).poisson(1.0, (60, 20))
INDICES: Any = [[0, 1], [1]] * 10
NUMBERS: Any = [[1.0, 2.0], [3.0]] * 10


def fitted(path: Path, **options: Any) -> np.ndarray:
    """Topics of a file, learned in this process."""
    lda = LatentDirichletAllocation(2, max_iter=1, random_state=0, dtype="float64")
    return np.asarray(fit(lda, path, workers=0, n_parts=2, **options).components_)


def written(path: Path, indices: Any, counts: Any, n_words: bytes = b"4") -> Path:
    table = pa.table({"indices": indices, "counts": counts})
    parquet.write_table(table.replace_schema_metadata({N_WORDS: n_words}), path)
    return path


@pytest.mark.parametrize(
    ("indices", "counts", "message"),
    [
        ([[0, 1], [1]], [[1.0, 1e30], [2.0]], "has 1e+30 tokens, at most 2^53"),
        # As float32 it is infinite.
        ([[0, 1], [1]], [[1.0, 1e300], [2.0]], "counts that are negative or not finite"),
        ([[0, 1], [1]], [[1.0, -1.0], [2.0]], "counts that are negative or not finite"),
        ([[0, 1], [1]], [[1.0, np.nan], [2.0]], "counts that are negative or not finite"),
        ([[0, -1], [1]], [[1.0, 2.0], [2.0]], "has the column -1, and there are 4"),
        ([[0, 4], [1]], [[1.0, 2.0], [2.0]], "has the column 4, and there are 4"),
        ([[0, 2**32], [1]], [[1.0, 2.0], [2.0]], "has the column 4294967296, and there are 4"),
        ([[0.5, 1.0], [1.0]], [[1.0, 2.0], [2.0]], "numbers of type float64, expected whole ones"),
        ([["a", "b"], ["c"]], [[1.0, 2.0], [2.0]], "list<element: string>, expected lists of num"),
        ([[0, 1], [1]], [["a", "b"], ["c"]], "list<element: string>, expected lists of numbers"),
        ([[[0], [1]], [[1]]], [[1.0, 2.0], [2.0]], "expected lists of numbers"),
        ([0, 1], [1.0, 2.0], "indices is of type int64, expected lists of numbers"),
        ([[0, 1], [1]], [[1.0], [2.0]], "has not as many counts as indices"),
        ([[0, None], [1]], [[1.0, 2.0], [2.0]], "missing (null)"),
        ([[0, 1], None], [[1.0, 2.0], None], "missing (null)"),
    ],
)
def test_columns_that_are_no_counts(
    tmp_path: Path, indices: Any, counts: Any, message: str
) -> None:
    path = written(tmp_path / "counts.parquet", indices, counts)
    with pytest.raises(ValueError) as error:
        fitted(path)
    assert message in str(error.value) and str(path) in str(error.value)


def test_lists_of_a_fixed_size(tmp_path: Path) -> None:
    pairs = [[0, 1], [1, 0]]
    path = written(
        tmp_path / "counts.parquet",
        pa.array(pairs, pa.list_(pa.int32(), 2)),
        pa.array(pairs, pa.list_(pa.float32(), 2)),
    )
    with pytest.raises(ValueError, match="lists of a fixed size"):
        fitted(path)


def test_large_lists_are_as_good(tmp_path: Path) -> None:
    plain = written(tmp_path / "a.parquet", INDICES, NUMBERS)
    large = written(
        tmp_path / "b.parquet",
        pa.array(INDICES, pa.large_list(pa.int64())),
        pa.array(NUMBERS, pa.large_list(pa.float64())),
    )
    np.testing.assert_array_equal(fitted(plain), fitted(large))


@pytest.mark.parametrize("said", [b"x", b"-3", b"0", b"9" * 5000, b"4e3", b"\xff", b""])
def test_what_a_file_says_of_its_columns(tmp_path: Path, said: bytes) -> None:
    path = written(tmp_path / "counts.parquet", INDICES, NUMBERS, said)
    for read in (fitted, open_corpus):
        with pytest.raises(ValueError, match=r"says that it has b'.* columns, expected 1 to"):
            read(path)


def test_words_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "words.parquet"
    parquet.write_table(pa.table({"words": [[1, 2], [3]] * 10}), path)
    with pytest.raises(ValueError, match="expected a text or a list of words"):
        fitted(path, words=["a", "b"])


def test_flipped_bits_are_noticed(tmp_path: Path) -> None:
    """A file that was written here gives the same topics, or an error."""
    path, rng = tmp_path / "counts.parquet", np.random.default_rng(1)
    write_counts(path, COUNTS)
    content, expected, refused = path.read_bytes(), fitted(path), 0
    for _ in range(100):
        changed = bytearray(content)
        changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            # Metadata has no checksum; what it says of columns is not what is tested here.
            np.testing.assert_array_equal(fitted(path, n_words=20), expected)
        except ValueError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 50


def test_counts_of_one_place_are_summed_before_they_are_rounded(tmp_path: Path) -> None:
    path, large = tmp_path / "counts.parquet", 2.0**24
    twice = sp.csc_array(([large, 1.0, 1.0, 1.0], [0, 0, 0, 0], [0, 0, 4]), shape=(1, 2))
    write_counts(path, twice)
    found = parquet.read_table(path)
    assert found["indices"].to_pylist() == [[1]] and found["counts"].to_pylist() == [[large + 4]]


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "counts.parquet"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="it is a pipe; give the name of a file"):
        write_counts(pipe, COUNTS)
    assert pipe.is_fifo()
    assert [*tmp_path.iterdir()] == [pipe]
