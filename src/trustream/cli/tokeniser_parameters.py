"""Options that say how texts become words, for every command to which texts come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Whole
from trustream.cli.shared_parameters import Decorator

_NAMES = {
    "word_pattern": "pattern",
    "min_length": "min_length",
    "stop_words": "stop_words",
    "keep_case": "lower",
}


def tokeniser_options(kept: str | None = None) -> Decorator:
    """Return a decorator that adds the options of a tokeniser; `taken_tokeniser` takes the values.

    `kept` says whose tokeniser is the default; None is the usual one.
    """

    def option(name: str, text: str, usual: str, **more: Any) -> Decorator:
        return click.option(name, help=f"{text}  [default: {kept or usual}]", **more)

    options = (
        option("--word-pattern", "Regular expression of a word in text.", "letters"),
        option("--min-length", "Fewest letters of a word in text.", "3", type=Whole(1)),
        option(
            "--stop-words", "Words to leave out of text, one per line.", "English", type=InputFile()
        ),
        option("--keep-case/--lower-case", "Case of words in text.", "lower case", default=None),
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


def taken_tokeniser(options: dict[str, Any], kept: Any = None) -> Any:
    """Take the values of `tokeniser_options` out of a command's options.

    Returns the tokeniser that they ask for, None if none was given. What is not given is as in the
    tokeniser that is kept, or as usual.
    """
    from trustream.text import Tokeniser

    values: dict[str, Any] = {name: options.pop(name) for name in _NAMES}
    given = {_NAMES[name]: value for name, value in values.items() if value is not None}
    if not given:
        return None
    if given.get("pattern", "").startswith(("postgresql://", "postgres://")):
        # Patterns are kept and shown, and there may be a password in it.
        raise ValueError("--word-pattern is an address of a store, expected a regular expression")
    if "lower" in given:
        given["lower"] = not given["lower"]
    before: dict[str, Any] = {}
    if isinstance(kept, Tokeniser):
        before = {name: getattr(kept, name) for name in _NAMES.values()}
    return Tokeniser(**{**before, **given})
