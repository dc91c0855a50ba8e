"""Ctrl-C and SIGTERM at any moment of a command end it by the signal, without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.reliability import wrong_files
from tests.reliability.rounds import few_or_many, rounds
from tests.reliability.wrong_calls import call

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
# From its first line on the command line is responsible; what comes before is Python's own.
START = """
import sys
from trustream.__main__ import main
print("ready", flush=True)
main()
"""
# They load different libraries, and are at different things when they are stopped.
COMMANDS = [
    ["transform", "good.db", "good.txt"],
    ["ingest", "good.db", "good.jsonl", "--again", "--add"],
    ["recommend", "good_ratings.csv", "--topics", "2", "--all", "--save", "saved.model"],
    ["status", "good.db"],
    ["report", "good.db", "page.html"],
    ["retrain", "good.db", "--passes", "1", "--force"],
    ["choose-k", "good.db", "--candidates", "2,3"],
    ["phrases", "good.txt", "--min-count", "1"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wrong_files.make(tmp_path_factory.mktemp("stopped"))


def start(folder: Path, arguments: list[str]) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", START, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    return process


def seconds(folder: Path, arguments: list[str]) -> float:
    """How long the command takes if nobody stops it, on the machine as busy as it is."""
    process = start(folder, arguments)
    begin = time.monotonic()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return time.monotonic() - begin


@pytest.mark.parametrize(("n", "part"), few_or_many(3, 200, parts=5))
def test_a_signal_at_any_moment(folder: Path, n: int, part: int) -> None:
    rng = np.random.default_rng(11 + part)
    commands = COMMANDS[:1] if n < 10 else COMMANDS
    lasting = [seconds(folder, command) for command in commands]
    stopped = 0
    for i in range(rounds(n)):
        command, whole = commands[i % len(commands)], lasting[i % len(commands)]
        number = [signal.SIGINT, signal.SIGINT, signal.SIGTERM][i % 3]
        process = start(folder, command)
        delay = rng.uniform(0, whole)
        time.sleep(delay)
        process.send_signal(number)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
        case = (command, number, round(delay, 3), whole, err.decode())
        # It may have been done before the signal came.
        assert process.returncode in (0, -number), case
        assert b"Traceback" not in err and b"Exception ignored" not in err, case
        stopped += process.returncode == -number
        if i % 10 == 9:
            result = call(folder, "status", "good.db")
            assert result.exit_code == 0, result.output
            assert not list(folder.glob("*.tmp")) and not list(folder.glob(".*.tmp")), case
    assert stopped >= rounds(n) // 4
