"""What makes words of texts, and what of it a file can hold.

A `trustream.text.Tokeniser` is data, and so is scikit-learn's CountVectorizer as long as none of
its parameters is a function. A function of the user's own is not, and no file may say which code
runs. So a file holds the name under which it was registered, and whoever loads the file registers
it as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from inspect import ismethod
from typing import Any

from trustream import tokenisers
from trustream._schema import check_values, mapping, text
from trustream.text import Tokeniser, tokenise
from trustream.tokenisers import CustomTokeniser, Specification, Tokenise

_REGISTERED: dict[str, Tokenise] = {}
_NAME = re.compile(r"[\w.-]{1,100}")


def register_tokeniser(name: str, function: Tokenise) -> None:
    """Give a function that makes words of texts a name, by which `TopicModel.save` can keep it.

    Whoever loads the file registers the same function under the same name, at any time before the
    model is given texts.

    Parameters
    ----------
    name : str
        Letters, digits, "_", "-" and ".", up to 100.
    function : callable
        Takes a text, returns its words in order. Under a name that is taken already it replaces
        the other function.

    Examples
    --------
    >>> register_tokeniser("words-by-spaces", str.split)
    >>> RegisteredTokeniser("words-by-spaces")("Cats and dogs")
    ['Cats', 'and', 'dogs']
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"the name of a tokeniser is {name!r:.60}, expected letters, digits, '_', '-' and '.'"
        )
    if not callable(function) or isinstance(function, type):
        raise ValueError(
            f"the tokeniser {name} is of type {type(function).__name__}, expected a function that "
            "makes a list of words of a text"
        )
    _REGISTERED[name] = function


@dataclass(frozen=True, slots=True)
class RegisteredTokeniser:
    """A function known by the name it was registered under, looked up when it is needed.

    >>> RegisteredTokeniser("nobody-has-registered-it")("Cats and dogs")
    Traceback (most recent call last):
    ...
    ValueError: texts become words by the function that is registered as \
'nobody-has-registered-it', and none is: call \
trustream.topics.register_tokeniser('nobody-has-registered-it', function) first
    """

    name: str

    def __call__(self, text: str) -> Any:
        if self.name not in _REGISTERED:
            raise ValueError(
                f"texts become words by the function that is registered as {self.name!r}, and none "
                f"is: call trustream.topics.register_tokeniser({self.name!r}, function) first"
            )
        return _REGISTERED[self.name](text)


@dataclass(frozen=True, eq=False)
class WordFunction:
    """A function that makes words of texts.

    >>> WordFunction(str.split).counted("dogs and dogs", 0)
    Counter({'dogs': 2, 'and': 1})
    """

    function: Any

    def counted(self, text: str, number: int) -> Counter[str]:
        """Return how often each word is in a text; an error calls it by the number."""
        words = self.function(text)
        if isinstance(words, str | bytes | Mapping) or not isinstance(words, Iterable):
            raise ValueError(
                f"what the tokeniser makes of text {number} is of type {type(words).__name__}, "
                "expected a list of words"
            )
        try:
            found = Counter(words)
        except TypeError as error:
            raise ValueError(
                f"the tokeniser finds things in text {number} that are no words ({error})"
            ) from None
        found.pop("", None)
        return found

    def specification(self) -> Specification:
        """Return what the estimator's file and the commands know of it."""
        if isinstance(self.function, RegisteredTokeniser):
            return CustomTokeniser(self.function.name)
        return tokenisers.specification(self.function)

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON has; a ValueError says what to do if it has none."""
        if isinstance(self.function, RegisteredTokeniser):
            return {"registered": self.function.name}
        for name, registered in _REGISTERED.items():
            if registered is self.function or (
                ismethod(self.function) and registered == self.function
            ):
                return {"registered": name}
        kept = self.specification()
        if isinstance(kept, CustomTokeniser):
            raise ValueError(
                f"the tokeniser is the Python function {kept.name}, which a file cannot hold: call "
                "trustream.topics.register_tokeniser(name, function) before you save, and before "
                "you use the loaded model"
            )
        return {"tokeniser": kept.to_dict()}


def word_function(values: Any) -> WordFunction:
    """Return what `WordFunction.to_dict` wrote down; a ValueError says what is wrong.

    >>> word_function({"registered": "words-by-lines"}).function.name
    'words-by-lines'
    """
    if isinstance(values, dict) and "registered" in values:
        check_values(values, {"registered": text}, "the tokeniser")
        if not _NAME.fullmatch(values["registered"]):
            raise ValueError(f"the tokeniser is registered as {values['registered']!r:.60}")
        return WordFunction(RegisteredTokeniser(values["registered"]))
    check_values(values, {"tokeniser": mapping}, "the tokeniser")
    return WordFunction(tokenisers.function_of(Tokeniser.from_dict(values["tokeniser"])))


def is_vectoriser(given: Any) -> bool:
    """Whether it makes counts of texts itself, like scikit-learn's CountVectorizer."""
    methods = ("fit_transform", "transform", "get_feature_names_out")
    return not isinstance(given, type) and all(hasattr(given, name) for name in methods)


def check_source(given: Any) -> None:
    """Refuse what makes no words of texts, or no counts.

    >>> check_source(7)
    Traceback (most recent call last):
    ...
    ValueError: tokeniser is of type int, expected a trustream.text.Tokeniser, a function that \
makes a list of words of a text, or a CountVectorizer
    """
    if given is None or isinstance(given, Specification | RegisteredTokeniser):
        return
    expected = (
        "expected a trustream.text.Tokeniser, a function that makes a list of words of a text, or "
        "a CountVectorizer"
    )
    if isinstance(given, type):
        raise ValueError(f"tokeniser is the class {given.__name__}, {expected}: add ()")
    kind = type(given).__name__
    if kind in ("TfidfVectorizer", "HashingVectorizer", "TfidfTransformer"):
        reason = "has no words" if kind == "HashingVectorizer" else "makes weights, not counts"
        raise ValueError(
            f"tokeniser is a {kind}, which {reason}: topics are learned from counts of words, give "
            "a CountVectorizer with the same parameters"
        )
    if is_vectoriser(given):
        if getattr(given, "input", "content") != "content":
            raise ValueError(
                f"the {kind} has input={given.input!r}, expected 'content': texts are given as "
                "strings"
            )
    elif not callable(given):
        raise ValueError(f"tokeniser is of type {kind}, {expected}")


def as_function(given: Any) -> WordFunction:
    """Return a tokeniser or a function that `check_source` has passed; None is `tokenise`."""
    if isinstance(given, Tokeniser):
        return WordFunction(tokenisers.function_of(given))
    return WordFunction(tokenise if given is None else given)
