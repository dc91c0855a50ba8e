"""What a newcomer meets first: help with examples, versions, and the Tab key."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import click
import numpy
import pytest
from click.testing import CliRunner

import trustream
from trustream.cli import main
from trustream.cli.completion import SHELLS

COMMANDS = sorted(main.commands)


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(main, list(arguments), prog_name="trustream")
    assert result.exit_code == 0, result.output
    return result.output


def examples(text: str) -> list[list[str]]:
    """The commands below "Examples:" of a help text, as lists of words."""
    lines = text.partition("Examples:\n")[2].splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_that_parse(command: str) -> None:
    found = examples(printed(command, "--help"))
    own = [words for words in found if command in words or any(command in w for w in words)]
    assert own, command
    for words in found:
        if "trustream" not in words:
            continue  # inside eval "$(...)"
        arguments = words[words.index("trustream") + 1 :]
        if ">" in arguments:
            arguments = arguments[: arguments.index(">")]
        if arguments[0] != "completion":
            options_are_known(arguments)


def options_are_known(arguments: list[str]) -> None:
    command = main.commands[arguments[0]]
    if isinstance(command, click.Group):
        command, arguments = command.commands[arguments[1]], arguments[1:]
    known = {name for parameter in command.params for name in parameter.opts}
    for argument in arguments[1:]:
        if re.match("--?[a-z]", argument):
            assert argument in known, arguments


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_of_80_columns(command: str) -> None:
    text = printed(*filter(None, [command]), "--help")
    assert max(map(len, text.splitlines())) <= 80, command
    assert "None" not in text and "RANGE" not in text


def test_the_list_of_commands_is_complete_and_in_the_order_of_use() -> None:
    text = printed("--help").partition("Commands:\n")[2].partition("\n\n")[0]
    names = [line.split()[0] for line in text.splitlines()]
    assert sorted(names) == COMMANDS
    assert names.index("init") < names.index("ingest") < names.index("train") < names.index("check")
    assert "..." not in text  # no sentence is cut


def test_no_arguments_print_the_help_as_it_is() -> None:
    result = CliRunner().invoke(main, [], prog_name="trustream")
    assert result.exit_code == 2
    assert "\n  ingest " in result.output


def test_versions() -> None:
    lines = printed("--version").splitlines()
    assert lines[0] == f"trustream {trustream.__version__}"
    found = dict(line.split(" ", 1) for line in lines)
    assert found["Python"] == platform.python_version()
    assert found["NumPy"] == numpy.__version__
    assert found["SQLite"] == sqlite3.sqlite_version
    assert {"SciPy", "Numba", "scikit-learn", "psycopg"} <= set(found)


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_prints_a_script(shell: str) -> None:
    script = printed("completion", shell)
    assert "_TRUSTREAM_COMPLETE" in script and "trustream" in script


@pytest.fixture
def path_with_the_command(tmp_path: Path) -> str:
    """A PATH on which `trustream` is this one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "trustream"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m trustream "$@"\n')
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


TYPED = [
    (["in"], {"init", "ingest"}),
    (["train", "topics.db", "--un"], {"--until-idle"}),
    (["ingest", "topics.db", "--on-error", "s"], {"stop", "skip"}),
]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        *TYPED,
        # The shell is asked to complete files itself.
        (["ingest", "top"], {"compopt", "default"}),
        (["evaluate", "top"], {"compopt", "default"}),
    ],
)
def test_the_tab_key_in_bash(
    typed: list[str], offered: set[str], tmp_path: Path, path_with_the_command: str
) -> None:
    """The real shell, its completion function, and this command."""
    words = " ".join(["trustream", *typed])
    script = f"""
eval "$(trustream completion bash)"
compopt() {{ echo "compopt $*"; }}
COMP_WORDS=({words}) COMP_CWORD={len(typed)}
_trustream_completion trustream {typed[-1]}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PATH": path_with_the_command},
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert offered <= set(done.stdout.split())


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@pytest.mark.parametrize(("typed", "offered"), TYPED)
def test_the_tab_key_in_zsh(
    typed: list[str], offered: set[str], tmp_path: Path, path_with_the_command: str
) -> None:
    """The real shell and the function of the script; what it would show is printed."""
    script = f"""
compdef() {{ :; }}
_describe() {{ print -rl -- ${{(P)3}}; }}
compadd() {{ print -rl -- ${{(P)@[-1]}}; }}
eval "$(trustream completion zsh)"
words=(trustream {" ".join(typed)}) CURRENT={len(typed) + 1}
_trustream_completion
"""
    done = subprocess.run(
        ["zsh", "-f", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PATH": path_with_the_command},
    )
    assert done.stderr == ""
    assert offered <= {line.partition(":")[0] for line in done.stdout.splitlines()}


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("typed", "offered"), TYPED)
def test_the_tab_key_in_fish(
    typed: list[str], offered: set[str], tmp_path: Path, path_with_the_command: str
) -> None:
    """The real shell, asked what it would complete."""
    script = "trustream completion fish | source; complete -C $argv[1]"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script, " ".join(["trustream", *typed])],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PATH": path_with_the_command, "HOME": str(tmp_path)},
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert offered <= {line.partition("\t")[0] for line in done.stdout.splitlines()}
