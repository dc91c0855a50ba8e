"""How texts become words, as data: what is kept of a tokeniser makes the same words again."""

from __future__ import annotations

import json
import pickle
from functools import partial
from typing import Any

import pytest

from trustream.text import Tokeniser, tokenise
from trustream.tokenisers import (
    CustomTokeniser,
    described,
    difference,
    from_dict,
    function_of,
    specification,
)

TEXT = "The Größe of n_samples2, C++ and cafe\u0301s; isn't it? A trust-region STEP"
MANY = [
    Tokeniser(),
    Tokeniser(lower=False),
    Tokeniser(r"\w+", min_length=1, stop_words=()),
    Tokeniser(r"(\w+)-", stop_words=["Café", "the"]),
    Tokeniser(r"[\w-]+", min_length=2, stop_words=["A", "Step"], lower=False),
]


@pytest.mark.parametrize("tokeniser", MANY)
def test_data_make_the_same_words(tokeniser: Tokeniser) -> None:
    kept = json.loads(json.dumps(tokeniser.to_dict()))
    again = from_dict(kept)
    assert again == tokeniser and hash(again) == hash(tokeniser)
    assert again(TEXT) == tokeniser(TEXT) == function_of(again)(TEXT)
    assert isinstance(again, Tokeniser) and again.to_dict() == kept
    assert pickle.loads(pickle.dumps(tokeniser)) == tokeniser


def test_equal_if_they_do_the_same() -> None:
    for i, one in enumerate(MANY):
        for j, other in enumerate(MANY):
            assert (one == other) == (i == j)
            assert bool(difference(one, other)) == (i != j)
    assert Tokeniser() != tokenise and Tokeniser() != {}
    assert Tokeniser(stop_words=["The"]) == Tokeniser(stop_words=["the", "THE"])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "expected an object"),
        ({}, "missing from the tokeniser: pattern, min_length, stop_words, lower"),
        ({**Tokeniser().to_dict(), "pickle": "x"}, "unknown in the tokeniser: pickle"),
        ({**Tokeniser().to_dict(), "pattern": "("}, "no regular expression"),
        ({**Tokeniser().to_dict(), "pattern": ""}, "pattern is empty"),
        ({**Tokeniser().to_dict(), "min_length": 0}, "min_length in the tokeniser is 0"),
        ({**Tokeniser().to_dict(), "min_length": True}, "min_length in the tokeniser is True"),
        ({**Tokeniser().to_dict(), "stop_words": "the"}, "expected a list of words"),
        ({**Tokeniser().to_dict(), "stop_words": [1]}, "expected a list of words"),
        ({**Tokeniser().to_dict(), "lower": 1}, "expected true or false"),
        ({"custom": 7}, "custom in the tokeniser is 7, expected text"),
        ({"custom": "f", "pattern": "x"}, "unknown in the tokeniser: pattern"),
    ],
)
def test_other_data_are_refused(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_dict(values)


def test_functions_are_known_by_their_names() -> None:
    assert specification(tokenise) == Tokeniser()
    assert specification(MANY[2]) is MANY[2]
    own = specification(my_split)
    assert own == CustomTokeniser("tests.test_tokenisers.my_split") == from_dict(own.to_dict())
    assert specification(partial(str.split, sep=",")).to_dict() == {"custom": "functools.partial"}
    with pytest.raises(ValueError, match="which cannot be kept: give it as tokenise="):
        own("a text")
    with pytest.raises(ValueError, match="of type str, expected a Tokeniser or a function"):
        specification("split")  # type: ignore[arg-type]


def test_in_words() -> None:
    assert "in lower case, without the English stop words" in described(Tokeniser())
    assert "of 1 letter or more, in lower case, without any stop words" in described(MANY[2])
    assert described(CustomTokeniser("a.b")) == "words by the Python function a.b"
    assert difference(Tokeniser(), CustomTokeniser("a.b")).endswith("the Python function a.b")


def my_split(text: str) -> list[str]:
    return text.split()
