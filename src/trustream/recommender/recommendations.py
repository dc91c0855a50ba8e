"""Read the lists of items that a recommender returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

# Rows of a printed table.
_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Recommendations(Sequence[tuple[Any, float]]):
    """Recommended items, best first, with their scores: a sequence of pairs (item, score).

    Attributes:
        items: ids.
        scores: (n,), descending.

    >>> found = Recommendations(["ham", "egg"], np.array([0.25, 0.125]))
    >>> found
    Recommendations (2 items)
       1  ham  0.25
       2  egg  0.125
    >>> found[0], len(found), dict(found)
    (('ham', 0.25), 2, {'ham': 0.25, 'egg': 0.125})
    """

    items: list[Any]
    scores: NDArray[Any]

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> tuple[Any, float]: ...
    @overload
    def __getitem__(self, index: slice) -> Recommendations: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Recommendations(self.items[index], self.scores[index])
        return self.items[index], float(self.scores[index])

    def __repr__(self) -> str:
        width = max((len(str(item)) for item in self.items[:_SHOWN]), default=0)
        lines = [f"Recommendations ({len(self)} item{'' if len(self) == 1 else 's'})"]
        for rank, (item, score) in enumerate(self[:_SHOWN], start=1):
            lines.append(f"{rank:>4}  {item!s:<{width}}  {score:.4g}")
        if len(self) > _SHOWN:
            lines.append("   ...")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class RecommendationLists:
    """Recommendations for many users, as arrays.

    Iterating gives pairs (user, Recommendations); `lists[i]` is the i-th user's Recommendations.

    Attributes:
        users: (U,) ids.
        columns: (U, n), positions of the items in `item_ids`, best first; a short list is padded
            with -1.
        scores: (U, n), -inf where there is no item.
        item_ids: (I,).

    >>> lists = RecommendationLists(
    ...     np.array([4]), np.array([[1, -1]]), np.array([[0.5, -np.inf]]), np.array([7, 9])
    ... )
    >>> lists[0].items, [user for user, found in lists]
    ([9], [4])
    """

    users: NDArray[Any]
    columns: NDArray[np.int64]
    scores: NDArray[Any]
    item_ids: NDArray[Any]

    def __len__(self) -> int:
        return self.users.size

    def __getitem__(self, index: int) -> Recommendations:
        columns = self.columns[index]
        n = int(np.count_nonzero(columns >= 0))
        return Recommendations(self.item_ids[columns[:n]].tolist(), self.scores[index, :n])

    def __iter__(self) -> Iterator[tuple[Any, Recommendations]]:
        for index, user in enumerate(self.users.tolist()):
            yield user, self[index]

    def __repr__(self) -> str:
        n_users, n = self.columns.shape
        return f"RecommendationLists({n_users} users, up to {n} items each)"
