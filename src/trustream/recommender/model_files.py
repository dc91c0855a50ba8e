"""Convert a recommender to the arrays and header of a model file, and back with checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from trustream._schema import (
    Array,
    Described,
    Rule,
    boolean,
    check_entries,
    check_values,
    mapping,
    number,
    optional,
    text,
)
from trustream.estimators import saving
from trustream.recommender.ids import Ids
from trustream.recommender.ratings import Ratings

_HEADER = {"estimator": text, "params": mapping, "strings": mapping}
# Columns of pandas frames may have numbers as names.
_column = Rule(lambda value: isinstance(value, str | int), "the name of a column")
_PARAMS = {
    "threshold": optional(number()),
    "user_column": _column,
    "item_column": _column,
    "rating_column": optional(_column),
    "timestamp_column": optional(_column),
}
_STRINGS = {"users": boolean, "items": boolean}
_PARTS = ("data", "indices", "indptr")
_INTEGERS = ("int32", "int64")


def to_arrays(
    recommender: Any, params: dict[str, Any], estimator: Any, data: Ratings
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return (arrays, header) for a recommender's own parameters, its estimator and its data.

    The estimator's arrays and header are kept under the name of the recommender's attribute that
    has it, such as "lda" for `lda_`.

    Raises:
        ValueError: a parameter was changed after the fit to a value that could not be read again.
    """
    name, part = type(recommender).__name__, _part(type(recommender))
    params = {key: saving.plain(value) for key, value in params.items()}
    try:
        check_values(params, _PARAMS, "the parameters")
    except ValueError as error:
        raise ValueError(f"cannot save this {name}: {error}") from error
    arrays, own = saving.to_arrays(estimator)
    ratings, strings = ratings_to_arrays(data)
    header = {"estimator": name, "params": params, "strings": strings, part: own}
    return {f"{part}.{key}": array for key, array in arrays.items()} | ratings, header


def check(cls: Any, header: Any, entries: Mapping[str, Described]) -> dict[str, Array]:
    """Return what the arrays of a file with this header must be; a ValueError if they are not.

    Args:
        cls: the recommender's class.
        entries: what the file says of its arrays, by their names.
    """
    part = _part(cls)
    prefix = f"{part}."
    check_values(header, {**_HEADER, part: mapping}, "the header")
    check_values(header["params"], _PARAMS, "the parameters")
    inside = saving.check(cls._estimator_class, header[part], within(prefix, entries))
    n_items = header[part]["attributes"]["n_features_in_"]
    own = check_ratings(header["strings"], without(prefix, entries), n_items)
    return {prefix + name: array for name, array in inside.items()} | own


def from_arrays(
    cls: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[dict[str, Any], Any, Ratings]:
    """Return the own parameters, estimator and data of a header and arrays that were checked.

    Raises:
        ValueError: they are inconsistent.
    """
    part = _part(cls)
    inside = within(f"{part}.", arrays)
    estimator = saving.from_arrays(cls._estimator_class, header[part], inside)
    n_items = header[part]["attributes"]["n_features_in_"]
    return header["params"], estimator, ratings_from_arrays(header["strings"], arrays, n_items)


def ratings_to_arrays(data: Ratings) -> tuple[dict[str, np.ndarray], dict[str, bool]]:
    """Return ratings as arrays, and whether ids are strings."""
    arrays = {f"weights.{part}": getattr(data.weights, part) for part in _PARTS}
    arrays |= {"users": data.users.packed(), "items": data.items.packed()}
    return arrays, {"users": data.users.strings, "items": data.items.strings}


def check_ratings(strings: Any, entries: Mapping[str, Described], n_items: int) -> dict[str, Array]:
    """Return what arrays of ratings must be, from their number of users; as `check`."""
    check_values(strings, _STRINGS, "the kinds of ids")
    pointers, data = entries.get("weights.indptr"), entries.get("weights.data")
    n_pointers = pointers.shape[0] if pointers is not None and pointers.shape else 0
    n_entries = data.shape[0] if data is not None and data.shape else 0
    packed = Array(None, ("uint8",))
    expected = {
        "weights.data": Array([(n_entries,)], ("float32",), least=0.0),
        "weights.indices": Array([(n_entries,)], _INTEGERS, least=0.0),
        "weights.indptr": Array([(max(n_pointers, 1),)], _INTEGERS, least=0.0),
        "users": packed if strings["users"] else Array([(n_pointers - 1,)], ("int64",)),
        "items": packed if strings["items"] else Array([(n_items,)], ("int64",)),
    }
    check_entries(entries, expected)
    return expected


def ratings_from_arrays(
    strings: Mapping[str, bool], arrays: Mapping[str, np.ndarray], n_items: int
) -> Ratings:
    """Return the ratings that `ratings_to_arrays` took apart."""
    users = Ids.unpacked("user", arrays["users"], strings["users"])
    items = Ids.unpacked("item", arrays["items"], strings["items"])
    shape = arrays["weights.indptr"].size - 1, n_items
    if (len(users), len(items)) != shape:
        raise ValueError(f"{len(users)} users and {len(items)} items for weights of shape {shape}")
    return Ratings(users, items, _weights(arrays, shape))


def within(prefix: str, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return values whose names begin so, by what follows.

    >>> within("lda.", {"lda.rho": 1, "users": 2}), without("lda.", {"lda.rho": 1, "users": 2})
    ({'rho': 1}, {'users': 2})
    """
    return {name[len(prefix) :]: v for name, v in named.items() if name.startswith(prefix)}


def without(prefix: str, named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the other values."""
    return {name: value for name, value in named.items() if not name.startswith(prefix)}


def _part(cls: Any) -> str:
    """Under what name a file has the estimator of a recommender."""
    name: str = cls._part
    return name.rstrip("_")


def _weights(arrays: Mapping[str, np.ndarray], shape: tuple[int, int]) -> sparse.csr_array:
    """The matrix, refused unless the entries of each row are sorted by column."""
    data, indices, indptr = (arrays[f"weights.{part}"] for part in _PARTS)
    # The numbers are known not to be negative.
    if indptr[0] != 0 or indptr[-1] != data.size or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("the rows of the ratings do not follow on each other")
    rises = indices[1:] > indices[:-1]
    begins = indptr[1:-1]
    rises[begins[(begins > 0) & (begins < data.size)] - 1] = True
    if indices.size and not (indices.max() < shape[1] and rises.all()):
        raise ValueError("the columns of the ratings are out of order or out of range")
    return sparse.csr_array((data, indices, indptr), shape=shape)
