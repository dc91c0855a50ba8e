"""How a command ends: its exit code, and the line that says why it did not succeed."""

from __future__ import annotations

import enum
import sys
import traceback
from collections.abc import Sequence
from typing import IO, Any

import click

from trustream.cli.messages import clean, clean_lines


class ExitCode(enum.IntEnum):
    """What a command says to whoever called it; above 128 it is 128 and the signal's number."""

    DONE = 0
    # Something that the user can put right: a file, an address, a number, too little memory.
    FAILED = 1
    # The command was not understood.
    USAGE = 2
    # A fault of trustream itself; the number is that of sysexits.h.
    DEFECT = 70
    INTERRUPTED = 130
    # Whoever read the output has closed it.
    CLOSED = 141
    TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """SIGTERM came. What is cleaned up after an interrupt is cleaned up after it too."""


class Failure(click.ClickException):
    """The end of a command that did not succeed, as the user is told of it."""

    def __init__(self, code: ExitCode, line: str, details: str = "") -> None:
        super().__init__(line)
        self.exit_code = int(code)  # type: ignore[misc]
        self._details = details

    def show(self, file: IO[Any] | None = None) -> None:
        """Print it on standard error; called by click."""
        if self._details:
            click.echo(self._details, err=True)
        if not self.message:
            return
        if self.exit_code > 128:
            if sys.stderr is not None and sys.stderr.isatty():
                click.echo(err=True)  # the terminal's ^C has a line of its own
            click.echo(self.message, err=True)
        else:
            super().show()


def failure(
    error: BaseException,
    arguments: Sequence[str] = (),
    *,
    debug: bool = False,
    signal_number: int | None = None,
) -> Failure:
    """Say what an exception means for the user.

    Parameters
    ----------
    error : BaseException
    arguments : sequence of str
        The command line; passwords in it are not shown.
    debug : bool
        Whether to show the traceback as well.
    signal_number : int, optional
        Of the signal that has come, if one has: an import that is interrupted raises anything.

    Examples
    --------
    >>> failed = failure(ValueError("no words"))
    >>> failed.message, failed.exit_code
    ('no words', 1)
    >>> failure(KeyboardInterrupt()).exit_code
    130
    """
    if isinstance(error, BrokenPipeError):
        return Failure(ExitCode.CLOSED, "")
    code, line = _meaning(error, signal_number)
    details = ""
    if debug:
        details = clean_lines("".join(traceback.format_exception(error)), arguments)
    return Failure(code, clean(line, arguments), details)


def _meaning(error: BaseException, signal_number: int | None) -> tuple[ExitCode, str]:
    if isinstance(error, Terminated):
        return ExitCode.TERMINATED, "Terminated."
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED, "Interrupted."
    if signal_number is not None:
        return ExitCode(128 + signal_number), f"Interrupted, and then: {_said(error)}"
    if isinstance(error, MemoryError):
        return ExitCode.FAILED, f"there is not enough memory ({str(error) or 'MemoryError'})"
    if isinstance(error, RecursionError):
        return ExitCode.FAILED, f"the input is nested too deeply ({error})"
    if isinstance(error, _expected()):
        return ExitCode.FAILED, _said(error)
    return ExitCode.DEFECT, (
        f"trustream failed where it should not have ({_said(error, named=True)}). Please report "
        "it, with what the same command prints when it is run as trustream --debug ..."
    )


def _said(error: BaseException, named: bool = False) -> str:
    """The text of an exception, with the name of its class where it says too little."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        # Without the number, which says nothing that the words do not.
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        text = ": ".join([error.strerror, " -> ".join(names)] if names else [error.strerror])
    return f"{type(error).__name__}: {text}" if named or not text.strip() else text


# Errors of libraries that come from what they were given, by module. One whose module is not
# loaded cannot have been raised.
_OF_INPUT = {
    "csv": "Error",
    "lzma": "LZMAError",
    "polars.exceptions": "PolarsError",
    "psycopg": "Error",
    "pyarrow": "ArrowException",
    "safetensors": "SafetensorError",
    "sqlite3": "Error",
    "struct": "error",
    "trustream.store.errors": "StoreError",
    "xml.etree.ElementTree": "ParseError",
    "zipfile": "BadZipFile",
    "zlib": "error",
}


def _expected() -> tuple[type[BaseException], ...]:
    """Classes of errors that the user can put right."""
    found = [ValueError, OSError, ImportError, EOFError, OverflowError]
    for module, name in _OF_INPUT.items():
        found.append(getattr(sys.modules.get(module), name, ValueError))
    return tuple(found)
