"""Damaged matrices, vocabularies and ratings: a result or a ValueError of one line, no crash."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.rounds import rounds

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")

ROOT = Path(__file__).parents[2]
NAMES = [
    "a.npz", "a.npy", "a.mtx", "a.mtx.gz", "a.csv", "a.jsonl", "a.TXT", "words", "ratings.csv",
    "ratings.pq",
]  # fmt: skip


@pytest.mark.parametrize(
    ("names", "n"),
    [(NAMES, 30), *(pytest.param([name], 1500, marks=pytest.mark.slow) for name in NAMES)],
    ids=["all", *NAMES],
)
def test_damaged_data_files(names: list[str], n: int) -> None:
    arguments = [",".join(names), "damaged", "0", str(rounds(n))]
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    result = subprocess.run(
        [sys.executable, "-m", "tests.reliability.data_file_child", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=550,
    )
    lines = result.stdout.splitlines() or ["nothing"]
    assert lines[-1] == "done", f"code {result.returncode} at {lines[-1]}: {result.stderr[-2000:]}"
