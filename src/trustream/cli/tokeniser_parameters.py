"""Options that say how texts become words, for every command to which texts come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from trustream.cli.file_parameters import InputFile
from trustream.cli.number_parameters import Whole
from trustream.cli.shared_parameters import Decorator

# Repeated here, so that --help does not load them; a test compares them.
SEGMENTERS = ("jieba", "fugashi", "pythainlp", "characters", "bigrams", "trigrams")

_NAMES = {
    "language": "language",
    "word_pattern": "pattern",
    "min_length": "min_length",
    "stop_words": "stop_words",
    "keep_case": "lower",
    "drop_marks": "drop_marks",
    "segmenter": "segmenter",
    "phrases": "phrases",
}
# What a language does not decide on.
_OF_NO_LANGUAGE = ("pattern", "lower", "phrases")


def tokeniser_options(kept: str | None = None) -> Decorator:
    """Return a decorator that adds the options of a tokeniser; `taken_tokeniser` takes the values.

    `kept` says whose tokeniser is the default; None is the usual one.
    """

    def option(name: str, text: str, usual: str, **more: Any) -> Decorator:
        return click.option(name, help=f"{text}  [default: {kept or usual}]", **more)

    options = (
        option("--language", "Of texts, de or German: stop words and more.", "none, English words"),
        option("--word-pattern", "Regular expression of a word in text.", "letters"),
        option("--min-length", "Fewest letters of a word.", "3, or by language", type=Whole(1)),
        option(
            "--stop-words",
            "Words to leave out of text, one per line.",
            "English, or by language",
            type=InputFile(),
        ),
        option("--keep-case/--lower-case", "Case of words in text.", "lower case", default=None),
        option(
            "--drop-marks/--keep-marks",
            "Marks beside letters, such as vowel points.",
            "keep, or by language",
            default=None,
        ),
        option(
            "--segmenter",
            "Finds words in scripts without spaces.",
            "none, or by language",
            type=click.Choice(SEGMENTERS),
            metavar="NAME",
        ),
        option("--phrases", "Words that become one, a phrase per line.", "none", type=InputFile()),
        option("--function", "Makes words of text: one that a package registers.", "none"),
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate


def taken_tokeniser(options: dict[str, Any], kept: Any = None) -> Any:
    """Take the values of `tokeniser_options` out of a command's options.

    Returns the tokeniser that they ask for, None if none was given. What is not given is as in the
    tokeniser that is kept, or as usual; with a language, as it decides.
    """
    from trustream.text import Tokeniser
    from trustream.tokenisers import RegisteredTokeniser, from_dict

    values: dict[str, Any] = {name: options.pop(name) for name in _NAMES}
    given = {_NAMES[name]: value for name, value in values.items() if value is not None}
    function = options.pop("function")
    if function is not None:
        if given:
            raise click.UsageError("--function makes words by itself; leave the other options out.")
        registered = from_dict({"registered": function})
        if isinstance(registered, RegisteredTokeniser):
            registered.function()
        return registered
    if not given:
        return None
    if given.get("pattern", "").startswith(("postgresql://", "postgres://")):
        # Patterns are kept and shown, and there may be a password in it.
        raise ValueError("--word-pattern is an address of a store, expected a regular expression")
    if "lower" in given:
        given["lower"] = not given["lower"]
    before: dict[str, Any] = {}
    if isinstance(kept, Tokeniser):
        names = _OF_NO_LANGUAGE if "language" in given else _NAMES.values()
        before = {name: getattr(kept, name) for name in names}
        if "segmenter" in given:
            before.pop("pattern")
    tokeniser = Tokeniser(**{**before, **given})
    tokeniser("")  # a package that is missing is named now
    return tokeniser
