"""What a command says when it does not succeed, and with which exit code."""

from __future__ import annotations

import csv
import re
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from trustream.cli import main
from trustream.cli.command_group import CommandGroup
from trustream.cli.failures import ExitCode, Terminated, command_failure
from trustream.cli.number_parameters import LARGEST, Real, Whole
from trustream.cli.safe_messages import safe_line, without_passwords
from trustream.store.errors import StoreError


class Oddity(Exception):
    """One that nobody expects."""


def failing(error: BaseException) -> CommandGroup:
    """A group whose one command raises that."""

    @click.group(cls=CommandGroup)
    def group() -> None: ...

    @group.command()
    def fail() -> None:
        raise error

    return group


def ended(error: BaseException, *arguments: str) -> Result:
    return CliRunner().invoke(failing(error), [*arguments, "fail"])


PUT_RIGHT = [
    (ValueError("no words"), "no words"),
    (StoreError("no store"), "no store"),
    (
        FileNotFoundError(2, "No such file or directory", "a.txt"),
        "No such file or directory: a.txt",
    ),
    (OSError(28, "No space left on device"), "No space left on device"),
    (OSError("all wrong"), "all wrong"),
    (ImportError("no psycopg"), "no psycopg"),
    (ModuleNotFoundError("No module named 'x'"), "No module named 'x'"),
    (MemoryError(), "there is not enough memory (MemoryError)"),
    (MemoryError("8 TiB"), "there is not enough memory (8 TiB)"),
    (RecursionError("too deep"), "the input is nested too deeply (too deep)"),
    (EOFError("ended early"), "ended early"),
    (EOFError(), "EOFError:"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "'utf-8' codec can't decode"),
    (OverflowError("too large"), "too large"),
    (FloatingPointError("the update is not finite"), "the update is not finite"),
    (zlib.error("Error -3"), "Error -3"),
    (zipfile.BadZipFile("no zip"), "no zip"),
    (struct.error("4 bytes"), "4 bytes"),
    (csv.Error("field too long"), "field too long"),
    (sqlite3.DatabaseError("malformed"), "malformed"),
]


@pytest.mark.parametrize(("error", "said"), PUT_RIGHT, ids=lambda value: type(value).__name__)
def test_what_the_user_can_put_right(error: BaseException, said: str) -> None:
    result = ended(error)
    assert result.exit_code == ExitCode.FAILED
    assert result.stderr.startswith(f"Error: {said}")
    assert len(result.stderr.splitlines()) == 1 and result.stdout == ""


@pytest.mark.parametrize("error", [Oddity("?"), TypeError("int"), KeyError("k"), AssertionError()])
def test_a_fault_of_trustream_asks_to_be_reported(error: BaseException) -> None:
    result = ended(error)
    assert result.exit_code == ExitCode.DEFECT
    assert type(error).__name__ in result.stderr and "report" in result.stderr
    assert "--debug" in result.stderr and len(result.stderr.splitlines()) == 1


def test_signals_and_a_closed_output() -> None:
    for error, code, said in (
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
        (Terminated(), 143, "Terminated.\n"),
        (BrokenPipeError(32, "Broken pipe"), 141, ""),
    ):
        result = ended(error)
        assert (result.exit_code, result.stderr) == (code, said)
    # Imports that are interrupted raise anything, and what fails after an interrupt is told.
    late = command_failure(ImportError("initialization failed"), signal_number=2)
    assert late.exit_code == 130 and "initialization failed" in late.message
    assert command_failure(ImportError("x"), signal_number=15).exit_code == 143


def test_usage_errors_and_ends_of_click_stay_as_they_are() -> None:
    assert ended(click.UsageError("give a file")).exit_code == ExitCode.USAGE
    assert ended(click.exceptions.Exit(0)).exit_code == 0
    assert ended(SystemExit(0)).exit_code == 0
    assert ended(click.ClickException("simply wrong")).stderr == "Error: simply wrong\n"


def test_debug_before_and_after_the_command() -> None:
    group = failing(ValueError("no words"))
    for arguments in (["--debug", "fail"], ["fail", "--debug"]):
        result = CliRunner().invoke(group, arguments)
        assert result.exit_code == ExitCode.FAILED
        assert "Traceback" in result.stderr and "test_failures.py" in result.stderr
        assert result.stderr.endswith("\nError: no words\n")
    assert "Traceback" not in CliRunner().invoke(group, ["fail"]).stderr
    assert "--debug" in CliRunner().invoke(main, ["--help"]).stdout


