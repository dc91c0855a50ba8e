"""Say how texts became words, as data that a store and a model file keep.

A `text.Tokeniser` is data: a regular expression, a length, words to leave out. Any other function
of Python's is not. Of such a function the name is kept, so that nobody guesses: whoever splits
texts for the same words has to bring the function again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trustream import _schema
from trustream.text import Tokeniser, tokenise

Tokenise = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class CustomTokeniser:
    """A Python function that made words, of which the name alone is known.

    Attributes:
        name: module and name of the function.

    >>> CustomTokeniser("spelling.split")("Cats and dogs")
    Traceback (most recent call last):
    ...
    ValueError: texts were split into words by the Python function spelling.split, which cannot \
be kept: give it as tokenise=, or set a tokeniser by `trustream tokeniser`
    """

    name: str

    def __call__(self, text: str) -> list[str]:
        raise ValueError(
            f"texts were split into words by the Python function {self.name}, which cannot be "
            "kept: give it as tokenise=, or set a tokeniser by `trustream tokeniser`"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON has."""
        return {"custom": self.name}


Specification = Tokeniser | CustomTokeniser


def specification(function: Tokenise) -> Specification:
    """Return what can be kept of a function that makes words of texts.

    >>> specification(tokenise) == Tokeniser()
    True
    >>> specification(str.split)
    CustomTokeniser(name='str.split')
    """
    if isinstance(function, Specification):
        return function
    if function is tokenise:
        return Tokeniser()
    if not callable(function):
        raise ValueError(
            f"a tokeniser is of type {type(function).__name__}, expected a Tokeniser or a function "
            "that makes a list of words of a text"
        )
    named = function if hasattr(function, "__qualname__") else type(function)
    module = getattr(named, "__module__", None)
    return CustomTokeniser(".".join(filter(None, (module, named.__qualname__)))[:200])


def function_of(kept: Specification) -> Tokenise:
    """Return the function that makes words as it is kept; the usual one is quicker than its data.

    >>> function_of(Tokeniser()) is tokenise
    True
    """
    return tokenise if kept == Tokeniser() else kept


def from_dict(values: Any) -> Specification:
    """Return what `to_dict` of either kind wrote down; a ValueError says what is wrong.

    >>> from_dict({"custom": "spelling.split"}).name
    'spelling.split'
    """
    if isinstance(values, dict) and "custom" in values:
        _schema.check_values(values, {"custom": _schema.text}, "the tokeniser")
        return CustomTokeniser(values["custom"])
    return Tokeniser.from_dict(values)


def described(kept: Specification) -> str:
    """Return it in words, for people.

    >>> print(described(Tokeniser(stop_words=["and"], lower=False)))
    words [^\\W\\d_]+ of 3 letters or more, in their case, without 1 stop word
    """
    if isinstance(kept, CustomTokeniser):
        return f"words by the Python function {kept.name}"
    n = len(kept.stop_words)
    case = "in lower case" if kept.lower else "in their case"
    stop = "the English stop words" if kept.stop_words == Tokeniser().stop_words else None
    stop = stop or f"{n or 'any'} stop word{'' if n == 1 else 's'}"
    letters = f"{kept.min_length} letter{'s' if kept.min_length > 1 else ''} or more"
    return f"words {kept.pattern} of {letters}, {case}, without {stop}"


def difference(kept: Specification, other: Specification) -> str:
    """Return in what two tokenisers differ, the first one's first; empty if they are equal.

    >>> difference(Tokeniser(), Tokeniser(min_length=2, lower=False))
    'min_length 3, not 2; lower True, not False'
    """
    if isinstance(kept, CustomTokeniser) or isinstance(other, CustomTokeniser):
        return "" if kept == other else f"{described(kept)}, not {described(other)}"
    parts = [
        f"{name} {a}, not {b}"
        for name in ("pattern", "min_length", "lower")
        if (a := getattr(kept, name)) != (b := getattr(other, name))
    ]
    if kept.stop_words != other.stop_words:
        parts.append(f"{len(kept.stop_words)} stop words, not these {len(other.stop_words)}")
    return "; ".join(parts)
