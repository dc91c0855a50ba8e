"""Counts of documents in Parquet files: how they are written, and checked when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trustream import matrices
from trustream._regular_file import replacement

INDICES, COUNTS = "indices", "counts"
# What a file that knows its columns says in its metadata.
N_WORDS = b"trustream.n_words"


def write_counts(
    path: str | Path, counts: Any, *, n_words: int | None = None, group_size: int = 10_000
) -> None:
    """Write a matrix of counts as a Parquet file that `ParquetSource` reads.

    Args:
        path: of the file.
        counts: (documents, columns), sparse or not.
        n_words: columns of all files, if it is more.
        group_size: documents of a row group, which is what a worker reads at a time.

    Raises:
        ValueError: the matrix is damaged, or `path` is no file.
    """
    import pyarrow
    from pyarrow import parquet

    # Summed before they are rounded, as a matrix made afresh has them.
    rows = matrices.with_summed_entries(matrices.csr(counts, "counts"))
    small = rows.nnz < 2**31
    kind = pyarrow.ListArray if small else pyarrow.LargeListArray
    offsets = rows.indptr.astype(np.int32 if small else np.int64)
    lists = {
        INDICES: kind.from_arrays(offsets, rows.indices.astype(np.int32)),
        COUNTS: kind.from_arrays(offsets, rows.data.astype(np.float32)),
    }
    table = pyarrow.table(lists)
    table = table.replace_schema_metadata({N_WORDS: str(n_words or rows.shape[1])})
    with replacement(path) as temporary:
        parquet.write_table(table, temporary, row_group_size=group_size, write_page_checksum=True)


def said_columns(schema: Any, path: str) -> int | None:
    """How many columns a file with counts says that there are; None if it does not say.

    Raises:
        ValueError: what it says is no such number.
    """
    said = (schema.metadata or {}).get(N_WORDS)
    if said is None:
        return None
    if not said.isdigit() or not 1 <= int(said[:20]) <= matrices.MOST_COLUMNS:
        raise ValueError(
            f"{path} says that it has {said!r:.40} columns, expected 1 to "
            f"{matrices.MOST_COLUMNS:,}: write it again"
        )
    return int(said)


def stored_counts(table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts, indices and indptr of a table with counts, as they are in it.

    Raises:
        ValueError: its columns are no lists of numbers, or do not fit together.
    """
    indptr, indices = _lists(table[INDICES], INDICES)
    if indices.dtype.kind not in "iu":
        raise ValueError(f"{INDICES} has numbers of type {indices.dtype}, expected whole ones")
    ends, counts = _lists(table[COUNTS], COUNTS)
    if not np.array_equal(indptr, ends):
        raise ValueError("a document has not as many counts as indices")
    return counts, indices, indptr


def checked_rows(
    counts: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    shape: tuple[int, int],
    name: str,
) -> Any:
    """Counts of documents as a matrix that kernels can trust, entries in order and summed.

    Raises:
        ValueError: arrays do not fit together, or counts are none.
    """
    n_words = shape[1]
    if indices.size and not 0 <= indices.min() <= indices.max() < n_words:
        worst = indices.min() if indices.min() < 0 else indices.max()
        raise ValueError(f"{name} has the column {worst}, and there are {n_words}: give n_words")
    with np.errstate(over="ignore"):
        counts = counts.astype(np.float32)
    if counts.size and not (np.isfinite(counts).all() and counts.min() >= 0):
        raise ValueError(f"{name} has counts that are negative or not finite")
    parts = {"data": counts, "indices": indices, "indptr": indptr, "shape": shape}
    rows = matrices.from_parts(parts, name)
    matrices.check_tokens(rows, name)
    return matrices.with_summed_entries(rows)


def _lists(column: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Where each list begins and ends, and all values."""
    from pyarrow import types

    kind = column.type
    if types.is_fixed_size_list(kind):
        raise ValueError(f"{name} has lists of a fixed size, write lists of any size")
    is_list = types.is_list(kind) or types.is_large_list(kind)
    if not is_list or not _is_number(kind.value_type):
        raise ValueError(f"{name} is of type {kind}, expected lists of numbers")
    array = column.combine_chunks()
    if array.null_count:
        raise ValueError("a document is missing (null): write an empty list for one without words")
    values = array.flatten()
    if values.null_count:
        raise ValueError("a document has a value that is missing (null)")
    offsets = array.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], values.to_numpy(zero_copy_only=False)


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))
