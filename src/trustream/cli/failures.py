"""Turn an exception into what a command ends with: an exit code and a line of explanation."""

from __future__ import annotations

import enum
import sys
import traceback
from collections.abc import Sequence
from typing import IO, Any

import click

from trustream.cli.option_names import in_options
from trustream.cli.safe_messages import safe_line, safe_lines


class ExitCode(enum.IntEnum):
    """Exit codes of the commands; a code above 128 is 128 plus the number of a signal."""

    DONE = 0
    # A problem that the user can solve: a file, an address, a number, too little memory.
    FAILED = 1
    # The command line is invalid.
    USAGE = 2
    # A bug in trustream; the number is that of sysexits.h.
    DEFECT = 70
    INTERRUPTED = 130
    # The reader of the output has closed it.
    CLOSED = 141
    TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """SIGTERM was received; a kind of interrupt, so that the same things are cleaned up."""


class CommandFailure(click.ClickException):
    """Raise it to end a command with an exit code and a message on standard error."""

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
                click.echo(err=True)  # leave the line on which the terminal shows ^C
            click.echo(self.message, err=True)
        else:
            super().show()


def command_failure(
    error: BaseException,
    arguments: Sequence[str] = (),
    *,
    debug: bool = False,
    signal_number: int | None = None,
    command: click.Command | None = None,
    advice: str = "",
) -> CommandFailure:
    """Return the exit code and the message for an exception.

    Parameters
    ----------
    error : BaseException
    arguments : sequence of str
        The command line; passwords in it do not appear in the message.
    debug : bool
        Whether to show the traceback too.
    signal_number : int, optional
        The signal that the process has received, if any. The exception may then be any, because an
        interrupted import can raise anything.
    command : click.Command, optional
        The command that has failed; the message names its options.
    advice : str
        What is safe and how to go on, for a command that was stopped by a signal.

    Examples
    --------
    >>> failed = command_failure(ValueError("no words"))
    >>> failed.message, failed.exit_code
    ('no words', 1)
    >>> command_failure(KeyboardInterrupt()).exit_code
    130
    """
    if isinstance(error, BrokenPipeError):
        return CommandFailure(ExitCode.CLOSED, "")
    code, line = _code_and_line(error, signal_number)
    if code in (ExitCode.INTERRUPTED, ExitCode.TERMINATED) and advice:
        line = f"{line} {advice}"
    if code == ExitCode.FAILED:
        line = in_options(line, command, arguments)
    details = ""
    if debug:
        details = safe_lines("".join(traceback.format_exception(error)), arguments)
    return CommandFailure(code, safe_line(line, arguments), details)


def _code_and_line(error: BaseException, signal_number: int | None) -> tuple[ExitCode, str]:
    if isinstance(error, Terminated):
        return ExitCode.TERMINATED, "Terminated."
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED, "Interrupted."
    if signal_number is not None:
        return ExitCode(128 + signal_number), f"Interrupted, and then: {_text_of(error)}"
    if isinstance(error, MemoryError):
        return ExitCode.FAILED, f"there is not enough memory ({str(error) or 'MemoryError'})"
    if isinstance(error, RecursionError):
        return ExitCode.FAILED, f"the input is nested too deeply ({error})"
    if isinstance(error, _user_errors()):
        return ExitCode.FAILED, _text_of(error)
    return ExitCode.DEFECT, (
        f"trustream failed where it should not have ({_text_of(error, named=True)}). Please report "
        "it, with what the same command prints when it is run as trustream --debug ..."
    )


def _text_of(error: BaseException, named: bool = False) -> str:
    """The text of an exception, with the name of its class if it has no text."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        # Without the error number, which adds nothing to the words.
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        text = ": ".join([error.strerror, " -> ".join(names)] if names else [error.strerror])
    return f"{type(error).__name__}: {text}" if named or not text.strip() else text


# Errors that libraries raise for invalid input, by module. If the module is not loaded, the error
# cannot have been raised.
_INPUT_ERRORS = {
    "csv": "Error",
    "lzma": "LZMAError",
    "polars.exceptions": "PolarsError",
    "psycopg": "Error",
    "pyarrow": "ArrowException",
    "safetensors": "SafetensorError",
    "sqlite3": "Error",
    "struct": "error",
    "trustream.cluster.errors": "ClusterError",
    "trustream.store.errors": "StoreError",
    "xml.etree.ElementTree": "ParseError",
    "zipfile": "BadZipFile",
    "zlib": "error",
}


def _user_errors() -> tuple[type[BaseException], ...]:
    """Classes of errors that come from what the user gave, not from a bug."""
    # Of numbers, those that a step refuses because data or settings are too extreme.
    found = [ValueError, OSError, ImportError, EOFError, OverflowError, FloatingPointError]
    for module, name in _INPUT_ERRORS.items():
        found.append(getattr(sys.modules.get(module), name, ValueError))
    return tuple(found)
