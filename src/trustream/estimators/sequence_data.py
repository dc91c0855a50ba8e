"""Rows of a matrix as sequences: lengths as in hmmlearn, and symbols."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from trustream.array_types import Array, Index

# More symbols would take more memory than anybody means: K numbers for each.
_MOST_SYMBOLS = 10_000_000


class GivenSequences(NamedTuple):
    """What users gave: data, and lengths of sequences or None; and whether long ones may be cut."""

    X: Any
    lengths: Any = None
    may_cut: bool = False


def refuse_nested(X: Any) -> None:
    """Refuse a list of sequences of different lengths in the place of their rows.

    >>> refuse_nested([[0, 1, 2], [1, 2]])
    Traceback (most recent call last):
    ...
    ValueError: X is a list of 2 sequences, expected the rows of all of them in one matrix: pass \
numpy.concatenate of them, with a column for each feature, and their lengths as `lengths`
    """
    if not isinstance(X, list | tuple) or any(isinstance(part, str) for part in X):
        return
    if len({len(part) for part in X if hasattr(part, "__len__")}) > 1:
        raise ValueError(
            f"X is a list of {len(X)} sequences, expected the rows of all of them in one matrix: "
            "pass numpy.concatenate of them, with a column for each feature, and their lengths as "
            "`lengths`"
        )


def checked_lengths(lengths: Any, n_samples: int) -> Index:
    """The lengths of sequences that make up so many rows; None is one sequence.

    Raises:
        ValueError: they are no whole numbers of at least 1, or do not add up.

    >>> checked_lengths([2, 3], 5), checked_lengths(None, 5)
    (array([2, 3]), array([5]))
    >>> checked_lengths([2, 2], 5)
    Traceback (most recent call last):
    ...
    ValueError: lengths add up to 4, and X has 5 rows: give the number of rows of each sequence, \
in the order of X
    """
    if lengths is None:
        return np.array([n_samples], np.int64)
    try:
        given = np.asarray(lengths)
    except ValueError:  # of nested lists
        given = np.empty((0, 0))
    if given.ndim != 1 or given.dtype.kind not in "iuf":
        raise ValueError(
            f"lengths must be a list of whole numbers, the rows of each sequence, got "
            f"{repr(lengths)[:80]}"
        )
    if not np.isfinite(given).all() or (given != np.floor(given)).any():
        raise ValueError(f"lengths must be whole numbers, got {given[given != np.floor(given)][0]}")
    if (given < 1).any():
        at = int(np.argmax(given < 1))
        raise ValueError(
            f"lengths must be at least 1, got {int(given[at])} at position {at}: leave out "
            "sequences without rows"
        )
    if given.sum(dtype=np.float64) != n_samples:
        raise ValueError(
            f"lengths add up to {given.sum(dtype=np.float64):.0f}, and X has {n_samples} rows: "
            "give the number of rows of each sequence, in the order of X"
        )
    return given.astype(np.int64)


def symbols(X: Array, n_symbols: int | None) -> tuple[Index, int]:
    """(symbols (n_samples,), how many there are) of a validated matrix of one column.

    Args:
        X: (n_samples, 1).
        n_symbols: V; None is one more than the largest symbol.

    Raises:
        ValueError: there are more columns, or values that are no symbols.

    >>> symbols(np.array([[0.0], [2.0]]), None)
    (array([0, 2], dtype=int32), 3)
    """
    if X.shape[1] != 1:
        raise ValueError(
            f"X has {X.shape[1]} columns, and categorical emissions take one column of symbols "
            '0, 1, 2, ...: use emissions="bernoulli" or "gaussian" for several features'
        )
    column = X[:, 0]
    if column.dtype.kind == "f" and (column != np.floor(column)).any():
        wrong = column[column != np.floor(column)][0]
        raise ValueError(
            f"X has the value {wrong:g}, and symbols are whole numbers 0, 1, 2, ...: number the "
            "values, or use Gaussian emissions for real numbers"
        )
    low, high = int(column.min()), int(column.max())
    if low < 0:
        raise ValueError(f"X has the value {low}, and symbols are whole numbers from 0 on")
    if n_symbols is None and high >= _MOST_SYMBOLS:
        raise ValueError(
            f"X has the symbol {high}, expected less than {_MOST_SYMBOLS}: number the symbols "
            "without gaps, for example by numpy.unique(X, return_inverse=True)"
        )
    if n_symbols is not None and high >= n_symbols:
        raise ValueError(
            f"X has the symbol {high}, and the model knows the symbols 0 to {n_symbols - 1}: fit "
            f"it again with n_symbols={high + 1} or more"
        )
    return column.astype(np.int32), high + 1 if n_symbols is None else n_symbols