def test_a_message_is_one_line_of_text() -> None:
    hostile = "a\x1b[31m\n  b\u202e\x9b\x07 \ud800" + "x" * 10**6
    for debug in ([], ["--debug"]):
        result = ended(ValueError(hostile), *debug)
        assert "Error: a\\x1b[31m b\\u202e\\x9b\\x07 \\ud800xxx" in result.stderr
        assert re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", result.stderr) is None
    assert len(safe_line(hostile)) < 1200 and safe_line(hostile).endswith("xxx")


ADDRESSES = [
    "postgresql://me:s3cret@host/db",
    "postgresql://me:s3cret@host",
    "postgres://me:s3%63ret@host/db?schema=a",
    "postgresql://host/db?user=me&password=s3cret",
    "postgresql://me:s3cret@[::1]:5432/db",
    "postgresql://me:s3cret@/x@host/db",
    "host=x user=me password=s3cret",
    "postgresql://me:s3cret\x1b@host/db",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_usage_errors_do_not_show_passwords(address: str, tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(b"x")
    for arguments in (
        ["train", address, "--nonsense"],
        ["train", "topics.db", address],
        ["train", "topics.db", "--seconds", address],
        ["train", "topics.db", f"--seconds={address}"],
        ["init", "topics.db", "--method", address],
        ["evaluate", "model", address],
        ["evaluate", str(tmp_path / "a.npy"), str(tmp_path / "a.npy"), "--vocabulary", address],
        ["recommend", address],
        ["ingest", "topics.db", address, "--idle", "-1"],
        [address],
        ["--debug", address],
        [f"--{address}"],
    ):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == ExitCode.USAGE, arguments
        assert "s3cret" not in result.output and "s3%63ret" not in result.output, arguments
        assert "\x1b" not in result.output


@pytest.mark.parametrize("address", ADDRESSES)
def test_errors_do_not_show_passwords(address: str) -> None:
    """However a library quotes the address before it complains."""
    forms = [address, repr(address), str(Path(address)), Path(address).name]
    for form in [*forms, "password s3cret is too short" if "s3cret@" in address else ""]:
        for place in (["train", address], ["train", f"--store={address}"]):
            assert "s3cret" not in without_passwords(f"cannot use {form}", place)
            assert "s3%63ret" not in without_passwords(f"cannot use {form}", place)


def test_harmless_messages_are_not_changed() -> None:
    text = "cannot read a:b@c, see postgresql://host/db"
    assert without_passwords(text, ["train", "topics.db", "--seconds=5"]) == text
    said = "postgresql://me@host/db could not be opened"
    assert without_passwords(said, ["postgresql://me:s3cret@host/db"]) == said


def parameters() -> Iterator[tuple[str, click.Parameter]]:
    for name, command in main.commands.items():
        for parameter in command.params:
            yield name, parameter


def test_all_numbers_are_bounded() -> None:
    """Every option with a number has one of the two types that refuse what is not one."""
    seen = 0
    for name, parameter in parameters():
        kind = parameter.type
        numbers = (click.types.IntParamType, click.types.FloatParamType)
        if isinstance(kind, numbers):
            assert isinstance(kind, Real | Whole), (name, parameter.name)
            seen += 1
    assert seen >= 30


@pytest.mark.parametrize("text", ["nan", "-nan", "NaN", "inf", "-inf", "1e999", "infinity"])
def test_what_is_no_number_is_refused(text: str) -> None:
    def refused(convert: Callable[..., object]) -> None:
        with pytest.raises(click.UsageError):
            convert(text, None, None)

    for _, parameter in parameters():
        if isinstance(parameter.type, Real | Whole):
            refused(parameter.type.convert)
    for arguments in (
        ["train", "s.db", f"--seconds={text}"],
        ["train", "s.db", f"--checkpoint-every={text}"],
        ["ingest", "s.db", "x", f"--idle={text}"],
        ["ingest", "s.db", "x", f"--threshold={text}"],
        ["init", "s.db", f"--held-out={text}"],
        ["demo", f"--seconds={text}"],
    ):
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == ExitCode.USAGE, (arguments, result.output)


def test_whole_numbers_are_not_too_large() -> None:
    assert Whole(1).convert(str(LARGEST), None, None) == LARGEST
    for _, parameter in parameters():
        if isinstance(parameter.type, Whole):
            for text in (str(10**30), "9" * 5000, str(2**32)):
                with pytest.raises(click.UsageError):
                    parameter.type.convert(text, None, None)
    assert "x>=1" in CliRunner().invoke(main, ["init", "--help"]).output
    assert str(LARGEST) not in CliRunner().invoke(main, ["init", "--help"]).output


def test_the_codes_are_in_the_documents() -> None:
    text = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    for code in ExitCode:
        assert re.search(rf"^\| {int(code)} \|", text, re.MULTILINE), code
    assert "--debug" in text
