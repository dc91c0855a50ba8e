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
    with np.load(data / FILE) as parts:
        liked = parts["rating"] >= THRESHOLD
        user, item = (parts[name][liked] for name in ("user", "item"))
    _, user, n_likes = np.unique(user, return_inverse=True, return_counts=True)
    kept = n_likes[user] >= LEAST_LIKES
    _, user = np.unique(user[kept], return_inverse=True)
    _, item = np.unique(item[kept], return_inverse=True)
    matrix = sparse.csr_array((np.ones(user.size, np.float32), (user, item)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def split(matrix: sparse.csr_array, seed: int) -> Split:
    """Hold out a fifth of each user's likes at random, one at least."""
    rng = np.random.default_rng(seed)
    length = np.diff(matrix.indptr)
    n_held_out = np.maximum(1, np.rint(SHARE_HELD_OUT * length)).astype(int)
    row = np.repeat(np.arange(matrix.shape[0]), length)
    order = np.lexsort((rng.random(matrix.nnz), row))
    rank = np.empty(matrix.nnz, int)
    rank[order] = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], length)
    held = rank < n_held_out[row]
    return Split(_part(matrix, row, ~held), _part(matrix, row, held))


def _part(matrix: sparse.csr_array, row: np.ndarray, kept: np.ndarray) -> sparse.csr_array:
    place = (row[kept], matrix.indices[kept])
    return sparse.csr_array((matrix.data[kept], place), shape=matrix.shape)
