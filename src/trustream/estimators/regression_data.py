"""Data of regressions as users give them, checked and put in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import column_or_1d

from trustream import _texts
from trustream.estimators import validation
from trustream.models.mixture.gaussian_features import LARGEST


class GivenRows(NamedTuple):
    """What users give: rows, responses, perhaps the group of each row.

    `learned_from` says that what is known of the groups shall come with the data, and `classes` are
    those of a first `partial_fit`.
    """

    X: Any
    y: Any
    groups: Any
    learned_from: bool = False
    classes: Any = None


class Groups(NamedTuple):
    """Groups of rows: ids (G,) in order, the group of each row (n,), rows sorted by group (n,)
    and offsets (G + 1,), group g having the rows order[offsets[g]:offsets[g + 1]]."""

    ids: list[Any]
    of_row: np.ndarray
    order: np.ndarray
    offsets: np.ndarray


def features(estimator: Any, X: Any, reset: bool) -> np.ndarray:
    """X (n, D), checked."""
    X = validation.validated(
        estimator, X, _texts.NUMBERS, reset=reset, dtype=[np.float64, np.float32], order="C"
    )
    _refuse_large("X", X)
    return np.asarray(X)


def responses(estimator: Any, y: Any, n_rows: int) -> np.ndarray:
    """y (n,), of any type, as many as there are rows."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None"
        )
    y = column_or_1d(y, warn=True)
    _check_length("y", y, n_rows)
    return np.asarray(y)


def numbers(y: np.ndarray) -> np.ndarray:
    """y (n,) as finite numbers."""
    try:
        y = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be numbers, got values like {y[:1].tolist()}: for classes use ProbitRegression"
        ) from error
    if not np.isfinite(y).all():
        place = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(
            f"Input y contains NaN or infinity: y[{place}] is {y[place]}; leave such rows out"
        )
    _refuse_large("y", y)
    return y


def grouped(groups: Any, n_rows: int) -> Groups:
    """The groups of rows, from their ids: integers or strings."""
    ids = group_ids(groups, n_rows)
    unique, of_row = np.unique(ids, return_inverse=True)
    order = np.argsort(of_row, kind="stable")
    lengths = np.bincount(of_row, minlength=unique.size)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Groups(unique.tolist(), of_row, order, offsets)


def group_ids(groups: Any, n_rows: int) -> np.ndarray:
    """The ids of the groups of rows as an array of integers or strings."""
    if np.ndim(groups) != 1:
        raise ValueError(
            f"groups has shape {np.shape(groups)}, expected ({n_rows},): one entry for each row"
        )
    ids = np.asarray(groups)
    if ids.dtype.kind == "U" and isinstance(groups, list | tuple):
        ids = np.array(groups, dtype=object)  # as they are: 1 and "1" would be the same string
    _check_length("groups", ids, n_rows)
    if ids.dtype.kind in "iu":
        if ids.size and int(ids.max()) > np.iinfo(np.int64).max:
            raise ValueError(f"groups must be integers below 2**63, got {ids.max()}")
        return ids.astype(np.int64)
    if ids.dtype.kind == "U":
        return ids
    values = ids.tolist()
    if ids.dtype.kind == "O" and all(isinstance(value, str) for value in values):
        return ids.astype(str)
    if ids.dtype.kind == "O" and all(
        isinstance(value, int | np.integer) and not isinstance(value, bool) for value in values
    ):
        return ids.astype(np.int64)
    strange = next(
        (value for value in values if not isinstance(value, int | str) or isinstance(value, bool)),
        values[:3],
    )
    raise ValueError(
        f"groups must be all integers or all strings, got {strange!r} among {ids.dtype}: use "
        "groups.astype(str), for instance"
    )


def _check_length(name: str, values: np.ndarray, n_rows: int) -> None:
    if values.shape[0] != n_rows:
        raise ValueError(
            f"{name} has {values.shape[0]} entries and X has {n_rows} rows: inconsistent numbers "
            f"of samples; give one entry of {name} for each row"
        )


def _refuse_large(name: str, values: np.ndarray) -> None:
    low, high = values.min(), values.max()
    if max(-low, high) >= LARGEST:
        raise ValueError(
            f"{name} has values from {low:g} to {high:g}, expected less than {LARGEST:g}, so that "
            "sums of squares do not overflow: look for extreme values, or rescale the data"
        )
