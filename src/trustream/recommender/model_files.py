"""Convert a recommender to the arrays and header of a model file, and back with checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from trustream import persist
from trustream._schema import (
    Array,
    Described,
    Rule,
    boolean,
    check_arrays,
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
    arrays = {f"{part}.{key}": array for key, array in arrays.items()}
    arrays |= {f"weights.{part}": getattr(data.weights, part) for part in _PARTS}
    arrays |= {"users": data.users.packed(), "items": data.items.packed()}
    header = {
        "estimator": name,
        "params": params,
        "strings": {"users": data.users.strings, "items": data.items.strings},
        part: own,
    }
    return arrays, header


def from_contents(cls: Any, contents: persist.Contents) -> tuple[dict[str, Any], Any, Ratings]:
    """Return the own parameters, estimator and data from what `to_arrays` returned.

    Args:
        cls: the recommender's class.

    Raises:
        ValueError: the contents are inconsistent.
    """
    header, entries, part = contents.header, contents.entries, _part(cls)
    prefix, kind = f"{part}.", cls._estimator_class
    check_values(header, {**_HEADER, part: mapping}, "the header")
    check_values(header["params"], _PARAMS, "the parameters")
    check_values(header["strings"], _STRINGS, "the kinds of ids")
    table = {
        prefix + name: array
        for name, array in saving.check(kind, header[part], _within(prefix, entries)).items()
    }
    n_items = header[part]["attributes"]["n_features_in_"]
    own = _own_arrays(header["strings"], entries, n_items)
    others = {name: entry for name, entry in entries.items() if not name.startswith(prefix)}
    check_entries(others, own)
    arrays = contents.arrays()
    check_arrays(arrays, table | own)
    estimator = saving.from_arrays(kind, header[part], _within(prefix, arrays))
    users = Ids.unpacked("user", arrays["users"], header["strings"]["users"])
    items = Ids.unpacked("item", arrays["items"], header["strings"]["items"])
    shape = arrays["weights.indptr"].size - 1, n_items
    if (len(users), len(items)) != shape:
        raise ValueError(f"{len(users)} users and {len(items)} items for weights of shape {shape}")
    return header["params"], estimator, Ratings(users, items, _weights(arrays, shape))


def _part(cls: Any) -> str:
    """Under what name a file has the estimator of a recommender."""
    name: str = cls._part
    return name.rstrip("_")


def _within(prefix: str, named: Mapping[str, Any]) -> dict[str, Any]:
    """Values whose names begin so, by what follows."""
    return {name[len(prefix) :]: v for name, v in named.items() if name.startswith(prefix)}


def _own_arrays(
    strings: Mapping[str, bool], entries: Mapping[str, Described], n_items: int
) -> dict[str, Array]:
    """Types and shapes of the arrays beside the estimator, from their number of users."""
    pointers, data = entries.get("weights.indptr"), entries.get("weights.data")
    n_pointers = pointers.shape[0] if pointers is not None and pointers.shape else 0
    n_entries = data.shape[0] if data is not None and data.shape else 0
    packed = Array(None, ("uint8",))
    return {
        "weights.data": Array([(n_entries,)], ("float32",), least=0.0),
        "weights.indices": Array([(n_entries,)], _INTEGERS, least=0.0),
        "weights.indptr": Array([(max(n_pointers, 1),)], _INTEGERS, least=0.0),
        "users": packed if strings["users"] else Array([(n_pointers - 1,)], ("int64",)),
        "items": packed if strings["items"] else Array([(n_items,)], ("int64",)),
    }


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
