"""The tutorial of the command line is true: its commands print what stands below them."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from trustream.cli import main

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def steps(text: str) -> list[tuple[str, str]]:
    """Commands of the page, with the lines that continue them, and what they shall print."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            elif line.startswith("> "):
                found[-1] = (f"{found[-1][0]}\n{line[2:]}", "")
            else:
                found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def environment(folder: Path) -> dict[str, str]:
    """With a PATH on which `trustream` and `python` are those that run the tests."""
    folder.mkdir()
    python = shlex.quote(sys.executable)
    for name, command in (("trustream", f"{python} -m trustream"), ("python", python)):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        program.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def in_bash(command: str, env: dict[str, str]) -> tuple[int, str, str]:
    """Exit code, standard output and errors of a command, as typed."""
    done = subprocess.run(
        ["bash", "--norc", "-c", command], capture_output=True, text=True, env=env, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


def in_this_process(command: str, env: dict[str, str]) -> tuple[int, str, str]:
    """The same, without a process for what is only a call of `trustream`."""
    words = shlex.split(command)
    if words[0] != "trustream" or {"|", ">", "<"}.intersection(words):
        return in_bash(command, env)
    done = CliRunner().invoke(main, words[1:])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(
    "run", [in_this_process, pytest.param(in_bash, marks=pytest.mark.slow)], ids=["here", "bash"]
)
def test_the_page_runs_from_top_to_bottom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., tuple[int, str, str]]
) -> None:
    env = environment(tmp_path / "bin")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    same = doctest.OutputChecker().check_output
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    all_steps = steps(PAGE.read_text(encoding="utf-8"))
    assert len(all_steps) >= 15
    for command, expected in all_steps:
        code, out, err = run(command, env)
        fails = expected.startswith("Error:")
        assert code == (1 if fails else 0), (command, err)
        printed = err if fails else out
        assert same(expected, printed, flags), f"$ {command}\n{printed}\nexpected:\n{expected}"


def test_the_page_shows_the_walk_of_a_newcomer() -> None:
    commands = " ".join(command for command, _ in steps(PAGE.read_text(encoding="utf-8")))
    for name in ("init", "ingest", "train", "status", "topics", "transform", "evaluate", "export",
                 "check", "delete", "retrain"):  # fmt: skip
        assert f"trustream {name} " in commands
