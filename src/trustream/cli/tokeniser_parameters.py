"""Options that say how texts become words, for every command to which texts come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Whole

_NAMES = {
    "word_pattern": "pattern",
    "min_length": "min_length",
    "stop_words": "stop_words",
    "keep_case": "lower",
}


def tokeniser_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a tokeniser; `taken_tokeniser` takes their values."""
    for option in (
        click.option(
            "--keep-case/--lower-case",
            default=None,
            help="Whether text keeps its case.  [default: lower case]",
        ),
        click.option(
            "--stop-words",
            type=InputFile(),
            help="Words to leave out of text, one per line.  [default: English ones]",
        ),
        click.option(
            "--min-length", type=Whole(1), help="Letters of a word in text.  [default: 3]"
        ),
        click.option(
            "--word-pattern", help="Regular expression of a word in text.  [default: letters]"
        ),
    ):
        command = option(command)
    return command


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
    if "lower" in given:
        given["lower"] = not given["lower"]
    before: dict[str, Any] = {}
    if isinstance(kept, Tokeniser):
        before = {name: getattr(kept, name) for name in _NAMES.values()}
    return Tokeniser(**{**before, **given})
