"""The group that all commands belong to: the one place where errors become messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from trustream.cli import process
from trustream.cli.endings import Failure, failure
from trustream.cli.messages import clean

# Names in the context that a command shares with its group.
_ARGUMENTS, _DEBUG = "trustream.arguments", "trustream.debug"


class Commands(click.Group):
    """A group of commands that end with a line and an exit code, whatever goes wrong in them.

    ``--debug``, before or after the command, shows the traceback too.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.params.append(_debug_option())

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command, with --debug."""
        cmd.params.append(_debug_option(hidden=True))
        super().add_command(cmd, name)

    def main(self, args: Any = None, *arguments: Any, **options: Any) -> Any:
        """Run the command line; without `args` it is that of this process, which ends with it."""
        call = super().main
        if args is None and options.get("standalone_mode", True):
            process.run(lambda: call(None, *arguments, **options))
        return call(args, *arguments, **options)

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> click.Context:
        """Called by click: read what stands before the name of the command."""
        command_line = list(args)
        make = super().make_context
        context = _told(lambda: make(info_name, args, parent, **extra), {_ARGUMENTS: command_line})
        context.meta[_ARGUMENTS] = command_line
        return context

    def invoke(self, ctx: click.Context) -> Any:
        """Called by click: read the rest and run the command."""
        call = super().invoke
        return _told(lambda: call(ctx), ctx.meta)


def _told(call: Callable[[], Any], meta: dict[str, Any]) -> Any:
    """What `call` returns; what it raises is raised as click's, without secrets."""
    try:
        return call()
    except (SystemExit, Failure, click.exceptions.Exit, click.Abort):
        raise
    except click.ClickException as error:
        error.message = clean(error.message, meta[_ARGUMENTS])  # type: ignore[misc]
        raise
    except BaseException as error:
        process.let_signals_kill()
        debug, signal_number = meta.get(_DEBUG, False), process.received()
        raise failure(error, meta[_ARGUMENTS], debug=debug, signal_number=signal_number) from error


def _debug_option(hidden: bool = False) -> click.Option:
    def ask(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            context.meta[_DEBUG] = True

    return click.Option(
        ["--debug"],
        is_flag=True,
        expose_value=False,
        is_eager=True,
        hidden=hidden,
        callback=ask,
        help="Show where in trustream an error comes from.",
    )
