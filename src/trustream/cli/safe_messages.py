"""Make messages safe to print: one line, without passwords and control characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from trustream.terminal import shown

# Most characters of a line; the middle of a longer one is left out.
_LONGEST = 1000
# Arguments that may contain a password.
_SUSPECT = re.compile(r"://|@|pass|pwd|postgres", re.IGNORECASE)
# Parts of an address that a library may quote: user:password@host, password=...
_LOGIN = re.compile(r":(?!//)[^\s:@]+@")
_PAIR = re.compile(r"((?:pass|pwd)\w*=)[^\s&]+", re.IGNORECASE)
_HIDDEN = "..."
# A shorter password occurs in ordinary words; as part of an address it is hidden anyway.
_SHORTEST_PASSWORD = 4


def safe_line(text: object, arguments: Sequence[str] = ()) -> str:
    r"""Return a message as one line that is safe to print.

    Parameters
    ----------
    text : object
        Its ``str`` is used.
    arguments : sequence of str
        The command line. Messages may quote it; passwords in it are removed.

    Examples
    --------
    >>> safe_line("no such thing:\n  \x1b[31mx")
    'no such thing: \\x1b[31mx'
    >>> address = "postgresql://me:secret@host/name"
    >>> safe_line(f"got unexpected extra argument ({address})", ["train", address])
    'got unexpected extra argument (postgresql://me@host/name)'
    """
    lines = without_passwords(str(text), arguments).splitlines()
    line = shown(" ".join(stripped for line in lines if (stripped := line.strip())))
    if len(line) > _LONGEST:
        half = _LONGEST // 2
        line = f"{line[:half]} {_HIDDEN} {line[-half:]}"
    return line


def safe_lines(text: str, arguments: Sequence[str] = ()) -> str:
    """Return a text of several lines, such as a traceback, so that it is safe to print."""
    return "\n".join(shown(line) for line in without_passwords(text, arguments).splitlines())


def without_passwords(text: str, arguments: Sequence[str] = ()) -> str:
    """Return a text without the passwords of the addresses among the arguments.

    >>> without_passwords("no file me:secret@host", ["postgresql://me:secret@host"])
    'no file me:...@host'
    """
    suspects = [part for argument in arguments for part in _parts(argument)]
    if not suspects:
        return text
    for secret, harmless in _replacements(suspects):
        text = text.replace(secret, harmless)
    return _PAIR.sub(rf"\1{_HIDDEN}", _LOGIN.sub(f":{_HIDDEN}@", text))


def _parts(argument: str) -> Iterator[str]:
    """Yield what may be an address in an argument: all of it, and the value of --option=value."""
    if _SUSPECT.search(argument):
        yield argument
        if argument.startswith("-") and "=" in argument:
            yield argument.partition("=")[2]


def _replacements(suspects: Sequence[str]) -> list[tuple[str, str]]:
    """Return pairs of a text that must not be shown and its replacement, the longest first."""
    # Imported late, because few command lines contain an address.
    from trustream.store.addresses import PostgresAddress, shown_address

    pairs: dict[str, str] = {}
    for suspect in suspects:
        harmless = shown_address(suspect)
        # As given, and in the forms in which libraries quote it.
        forms = {suspect, unquote(suspect), str(Path(suspect))}
        if harmless != suspect:
            pairs |= dict.fromkeys({*forms, *(repr(form)[1:-1] for form in forms)}, harmless)
        password = PostgresAddress.read(suspect).password if "://" in suspect else None
        for form in (password or "", unquote(password or "")):
            if len(form) >= _SHORTEST_PASSWORD:
                pairs |= {form: _HIDDEN, repr(form)[1:-1]: _HIDDEN}
    return sorted(pairs.items(), key=lambda pair: -len(pair[0]))
