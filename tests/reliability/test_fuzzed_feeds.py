"""Hostile feeds of every format: items or a FeedError, in bounded time and memory.

Each is read in a child process that the operating system kills if it takes too long; one that asks
for too much memory does not get it.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.feeds.helpers import new_store
from tests.reliability.fuzzed_feeds import kinds, make
from tests.reliability.rounds import rounds
from trustream import StreamTrainer
from trustream.feeds import ingest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")

ROOT = Path(__file__).parents[2]
KINDS = [
    "jsonl", "text", "csv", "tsv", "ratings", "uci", "ldac", "mediawiki", "parquet-pyarrow",
    "parquet-polars",
]  # fmt: skip


def child(*arguments: object) -> subprocess.CompletedProcess[str]:
    """What becomes of a child."""
    command = [sys.executable, "-m", "tests.reliability.fuzz_child", *map(str, arguments)]
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=550
    )


def last_line(result: subprocess.CompletedProcess[str]) -> str:
    return result.stdout.splitlines()[-1] if result.stdout else "nothing"


def died(result: subprocess.CompletedProcess[str]) -> str:
    return f"code {result.returncode} at {last_line(result)}: {result.stderr[-2000:]}"


def there(names: list[str]) -> list[str]:
    """Those whose library is installed."""
    return [name for name in names if name in kinds()]


def test_fuzzed_feeds() -> None:
    """Some of every kind, one in fifteen of which is stored and read back."""
    result = child("fuzzed", ",".join(there(KINDS)), "small", 0, rounds(30), 15)
    assert last_line(result) == "done", died(result)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_many_fuzzed_feeds(name: str) -> None:
    if not there([name]):
        pytest.skip("its library is not installed")
    start, n, aborted = 0, rounds(2500), 0
    while start < n:
        result = child("fuzzed", name, "large", start, n, 25)
        if last_line(result) == "done":
            break
        # Polars cannot be kept from ending the process if a damaged file claims too much.
        abort = result.returncode == -signal.SIGABRT and "memory allocation of" in result.stderr
        assert name == "parquet-polars" and abort, died(result)
        aborted += 1
        start = int(last_line(result).split()[1]) + 1
    assert aborted <= n // 200


@pytest.mark.parametrize("size", [100_000, pytest.param(500_000, marks=pytest.mark.slow)])
def test_feeds_that_were_made_to_take_long(size: int) -> None:
    result = child("slow", size)
    assert last_line(result) == "done", died(result)


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.mark.parametrize("format", ["text", "mediawiki"])
def test_a_bomb_takes_no_memory(tmp_path: Path, format: str) -> None:
    """130 MB in a file of kilobytes, one line or one page, in every compression."""
    files = [tmp_path / f"bomb{suffix}" for suffix in COMPRESS]
    for path in files:
        pack = COMPRESS[path.suffix]
        path.write_bytes(pack(b"<mediawiki><page>") + pack(b"\0" * 2**25) * 4)
        assert path.stat().st_size < 2**20
    result = child("bomb", format, *files)
    assert last_line(result) == "done", died(result)
    for line in result.stdout.splitlines()[:-1]:
        n_items, megabytes = map(int, line.split())
        assert n_items == 1
        assert megabytes < 20


def test_words_that_occur_billions_of_times(tmp_path: Path) -> None:
    """The halves of held-out documents are drawn; token by token this would take an hour."""
    counts = [{f"word{j}": 2**31 - 1 for j in range(i % 5, i % 5 + 8)} for i in range(200)]
    lines = [json.dumps({"id": str(i), "counts": count}) for i, count in enumerate(counts)]
    with new_store(tmp_path) as store:
        ingest(store, io.BytesIO("\n".join(lines).encode()), format="jsonl")
        trainer = StreamTrainer(store, n_components=2, score_every=1, prefetch=False)
        trainer.run(steps=2)
        assert trainer.last_score is not None and -10 < trainer.last_score < 0
        trainer.close()


def test_inputs_are_the_same_each_time() -> None:
    """Or what a child died of could not be looked at."""
    for name, kind in kinds().items():
        assert make(kind, f"{name}-x-1") == make(kind, f"{name}-x-1")
        assert make(kind, f"{name}-x-1") != make(kind, f"{name}-x-2")
