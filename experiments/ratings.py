"""Read which users like which movies, from the files of MovieTweetings, MovieLens or Netflix."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments import provenance
from experiments.experiment import Source

# Users with fewer likes have nothing to learn from, or nothing to foresee.
_LEAST_LIKES = 5
_SHARE_HELD_OUT = 0.2


class Table(NamedTuple):
    """Ratings, one a row; `threshold` is the least that counts as a like."""

    user: NDArray[Any]
    item: NDArray[Any]
    rating: NDArray[Any]
    time: NDArray[Any]
    threshold: float


class Likes(NamedTuple):
    """Users x movies, 1 for a like; users in the order in which they first rated.

    `validation` and `test` are users, apart from each other; all are trained on.
    """

    train: sparse.csr_array
    held_out: sparse.csr_array
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def read_netflix(paths: list[Path]) -> Table:
    """`combined_data_*.txt`: a line `movie:`, then a line `user,rating,date` for each rating.

    Raises:
        ValueError: a line is neither.
    """
    users, items, ratings, days = array("i"), array("i"), array("b"), array("i")
    for path in paths:
        item = None
        with path.open(encoding="ascii") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    if line.endswith(":\n"):
                        item = int(line[:-2])
                        continue
                    user, rating, date = line.rstrip("\n").split(",")
                    row = int(user), int(rating), int(date.replace("-", ""))
                except ValueError:
                    row = None
                if row is None or item is None:
                    raise ValueError(
                        f"{path}, line {number}: expected `movie:` or `user,rating,date`, "
                        f"got {line!r}"
                    )
                users.append(row[0])
                items.append(item)
                ratings.append(row[1])
                days.append(row[2])
    columns = (np.asarray(users), np.asarray(items), np.asarray(ratings), np.asarray(days))
    return Table(*columns, threshold=4.0)


def read_movielens(path: Path) -> Table:
    """`ratings.csv` with its header, or `ratings.dat` with `::` between the columns."""
    if path.suffix == ".dat":
        text = path.read_text(encoding="ascii").replace("::", ",")
        columns = np.loadtxt(text.splitlines(), delimiter=",", ndmin=2)
    else:
        columns = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    if columns.shape[1] != 4:
        raise ValueError(f"{path}: expected user, movie, rating and time, got {columns.shape[1]}")
    user, item, rating, time = columns.T
    return Table(user.astype(np.int64), item.astype(np.int64), rating, time, 4.0)


def find(data: Path) -> tuple[Table, Source]:
    """Netflix' files if there are any, else MovieLens', else `movietweetings.npz`.

    Raises:
        FileNotFoundError: the directory has none of them.
    """
    netflix = sorted(data.glob("combined_data_*.txt"))
    movielens = [data / name for name in ("ratings.csv", "ratings.dat") if (data / name).is_file()]
    tweets = data / "movietweetings.npz"
    if netflix:
        paths, table, name = netflix, read_netflix(netflix), "Netflix"
    elif movielens:
        paths, table, name = movielens[:1], read_movielens(movielens[0]), "MovieLens"
    elif tweets.is_file():
        with np.load(tweets) as parts:
            table = Table(
                parts["user"], parts["item"], parts["rating"], parts["timestamp"], threshold=8.0
            )
        paths, name = [tweets], "MovieTweetings"
    else:
        raise FileNotFoundError(
            f"no ratings in {data}: combined_data_*.txt (Netflix), ratings.csv or ratings.dat "
            "(MovieLens), or movietweetings.npz is read. Name the directory with --data or "
            "TRUSTREAM_DATA."
        )
    same = name == "Netflix"
    note = (
        f"A rating of at least {table.threshold:g} is a like, and users have at least "
        f"{_LEAST_LIKES} likes. A fifth of the likes of each user is held out."
    )
    title = name if same else f"{name} instead of Netflix"
    return table, Source(title, [p.name for p in paths], provenance.sha256(paths), same, note)


def load(
    data: Path,
    n_validation: int,
    n_test: int,
    *,
    all_users: bool = False,
    core: int | None = None,
) -> tuple[Likes, Source]:
    """Likes with a random fifth of each user's held out, and users to evaluate on.

    At most `n_validation` and `n_test` users; fewer, in the same proportion, if there are not so
    many.

    Args:
        all_users: train on users with fewer likes than can be evaluated, too.
        core: take only users and movies that have so many likes among those that are taken.
    """
    table, source = find(data)
    matrix = _matrix(table, 1 if all_users else _LEAST_LIKES, core)
    rng = np.random.default_rng(0)
    train, held_out = _split(matrix, rng)
    evaluated = np.flatnonzero(np.diff(held_out.indptr))
    order = rng.permutation(evaluated)
    share = min(1.0, evaluated.size / (n_validation + n_test))
    source = replace(source, note=" ".join([source.note, *_which(matrix, all_users, core)]))
    n_first, n_second = int(share * n_validation), int(share * n_test)
    validation, test = order[:n_first], order[n_first : n_first + n_second]
    return Likes(train, held_out, np.sort(validation), np.sort(test)), source


def _which(matrix: sparse.csr_array, all_users: bool, core: int | None) -> list[str]:
    """What was taken of the likes."""
    size = f"{matrix.nnz:,} likes of {matrix.shape[0]:,} users for {matrix.shape[1]:,} movies"
    if core is not None:
        return [f"Only users and movies with {core} likes or more of each other: {size}."]
    if all_users:
        return [
            f"Users with fewer likes are trained on as well, nothing of theirs held out: {size}."
        ]
    return []


def core_of(user: NDArray[Any], item: NDArray[Any], least: int) -> NDArray[np.bool_]:
    """Which likes are left when users and items with fewer are left out, again and again.

    >>> core_of(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 1]), 2)
    array([ True,  True,  True,  True, False])
    """
    kept = np.ones(user.size, bool)
    while True:
        n_items, n_users = (np.bincount(ids[kept], minlength=ids.max() + 1) for ids in (user, item))
        left = kept & (n_items[user] >= least) & (n_users[item] >= least)
        if left.sum() == kept.sum():
            return left
        kept = left


def _matrix(table: Table, least_likes: int, core: int | None) -> sparse.csr_array:
    """Likes, with users by the time of their first rating, liked or not."""
    order = np.argsort(table.time, kind="stable")
    user, item = table.user[order], table.item[order]
    _, first, user = np.unique(user, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    liked = table.rating[order] >= table.threshold
    user, item = rank[user][liked], item[liked]
    n_likes = np.bincount(user)
    kept = n_likes[user] >= least_likes
    if core is not None:
        kept = core_of(user, item, core)
    _, user = np.unique(user[kept], return_inverse=True)
    _, item = np.unique(item[kept], return_inverse=True)
    matrix = sparse.csr_array((np.ones(user.size, np.float32), (user, item)))
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _split(
    matrix: sparse.csr_array, rng: np.random.Generator
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """What may be learned from, and a fifth of each row that is long enough, one entry at least."""
    length = np.diff(matrix.indptr)
    row = np.repeat(np.arange(matrix.shape[0]), length)
    order = np.lexsort((rng.random(matrix.nnz), row))
    place = np.empty(matrix.nnz, np.int64)
    place[order] = np.arange(matrix.nnz) - np.repeat(matrix.indptr[:-1], length)
    n_held = np.where(length < _LEAST_LIKES, 0, np.maximum(1, np.rint(_SHARE_HELD_OUT * length)))
    held = place < n_held[row]
    parts = []
    for chosen in (~held, held):
        entries = (matrix.data[chosen], (row[chosen], matrix.indices[chosen]))
        parts.append(sparse.csr_array(entries, shape=matrix.shape))
    return parts[0], parts[1]
