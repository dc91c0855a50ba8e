"""Give functions that make words of texts names, by which stores and model files keep them.

A function is no data, and no file may say which code runs. So a file holds a name, and whoever
uses the file has the function under that name: registered by `register_tokeniser`, or by a package
that is installed and declares it as an entry point of the group ``trustream.tokenisers``, which is
how the commands find one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from inspect import ismethod
from typing import Any

Tokenise = Callable[[str], Sequence[str]]

GROUP = "trustream.tokenisers"
_REGISTERED: dict[str, Tokenise] = {}
_NAME = re.compile(r"[\w.-]{1,100}")


def register_tokeniser(name: str, function: Tokenise) -> None:
    """Give a function that makes words of texts a name, by which stores and model files keep it.

    Whoever uses the store or the file registers the same function under the same name, at any time
    before it is given texts.

    Parameters
    ----------
    name : str
        Letters, digits, "_", "-" and ".", up to 100.
    function : callable
        Takes a text, returns its words in order. Under a name that is taken already it replaces
        the other function.

    Examples
    --------
    >>> register_tokeniser("words-by-spaces", lambda text: text.split())
    >>> RegisteredTokeniser("words-by-spaces")("Cats and dogs")
    ['Cats', 'and', 'dogs']
    """
    check_name(name)
    if not callable(function) or isinstance(function, type):
        raise ValueError(
            f"the tokeniser {name} is of type {type(function).__name__}, expected a function that "
            "makes a list of words of a text"
        )
    _REGISTERED[name] = function


def check_name(name: Any) -> None:
    """Refuse what cannot be the name of a tokeniser.

    >>> check_name("two words")
    Traceback (most recent call last):
    ...
    ValueError: the name of a tokeniser is 'two words', expected letters, digits, '_', '-' and '.'
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"the name of a tokeniser is {name!r:.60}, expected letters, digits, '_', '-' and '.'"
        )


def registered_name(function: Tokenise) -> str | None:
    """Return the name under which a function is registered, None if it has none.

    >>> registered_name(len)
    """
    if isinstance(function, RegisteredTokeniser):
        return function.name
    for name, registered in _REGISTERED.items():
        if registered is function or (ismethod(function) and registered == function):
            return name
    return None


@dataclass(frozen=True, slots=True)
class RegisteredTokeniser:
    """A function known by the name it was registered under, looked up when it is needed.

    >>> RegisteredTokeniser("nobody-has-registered-it")("Cats and dogs")
    Traceback (most recent call last):
    ...
    ValueError: texts become words by the function that is registered as \
'nobody-has-registered-it', and none is: call \
trustream.topics.register_tokeniser('nobody-has-registered-it', function) first, or install the \
package that has it
    """

    name: str

    def __call__(self, text: str) -> Any:
        return self.function()(text)

    def function(self) -> Tokenise:
        """Return the function; a ValueError says if there is none."""
        if self.name not in _REGISTERED:
            for entry in entry_points(group=GROUP, name=self.name):
                register_tokeniser(self.name, entry.load())
        if self.name not in _REGISTERED:
            raise ValueError(
                f"texts become words by the function that is registered as {self.name!r}, and none "
                f"is: call trustream.topics.register_tokeniser({self.name!r}, function) first, "
                "or install the package that has it"
            )
        return _REGISTERED[self.name]

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON has."""
        return {"registered": self.name}
