"""How well a recommender ranks the items that its users turned out to like.

For a user let L be the held-out items, P the list of the first M recommended ones, and p_1, p_2,
... its items in order. The measures are (section 4.4 of the paper for the first and third)

    normalised precision   |L and P| / min(|L|, |P|)
    precision              |L and P| / M
    recall                 |L and P| / |L|
    NDCG                   sum_{r <= |P|} g(p_r) / log2(r + 1)  over the same for the best list

with g = 1 for items of L, or their held-out values, and g = 0 for others. All lie between 0 and 1.
|P| is M unless a list is short, because few items are left to rank or because it was given so.
A short list is judged by normalised precision for what is on it; the other three count each
missing place as a miss. An empty list has 0 in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from trustream.evaluation.item_lists import best_lists
from trustream.evaluation.item_scores import entries, positive_integer, source_of
from trustream.evaluation.ranking_result import MEASURES, Measure, Ranking

Float64 = NDArray[np.float64]
Index = NDArray[np.int64]

# Users whose lists are kept at a time.
_CHUNK = 2**15


def ranking(
    scores: Any,
    held_out: Any,
    *,
    seen: Any = None,
    m: int | tuple[int, ...] = 20,
    graded: bool = False,
    n_threads: int | None = None,
) -> Ranking:
    """How well scores rank held-out items; see the module's docstring for the measures.

    Items with the same score are ranked by their index. Users with nothing held out are left out
    and counted. An item that is both seen and held out cannot be recommended, so it does not
    count as held out; `n_seen_held_out` says how many there are.

    Args:
        scores: (U, I) array; or a pair of arrays (U, K) and (K, I), whose product the scores are;
            or a function that is given indices of users (B,) and returns their scores (B, I).
            -inf leaves an item out.
        held_out: (U, I) sparse matrix or array; entries above zero are the items a user likes.
        seen: (U, I), the same; items that are not to be recommended.
        m: the list length M, or several.
        graded: whether NDCG weighs held-out items by their values.
        n_threads: threads, all cores if not given. They change nothing but the time.

    >>> scores = np.array([[0.9, 0.8, 0.3, 0.1], [0.1, 0.2, 0.3, 0.4]])
    >>> held_out = np.array([[0, 0, 1, 1], [0, 0, 0, 0]])
    >>> seen = np.array([[1, 0, 0, 0], [1, 0, 0, 0]])
    >>> ranking(scores, held_out, seen=seen, m=(1, 2))
    Ranking(n_users=1, n_left_out=1)
                                       M=1               M=2
    normalised_precision      0.0000 ± inf      0.5000 ± inf
    precision                 0.0000 ± inf      0.5000 ± inf
    recall                    0.0000 ± inf      0.5000 ± inf
    ndcg                      0.0000 ± inf      0.3869 ± inf
    """
    relevant = _Relevant.of(held_out, seen, graded)
    n_users, n_items = relevant.shape
    source = source_of(scores).fitted(n_users, n_items, "held_out")
    # More than all items are never on a list.
    n = min(max(_sizes(m)), n_items)

    def lists(users: Index) -> Index:
        return best_lists(source, n, relevant.seen, users, n_threads)

    return _measured(relevant, lists, m)


def ranking_of_lists(
    lists: ArrayLike,
    held_out: Any,
    *,
    seen: Any = None,
    m: int | tuple[int, ...] = 20,
    graded: bool = False,
) -> Ranking:
    """The same as `ranking`, for lists of recommended items that are there already.

    Seen items are taken off the lists, so give longer lists than M if there may be some.

    Args:
        lists: (U, L) items, best first, none twice; a list shorter than L ends with -1.
        held_out, seen, m, graded: as for `ranking`.

    >>> result = ranking_of_lists([[2, 0, 1], [1, -1, -1]], np.array([[1, 1, 0], [0, 1, 1]]), m=2)
    >>> result.recall.per_user, result.normalised_precision.per_user
    (array([0.5, 0.5]), array([0.5, 1. ]))
    """
    relevant = _Relevant.of(held_out, seen, graded)
    array = _checked_lists(lists, *relevant.shape)

    def chunk(users: Index) -> Index:
        part = array[users].astype(np.int64)
        known = _Lookup(relevant.seen[users])(part) > 0
        part[known] = -1
        # Stable, so what is left moves up in order.
        return np.take_along_axis(part, np.argsort(part < 0, axis=1, kind="stable"), axis=1)

    return _measured(relevant, chunk, m)


@dataclass(frozen=True, eq=False)
class _Relevant:
    """Held-out items that count, with their gains, and seen items, both (U, I)."""

    held_out: sparse.csr_array
    seen: sparse.csr_array
    n_seen_held_out: int

    @property
    def shape(self) -> tuple[int, int]:
        n_users, n_items = self.held_out.shape
        return n_users, n_items

    @classmethod
    def of(cls, held_out: Any, seen: Any, graded: bool) -> _Relevant:
        held_out = entries("held_out", held_out)
        if (held_out.data < 0).any():
            raise ValueError(
                f"held_out has negative entries, down to {held_out.data.min():g}: "
                f"keep only the items that users like"
            )
        seen = sparse.csr_array(held_out.shape) if seen is None else entries("seen", seen)
        if seen.shape != held_out.shape:
            raise ValueError(
                f"seen has shape {seen.shape} and held_out {held_out.shape}, expected both "
                f"(users, items)"
            )
        if not graded:
            held_out.data[:] = 1.0
        seen.data[:] = 1.0
        n_entries = held_out.nnz
        held_out = held_out - held_out.multiply(seen)
        held_out.eliminate_zeros()
        return cls(held_out, seen, n_entries - held_out.nnz)


class _Lookup:
    """Entries of a CSR matrix (B, I) at lists of columns (B, L); 0 at -1."""

    def __init__(self, matrix: sparse.csr_array) -> None:
        n_rows, self.n_items = matrix.shape
        row = np.repeat(np.arange(n_rows), np.diff(matrix.indptr))
        # Rows and columns as one number, ascending. The last is above all that is asked for.
        self.keys = np.append(row * self.n_items + matrix.indices, n_rows * self.n_items)
        self.values = np.append(matrix.data, 0.0)

    def __call__(self, lists: Index) -> Float64:
        wanted = np.arange(lists.shape[0])[:, None] * self.n_items + lists
        position = np.searchsorted(self.keys, wanted)
        found = (self.keys[position] == wanted) & (lists >= 0)
        return np.where(found, self.values[position], 0.0)


def _measured(
    relevant: _Relevant, lists: Callable[[Index], Index], m: int | tuple[int, ...]
) -> Ranking:
    """The measures of all users with something held out, of whom lists(users) gives the lists."""
    sizes = _sizes(m)
    n_held_out = np.diff(relevant.held_out.indptr)
    users = np.flatnonzero(n_held_out)
    if not users.size:
        raise ValueError(
            f"none of {n_held_out.size} users has anything held out that counts "
            f"({relevant.n_seen_held_out} held-out items are also seen): hold out some items"
        )
    values = np.empty((len(MEASURES), users.size, len(sizes)))
    for start in range(0, users.size, _CHUNK):
        part = slice(start, start + _CHUNK)
        chunk = lists(users[part])
        for j, measures in enumerate(_at(sizes, chunk, relevant.held_out[users[part]])):
            values[:, part, j] = measures
    if np.ndim(m) == 0:
        values = values[:, :, 0]
    return Ranking(
        m=sizes[0] if np.ndim(m) == 0 else sizes,
        **{name: Measure(value) for name, value in zip(MEASURES, values, strict=True)},
        users=users,
        n_left_out=n_held_out.size - users.size,
        n_seen_held_out=relevant.n_seen_held_out,
    )


def _at(
    sizes: tuple[int, ...], lists: Index, held_out: sparse.csr_array
) -> Iterator[tuple[Float64, ...]]:
    """The MEASURES of users (B,) for each M, from lists (B, n) and gains (B, I)."""
    lists = lists[:, : max(sizes)]
    gains = _Lookup(held_out)(lists)
    discounts = 1 / np.log2(np.arange(max(sizes)) + 2)
    # Summed one by one, so that neither the lists' width nor other M change the last digit, and a
    # list in the best order has an NDCG of exactly 1.
    dcg = np.zeros((lists.shape[0], lists.shape[1] + 1))
    np.cumsum(gains * discounts[: lists.shape[1]], axis=1, out=dcg[:, 1:])
    n_held_out = np.diff(held_out.indptr)
    best = _sorted_gains(held_out)
    for size in sizes:
        hits = np.count_nonzero(gains[:, :size], axis=1)
        length = np.count_nonzero(lists[:, :size] >= 0, axis=1)
        shorter = np.minimum(n_held_out, np.maximum(length, 1))
        row, rank, gain = (part[best[1] < size] for part in best)
        best_dcg = np.bincount(row, gain * discounts[rank], minlength=lists.shape[0])
        ndcg = np.minimum(dcg[:, min(size, lists.shape[1])] / best_dcg, 1)
        yield hits / shorter, hits / size, hits / n_held_out, ndcg


def _sorted_gains(held_out: sparse.csr_array) -> tuple[Index, Index, Float64]:
    """(row, rank from 0, gain) of the held-out items, those of a row by falling gain."""
    n_held_out = np.diff(held_out.indptr)
    row = np.repeat(np.arange(n_held_out.size), n_held_out)
    rank = np.arange(row.size) - np.repeat(held_out.indptr[:-1], n_held_out)
    return row, rank, held_out.data[np.lexsort((-held_out.data, row))]


def _sizes(m: Any) -> tuple[int, ...]:
    sizes = tuple(m) if isinstance(m, tuple | list | np.ndarray) and np.ndim(m) == 1 else (m,)
    if not sizes:
        raise ValueError("m is empty, expected one list length or several")
    return tuple(positive_integer("m", size) for size in sizes)


def _checked_lists(lists: Any, n_users: int, n_items: int) -> Index:
    """`lists` as an array of integers (U, L), refused where it is no list of items."""
    try:
        array = np.asarray(lists)
    except ValueError as error:
        raise ValueError(f"lists must be of one length, filled up with -1: {error}") from error
    if array.ndim != 2 or array.shape[0] != n_users or array.dtype.kind not in "iu":
        raise ValueError(
            f"lists has shape {array.shape} and type {array.dtype}, expected integers of shape "
            f"({n_users}, L), a row for each user"
        )
    if array.size and (array.min() < -1 or array.max() >= n_items):
        raise ValueError(
            f"lists has items from {array.min()} to {array.max()}, expected 0 to {n_items - 1}, "
            f"and -1 at the end of short lists"
        )
    for start in range(0, n_users, _CHUNK):
        part = array[start : start + _CHUNK].astype(np.int64)
        after_end = (part[:, 1:] >= 0) & (part[:, :-1] < 0)
        in_order = np.sort(part, axis=1)
        twice = (in_order[:, 1:] == in_order[:, :-1]) & (in_order[:, 1:] >= 0)
        for wrong, what in ((after_end, "has an item after -1"), (twice, "has an item twice")):
            if wrong.any():
                user = start + int(np.flatnonzero(wrong.any(axis=1))[0])
                raise ValueError(f"the list of user {user} {what}: {array[user].tolist()}")
    return array
