"""Read ratings from a matrix or a frame into one sparse matrix, with ids of rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from trustream import matrices
from trustream.array_types import Array, Float64, Index
from trustream.feeds.options import RatingColumns
from trustream.recommender.ids import Ids, as_array


class RatingRows(NamedTuple):
    """Single ratings in the order of a frame; `time` is None if it is unknown."""

    user: Array
    item: Array
    rating: Float64
    time: Array | None


@dataclass(frozen=True, eq=False)
class Ratings:
    """Which users have rated which items.

    Attributes:
        users, items: ids of rows and columns.
        weights: (U, I), with a stored entry for each item that a user rated: how much the item is
            liked, 0 where it was rated and not liked.
    """

    users: Ids
    items: Ids
    weights: sparse.csr_array

    def likes(self) -> sparse.csr_array:
        """Weights (U, I) of liked items alone."""
        return liked_items(self.weights)

    def seen(self) -> sparse.csr_array:
        """1 for every rated item, (U, I)."""
        return rated_items(self.weights)

    def updated(self, new: Ratings, *, new_items: bool = False) -> Ratings:
        """Return these ratings with newer ones, by known or new users, added.

        A newer rating replaces an older one of the same user and item.

        Args:
            new_items: whether unknown items are added too, behind those that are known.

        Raises:
            ValueError: an item is unknown and may not be, or ids are of another kind.
        """
        items = self.items.extended(new.items.values) if new_items else self.items
        columns = items.positions(new.items.values)
        users = self.users.extended(new.users.values)
        rows = users.positions(new.users.values)
        before, after = self.weights.tocoo(), new.weights.tocoo()
        weights = latest_matrix(
            np.concatenate([before.coords[0], rows[after.coords[0]]]),
            np.concatenate([before.coords[1], columns[after.coords[1]]]),
            np.concatenate([before.data, after.data]),
            None,
            (len(users), len(items)),
        )
        return Ratings(users, items, weights)


def is_frame(data: Any) -> bool:
    """Return whether `data` has named columns.

    >>> is_frame({"user": [1]}), is_frame([[1, 0]])
    (True, False)
    """
    # SciPy's dictionary of keys is a mapping too.
    if sparse.issparse(data):
        return False
    # The class is asked, because a lazy frame would compute its columns.
    return isinstance(data, Mapping) or hasattr(type(data), "columns")


def from_frame(frame: Any, columns: RatingColumns, threshold: float | None) -> Ratings:
    """Return the ratings of a pandas or polars frame, or of a dictionary of columns.

    Of several ratings of an item by a user the one with the latest timestamp counts; where
    timestamps are equal or missing, the last one in the frame.

    >>> frame = {"user": ["ann", "ann", "bob"], "item": [7, 7, 9], "rating": [2, 5, 4]}
    >>> from_frame(frame, RatingColumns(), threshold=5).weights.toarray()
    array([[1., 0.],
           [0., 0.]], dtype=float32)
    """
    entries = rating_rows(frame, columns)
    users, items = Ids.sorted("user", entries.user), Ids.sorted("item", entries.item)
    weights = latest_matrix(
        users.find(entries.user),
        items.find(entries.item),
        like_weights(entries.rating, threshold),
        entries.time,
        (len(users), len(items)),
    )
    return Ratings(users, items, weights)


def from_matrix(matrix: Any, user_ids: Any, item_ids: Any, threshold: float | None) -> Ratings:
    """Return the ratings of a (U, I) sparse matrix or array, with ids 0, 1, ... if none are given.

    Duplicate entries of a sparse matrix are added, as everywhere in SciPy. A stored zero is a
    rating.

    >>> from_matrix([[5, 0], [0, 3]], ["ann", "bob"], None, threshold=4).likes().nnz
    1
    """
    try:
        weights = matrices.csr(matrix, "ratings", summed=True)
    except ValueError as error:
        if sparse.issparse(matrix):
            raise
        raise ValueError(
            f"ratings must be a matrix (users, items) or a frame with columns user, item and "
            f"rating, got {type(matrix).__name__}: {error}"
        ) from error
    if 0 in weights.shape:
        raise ValueError(f"ratings has shape {weights.shape}, expected (users, items), none empty")
    weights = sparse.csr_array(weights, dtype=np.float64, copy=True)
    if getattr(matrix, "format", None) == "bsr":
        weights.eliminate_zeros()  # zeros only pad its blocks
    ids = []
    for what, given, n in zip(("user", "item"), (user_ids, item_ids), weights.shape, strict=True):
        ids.append(Ids(what, np.arange(n) if given is None else given))
        if len(ids[-1]) != n:
            raise ValueError(f"{what}_ids has {len(ids[-1])} ids, the matrix {n} {what}s")
    _check_finite(weights.data)
    weights.data = like_weights(weights.data, threshold)
    return Ratings(ids[0], ids[1], weights)


def rating_rows(frame: Any, columns: RatingColumns) -> RatingRows:
    """Return the columns of a frame, validated.

    >>> rating_rows({"user": [1, 2], "item": [3, 3], "rating": [4, None]}, RatingColumns())
    Traceback (most recent call last):
    ...
    ValueError: 1 of 2 ratings is missing or infinite: leave them out
    """
    if hasattr(frame, "collect"):
        raise ValueError("a lazy frame has no rows yet: call its collect() first")
    names = list(frame) if isinstance(frame, Mapping) else list(frame.columns)
    wanted = {
        field: name
        for field, name in columns._asdict().items()
        if name is not None or field in ("user", "item")
    }
    # A column of the default name may be missing; a name that the user chose must exist.
    if columns.timestamp == RatingColumns().timestamp and columns.timestamp not in names:
        del wanted["timestamp"]
    missing = [name for name in wanted.values() if name not in names]
    if missing:
        raise ValueError(
            f"the ratings have no column {', '.join(map(repr, missing))}; the columns are "
            f"{', '.join(map(repr, names))}: say which is which by user_column, item_column, "
            f"rating_column and timestamp_column"
        )
    found = {field: as_array(frame[name]) for field, name in wanted.items()}
    n = found["user"].size
    if not n or any(column.size != n for column in found.values()):
        sizes = ", ".join(f"{wanted[field]} {column.size}" for field, column in found.items())
        raise ValueError(f"expected columns of the same length, with a row or more; got {sizes}")
    rating = _numbers("ratings", found["rating"]) if "rating" in found else np.ones(n)
    _check_finite(rating)
    time = found.get("timestamp")
    return RatingRows(found["user"], found["item"], rating, None if time is None else _times(time))


def like_weights(ratings: Float64, threshold: float | None) -> NDArray[np.float32]:
    """Return the weight of each rating: 1 from the threshold on, else 0; itself without threshold.

    >>> like_weights(np.array([2.0, 4.0]), 3.0).tolist()
    [0.0, 1.0]
    >>> like_weights(np.array([2.0]), None).tolist()
    [2.0]
    """
    if threshold is not None:
        return (ratings >= threshold).astype(np.float32)
    if ratings.size and ratings.min() < 0:
        raise ValueError(
            f"there are negative ratings, down to {ratings.min():g}, which cannot be weights: "
            f"set a threshold from which on an item counts as liked"
        )
    if ratings.size and ratings.max() > matrices.MOST_TOKENS:
        raise ValueError(
            f"there are ratings up to {ratings.max():g}, too large to be weights: set a threshold "
            f"from which on an item counts as liked, or scale them down"
        )
    return ratings.astype(np.float32)


def latest_matrix(
    rows: Index,
    columns: Index,
    values: Array,
    time: Array | None,
    shape: tuple[int, int],
) -> sparse.csr_array:
    """Return a matrix of the latest value of each entry, with zeros stored; see `from_frame`."""
    keys = (columns, rows) if time is None else (time, columns, rows)
    order = np.lexsort(keys)  # stable: equal keys stay in the order of the data
    rows, columns, values = rows[order], columns[order], values[order]
    last = np.ones(rows.size, dtype=bool)
    last[:-1] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    starts = np.searchsorted(rows[last], np.arange(shape[0] + 1))
    return sparse.csr_array((values[last], columns[last], starts), shape=shape)


def rated_items(weights: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix with 1 for every stored entry, including zeros.

    >>> rated_items(sparse.csr_array(([0.0, 3.0], [0, 1], [0, 2]))).toarray()
    array([[1., 1.]])
    """
    parts = (np.ones_like(weights.data), weights.indices, weights.indptr)
    return sparse.csr_array(parts, shape=weights.shape)


