"""Messages as they may be printed: one line, no secrets, nothing that a terminal obeys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from trustream.terminal import shown

# Most characters of a line; of a longer one the middle is left out.
_LONGEST = 1000
# Arguments in which there may be a password.
_SUSPECT = re.compile(r"://|@|pass|pwd|postgres", re.IGNORECASE)
# What is left of an address that was taken apart: user:password@host, password=...
_LOGIN = re.compile(r":(?!//)[^\s:@]+@")
_PAIR = re.compile(r"((?:pass|pwd)\w*=)[^\s&]+", re.IGNORECASE)
_HIDDEN = "..."
# A shorter password stands in ordinary words; where it is one of an address it is hidden anyway.
_SHORTEST_PASSWORD = 4


def clean(text: object, arguments: Sequence[str] = ()) -> str:
    r"""A message as one line that can be printed.

    Parameters
    ----------
    text : object
        Its ``str`` is taken.
    arguments : sequence of str
        The command line. Messages quote it, and passwords in it are not for the screen.

    Examples
    --------
    >>> clean("no such thing:\n  \x1b[31mx")
    'no such thing: \\x1b[31mx'
    >>> address = "postgresql://me:secret@host/name"
    >>> clean(f"got unexpected extra argument ({address})", ["train", address])
    'got unexpected extra argument (postgresql://me@host/name)'
    """
    lines = without_secrets(str(text), arguments).splitlines()
    line = shown(" ".join(stripped for line in lines if (stripped := line.strip())))
    if len(line) > _LONGEST:
        half = _LONGEST // 2
        line = f"{line[:half]} {_HIDDEN} {line[-half:]}"
    return line


def clean_lines(text: str, arguments: Sequence[str] = ()) -> str:
    """The same for a text of several lines, which stay: a traceback."""
    return "\n".join(shown(line) for line in without_secrets(text, arguments).splitlines())


def without_secrets(text: str, arguments: Sequence[str] = ()) -> str:
    """A text without the passwords of the addresses among the arguments.

    >>> without_secrets("no file me:secret@host", ["postgresql://me:secret@host"])
    'no file me:...@host'
    """
    suspects = [part for argument in arguments for part in _parts(argument)]
    if not suspects:
        return text
    for secret, harmless in _replacements(suspects):
        text = text.replace(secret, harmless)
    return _PAIR.sub(rf"\1{_HIDDEN}", _LOGIN.sub(f":{_HIDDEN}@", text))


def _parts(argument: str) -> Iterator[str]:
    """What may be an address in an argument: all of it, and the value of --option=value."""
    if _SUSPECT.search(argument):
        yield argument
        if argument.startswith("-") and "=" in argument:
            yield argument.partition("=")[2]


def _replacements(suspects: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of what must not be shown and what stands in its place, the longest first."""
    # Imported late: hardly any command line has an address in it.
    from trustream.store.addresses import PostgresAddress, shown_address

    pairs: dict[str, str] = {}
    for suspect in suspects:
        harmless = shown_address(suspect)
        # As it came, and in the forms that libraries give it before they quote it.
        forms = {suspect, unquote(suspect), str(Path(suspect))}
        if harmless != suspect:
            pairs |= dict.fromkeys({*forms, *(repr(form)[1:-1] for form in forms)}, harmless)
        password = PostgresAddress.read(suspect).password if "://" in suspect else None
        for form in (password or "", unquote(password or "")):
            if len(form) >= _SHORTEST_PASSWORD:
                pairs |= {form: _HIDDEN, repr(form)[1:-1]: _HIDDEN}
    return sorted(pairs.items(), key=lambda pair: -len(pair[0]))
