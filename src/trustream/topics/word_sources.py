"""What makes words of texts, and what of it a file can hold.

A `trustream.text.Tokeniser` is data, and so is scikit-learn's CountVectorizer as long as none of
its parameters is a function. Of a function of the user's own a file holds the name under which it
was registered (`trustream.registered_tokenisers`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trustream import tokenisers
from trustream._schema import check_values, mapping
from trustream.registered_tokenisers import register_tokeniser as register_tokeniser
from trustream.text import Tokeniser, tokenise
from trustream.tokenisers import CustomTokeniser, Specification


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
        return tokenisers.specification(self.function)

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON has; a ValueError says what to do if it has none."""
        kept = self.specification()
        if isinstance(kept, CustomTokeniser):
            raise ValueError(
                f"the tokeniser is the Python function {kept.name}, which a file cannot hold: call "
                "trustream.topics.register_tokeniser(name, function) before you save, and before "
                "you use the loaded model"
            )
        return {"tokeniser": kept.to_dict()} if isinstance(kept, Tokeniser) else kept.to_dict()


def word_function(values: Any) -> WordFunction:
    """Return what `WordFunction.to_dict` wrote down; a ValueError says what is wrong.

    >>> word_function({"registered": "words-by-lines"}).function.name
    'words-by-lines'
    """
    if isinstance(values, dict) and "registered" in values:
        return WordFunction(tokenisers.from_dict(values))
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
    if given is None or isinstance(given, Specification):
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