def liked_items(weights: sparse.csr_array) -> sparse.csr_array:
    """Return a copy without stored zeros, the items that are rated but not liked.

    >>> liked_items(sparse.csr_array(([0.0, 3.0], [0, 1], [0, 2]))).nnz
    1
    """
    liked = weights.copy()
    liked.eliminate_zeros()
    return liked


def _numbers(what: str, column: Array) -> Float64:
    try:
        if column.dtype.kind in "US":
            raise TypeError("they are text")
        if column.dtype == object:  # a missing value becomes NaN, which is refused later
            column = np.array([np.nan if _is_missing(value) else value for value in column])
        return column.astype(np.float64, casting="same_kind")
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers: {error}") from error


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType"


def _times(column: Array) -> Array:
    """Numbers or dates; text like 2015-07-06 12:30 is a date."""
    if column.size and isinstance(column[0], str):
        try:
            column = np.array([time.replace(" ", "T") for time in column], dtype="datetime64[us]")
        except (AttributeError, ValueError) as error:
            raise ValueError(f"timestamps must be numbers or dates: {error}") from error
    elif column.dtype.kind not in "iuM":
        column = _numbers("timestamps", column)
    missing = np.isnat(column) if column.dtype.kind == "M" else np.isnan(column)
    if missing.any():
        raise ValueError(
            f"{missing.sum()} of {column.size} timestamps are missing: fill them in, or set "
            f"timestamp_column to None"
        )
    return column


def _check_finite(ratings: Float64) -> None:
    wrong = int((~np.isfinite(ratings)).sum())
    if wrong:
        verb = "is" if wrong == 1 else "are"
        raise ValueError(
            f"{wrong} of {ratings.size} ratings {verb} missing or infinite: leave them out"
        )
