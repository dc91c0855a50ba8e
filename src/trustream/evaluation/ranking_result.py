"""Precision, recall and NDCG of ranked items: for each user, on average, and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trustream.array_types import Float64, Index
from trustream.evaluation.standard_errors import standard_error

MEASURES = ("normalised_precision", "precision", "recall", "ndcg")


@dataclass(frozen=True, eq=False)
class Measure:
    """One measure: `per_user` (n_users,), or (n_users, len(m)) for several lengths M.

    >>> recall = Measure(np.array([0.0, 1.0]))
    >>> recall.mean, recall.standard_error
    (0.5, 0.5)
    """

    per_user: Float64

    @property
    def mean(self) -> Any:
        """Mean over users: a number, or (len(m),)."""
        return _plain(self.per_user.mean(axis=0))

    @property
    def standard_error(self) -> Any:
        """Of the mean: a number, or (len(m),); infinite for a single user."""
        return _plain(standard_error(self.per_user))

    def __repr__(self) -> str:
        return f"Measure(mean={self.mean}, standard_error={self.standard_error})"


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Measures of ranking, which `ranking` defines.

    Attributes:
        m: the list length M, or the lengths.
        users: (n_users,), indices of the users in `per_user`.
        n_left_out: users left out because they have nothing held out.
        n_seen_held_out: held-out items not counted because the user had seen them.
    """

    m: int | tuple[int, ...]
    normalised_precision: Measure
    precision: Measure
    recall: Measure
    ndcg: Measure
    users: Index
    n_left_out: int
    n_seen_held_out: int

    @property
    def n_users(self) -> int:
        """The number of users over whom the means are taken."""
        return self.users.size

    def __repr__(self) -> str:
        sizes = np.atleast_1d(self.m)
        rows = [("", [f"M={size}" for size in sizes])]
        for name in MEASURES:
            measure: Measure = getattr(self, name)
            means, errors = np.atleast_1d(measure.mean), np.atleast_1d(measure.standard_error)
            rows.append((name, [f"{a:.4f} ± {b:.4f}" for a, b in zip(means, errors, strict=True)]))
        counts = f"n_users={self.n_users}, n_left_out={self.n_left_out}"
        if self.n_seen_held_out:
            counts += f", n_seen_held_out={self.n_seen_held_out}"
        lines = [f"{name:<20}" + "".join(f"{cell:>18}" for cell in cells) for name, cells in rows]
        return "\n".join([f"Ranking({counts})", *lines])


def _plain(value: Any) -> Any:
    """An array without axes becomes a number."""
    return value if np.ndim(value) else float(value)
