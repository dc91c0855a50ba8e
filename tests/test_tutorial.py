"""The tutorial of the command line is true: its commands print what stands below them."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    env = environment(tmp_path / "bin")
    work = tmp_path / "work"
    work.mkdir()
    same = doctest.OutputChecker().check_output
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    all_steps = steps(PAGE.read_text(encoding="utf-8"))
    assert len(all_steps) >= 15
    for command, expected in all_steps:
        done = subprocess.run(
            ["bash", "--norc", "-c", command],
            capture_output=True,
            text=True,
            cwd=work,
            env=env,
            timeout=300,
        )
        fails = expected.startswith("Error:")
        assert done.returncode == (1 if fails else 0), (command, done.stderr)
        printed = done.stderr if fails else done.stdout
        assert same(expected, printed, flags), f"$ {command}\n{printed}\nexpected:\n{expected}"


def test_the_page_shows_the_walk_of_a_newcomer() -> None:
    commands = " ".join(command for command, _ in steps(PAGE.read_text(encoding="utf-8")))
    for name in ("init", "ingest", "train", "status", "topics", "transform", "evaluate", "export",
                 "check", "delete", "retrain"):  # fmt: skip
        assert f"trustream {name} " in commands
