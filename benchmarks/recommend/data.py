"""Likes of movies, split into a training part and a held-out part."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

FILE = "movietweetings.npz"
THRESHOLD, LEAST_LIKES, SHARE_HELD_OUT = 8, 5, 0.2


class Split(NamedTuple):
    """Likes (users, items): 1 where a user likes an item."""

    train: sparse.csr_array
    held_out: sparse.csr_array


def likes(data: Path) -> sparse.csr_array:
    """Movies rated 8 or better, of users with at least 5 of them."""
    user, item, _ = _liked(data)
    matrix = sparse.csr_array((np.ones(user.size, np.float32), (user, item)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _liked(data: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and times of these likes."""
    with np.load(data / FILE) as parts:
        liked = parts["rating"] >= THRESHOLD
        user, item, when = (parts[name][liked] for name in ("user", "item", "timestamp"))
    _, user, n_likes = np.unique(user, return_inverse=True, return_counts=True)
    kept = n_likes[user] >= LEAST_LIKES
    _, user = np.unique(user[kept], return_inverse=True)
    _, item = np.unique(item[kept], return_inverse=True)
    return user, item, when[kept]


def split_by_time(data: Path) -> Split:
    """Hold out the latest fifth of each user's likes, one at least."""
    matrix, (user, item, when) = likes(data), _liked(data)
    last = sparse.lil_array(matrix.shape)
    order = np.argsort(when, kind="stable")
    last[user[order], item[order]] = when[order]  # the latest of several
    return _split(matrix, -sparse.csr_array(last)[matrix.nonzero()])


def split(matrix: sparse.csr_array, seed: int) -> Split:
    """Hold out a fifth of each user's likes at random, one at least."""
    return _split(matrix, np.random.default_rng(seed).random(matrix.nnz))


def _split(matrix: sparse.csr_array, rank_by: np.ndarray) -> Split:
    """Hold out a fifth of each user's likes, those with the lowest numbers, one at least."""
    length = np.diff(matrix.indptr)
    n_held_out = np.maximum(1, np.rint(SHARE_HELD_OUT * length)).astype(int)
    row = np.repeat(np.arange(matrix.shape[0]), length)
    order = np.lexsort((rank_by, row))
    rank = np.empty(matrix.nnz, int)
    rank[order] = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], length)
    held = rank < n_held_out[row]
    return Split(_part(matrix, row, ~held), _part(matrix, row, held))


def _part(matrix: sparse.csr_array, row: np.ndarray, kept: np.ndarray) -> sparse.csr_array:
    place = (row[kept], matrix.indices[kept])
    return sparse.csr_array((matrix.data[kept], place), shape=matrix.shape)
