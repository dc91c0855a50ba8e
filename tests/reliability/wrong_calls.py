"""Calls of the command line that are wrong in some way, and what must hold after each."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.testing import CliRunner

from tests.reliability.wrong_files import HOSTILE
from trustream.cli import main
from trustream.cli.failures import ExitCode
from trustream.cli.number_parameters import Real, Whole

NO_SERVER = "postgresql://me:s3cret@127.0.0.1:1/db"
SOCKET = "postgresql://me:s3cret@/db?host=/nowhere"
MUDDLED = "postgresql://me:s3cret@x/y@127.0.0.1:1/db"
NOT_SHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")
# What may stand on standard error beside the error: progress, what was left out, what to do.
_PROGRESS = r".*: [\d,.]+( of [\d,.]+)? (bytes|[kMG]B|rows|documents|users|records|models)\b"
_ASIDE = re.compile(
    rf"left out: |Warning: |{_PROGRESS}|.*: step \d+ of |\d+ users, |step \d|"
    r"trustream: compiling its kernels|To replace it |[\d,]+ phrases in [\d,]+ words|"
    r".*: there are no documents in it yet; waiting for |Keep it: it is not shown again"
)
_DEFINED = {int(code) for code in ExitCode}

# Arguments, in the folder of `wrong_files`.
BY_HAND: list[list[Any]] = [
    [], ["nonsense"], ["--nonsense"], ["--debug"], [""], ["--"], ["-x"], ["init"], ["train"],
    # Stores that are none.
    ["status", "none.db"], ["status", "folder"], ["status", "nothing"], ["status", "pipe"],
    ["status", "foreign.db"], ["status", "cut.db"], ["status", "torn.db"], ["status", "false.db"],
    ["status", "good.model"], ["status", ""], ["status", "."], ["status", "none/none.db"],
    ["status", "x" * 5000], ["status", "a\0b"], ["status", "good.db/x"],
    ["topics", "new.db"], ["topics", "bare.db"], ["topics", "spoilt.db"], ["topics", "torn.db"],
    ["topics", "good.db", "--model", "none"], ["topics", "good.db", "--model", ""],
    ["topics", "good.db", "--model", "a\x1b[31m"], ["topics", "good.db", "-n", "0"],
    ["train", "bare.db"], ["train", "spoilt.db", "--steps", 1], ["train", "false.db"],
    ["train", "good.db", "--seconds", "nan"], ["train", "good.db", "--steps", 10**30],
    ["train", "good.db", "--jobs", 10**9], ["train", "good.db", "--steps", "1.5"],
    ["status", NO_SERVER], ["init", SOCKET], ["train", MUDDLED], ["topics", "mysql://me:s3cret@h/d"],
    ["init", "good.db", "--topics", 3], ["init", "folder"], ["init", "none/none.db"],
    ["init", "a.db", "--held-out", "nan"], ["init", "a.db", "--vocabulary", "twice_words.txt"],
    ["init", "a.db", "--vocabulary", "nothing"], ["init", "a.db", "--vocabulary", "latin.txt"],
    ["init", "a.db", "--preset", "wikipedia-1", "--method", "streaming-vb"],
    ["init", "a.db", "--topics", 2**31],
    # Feeds.
    ["ingest", "good.db"], ["ingest", "good.db", "none.jsonl"], ["ingest", "good.db", "folder"],
    ["ingest", "good.db", "cut.jsonl.gz"], ["ingest", "good.db", "flipped.jsonl.gz"],
    ["ingest", "good.db", "false.jsonl.gz"], ["ingest", "good.db", "flipped.jsonl.bz2"],
    ["ingest", "good.db", "flipped.jsonl.xz"], ["ingest", "good.db", "cut.jsonl.xz"],
    ["ingest", "good.db", "deep.jsonl"], ["ingest", "good.db", "deep_object.jsonl"],
    ["ingest", "good.db", "nonsense.jsonl"], ["ingest", "good.db", "bad.parquet"],
    ["ingest", "good.db", "bad.xml"],
    ["ingest", "good.db", "bytes\udcff\udcfe.jsonl"], ["ingest", "good.db", "latin.txt"],
    ["ingest", "good.db", f"{HOSTILE}.jsonl"],
    ["ingest", "good.db", "good.jsonl", "--format", "parquet"],
    ["ingest", "good.db", "good.jsonl", "--format", "csv", "--delimiter", "ab"],
    ["ingest", "good.db", "good.jsonl", "--format", "csv", "--delimiter", ""],
    ["ingest", "good.db", "good.txt", "--format", "uci"], ["ingest", "good.db", "good.npy"],
    ["ingest", "good.db", "good.txt", "--word-pattern", "("], ["ingest", NO_SERVER, "good.jsonl"],
    ["ingest", "good.db", "bad_ratings.csv", "--format", "ratings"],
    ["ingest", "good.db", NO_SERVER],
    # New documents, and models.
    ["transform", "good.db", "cut.npz"], ["transform", "good.db", "flipped.npz"],
    ["transform", "good.db", "pickled.npz"], ["transform", "good.db", "huge.npy"],
    ["transform", "good.db", "deep.jsonl"], ["transform", "good.db", "bad.mtx"],
    ["transform", "good.db", "cut.mtx.gz"], ["transform", "good.db", "text.npy"],
    ["transform", "good.db", "nan.npy"], ["transform", "good.db", "solid.npy"],
    ["transform", "good.db", "flat.npy"], ["transform", "good.db", "number.npy"],
    ["transform", "good.db", "latin.txt"],
    ["evaluate", "cut.model", "good.npy"], ["evaluate", "flipped.model", "good.npy"],
    ["evaluate", "claims.model", "good.npy"], ["evaluate", "other.model", "good.npy"],
    ["evaluate", "nothing", "good.npy"], ["evaluate", "folder", "good.npy"],
    ["evaluate", "good.model", "wide.npy"], ["evaluate", "good.model", "negative.npy"],
    ["evaluate", "good.model", "good.txt"], ["evaluate", "mixture.model", "good.npy", "-m", "chib"],
    ["evaluate", "good.model", "good.txt", "--vocabulary", "few_words.txt"],
    ["evaluate", "good_recommender.model", "good.npy"], ["evaluate", NO_SERVER, "good.npy"],
    ["evaluate", "good.model", NO_SERVER], ["evaluate", "good.model", "good.npy", "--words", 1],
    ["export", "good.db", "folder"], ["export", "good.db", "none/x"], ["export", "new.db", "x"],
    ["export", "good.db", NO_SERVER], ["export", "good.db", ""],
    # Ratings and simulations.
    ["recommend"], ["recommend", "good_ratings.csv"], ["recommend", "bad_ratings.csv", "--all"],
    ["recommend", "hostile_ratings.csv", "--all"], ["recommend", "bad.parquet", "--all"],
    ["recommend", "--model", "good.model", "--all"], ["recommend", "--model", "cut.model", "--all"],
    ["recommend", "--model", "good_recommender.model", "--user", "x\x1b[31m"],
    ["recommend", "good_ratings.csv", "--all", "--threshold", "nan"],
    ["recommend", "good_ratings.csv", "--all", "--threshold", "1e300"],
    ["recommend", "good_ratings.csv", "--trending", "--all"],
    ["recommend", "good_ratings.csv", "--share", "0.5", "--all"],
    ["recommend", "--model", "good_recommender.model", "--add", "hostile_ratings.csv", "--all"],
    ["recommend", "--model", "good_recommender.model", "--add", "good_ratings.csv", "--all"],
    ["recommend", "good_ratings.csv", "--user-column", "\x1b[31m", "--all"],
    ["simulate", "good.db", "good.npy", "--vocabulary", "good_words.txt"],
    ["simulate", "b.db", "wide.npy", "--vocabulary", "good_words.txt", "--ticks", 2],
    ["simulate", "c.db", "negative.npy", "--vocabulary", "good_words.txt", "--ticks", 2],
    ["simulate", "d.db", "good.npy", "--vocabulary", "good_words.txt", "-p", "nan"],
    ["demo", "--seconds", "inf"], ["demo", "--store", "folder"], ["demo", "--store", "good.db"],
    # Topics, of stores that are none and with names that are none.
    ["topics", "good.db", "--info", "--relevance", "nan"], ["topics", "bare.db", "--info"],
    ["topics", "mixture.model", "--info"],
    ["topics", "good.db", "--relevance", 1], ["topics", "good.db", "--info", "--relevance", 2],
    ["documents", "good.db"], ["documents", "good.db", "none"], ["documents", "good.db", ""],
    ["documents", "good.db", "-1"], ["documents", "good.db", "--", "-1"],
    ["documents", "good.db", "9" * 5000], ["documents", "good.db", "\u0661"],
    ["documents", "good.db", "\x1b[31m"], ["documents", "new.db", 0], ["documents", NO_SERVER, 0],
    ["documents", "good.db", "--document", "none\x1b[31m"], ["documents", "good.model", 0],
    ["documents", "good.db", "--document", ""], ["documents", "good.db", 0, "-n", 0],
    ["trends", "good.db", "--bins", 1001], ["trends", "new.db"], ["trends", "bare.db"],
    ["trends", MUDDLED],
    ["trends", "good.db", "--since", "soon"], ["trends", "good.db", "--since", "nan"],
    ["trends", "good.db", "--since", "1e300"], ["trends", "good.db", "--since", "9999-12-31"],
    ["trends", "good.db", "--bins", 0], ["trends", "good.db", "--bins", 10**9],
    ["report", "good.db"], ["report", "good.db", "good.db"], ["report", "good.db", "folder"],
    ["report", "good.db", "none/x.html"], ["report", "new.db", "x.html"],
    ["report", "good.db", "good.jsonl"], ["report", "good.db", "a\0.html"],
    ["label", "good.db"], ["label", "good.db", 0], ["label", "good.db", 0, ""],
    ["label", "good.db", 0, "x" * 300], ["label", "good.db", 99, "x"], ["label", "new.db", 0, "x"],
    ["label", "good.db", 0, "\udcff\x1b[31m\u202e"], ["label", SOCKET, 0, "x"],
    ["merge", "good.db"], ["merge", "good.db", 0], ["merge", "good.db", 0, 0],
    ["merge", "good.db", 0, "nobody"], ["merge", "new.db", 0, 1], ["merge", "spoilt.db", 0, 1],
    ["split", "good.db", "nobody"], ["split", "good.db", 0, "--documents", 0],
    ["split", "new.db", 0], ["delete-topics", "good.db"], ["delete-topics", "good.db", 10**40],
    ["delete-topics", "new.db", 0], ["delete-topics", NO_SERVER, 0],
    ["choose-k", "none"], ["choose-k", "folder"], ["choose-k", "new.db"], ["choose-k", "good.txt"],
    ["choose-k", "good.db", "--candidates", "x"], ["choose-k", "good.db", "--candidates", 10**30],
    ["choose-k", "negative.npy"], ["choose-k", "nan.npy"], ["choose-k", "text.npy"],
    ["choose-k", "flat.npy"], ["choose-k", "solid.npy"], ["choose-k", "cut.npz"],
    ["choose-k", "good.model"], ["choose-k", NO_SERVER], ["choose-k", "good.db", "--format", "csv"],
    # The service, which never comes to serve, and its tokens.
    ["serve"], ["serve", "none.db"], ["serve", "folder"], ["serve", NO_SERVER],
    ["serve", "good.db", "--port", 70_000],
    ["serve", "good.db", "--host", "no such host"], ["serve", "good.db", "--host", "\x1b[31m"],
    ["serve", "good.db", "--token-file", "none"], ["serve", "good.db", "--token-file", "folder"],
    ["serve", "good.db", "--token-file", "good_words.txt"],
    ["serve", "good.db", "--token-file", "long_word.txt"],
    ["serve", "good.db", "--token-file", "/dev/zero"],
    ["serve", "good.db", "--token-file", "latin.txt"],
    ["transform", "good.db", NO_SERVER, "--cluster", "local", "--out", "folder"],
    ["evaluate", "good.db", NO_SERVER, "--cluster", "local"],
    ["train", "good.db", "--cluster", NO_SERVER],
    ["topics", "good.db", "--info", "--cluster", "\x1b[31m"],
    ["ingest", NO_SERVER, "good.jsonl", "--cluster", "local"],
    ["transform", "good.db", "bad.parquet", "--cluster", "local"],
    ["phrases", "good.db", "--adopt"], ["phrases", NO_SERVER], ["retrain", "new.db"],
    ["retrain", "spoilt.db"], ["retrain", NO_SERVER], ["delete", "good.db"],
    ["token"], ["token", "none"], ["token", "create", "good.db"], ["token", "list", "none.db"],
    ["token", "create", "good.db", "x", "--scope", "all"],
    ["token", "create", "good.db", "\x1b[31m"],
    ["token", "create", "good.db", "x", "--scope", "read", "--days", "nan"],
    ["token", "revoke", "good.db", "nobody\x1b[31m"], ["token", "list", NO_SERVER],
]  # fmt: skip
# Not wrong, only odd.
ODD: list[list[Any]] = [
    ["--help"], ["--version"], ["--debug", "status", "good.db"],
    ["ingest", "good.db", "bomb.xml"], ["ingest", "good.db", "long_word.txt"],
    ["ingest", "good.db", "good.txt", "--name", "\x1b[31m\n"],
    ["ingest", "good.db", "nonsense.jsonl", "--on-error", "skip"],
    ["ingest", "good.db", f"{HOSTILE}.jsonl", "--on-error", "skip"],
    ["transform", "good.db", "good.txt", "--top", 2**31 - 1], ["topics", "good.db", "-n", 10**9],
    ["evaluate", "good.model", "good.npy", "--rows", 10**9, "-m", "bound"],
    ["topics", "good.model", "--info", "--vocabulary", "good_words.txt"],
    ["documents", "good.db", 0, "-n", 2**31 - 1], ["label", "good.db", 0, "<b>\x1b[31m\u202e\n"],
]  # fmt: skip


def call(folder: Path, *arguments: Any) -> Any:
    """Run a command in that folder, in this process."""
    with contextlib.chdir(folder):
        return CliRunner().invoke(main, [str(argument) for argument in arguments])


def check(arguments: list[Any], code: int, out: str, err: str) -> None:
    """A defined end, one line or a note on usage, and nothing that must not be printed."""
    everything = out + err
    assert code in _DEFINED and code != ExitCode.DEFECT, (arguments, code, everything)
    assert "Traceback" not in everything, (arguments, everything)
    assert "s3cret" not in everything, (arguments, everything)
    assert NOT_SHOWN.search(everything) is None, (arguments, everything)
    lines = [line for line in err.splitlines() if not _ASIDE.match(line)]
    if code == ExitCode.FAILED and arguments[0] in ("check", "retrain") and out:
        assert not lines, (arguments, err)  # it says what it found, or that the old model stays
    elif code == ExitCode.FAILED:
        assert len(lines) == 1 and lines[0].startswith("Error: "), (arguments, err)
    elif code == ExitCode.USAGE:
        assert lines[0].startswith("Usage: "), (arguments, err)
        # Choices come below the error. With no command at all the whole help is the answer.
        last = [line for line in lines if not line.startswith("\t")][-1]
        has_no_command = not arguments or arguments in [[name] for name in _groups()]
        assert last.startswith("Error: ") or has_no_command, (arguments, err)
    else:
        assert code == ExitCode.DONE and not lines, (arguments, code, err)


def _groups() -> dict[str, click.Group]:
    """Commands that have commands of their own."""
    return {k: found for k, found in main.commands.items() if isinstance(found, click.Group)}


def generated(rng: np.random.Generator, files: list[str]) -> list[Any]:
    """A random command with random files and options, most of them wrong; it comes to an end."""
    name = str(rng.choice([name for name in main.commands if name not in _ENDLESS]))
    command = main.commands[name]
    arguments: list[Any] = [name]
    if isinstance(command, click.Group):
        arguments.append(str(rng.choice([*command.commands])))
        command = command.commands[arguments[-1]]
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            # Mostly as many as it takes, or all calls would fail at that.
            n = 1 if rng.random() < 0.9 else int(rng.integers(3))
            arguments += [_any_of(rng, files, parameter.name) for _ in range(n)]
        elif parameter.required or (
            rng.random() < 2 / len(command.params) and parameter.name not in _NEVER
        ):
            arguments.append(parameter.opts[-1])
            if not parameter.is_flag:  # type: ignore[attr-defined]
                arguments.append(_value_for(rng, files, parameter))
    # Some of the time something to do, and always an end.
    extra = {"train": ["--steps", 2, "--seconds", 1], "simulate": ["--ticks", 2],
             "retrain": ["--passes", 1], "recommend": ["--all"],
             "choose-k": ["--candidates", "2,3", "--documents", 100]}  # fmt: skip
    return arguments + extra.get(name, [])


# They go on until somebody ends them.
_ENDLESS = ("demo", "serve")
# They wait for more, print the help, or ask for the traceback.
_NEVER = ("follow", "help", "debug")


def _value_for(rng: np.random.Generator, files: list[str], parameter: click.Parameter) -> str:
    """Of an option: half of the time one that it may take."""
    if isinstance(parameter.type, click.Choice) and rng.random() < 0.5:
        return str(rng.choice(parameter.type.choices))
    if isinstance(parameter.type, click.Path):
        return _any_of(rng, files, parameter.name)
    return _any_of(rng, files, "number" if isinstance(parameter.type, Real | Whole) else "text")


def _any_of(rng: np.random.Generator, files: list[str], kind: str | None) -> str:
    odd = ["", "-", "--", "none", "\x1b[31m", "\u202e", "\udcff", "a b", "x" * 300, "../..",
           "%s{0}", NO_SERVER, MUDDLED]  # fmt: skip
    pools: dict[str | None, list[str]] = {
        "store": [*["good.db"] * 40, *files, *odd],
        "model": [*["good.db", "good.model"] * 20, *files, *odd],
        "vocabulary": [*["good_words.txt"] * 40, *files, *odd],
        "ratings": [*["good_ratings.csv"] * 20, *files, *odd],
        "number": ["0", "1", "2", "3", "-1", "nan", "inf", "1e400", "0.5", "1e-300", str(10**30),
                   "2147483647", "0x10", "١", " 1 ", "1,5"],
        "text": [*odd, "skip", "good_words.txt", "good.npy", "user", "model", "1", ",", "cat"],
    }  # fmt: skip
    pool = pools.get(kind, [*files, *files, *odd])
    return pool[int(rng.integers(len(pool)))]
