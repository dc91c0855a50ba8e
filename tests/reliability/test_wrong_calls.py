"""No wrong call of the command line ends in a traceback, shows a password or an escape."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.reliability import wrong_files
from tests.reliability.rounds import few_or_many, rounds
from tests.reliability.wrong_calls import BY_HAND, ODD, call, check, generated

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and names of POSIX")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wrong_files.make(tmp_path_factory.mktemp("wrong"))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not answer is waited for, but not here."""
    with suppress(ImportError):  # without the driver there is nobody to wait
        monkeypatch.setattr("trustream.store.postgres_server.BRIEFLY", 0.1)


@pytest.mark.parametrize("arguments", BY_HAND, ids=lambda arguments: str(arguments)[:60])
def test_calls_by_hand(folder: Path, arguments: list[object]) -> None:
    result = call(folder, *arguments)
    assert result.exit_code != 0
    check(arguments, result.exit_code, result.stdout, result.stderr)


@pytest.mark.parametrize("arguments", ODD, ids=lambda arguments: str(arguments)[:60])
def test_calls_that_are_only_odd(folder: Path, arguments: list[object]) -> None:
    result = call(folder, *arguments)
    assert result.exit_code == 0, result.output
    check(arguments, result.exit_code, result.stdout, result.stderr)


@pytest.mark.parametrize(("n", "part"), few_or_many(150, 5000, parts=10))
def test_calls_put_together_at_random(tmp_path: Path, n: int, part: int) -> None:
    # In a folder of their own, for some of them write files in the place of others.
    folder = wrong_files.make(tmp_path)
    rng = np.random.default_rng(15 + part)
    # Opening a pipe waits for somebody who writes to it, and rightly.
    files = sorted(path.name for path in folder.iterdir() if not path.is_fifo())
    for _ in range(rounds(n)):
        arguments = generated(rng, files)
        result = call(folder, *arguments)
        check(arguments, result.exit_code, result.stdout, result.stderr)


@pytest.mark.parametrize(("n", "part"), few_or_many(4, 60, parts=6))
def test_calls_as_processes(folder: Path, n: int, part: int) -> None:
    """Where nothing catches what a command raises, and Python ends for real."""
    rng = np.random.default_rng(7 + part)
    possible = [a for a in BY_HAND if not any("\0" in str(part) for part in a)]
    for number in rng.permutation(len(possible))[: rounds(n)]:
        arguments = possible[number]
        done = subprocess.run(
            [sys.executable, "-m", "trustream", *map(os.fsencode, map(str, arguments))],
            cwd=folder,
            capture_output=True,
            timeout=500,  # on a busy machine
        )
        check(arguments, done.returncode, done.stdout.decode(), done.stderr.decode())
