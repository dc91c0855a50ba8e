"""The command line as a process of its own: signals, streams, warnings, and how it ends."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TextIO

import click

from trustream.cli.endings import ExitCode, Terminated, failure
from trustream.cli.messages import clean, clean_lines

# Signals that this module takes care of, while a command runs as a process.
_ours: list[int] = []
_received: int | None = None


def run(call: Callable[[], Any]) -> NoReturn:
    """Run the command line and end the process: no traceback, whatever happens and whenever.

    A process that was told to end by a signal ends by that signal, once it has cleaned up: a loop
    of a shell stops with it, and its status is 128 and the signal's number.
    """
    _prepare()
    code: object = ExitCode.FAILED
    try:
        call()
        code = ExitCode.DONE
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # between two lines of click, or from a stream that is gone
        let_signals_kill()
        told = failure(error, sys.argv[1:], signal_number=_received)
        code = told.exit_code
        with suppress(OSError):
            told.show()
    _end(code if isinstance(code, int) else ExitCode.DONE if code is None else ExitCode.FAILED)


def received() -> int | None:
    """Number of the signal that this process was sent, if it was."""
    return _received


def let_signals_kill() -> None:
    """From here on a signal ends the process at once: there is nothing left to clean up."""
    for number in _ours:
        signal.signal(number, signal.SIG_DFL)


def _prepare() -> None:
    for stream in (sys.stdout, sys.stderr):
        # What a terminal has no letter for is shown as an escape, and ends no command.
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    warnings.showwarning = _show_warning
    threading.excepthook = _show_error_of_thread
    sys.unraisablehook = _show_unraisable
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            # Whoever started this process may have wanted it to go on.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _stop)
                _ours.append(number)


def _stop(number: int, frame: Any) -> None:
    global _received
    _received = number
    signal.signal(number, signal.SIG_DFL)  # asked twice: at once
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _end(code: int) -> NoReturn:
    let_signals_kill()
    for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
        problem = _flush(stream, descriptor)
        if problem is not None and code == ExitCode.DONE:
            told = failure(problem)
            code = told.exit_code
            with suppress(OSError):
                told.show()
    if code > 128 and os.name == "posix":
        signal.signal(code - 128, signal.SIG_DFL)
        os.kill(os.getpid(), code - 128)
    sys.exit(code)


def _flush(stream: TextIO | None, descriptor: int) -> OSError | None:
    """Write what is left; what cannot be written is thrown away, or Python would complain of it."""
    if stream is None:
        return None
    try:
        stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
        return error
    return None


def _show_warning(message: Warning | str, *details: Any, **more: Any) -> None:
    with suppress(OSError):
        click.echo(f"Warning: {clean(message, sys.argv[1:])}", err=True)


def _show_error_of_thread(hook: threading.ExceptHookArgs) -> None:
    if hook.exc_type is not SystemExit:
        _show_aside("a thread failed", hook.exc_value, hook.exc_type)


def _show_unraisable(hook: sys.UnraisableHookArgs) -> None:
    if issubclass(hook.exc_type, KeyboardInterrupt):
        # It struck in a callback of a compiled library, which cannot pass it on.
        signal.raise_signal(_received or signal.SIGINT)
    else:
        _show_aside("something was not cleaned up", hook.exc_value, hook.exc_type)


def _show_aside(what: str, error: BaseException | None, kind: type[BaseException]) -> None:
    """A line for what has no effect on the command, with the traceback if that was asked for."""
    arguments = sys.argv[1:]
    with suppress(OSError):
        if "--debug" in arguments and error is not None:
            text = "".join(traceback.format_exception(error))
            click.echo(clean_lines(text, arguments), err=True)
        click.echo(f"Warning: {what} ({clean(f'{kind.__name__}: {error}', arguments)})", err=True)
