"""Say messages in the words of the command line: ``--held-out`` and not ``held_out``.

The library's messages name arguments of Python functions. A command knows its options, and which
arguments they become, so the names can be exchanged in one place when a message is printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

# Arguments of Python that are called otherwise than the options that set them; if a command has
# none of the options, the name is left as it is.
_ALIASES = {
    "batch_size": ("batch",),
    "exclude_seen": ("seen",),
    "learning_method": ("method",),
    "lower": ("keep_case",),
    "max_documents": ("documents",),
    "max_iter": ("passes",),
    "n_components": ("topics",),
    "n_jobs": ("jobs",),
    "n_parts": ("parts",),
    "n_ticks": ("ticks",),
    "n_topics": ("topics",),
    "n_words": ("words", "n"),
    "pattern": ("word_pattern",),
    "random_state": ("seed",),
    "similar_to": ("similar",),
    "steps_per_tick": ("steps",),
}
# What a flag that is not set is called, where there is an option for it.
_NEGATIONS = {"--replace": "--add"}
_QUOTED = r"""(?<!\w)'[^']*'|(?<![\w=])"[^"]*\""""
_VALUE = r"""(?:"[^"]*"|'[^']*'|\.\.\.|-?\w+(?:[.,]\w+)*)?"""


def option_names(command: click.Command) -> dict[str, str]:
    """Return the options of a command by the names of the Python arguments that they become.

    >>> from trustream.cli import main
    >>> names = option_names(main.commands["init"])
    >>> names["held_out"], names["n_components"]
    ('--held-out', '--topics')
    """
    options = {
        (parameter.name or "").rstrip("_"): max(parameter.opts, key=len)
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }
    # The name of a flag's variable may be another word than the flag: measures, --measure.
    named = {option.lstrip("-").replace("-", "_"): option for option in options.values()}
    options = {**named, **options}
    for name, others in _ALIASES.items():
        for other in others:
            if other in options and name not in options:
                options[name] = options[other]
    return options


def in_options(text: str, command: click.Command | None, arguments: Sequence[str] = ()) -> str:
    """Return a message with options in the place of Python's arguments.

    What stands in quotes, and what the user has written on the command line, is left as it is.

    Parameters
    ----------
    text : str
    command : click.Command, optional
        The command that prints it; without one nothing is changed.
    arguments : sequence of str
        The command line.

    Examples
    --------
    >>> from trustream.cli import main
    >>> in_options('give format=, or skip with on_error="skip"', main.commands["ingest"])
    'give --format, or skip with --on-error skip'
    >>> in_options("batch is 0, max_bytes allows more", main.commands["ingest"])
    '--batch is 0, --max-bytes allows more'
    >>> in_options("give replace=False to add to them", main.commands["ingest"])
    'give --add to add to them'
    """
    if command is None:
        return text
    options = option_names(command)
    names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    kept = "|".join(map(re.escape, _kept(arguments, options)))
    pattern = re.compile(
        (rf"(?P<kept>{kept})|" if kept else "")
        + rf"(?P<quoted>{_QUOTED})"
        # A name and a value; a name that is no ordinary word; a word that the message begins with.
        + rf"|(?<![\w.\-/])(?P<given>{names})=(?P<value>{_VALUE})"
        + rf"|(?<![\w.\-/])(?P<name>{names})(?![\w/=(]|[.-]\w)"
    )

    def changed(match: re.Match[str]) -> str:
        found = match.groupdict()
        if found["given"]:
            return _with_value(options[found["given"]], found["value"])
        name = found["name"]
        if name and ("_" in name or (match.start() == 0 and _is_subject(text[match.end() :]))):
            return options[name]
        return match[0]

    return pattern.sub(changed, text)


def in_current_options(text: str) -> str:
    """Return a message with the options of the command that is running, if one is.

    >>> in_current_options("max_bytes allows more")
    'max_bytes allows more'
    """
    context = click.get_current_context(silent=True)
    return text if context is None else in_options(text, context.command)


def _with_value(option: str, value: str) -> str:
    if value in ("", "True", "..."):
        return option
    if value == "False" and option in _NEGATIONS:
        return _NEGATIONS[option]
    if value == "None":
        return f"no {option}"
    bare = value[1:-1] if value[0] in "\"'" else value
    return f"{option} {bare}" if bare and not re.search(r"\s", bare) else f"{option} {value}"


def _is_subject(rest: str) -> bool:
    """Whether what follows the first word of a message says something of an argument."""
    return re.match(r" (is|has|must|cannot|was|needs)\b|:", rest) is not None


def _kept(arguments: Iterable[str], names: Iterable[str]) -> list[str]:
    """What the user has written and what contains the name of an argument, the longest first."""
    texts = {form for argument in arguments for form in (argument, Path(argument).name)}
    found = {text for text in texts if any(name in text for name in names if "_" in name)}
    return sorted(found, key=len, reverse=True)
