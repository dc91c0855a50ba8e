"""The command ``trustream completion``, and what the Tab key offers for a STORE."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem, get_completion_class

from trustream.cli.output import writing

SHELLS = ("bash", "zsh", "fish")

_EPILOG = """\b
Examples:
  eval "$(trustream completion bash)"     # a line for ~/.bashrc
  eval "$(trustream completion zsh)"      # a line for ~/.zshrc
  trustream completion fish > ~/.config/fish/completions/trustream.fish
"""


@click.command(epilog=_EPILOG, short_help="Let the Tab key complete commands and options.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script for a shell, so that the Tab key completes commands, options and files."""
    found = get_completion_class(shell)
    assert found is not None  # click knows the three
    with writing("standard output"):
        root = context.find_root()
        script = found(root.command, {}, "trustream", "_TRUSTREAM_COMPLETE")
        # Without click's check of the version of bash, which runs bash.
        click.echo(script.source_template % script.source_vars())


def file_names(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Let the shell complete names of files; called by click."""
    return [CompletionItem(incomplete, type="file")]
