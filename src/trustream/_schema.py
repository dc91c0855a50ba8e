"""What a file must hold: rules for the values of its header, and for its arrays.

A table says what is expected, by name; `check_values` and `check_entries` compare a file with it
before anything is made from the file, `check_arrays` looks at the numbers. A ValueError names what
came and what was expected.

>>> rules = {"n_steps": integer(0), "rate": optional(number(above=0.0))}
>>> check_values({"n_steps": 3, "rate": None}, rules, "the header")
>>> check_values({"n_steps": -3, "rate": None}, rules, "the header")
Traceback (most recent call last):
...
ValueError: n_steps in the header is -3, expected an integer of at least 0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

# Characters of a value, or of a list of names, that a message shows.
_SHOWN = 60
# Numbers of an array that are looked at in one go, so that they stay in the cache.
_AT_ONCE = 2**16


class Rule(NamedTuple):
    """Which values of a header are accepted, and how to say so."""

    accepts: Callable[[Any], bool]
    expected: str


def integer(least: int, most: int = 2**63 - 1) -> Rule:
    """Integers from `least` to `most`; true and false are not integers."""
    expected = f"an integer of at least {least}"
    if most < 2**63 - 1:
        expected = f"an integer from {least} to {most}"
    return Rule(lambda value: type(value) is int and least <= value <= most, expected)


def number(*, above: float = -math.inf, least: float = -math.inf) -> Rule:
    """Finite numbers above a limit, or not below one."""
    limit = f" above {above:g}" if above > -math.inf else ""
    limit = f" of at least {least:g}" if least > -math.inf else limit

    def accepts(value: Any) -> bool:
        if type(value) not in (int, float) or abs(value) > 1e308:
            return False
        return above < value and least <= value

    return Rule(accepts, f"a finite number{limit}")


def one_of(values: Collection[Any]) -> Rule:
    """One of these strings."""
    listed = ", ".join(repr(value) for value in values)
    return Rule(lambda value: isinstance(value, str) and value in values, f"one of {listed}")


def optional(rule: Rule) -> Rule:
    """None, or what the rule accepts."""
    return Rule(lambda value: value is None or rule.accepts(value), f"{rule.expected}, or nothing")


any_number = Rule(
    lambda value: type(value) in (int, float),
    "a number, which may be infinite or missing",
)
text = Rule(lambda value: isinstance(value, str), "text")
boolean = Rule(lambda value: isinstance(value, bool), "true or false")
mapping = Rule(lambda value: isinstance(value, dict), "an object")


def check_values(
    values: Any, rules: Mapping[str, Rule], where: str, may_lack: Collection[str] = ()
) -> None:
    """Refuse `values` unless it is a dictionary with these keys alone, and values by the rules."""
    if not isinstance(values, dict):
        raise ValueError(f"{where} is {shown(values)}, expected an object")
    _check_names(values, rules, [name for name in rules if name not in may_lack], where)
    for name, rule in rules.items():
        if name in values and not rule.accepts(values[name]):
            raise ValueError(
                f"{name} in {where} is {shown(values[name])}, expected {rule.expected}"
            )


class Array(NamedTuple):
    """What an array of a file must be.

    Attributes:
        shapes: those accepted; None accepts any vector.
        dtypes: those accepted.
        above, least: limits of its numbers, which have to be finite in any case.
    """

    shapes: Collection[tuple[int, ...]] | None
    dtypes: Collection[str] = ("float64",)
    above: float = -math.inf
    least: float = -math.inf

    def accepts_shape(self, shape: tuple[int, ...]) -> bool:
        return len(shape) == 1 if self.shapes is None else shape in self.shapes


class Described(Protocol):
    """What arrays, and entries of a file, have in common."""

    @property
    def dtype(self) -> Any: ...
    @property
    def shape(self) -> tuple[int, ...]: ...


def check_entries(
    entries: Mapping[str, Described],
    expected: Mapping[str, Array],
    may_lack: Collection[str] = (),
) -> None:
    """Refuse arrays, or what a file says of them, with other names, types or shapes."""
    needed = [name for name in expected if name not in may_lack]
    _check_names(entries, expected, needed, "the arrays")
    for name, rule in expected.items():
        if name not in entries:
            continue
        entry = entries[name]
        dtype = np.dtype(entry.dtype).name
        if dtype not in rule.dtypes:
            listed = " or ".join(rule.dtypes)
            raise ValueError(f"the array {name} has type {dtype}, expected {listed}")
        if not rule.accepts_shape(tuple(entry.shape)):
            listed = "a vector"
            if rule.shapes is not None:
                listed = " or ".join(str(shape) for shape in rule.shapes)
            raise ValueError(f"the array {name} has shape {entry.shape}, expected {listed}")


def check_arrays(arrays: Mapping[str, np.ndarray], expected: Mapping[str, Array]) -> None:
    """Refuse arrays with numbers that are not finite or beyond their limits.

    >>> check_arrays({"alpha": np.array([0.1, -0.1])}, {"alpha": Array([(2,)], above=0.0)})
    Traceback (most recent call last):
    ...
    ValueError: the array alpha holds -0.1, expected finite numbers above 0
    """
    for name, array in arrays.items():
        rule = expected[name]
        if array.size == 0 or array.dtype.kind not in "fiu":
            continue
        low, high = _extremes(array)
        # NaN compares as false.
        if rule.above < low and rule.least <= low and high < math.inf and low > -math.inf:
            continue
        wrong = high if high == math.inf else low
        limit = f" above {rule.above:g}" if rule.above > -math.inf else ""
        limit = f" of at least {rule.least:g}" if rule.least > -math.inf else limit
        raise ValueError(f"the array {name} holds {wrong:g}, expected finite numbers{limit}")


def _extremes(array: np.ndarray) -> tuple[float, float]:
    """The lowest and the highest number, NaN if one is NaN."""
    flat = array.reshape(-1)
    low, high = math.inf, -math.inf
    for start in range(0, flat.size, _AT_ONCE):
        part = flat[start : start + _AT_ONCE]
        lowest, highest = float(part.min()), float(part.max())
        if math.isnan(lowest):
            return lowest, highest
        low, high = min(low, lowest), max(high, highest)
    return low, high


def _check_names(
    found: Collection[str], known: Collection[str], needed: Collection[str], where: str
) -> None:
    missing = [name for name in needed if name not in found]
    unknown = [name for name in found if name not in known]
    if missing:
        raise ValueError(f"missing from {where}: {shown(', '.join(missing), quote=False)}")
    if unknown:
        raise ValueError(f"unknown in {where}: {shown(', '.join(unknown), quote=False)}")


def shown(value: Any, *, quote: bool = True) -> str:
    """A value on one line of a message, not all of it if it is long.

    >>> shown("a\\nb"), shown([1, 2]), shown({}), shown("x" * 100, quote=False)[-5:]
    ("'a\\\\nb'", 'a list', 'an object', 'xx...')
    """
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, str):
        content = repr(value[:_SHOWN])
        return (content if quote else content[1:-1]) + "..." * (len(value) > _SHOWN)
    if isinstance(value, int) and abs(value) > 10**_SHOWN:
        return "a huge integer"
    return str(value)
