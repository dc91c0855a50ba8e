"""Measure how well a recommender ranks the items that users turned out to like.

For a user let L be the held-out items, P the list of the first M recommended ones, and p_1, p_2,
... its items in order. The measures are (section 4.4 of the paper for the first and third)

    normalised precision   |L and P| / min(|L|, |P|)
    precision              |L and P| / M
    recall                 |L and P| / |L|
    NDCG                   sum_{r <= |P|} g(p_r) / log2(r + 1)  over the same for the best list

with g = 1 for items of L, or their held-out values, and g = 0 for others. All lie between 0 and 1.
|P| is M unless the list is shorter, because few items are left to rank or because a shorter list
was given. Normalised precision judges a short list by the items on it; the other three count each
missing place as a miss. An empty list has 0 in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from trustream.array_types import Float64, Index
from trustream.evaluation.item_lists import scored_lists
from trustream.evaluation.item_scores import score_source
from trustream.evaluation.ranking_result import MEASURES, Measure, Ranking
from trustream.evaluation.validation import as_interactions, whole_number

# Users whose lists are in memory at a time.
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
    """Measure how well scores rank held-out items.

    With L the held-out items of a user and P the M items with the highest scores, the measures are
    normalised precision ``|L and P| / min(|L|, |P|)``, precision ``|L and P| / M``, recall
    ``|L and P| / |L|`` and NDCG.

    Items with the same score are ranked by their index. Users with nothing held out are left out
    and counted. An item that is both seen and held out cannot be recommended, so it does not
    count as held out; `n_seen_held_out` says how many there are.

    Args:
        scores: (U, I) array; or a pair of arrays (U, K) and (K, I), whose product is the scores;
            or a function from indices of users (B,) to their scores (B, I). Items with a score
            of -inf are left out.
        held_out: (U, I) sparse matrix or array; entries above zero are the items a user likes.
        seen: (U, I) sparse matrix or array; nonzero entries are items not to be recommended.
        m: the length of the lists, M, or several lengths.
        graded: whether NDCG weights held-out items by their values.
        n_threads: threads, all cores if not given. The result does not depend on it.

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
    source = score_source(scores).with_shape(n_users, n_items, "held_out")
    # A list never has more than all items.
    n = min(max(_sizes(m)), n_items)

    def lists(users: Index) -> Index:
        return scored_lists(source, n, relevant.seen, users, n_threads)[0]

    return _measured(relevant, lists, m)


def ranking_of_lists(
    lists: ArrayLike,
    held_out: Any,
    *,
    seen: Any = None,
    m: int | tuple[int, ...] = 20,
    graded: bool = False,
) -> Ranking:
    """Measure how well given lists of recommended items rank held-out items, as `ranking` does.

    Seen items are removed from the lists, so give lists longer than M if they may contain some.

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
        # Stable: the remaining items move up in order.
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
        held_out = as_interactions(held_out, "held_out")
        if (held_out.data < 0).any():
            raise ValueError(
                f"held_out has negative entries, down to {held_out.data.min():g}: "
                f"keep only the items that users like"
            )
        seen = sparse.csr_array(held_out.shape) if seen is None else as_interactions(seen, "seen")
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
        # Row and column as one number, ascending; the last is a sentinel above all others.
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
    """The measures of all users with held-out items, whose lists lists(users) returns."""
    sizes = _sizes(m)
    n_held_out = np.diff(relevant.held_out.indptr)
    users = np.flatnonzero(n_held_out)
    if not users.size:
        raise ValueError(
            f"none of {n_held_out.size} users has a held-out item that counts "
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
    # Summed one by one, so that the last digit depends neither on the width of the lists nor on
    # other M, and a list in the best order has an NDCG of exactly 1.
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
    return tuple(whole_number("m", size) for size in sizes)


def _checked_lists(lists: Any, n_users: int, n_items: int) -> Index:
    """`lists` as an array of integers (U, L), refused where a row is not a list of items."""
    try:
        array = np.asarray(lists)
    except ValueError as error:
        raise ValueError(f"lists must have the same length, padded with -1: {error}") from error
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
