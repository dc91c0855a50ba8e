"""Map the ids of users and items to rows and columns.

The ids of users are all strings or all integers, and so are those of items. They are returned as
they were given, as Python's `str` or `int`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from trustream import persist
from trustream.array_types import Array, Index

# Number of ids in an error message.
_SHOWN = 5


class Ids:
    """Distinct ids in a fixed order.

    Args:
        what: what the ids are of, for messages: "user" or "item".
        values: the ids, all strings or all integers.

    >>> ids = Ids("item", ["ham", "egg"])
    >>> ids.positions(["egg"]), ids.values[[1, 1]].tolist()
    (array([1]), ['egg', 'egg'])
    >>> ids.positions(["eel"])
    Traceback (most recent call last):
    ...
    ValueError: unknown item: 'eel'
    """

    def __init__(self, what: str, values: Any) -> None:
        self.what = what
        self.values = id_array(what, values)
        self._position = {value: i for i, value in enumerate(self.values.tolist())}
        if len(self._position) < self.values.size:
            raise ValueError(f"{what}_ids has ids twice: each {what} needs a different one")

    def __len__(self) -> int:
        return self.values.size

    @classmethod
    def sorted(cls, what: str, values: Any) -> Ids:
        """Return the distinct ids among `values`, sorted: the order of the data does not matter."""
        array = id_array(what, values)
        return cls(what, _array_of(sorted(set(array.tolist())), array.dtype))

    def find(self, values: Any) -> Index:
        """Return the position of each id, -1 for unknown ones."""
        array = id_array(self.what, values)
        return np.array([self._position.get(value, -1) for value in array.tolist()], np.int64)

    def positions(self, values: Any) -> Index:
        """Return the position of each id; unknown ones are refused."""
        array = id_array(self.what, values)
        found = self.find(array)
        if (found < 0).any():
            unknown = list(dict.fromkeys(array[found < 0].tolist()))
            shown = ", ".join(repr(value) for value in unknown[:_SHOWN])
            more = f" and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
            plural = "s" if len(unknown) > 1 else ""
            raise ValueError(f"unknown {self.what}{plural}: {shown}{more}{self._hint(array)}")
        return found

    def _hint(self, array: Array) -> str:
        """A hint for ids that are strings where integers are expected, or the other way round."""
        if not self.values.size or (array.dtype == object) == (self.values.dtype == object):
            return ""
        return f"; the ids are {_kind(self.values)}, like {self.values.tolist()[0]!r}"

    def extended(self, values: Any) -> Ids:
        """Return these ids followed by the new ones among `values`, sorted."""
        array = id_array(self.what, values)
        if array.size and array.dtype != self.values.dtype:
            raise ValueError(
                f"{self.what} ids are {_kind(array)}, those known are {_kind(self.values)}"
            )
        new = sorted(set(array[self.find(array) < 0].tolist()))
        if not new:
            return self
        return Ids(self.what, _array_of([*self.values.tolist(), *new], self.values.dtype))

    def parse(self, text: str) -> str | int:
        """Return the id that a text stands for, an integer where the ids are integers.

        >>> Ids("user", [7, 8]).parse("7"), Ids("user", ["7", "8"]).parse("7")
        (7, '7')
        """
        if self.values.dtype == object:
            return text
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"unknown {self.what}: {text!r}; the ids are integers") from None

    def packed(self) -> Array:
        """Return the ids as an array for a model file."""
        return persist.pack_strings(self.values.tolist()) if self.strings else self.values

    @property
    def strings(self) -> bool:
        """Whether the ids are strings."""
        return self.values.dtype == object

    @classmethod
    def unpacked(cls, what: str, array: Array, strings: bool) -> Ids:
        """Return the ids from an array that `packed` returned."""
        return cls(what, persist.unpack_strings(array) if strings else array)


def id_array(what: str, values: Any) -> Array:
    """Return ids as an array of int64, or of strings as objects; other types are refused.

    >>> id_array("user", ["a", "b"]).dtype, id_array("user", [1, 2]).dtype
    (dtype('O'), dtype('int64'))
    >>> id_array("user", [1.5])
    Traceback (most recent call last):
    ...
    ValueError: user ids must be all strings or all integers, without gaps; got float
    """
    array = as_array(values)
    if array.ndim != 1:
        raise ValueError(f"{what} ids have shape {array.shape}, expected one axis")
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
            raise ValueError(f"{what} ids do not fit 64 bits: give them as strings")
        return array.astype(np.int64)
    listed = array.tolist()
    kinds = {type(value) for value in listed}
    if all(issubclass(kind, str) for kind in kinds):
        return _array_of([str(value) for value in listed], np.dtype(object))
    if all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        try:
            return np.array(listed, dtype=np.int64)
        except OverflowError as error:
            raise ValueError(f"{what} ids do not fit 64 bits: give them as strings") from error
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise ValueError(f"{what} ids must be all strings or all integers, without gaps; got {names}")


def as_array(values: Any) -> Array:
    """Return a column of a frame, a list or an array as an array.

    >>> as_array(["a", 1]).dtype
    dtype('O')
    """
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    if isinstance(values, np.ndarray):
        return values
    listed = list(values) if isinstance(values, Iterable) else [values]
    # NumPy would convert the numbers of a mixed list to strings.
    if any(isinstance(value, str) for value in listed):
        return _array_of(listed, np.dtype(object))
    return np.asarray(listed) if listed else np.empty(0, dtype=object)


def _array_of(values: list[Any], dtype: np.dtype[Any]) -> Array:
    array = np.empty(len(values), dtype=dtype)
    array[:] = values
    return array


def _kind(array: Array) -> str:
    return "strings" if array.dtype == object else "integers"
