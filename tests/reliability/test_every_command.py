"""What holds for every command: nothing commands a terminal, and no password is shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.reliability import every_command
from tests.store.server import Server
from trustream.cli import main

NOT_SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """An address with a password, of a server of its own."""
    server = Server()
    yield server.url.replace("postgres:@", "postgres:s3cret@")
    server.end()


def outputs(calls: list[list[Any]]) -> Iterator[tuple[list[Any], str, str]]:
    """The calls, each with what it prints."""
    for arguments in calls:
        result = CliRunner().invoke(main, ["--debug", *map(str, arguments)])
        assert result.exit_code == 0, (arguments, result.output)
        yield arguments, result.stdout, result.stderr


def test_all_commands_are_called(tmp_path: Path) -> None:
    called = {arguments[0] for arguments in every_command.calls("topics.db", tmp_path, "a")}
    assert called == set(main.commands) - every_command.ENDLESS


def test_nothing_commands_the_terminal(tmp_path: Path) -> None:
    name = "na\x1b[31mme[red]"
    seen = set()
    for arguments, out, err in outputs(
        every_command.calls(tmp_path / f"{name}.db", tmp_path, name)
    ):
        if arguments[0] != "completion":  # a script for a shell, in which nothing is of a store
            assert NOT_SHOWN.search(out + err) is None, (arguments, out + err)
        seen |= {word for word in ("\\x1b", "\\u202e", "\\u200b", "\\u2029") if word in out}
    # They were there.
    assert len(seen) == 4


def test_no_password_is_shown(guarded: str, tmp_path: Path) -> None:
    address = f"{guarded}&schema=every"
    for arguments, out, err in outputs(every_command.calls(address, tmp_path, "every")):
        assert "s3cret" not in out + err, arguments
    assert b"s3cret" not in (tmp_path / "every.html").read_bytes()
    assert b"s3cret" not in (tmp_path / "every.model").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("kind", ["pipe", "link to a device", "folder"])
def test_what_is_no_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    calls = every_command.calls(tmp_path / "topics.db", tmp_path, "every")
    for _ in outputs(calls[:3]):
        pass
    there = tmp_path / "there.html"
    if kind == "pipe":
        os.mkfifo(there)
    elif kind == "folder":
        there.mkdir()
    else:
        there.symlink_to(os.devnull)
    before = os.stat(there), os.lstat(there)
    store, ratings = tmp_path / "topics.db", tmp_path / "ratings.csv"
    for arguments in (
        ["report", store, there],
        ["export", store, there],
        ["recommend", ratings, "--topics", 2, "--passes", 1, "--all", "--save", there],
        ["init", there],
        ["simulate", there, tmp_path / "counts.npy", "--vocabulary", tmp_path / "words.txt"],
        ["demo", "--store", there],
    ):
        result = CliRunner().invoke(main, list(map(str, arguments)))
        assert result.exit_code in (1, 2) and "Error: " in result.stderr, (arguments, result.output)
        assert [os.stat(there).st_ino, os.lstat(there).st_mode] == [
            before[0].st_ino, before[1].st_mode,
        ], arguments  # fmt: skip
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")]
