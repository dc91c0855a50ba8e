"""Read ratings with their times, and divide them into the past and what came after it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from trustream.array_types import Float64
from trustream.recommender.fading_counts import FadingCounts, in_days
from trustream.recommender.ratings import (
    RatingRows,
    from_frame,
    is_frame,
    like_weights,
    rated_items,
    rating_rows,
)

# The last part of the ratings in time.
LAST = 0.1


def timed_rows(ratings: Any, recommender: Any) -> RatingRows:
    """The ratings one by one, with times."""
    if not is_frame(ratings):
        raise ValueError("a matrix has no times: give a frame of ratings with a column of times")
    rows = rating_rows(ratings, recommender.columns)
    if rows.time is None:
        name = recommender.timestamp_column
        column = "column" if name is None else f"column {name!r}"
        raise ValueError(
            f"the ratings have no {column} of times, which says what is liked at the moment: name "
            "it by timestamp_column"
        )
    if rows.time.dtype.kind == "f" and np.isinf(rows.time).any():
        raise ValueError("there are infinite timestamps: leave these ratings out")
    return rows


def counted(
    counts: FadingCounts, rows: RatingRows, items: Any, threshold: float | None
) -> FadingCounts:
    """The counts with the likes among some ratings."""
    weights = like_weights(rows.rating, threshold).astype(np.float64)
    return counts.updated(items.positions(rows.item), weights, _days(rows), len(items))


def _days(rows: RatingRows) -> Float64:
    assert rows.time is not None
    return in_days(rows.time)


def as_frame(rows: RatingRows, recommender: Any, chosen: Any) -> dict[str, Any]:
    """Some of the ratings as a frame."""
    columns = recommender.columns
    frame = {columns.user: rows.user[chosen], columns.item: rows.item[chosen]}
    if columns.rating is not None:
        frame[columns.rating] = rows.rating[chosen]
    if rows.time is not None:
        frame[columns.timestamp] = rows.time[chosen]
    return frame


def split(
    rows: RatingRows, recommender: Any
) -> tuple[dict[str, Any], RatingRows, sparse.csr_array] | None:
    """Ratings of the past as a frame and one by one, and later likes of who and what it knows."""
    days = _days(rows)
    past = days < np.quantile(days, 1 - LAST)
    liked = like_weights(rows.rating, recommender.threshold) > 0
    if not (past & liked).any():
        return None
    frame = as_frame(rows, recommender, past)
    data = from_frame(frame, recommender.columns, recommender.threshold)
    user, item = data.users.find(rows.user), data.items.find(rows.item)
    asked = ~past & liked & (user >= 0) & (item >= 0)
    entries = (np.ones(asked.sum(), np.float32), (user[asked], item[asked]))
    held_out = sparse.csr_array(entries, shape=data.weights.shape)
    held_out.sum_duplicates()
    new = held_out - held_out.multiply(rated_items(data.weights))
    if not np.any(new.data if new.nnz else 0):
        return None
    assert rows.time is not None
    first = RatingRows(rows.user[past], rows.item[past], rows.rating[past], rows.time[past])
    return frame, first, sparse.csr_array(held_out)
