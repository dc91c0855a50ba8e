"""The group of all commands, which turns every error into a message and an exit code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from trustream.cli import main_process
from trustream.cli.failures import CommandFailure, command_failure
from trustream.cli.interruption import advice_of
from trustream.cli.safe_messages import safe_line
from trustream.kernels import compilation
from trustream.terminal import say_compiling

# Keys of click's context that a command shares with its group.
_ARGUMENTS, _DEBUG = "trustream.arguments", "trustream.debug"


class CommandGroup(click.Group):
    """Use it as the class of a click group to report errors of its commands in one line.

    It adds the option ``--debug``, before or after the command, which shows the traceback too.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params.append(_debug_option())

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, and --debug to its options."""
        cmd.params.append(_debug_option(hidden=True))
        super().add_command(cmd, name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Called by click: the commands in the order in which they were added."""
        return list(self.commands)

    def main(self, args: Any = None, *arguments: Any, **options: Any) -> Any:
        """Run the command line; without `args` it is that of this process, which then exits."""
        call = super().main
        if args is None and options.get("standalone_mode", True):
            main_process.run_and_exit(lambda: call(None, *arguments, **options))
        return call(args, *arguments, **options)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> click.Context:
        """Called by click: parse what comes before the name of the command."""
        command_line = list(args)
        make = super().make_context
        context = _reporting_errors(
            lambda: make(info_name, args, parent, **extra), {_ARGUMENTS: command_line}
        )
        context.meta[_ARGUMENTS] = command_line
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Called by click: parse the rest and run the command."""
        call = super().invoke
        with compilation.heard_by(say_compiling):
            return _reporting_errors(lambda: call(ctx), ctx.meta, lambda: self._invoked(ctx))

    def _invoked(self, ctx: click.Context) -> click.Command | None:
        return self.commands.get(ctx.invoked_subcommand or "")


def _reporting_errors(
    call: Callable[[], Any],
    meta: dict[str, Any],
    command: Callable[[], click.Command | None] = lambda: None,
) -> Any:
    """Return what `call` returns; raise its exceptions as click's, without passwords.

    Messages name the options of the `command` that has failed.
    """
    try:
        return call()
    except (SystemExit, CommandFailure, click.exceptions.Exit, click.Abort):
        raise
    except click.exceptions.NoArgsIsHelpError:
        raise  # its message is the help text, of many lines
    except click.ClickException as error:
        error.message = safe_line(error.message, meta[_ARGUMENTS])  # type: ignore[misc]
        raise
    except BaseException as error:
        main_process.restore_default_signals()
        debug, signal_number = meta.get(_DEBUG, False), main_process.received_signal()
        raise command_failure(
            error,
            meta[_ARGUMENTS],
            debug=debug,
            signal_number=signal_number,
            command=command(),
            advice=advice_of(meta),
        ) from error


def _debug_option(hidden: bool = False) -> click.Option:
    def set_debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            context.meta[_DEBUG] = True

    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        hidden=hidden,
        callback=set_debug,
        help="Show where in trustream an error comes from.",
    )
