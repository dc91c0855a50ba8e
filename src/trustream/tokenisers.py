"""Say how texts became words, as data that a store and a model file keep.

A `text.Tokeniser` is data: what a word is, a length, words to leave out, phrases. Any other
function of Python's is not. Of one that was registered the name is kept, and it is found by that
name again (`registered_tokenisers`). Of others the name they have in Python is kept, so that nobody
guesses: whoever splits texts for the same words has to bring the function again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trustream import _schema
from trustream.languages import language
from trustream.registered_tokenisers import (
    RegisteredTokeniser,
    Tokenise,
    check_name,
    registered_name,
)
from trustream.text import Tokeniser, tokenise


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


Specification = Tokeniser | RegisteredTokeniser | CustomTokeniser


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
    name = registered_name(function)
    if name is not None:
        return RegisteredTokeniser(name)
    if not callable(function):
        raise ValueError(
            f"a tokeniser is of type {type(function).__name__}, expected a Tokeniser or a function "
            "that makes a list of words of a text"
        )
    return python_name(function)


def python_name(function: Tokenise) -> CustomTokeniser:
    """Return a function as it is known by its name in Python.

    >>> python_name(str.split).name
    'str.split'
    """
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
    """Return what `to_dict` of any kind wrote down; a ValueError says what is wrong.

    >>> from_dict({"custom": "spelling.split"}).name
    'spelling.split'
    """
    if isinstance(values, dict) and "custom" in values:
        _schema.check_values(values, {"custom": _schema.text}, "the tokeniser")
        return CustomTokeniser(values["custom"])
    if isinstance(values, dict) and "registered" in values:
        _schema.check_values(values, {"registered": _schema.text}, "the tokeniser")
        check_name(values["registered"])
        return RegisteredTokeniser(values["registered"])
    return Tokeniser.from_dict(values)


def described(kept: Specification) -> str:
    """Return it in words, for people.

    >>> print(described(Tokeniser(stop_words=["and"], lower=False)))
    words of 3 letters or more, in their case, without 1 stop word
    >>> print(described(Tokeniser(language="hi", phrases=["नई दिल्ली"])))
    words of 2 letters or more, in lower case, without 172 stop words, for Hindi; 1 phrase
    """
    if isinstance(kept, CustomTokeniser):
        return f"words by the Python function {kept.name}"
    if isinstance(kept, RegisteredTokeniser):
        return f"words by the function that is registered as {kept.name}"
    n = len(kept.stop_words)
    case = "in lower case" if kept.lower else "in their case"
    stop = "the English stop words" if kept.stop_words == Tokeniser().stop_words else None
    stop = stop or f"{n or 'any'} stop word{'' if n == 1 else 's'}"
    what = "words" if kept.pattern is None else f"words {kept.pattern}"
    letters = f"{kept.min_length} letter{'s' if kept.min_length > 1 else ''} or more"
    parts = [f"{what} of {letters}", case, f"without {stop}"]
    if kept.segmenter is not None:
        parts.append(f"cut by {kept.segmenter}")
    if kept.drop_marks:
        parts.append("without marks")
    if kept.language is not None:
        parts.append(f"for {language(kept.language).name}")
    phrases = f"; {len(kept.phrases):,} phrase{'s' * (len(kept.phrases) != 1)}"
    return ", ".join(parts) + (phrases if kept.phrases else "")


def difference(kept: Specification, other: Specification) -> str:
    """Return in what two tokenisers differ, the first one's first; empty if they are equal.

    >>> difference(Tokeniser(), Tokeniser(min_length=2, lower=False))
    'min_length 3, not 2; words in lower case, not in their case'
    """
    if not (isinstance(kept, Tokeniser) and isinstance(other, Tokeniser)):
        return "" if kept == other else f"{described(kept)}, not {described(other)}"
    if kept == other:
        return ""
    parts = [
        f"{name} {'letters with marks' if name == 'pattern' and a is None else a}, not "
        f"{'letters with marks' if name == 'pattern' and b is None else b}"
        for name in ("pattern", "min_length", "language", "drop_marks", "segmenter")
        if (a := getattr(kept, name)) != (b := getattr(other, name))
    ]
    if kept.lower != other.lower:
        cases = ("lower", "their") if kept.lower else ("their", "lower")
        parts.append(f"words in {cases[0]} case, not in {cases[1]} case")
    for name in ("stop_words", "phrases"):
        ones, others = getattr(kept, name), getattr(other, name)
        if ones != others:
            parts.append(f"{len(ones)} {name.replace('_', ' ')}, not these {len(others)}")
    return "; ".join(parts)
