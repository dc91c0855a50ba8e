"""Read scores of items for users, in any of three forms, one block of users at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from trustream.array_types import Array, Index

# The scores of a block should stay in the cache while the best are searched for, and a block
# should have enough rows for an efficient matrix product.
_BLOCK_BYTES = 2**23
_LEAST_ROWS = 16
_MOST_ROWS = 1024
# Users for whom a function is called at a time.
FUNCTION_ROWS = 256


class ScoreSource(NamedTuple):
    """Scores of items for users, computed on request.

    Attributes:
        block: block(rows, buffers) returns the scores of users `rows` (B, I), in an array that
            may be overwritten.
        n_users, n_items: None where they are unknown, as for a function.
        n_rows: the number of users in a block.
        parallel: whether several threads may call `block`.
        dtype: the type of the scores.
    """

    block: Callable[[Index, threading.local], Array]
    n_users: int | None
    n_items: int | None
    n_rows: int
    parallel: bool
    dtype: np.dtype[Any]

    def with_shape(self, n_users: int, n_items: int, name: str) -> ScoreSource:
        """Return the source with known numbers of users and items; other numbers are refused."""
        for what, own, other in (
            ("users", self.n_users, n_users),
            ("items", self.n_items, n_items),
        ):
            if own is not None and own != other:
                raise ValueError(
                    f"scores are for {own} {what}, {name} for {other}: "
                    f"give both with a row for each user and a column for each item"
                )
        return self._replace(n_users=n_users, n_items=n_items)

    def check_items(self, block: Array) -> None:
        """Refuse a block with a different number of items."""
        if self.n_items not in (None, block.shape[1]):
            raise ValueError(
                f"scores returned {block.shape[1]} columns, expected one for each of "
                f"{self.n_items} items"
            )


def score_source(scores: Any) -> ScoreSource:
    """Return a source for scores given as an array, a pair of factors or a function."""
    if callable(scores):
        return _function(scores)
    if isinstance(scores, tuple):
        return _factors(scores)
    return _dense(scores)


def _dense(scores: Any) -> ScoreSource:
    array = _matrix("scores", scores)
    dtype = _real("scores", array.dtype)
    n_users, n_items = array.shape
    n_rows = _block_rows(n_items, dtype)

    def block(rows: Index, buffers: threading.local) -> Array:
        buffer = _buffer(buffers, (n_rows, n_items), dtype)[: rows.size]
        buffer[:] = array[rows]
        return buffer

    return ScoreSource(block, n_users, n_items, n_rows, True, dtype)


def _factors(pair: tuple[Any, ...]) -> ScoreSource:
    if len(pair) != 2:
        raise ValueError(
            f"scores is a tuple of {len(pair)}, expected two factors, of shapes (users, K) and "
            f"(K, items)"
        )
    left, right = _matrix("user factors", pair[0]), _matrix("item factors", pair[1])
    (n_users, k), (k2, n_items) = left.shape, right.shape
    if k != k2:
        raise ValueError(
            f"factors of shapes {left.shape} and {right.shape} do not fit: expected (users, K) and "
            f"(K, items); transpose the second if it has a row for each item"
        )
    dtype = _real("factors", np.result_type(left, right))
    right = np.ascontiguousarray(right, dtype=dtype)
    n_rows = _block_rows(n_items, dtype)

    def block(rows: Index, buffers: threading.local) -> Array:
        filled = np.zeros((n_rows, k), dtype=dtype)
        filled[: rows.size] = left[rows]
        buffer = _buffer(buffers, (n_rows, n_items), dtype)
        # Overflow gives infinities, which rank first or last, or NaN, which is refused.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.matmul(filled, right, out=buffer)[: rows.size]

    return ScoreSource(block, n_users, n_items, n_rows, True, dtype)


def _function(function: Callable[[Index], Any]) -> ScoreSource:
    def block(rows: Index, buffers: threading.local) -> Array:
        values = np.asarray(function(rows.copy()))
        if values.ndim != 2 or values.shape[0] != rows.size or values.shape[1] == 0:
            raise ValueError(
                f"scores returned an array of shape {values.shape} for {rows.size} users, "
                f"expected ({rows.size}, items)"
            )
        return values.astype(_real("scores", values.dtype))

    # The type of the scores is not known yet; float64 can hold any of them.
    return ScoreSource(block, None, None, FUNCTION_ROWS, False, np.dtype(np.float64))


def _matrix(name: str, value: Any) -> Array:
    if sparse.issparse(value):
        raise ValueError(f"{name} is a sparse matrix, expected a dense array: call toarray()")
    array = np.asarray(value)
    if array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(f"{name} has shape {array.shape}, expected two axes and a column or more")
    return array


def _real(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind not in "biuf":
        raise ValueError(f"{name} has type {dtype}, expected real numbers")
    return np.dtype(np.float32 if dtype in (np.float16, np.float32) else np.float64)


def _block_rows(n_items: int, dtype: np.dtype[Any]) -> int:
    """Users in a block: a multiple of 16, which suits matrix products."""
    n_rows = _BLOCK_BYTES // (n_items * dtype.itemsize) // _LEAST_ROWS * _LEAST_ROWS
    return min(_MOST_ROWS, max(_LEAST_ROWS, n_rows))


def _buffer(buffers: threading.local, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """Return this thread's array for scores; fresh memory would cost as much as the product."""
    if not hasattr(buffers, "array"):
        buffers.array = np.empty(shape, dtype=dtype)
    result: Array = buffers.array
    return result
