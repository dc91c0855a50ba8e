"""Run the command line as the main program of a process: signals, streams, warnings, exit."""

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

from trustream.cli.failures import ExitCode, Terminated, command_failure
from trustream.cli.option_names import in_current_options
from trustream.cli.safe_messages import safe_line, safe_lines

# Signals that this module handles while a command runs.
_handled: list[int] = []
_received: int | None = None


def run_and_exit(call: Callable[[], Any]) -> NoReturn:
    """Call a function and exit with its exit code; no error is ever shown as a traceback.

    A process that is stopped by a signal cleans up and then ends by that signal, so that a loop in
    a shell stops too, and its status is 128 plus the number of the signal.
    """
    _prepare()
    code: object = ExitCode.FAILED
    try:
        call()
        code = ExitCode.DONE
    except SystemExit as end:
        code = end.code
    except BaseException as error:  # outside click's own handling, or from a closed stream
        restore_default_signals()
        failure = command_failure(error, sys.argv[1:], signal_number=_received)
        code = failure.exit_code
        with suppress(OSError):
            failure.show()
    _end(code if isinstance(code, int) else ExitCode.DONE if code is None else ExitCode.FAILED)


def received_signal() -> int | None:
    """Return the number of the signal that this process has received, None if there was none."""
    return _received


def restore_default_signals() -> None:
    """Let a signal end the process at once, because nothing is left to clean up."""
    for number in _handled:
        signal.signal(number, signal.SIG_DFL)


def _prepare() -> None:
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding does not have is shown as an escape.
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    warnings.showwarning = _show_warning
    threading.excepthook = _show_error_of_thread
    sys.unraisablehook = _show_unraisable
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            # A process that was started with the signal ignored, as by nohup, keeps ignoring it.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _stop)
                _handled.append(number)


def _stop(number: int, frame: Any) -> None:
    global _received
    _received = number
    signal.signal(number, signal.SIG_DFL)  # a second signal ends the process at once
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _end(code: int) -> NoReturn:
    restore_default_signals()
    for stream, descriptor in ((sys.stdout, 1), (sys.stderr, 2)):
        problem = _flush(stream, descriptor)
        if problem is not None and code == ExitCode.DONE:
            failure = command_failure(problem)
            code = failure.exit_code
            with suppress(OSError):
                failure.show()
    if code > 128 and os.name == "posix":
        signal.signal(code - 128, signal.SIG_DFL)
        os.kill(os.getpid(), code - 128)
    sys.exit(code)


def _flush(stream: TextIO | None, descriptor: int) -> OSError | None:
    """Write buffered output; what cannot be written is discarded, so that Python is silent."""
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
        text = safe_line(in_current_options(str(message)), sys.argv[1:])
        click.echo(f"Warning: {text}", err=True)


def _show_error_of_thread(hook: threading.ExceptHookArgs) -> None:
    if hook.exc_type is not SystemExit:
        _show_harmless_error("a thread failed", hook.exc_value, hook.exc_type)


def _show_unraisable(hook: sys.UnraisableHookArgs) -> None:
    if issubclass(hook.exc_type, KeyboardInterrupt):
        # It was raised in a callback of a compiled library, which cannot pass it on.
        signal.raise_signal(_received or signal.SIGINT)
    else:
        _show_harmless_error("something was not cleaned up", hook.exc_value, hook.exc_type)


def _show_harmless_error(what: str, error: BaseException | None, kind: type[BaseException]) -> None:
    """Print a line about an error that does not end the command, with --debug the traceback too."""
    arguments = sys.argv[1:]
    with suppress(OSError):
        if "--debug" in arguments and error is not None:
            text = "".join(traceback.format_exception(error))
            click.echo(safe_lines(text, arguments), err=True)
        click.echo(
            f"Warning: {what} ({safe_line(f'{kind.__name__}: {error}', arguments)})", err=True
        )
