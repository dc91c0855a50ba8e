"""What a regression remembers of the groups that it has seen, by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from trustream import persist
from trustream._schema import Array, Described
from trustream.models.regression import Moments
from trustream.models.regression.data import no_moments

# One group: entries of `Moments`.
Entry = tuple[np.ndarray, np.ndarray, float, float]


def entries(ids: Sequence[Any], moments: Moments) -> dict[Any, Entry]:
    """Moments of groups, by id.

    >>> list(entries(["a", "b"], no_moments(2, 1)))
    ['a', 'b']
    """
    products, shifts, squares, counts = moments
    parts = zip(products, shifts, squares.tolist(), counts.tolist(), strict=True)
    return dict(zip(ids, parts, strict=True))


def moments_of(known: Mapping[Any, Entry], ids: Iterable[Any], n_weights: int) -> Moments:
    """Moments of these groups; of those that are not known, zeros."""
    ids = list(ids)
    result = no_moments(len(ids), n_weights)
    for place, id_ in enumerate(ids):
        if id_ in known:
            products, shifts, squares, counts = known[id_]
            result.products[place], result.shifts[place] = products, shifts
            result.squares[place], result.counts[place] = squares, counts
    return result


def to_arrays(known: Mapping[Any, Entry], n_weights: int) -> dict[str, np.ndarray]:
    """What is known as arrays for a file."""
    ids = list(known)
    moments = moments_of(known, ids, n_weights)
    arrays = {f"groups.{name}": part for name, part in moments._asdict().items()}
    if ids and isinstance(ids[0], str):
        return arrays | {"groups.names": persist.pack_strings(ids)}
    return arrays | {"groups.numbers": np.array(ids, np.int64)}


def table(entries: Mapping[str, Described], n_weights: int) -> dict[str, Array]:
    """What these arrays must be in a file with those entries."""
    counts, p = entries.get("groups.counts"), n_weights
    n = 0 if counts is None or len(counts.shape) != 1 else counts.shape[0]
    expected = {
        "groups.products": Array([(n, p, p)]),
        "groups.shifts": Array([(n, p)]),
        "groups.squares": Array([(n,)], least=0.0),
        "groups.counts": Array([(n,)], above=0.0),
    }
    if "groups.names" in entries:
        return expected | {"groups.names": Array(None, ("uint8",))}
    return expected | {"groups.numbers": Array([(n,)], ("int64",))}


def from_arrays(arrays: Mapping[str, np.ndarray]) -> dict[Any, Entry]:
    """What `to_arrays` made arrays of.

    Raises:
        ValueError: there are not as many ids as groups, or an id stands there twice.
    """
    moments = Moments(*(arrays[f"groups.{name}"] for name in Moments._fields))
    if "groups.names" in arrays:
        ids: list[Any] = persist.unpack_strings(arrays["groups.names"])
    else:
        ids = arrays["groups.numbers"].tolist()
    if len(set(ids)) != moments.counts.size or len(ids) != moments.counts.size:
        raise ValueError(f"{len(set(ids))} ids for {moments.counts.size} groups")
    for matrix in moments.products:
        if not np.allclose(matrix, matrix.T, rtol=1e-6):
            raise ValueError("the products of a group are not symmetric")
    return entries(ids, moments)
