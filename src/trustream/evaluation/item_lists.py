"""Find the best items of each user, from scores in any of three forms.

Scores are computed for one block of users at a time. All blocks have the same shape, the last one
is padded with zeros, and BLAS uses one thread in each, so that a list depends neither on the
number of threads nor on which other users are asked for.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from trustream.array_types import Array, Index
from trustream.evaluation.item_scores import ScoreSource, score_source
from trustream.evaluation.validation import as_interactions, whole_number
from trustream.kernels import threads

# The smallest number of groups into which items are divided; see `_floor`.
_LEAST_GROUPS = 256


def top_items(
    scores: Any,
    n: int,
    *,
    seen: Any = None,
    users: ArrayLike | None = None,
    n_threads: int | None = None,
) -> Index:
    """Return the n items with the highest scores for each user, best first.

    Of items with the same score the one with the lower index comes first. Items that a user has
    seen are left out, and so are items with a score of -inf. Where fewer than n are left, the
    list ends with -1.

    Args:
        scores: (U, I) array; or a pair of arrays (U, K) and (K, I), whose product is the scores;
            or a function from indices of users (B,) to their scores (B, I), which is called by
            one thread, for at most 256 users at a time.
        n: length of the lists.
        seen: (U, I) sparse matrix or array; nonzero entries are items that the user has seen.
        users: indices of the users wanted, all if not given.
        n_threads: threads, all cores if not given. The result does not depend on it.

    Returns:
        Items (U, n), or a row for each of `users`.

    >>> top_items(np.array([[0.1, 0.5, 0.5, 0.2]]), 3)
    array([[1, 2, 3]])
    >>> top_items(np.array([[0.1, 0.5, 0.5, 0.2]]), 3, seen=np.array([[0, 1, 0, 1]]))
    array([[ 2,  0, -1]])
    >>> top_items((np.array([[1.0], [-1.0]]), np.array([[1.0, 2.0, 3.0]])), 2)
    array([[2, 1],
           [0, 1]])
    """
    return scored_items(scores, n, seen=seen, users=users, n_threads=n_threads)[0]


def scored_items(
    scores: Any,
    n: int,
    *,
    seen: Any = None,
    users: ArrayLike | None = None,
    n_threads: int | None = None,
) -> tuple[Index, Array]:
    """Return `top_items` and their scores, both (U, n); the score is -inf where an item is -1.

    >>> scored_items(np.array([[0.1, 0.5]]), 3)
    (array([[ 1,  0, -1]]), array([[ 0.5,  0.1, -inf]]))
    """
    n = whole_number("n", n)
    source = score_source(scores)
    if seen is not None:
        seen = as_interactions(seen, "seen")
        n_users, n_items = seen.shape
        source = source.with_shape(n_users, n_items, "seen")
    return scored_lists(source, n, seen, _users(users, source.n_users), n_threads)


def scored_lists(
    source: ScoreSource, n: int, seen: Any, users: Index, n_threads: int | None
) -> tuple[Index, Array]:
    """Return `scored_items` of validated arguments."""
    lists = np.full((users.size, n), -1, dtype=np.int64)
    scores = np.full((users.size, n), -np.inf, dtype=source.dtype)
    buffers = threading.local()
    parts = threads.split(users.size, source.n_rows)

    def work(start: int, stop: int) -> None:
        rows = users[start:stop]
        block = source.block(rows, buffers)
        source.check_items(block)
        if seen is not None:
            block[seen[rows].tocoo().coords] = -np.inf
        lists[start:stop], scores[start:stop] = _best(block, n, rows)

    if source.parallel:
        n_threads = threads.available_cores() if n_threads is None else n_threads
        n_threads = whole_number("n_threads", n_threads)
        with threads.one_blas_thread():
            threads.run(work, parts, n_threads)
    else:
        # A function decides for itself how many threads it uses.
        for part in parts:
            work(*part)
    return lists, scores


def _best(block: Array, n: int, users: Index) -> tuple[Index, Array]:
    """The n best columns of each row (B, I) and their values; see `scored_items`."""
    n_rows = block.shape[0]
    floor = _floor(block, n, users)[:, None]
    # All candidates for the n best, ordered by row, then item.
    row, item = np.divmod(np.flatnonzero(block >= floor), block.shape[1])
    values = block[row, item]
    # There may be very many exactly at the floor, of which n per row are enough.
    if row.size > 2 * n_rows * n:
        at_floor = values == floor[row, 0]
        n_before = np.cumsum(at_floor) - at_floor
        kept = ~at_floor | (n_before - n_before[_starts(row, n_rows)] < n)
        row, item, values = row[kept], item[kept], values[kept]
    order = np.lexsort((-values, row))  # stable: equal scores stay in the order of items
    row, item, values = row[order], item[order], values[order]
    rank = np.arange(row.size) - _starts(row, n_rows)
    kept = rank < n
    lists = np.full((n_rows, n), -1, dtype=np.int64)
    scores = np.full((n_rows, n), -np.inf, dtype=block.dtype)
    lists[row[kept], rank[kept]] = item[kept]
    scores[row[kept], rank[kept]] = values[kept]
    return lists, scores


def _starts(row: Index, n_rows: int) -> Index:
    """For each entry of the sorted `row`, the position of the first entry of the same value."""
    return np.searchsorted(row, np.arange(n_rows))[row]


def _floor(block: Array, n: int, users: Index) -> Array:
    """A score that at least n items of each row reach, above -inf: (B,).

    The n-th largest of the maxima of groups of items is one, because n groups have an item that
    high. With many more groups than n it is hardly below the n-th largest score of all, and a
    maximum costs far less than a partial sort. Unlike a partial sort, a floor also keeps all items
    of equal score.
    """
    n_rows, n_items = block.shape
    n_groups = max(_LEAST_GROUPS, 8 * n)
    whole = n_items // n_groups * n_groups
    maxima = block
    if whole > n_groups:
        grouped = block[:, :whole].reshape(n_rows, -1, n_groups).max(axis=1)
        maxima = np.concatenate([grouped, block[:, whole:]], axis=1)
    if np.isnan(maxima).any():  # a maximum is NaN if any of its numbers is
        where = np.argwhere(np.isnan(block))[0]
        raise ValueError(
            f"the score of user {users[where[0]]} for item {where[1]} is NaN: scores must be "
            f"numbers (-inf leaves an item out)"
        )
    lowest = np.finfo(block.dtype).min
    if n >= maxima.shape[1]:
        return np.full(n_rows, lowest, dtype=block.dtype)
    return np.maximum(np.partition(maxima, -n, axis=1)[:, -n], lowest)


def _users(users: ArrayLike | None, n_users: int | None) -> Index:
    if users is None:
        if n_users is None:
            raise ValueError("a function does not say how many users there are: give users or seen")
        return np.arange(n_users)
    array = np.asarray(users)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ValueError(
            f"users must be a list of indices, got {array.dtype} of shape {array.shape}"
        )
    if array.size and (array.min() < 0 or (n_users is not None and array.max() >= n_users)):
        raise ValueError(
            f"users has indices from {array.min()} to {array.max()}, expected 0 "
            f"{'or more' if n_users is None else f'to {n_users - 1}'}"
        )
    return array.astype(np.int64)
