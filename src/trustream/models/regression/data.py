"""Rows of a regression as its models take them, on their own or in groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trustream import kernels
from trustream.array_types import Array, Float64
from trustream.families.weights_and_noise import Natural
from trustream.kernels import threads
from trustream.models.protocol import Rows

# Rows and groups at a time; sums over them are added up in order, whatever the threads.
_ROWS, _GROUPS = 1024, 64


@dataclass(frozen=True, eq=False)
class RowData:
    """Rows X (n, P) in the coordinates of the prior, ones for the intercept included, and y (n,).

    y is a number, or -1 or 1 for a class.
    """

    X: Array
    y: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(n, P)."""
        return self.X.shape[0], self.X.shape[1]


@dataclass(frozen=True, eq=False)
class RowBatch:
    """Some rows X (B, P) and y (B,), each a data point."""

    X: Array
    y: Array
    # What steps on the same batch would compute again and again.
    _kept: list[Natural] = field(default_factory=list, compare=False, repr=False)

    @property
    def size(self) -> int:
        """B."""
        return int(self.X.shape[0])

    def statistics(self, n_threads: int) -> Natural:
        """sum_n x_n x_n', sum_n y_n x_n, sum_n y_n^2 and B, computed once."""
        if not self._kept:
            y = self.y.astype(np.float64)
            found = Natural(
                weighted_products(self.X, None, n_threads),
                weighted_sums(self.X, y, n_threads),
                np.array([float(y @ y)]),
                np.array([float(self.size)]),
            )
            self._kept.append(found)
        return self._kept[0]


class Moments(NamedTuple):
    """What a linear regression needs of each group.

    products X_g' X_g (G, P, P), shifts X_g' y_g (G, P), squares y_g' y_g (G,) and counts n_g (G,).
    They add up: those of all rows of a group are the sum of those of its parts. For a probit they
    are those of a Gaussian factor exp(-w' products w / 2 + shifts' w), with squares of zero.
    """

    products: Float64
    shifts: Float64
    squares: Float64
    counts: Float64

    def rows(self, rows: Rows | slice) -> Moments:
        """Those of some groups."""
        return Moments(*(part[rows] for part in self))


def no_moments(n_groups: int, n_weights: int) -> Moments:
    """Those of no rows.

    >>> no_moments(2, 3).shifts.shape
    (2, 3)
    """
    p = n_weights
    shapes = ((n_groups, p, p), (n_groups, p), (n_groups,), (n_groups,))
    return Moments(*(np.zeros(shape) for shape in shapes))


@dataclass(frozen=True, eq=False)
class GroupedData:
    """Rows of groups, group after group.

    Attributes:
        X, y: as in `RowData`.
        offsets: (G + 1,), group g has the rows offsets[g]:offsets[g + 1].
        earlier: what rows of the same groups that are not here have said, or None.
        ids: (G,) by which users know the groups, where somebody asks.

    >>> data = GroupedData(np.eye(3), np.ones(3), np.array([0, 1, 3]))
    >>> data.shape, data.moments("float64", "reference", 1).counts
    ((2, 3), array([1., 2.]))
    """

    X: Array
    y: Array
    offsets: NDArray[np.int64]
    earlier: Moments | None = None
    ids: tuple[Any, ...] = ()
    # By the type of the rows: what passes over the same data would compute again and again.
    _kept: dict[str, Moments] = field(default_factory=dict, compare=False, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """(G, P)."""
        return self.offsets.size - 1, self.X.shape[1]

    def moments(self, dtype: str, backend: str, n_threads: int) -> Moments:
        """Those of all rows, earlier ones included, computed once."""
        if dtype not in self._kept:
            n_groups, p = self.shape
            result = no_moments(n_groups, p)
            X, y = (np.ascontiguousarray(part, dtype) for part in (self.X, self.y))
            kernel = kernels.get("regression", backend).group_moments

            def work(start: int, stop: int) -> None:
                kernel(X, y, self.offsets, start, stop, *result[:3])

            threads.run(work, threads.split(n_groups, _GROUPS), n_threads)
            result.counts[:] = np.diff(self.offsets)
            if self.earlier is not None:
                result = Moments(*(a + b for a, b in zip(result, self.earlier, strict=True)))
            self._kept[dtype] = result
        return self._kept[dtype]

    def rows(self, rows: Rows | slice, dtype: str) -> GroupBatch:
        """Some groups with their rows."""
        chosen = np.arange(self.shape[0])[rows]
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # Row i of the batch, of group g, is row i - offsets[g] of the group.
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        X, y = (np.ascontiguousarray(part[places], dtype) for part in (self.X, self.y))
        earlier = None if self.earlier is None else self.earlier.rows(chosen)
        return GroupBatch(X, y, offsets, earlier)


@dataclass(frozen=True, eq=False)
class MomentsBatch:
    """The moments of some groups, each a data point."""

    moments: Moments

    @property
    def size(self) -> int:
        """B."""
        return int(self.moments.counts.size)


@dataclass(frozen=True, eq=False)
class GroupBatch:
    """Some groups with their rows, each group a data point; as in `GroupedData`."""

    X: Array
    y: Array
    offsets: NDArray[np.int64]
    earlier: Moments | None

    @property
    def size(self) -> int:
        """B."""
        return self.offsets.size - 1


def over_groups(
    work: Callable[[int, int, Float64], Any], n_groups: int, width: int, n_threads: int
) -> Float64:
    """Sums over groups: work(start, stop, sums) adds those of its groups to sums (width,)."""
    parts = threads.split(n_groups, _GROUPS)
    sums = np.zeros((len(parts), width))
    threads.run(lambda start, stop: work(start, stop, sums[start // _GROUPS]), parts, n_threads)
    return np.asarray(sums.sum(axis=0))


def weighted_products(X: Array, weights: Array | None, n_threads: int) -> Float64:
    """sum_n weights_n x_n x_n' (P, P) for rows X (B, P); None weighs them equally."""

    def product(start: int, stop: int) -> Float64:
        rows = X[start:stop].astype(np.float64)
        scaled = rows if weights is None else rows * weights[start:stop, None]
        return np.asarray(rows.T @ scaled)

    return _added(product, X, (X.shape[1], X.shape[1]), n_threads)


def weighted_sums(X: Array, weights: Array, n_threads: int) -> Float64:
    """sum_n weights_n x_n (P,)."""

    def product(start: int, stop: int) -> Float64:
        return np.asarray(weights[start:stop].astype(np.float64) @ X[start:stop])

    return _added(product, X, (X.shape[1],), n_threads)


def _added(
    part: Callable[[int, int], Float64], X: Array, shape: tuple[int, ...], n_threads: int
) -> Float64:
    """The sum of part(start, stop) over all rows, in order."""
    parts = threads.split(X.shape[0], _ROWS)
    results = np.zeros((len(parts), *shape))

    def work(start: int, stop: int) -> None:
        results[start // _ROWS] = part(start, stop)

    with threads.one_blas_thread():
        threads.run(work, parts, n_threads)
    return np.asarray(results.sum(axis=0))
