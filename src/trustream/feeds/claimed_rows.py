"""Bound what a matrix file may claim: rows cost memory, also those that nothing stands in."""

from __future__ import annotations

from pathlib import Path

# Rows that a file may have, whatever its size: documents without a single word.
MOST_ROWS = 10_000_000
# And for each byte of a larger file. Compressed, entries of documents take more than this leaves.
ROWS_PER_BYTE = 100


def check_rows(n_rows: int, path: Path) -> None:
    """Refuse a number of rows that a file only claims, and that nearly all must be empty.

    >>> check_rows(200, Path(__file__))
    >>> check_rows(10**12, Path(__file__))
    Traceback (most recent call last):
    ...
    ValueError: it claims 1,000,000,000,000 rows, too many for a file of its size: nearly all \
would be empty; leave out rows without entries, or save it in SciPy's CSR format
    """
    if n_rows > max(MOST_ROWS, ROWS_PER_BYTE * path.stat().st_size):
        raise ValueError(
            f"it claims {n_rows:,} rows, too many for a file of its size: nearly all would be "
            "empty; leave out rows without entries, or save it in SciPy's CSR format"
        )
