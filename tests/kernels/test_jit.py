"""Numba's cache on a disk that is full, read-only or damaged: slower, told once, never wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import trustream

FIT = """
import warnings, sys
import numpy as np
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from trustream.kernels.jit import njit

    @njit(nogil=True, cache=True)
    def total(values):
        result = 0.0
        for value in values:
            result += value
        return result

    print(total(np.arange(5.0)), total(np.arange(5)))
print([str(w.message) for w in told if "compiled code" in str(w.message)])
"""


def run(folder: Path, **environment: str) -> list[str]:
    """What a process prints whose kernels are cached in a folder."""
    # A file, for Numba caches nothing that comes from a string.
    path = folder.parent / "kernel.py"
    path.write_text(FIT)
    result = subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def cached(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*total*.nb?"))


def test_a_cache_is_used_without_a_word(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    assert run(folder) == ["10.0 10.0", "[]"]
    files = cached(folder)
    assert len(files) == 3  # an index and two kernels
    times = [path.stat().st_mtime_ns for path in files]
    assert run(folder) == ["10.0 10.0", "[]"]
    assert [path.stat().st_mtime_ns for path in cached(folder)] == times


@pytest.mark.parametrize("damage", [b"", b"not a pickle", None])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, damage: bytes | None) -> None:
    folder = tmp_path / "cache"
    run(folder)
    for path in cached(folder):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] if damage is None else damage)
    assert run(folder) == ["10.0 10.0", "[]"]
    times = [path.stat().st_mtime_ns for path in cached(folder)]
    assert run(folder) == ["10.0 10.0", "[]"]
    assert [path.stat().st_mtime_ns for path in cached(folder)] == times


@pytest.mark.parametrize(
    "change, problem",
    [
        ('cat /dev/zero > "$1/filler" 2>/dev/null', "No space left on device"),
        ('mount -o remount,ro "$1"', "cannot cache function"),
    ],
)
def test_a_disk_that_takes_nothing(tmp_path: Path, change: str, problem: str) -> None:
    """A file system of 4 MB, full or read-only, with all folders in it that Numba may try."""
    script = (
        'mount -t tmpfs -o size=4m none "$1" && cp "$3" "$1/kernel.py" && { '
        + change
        + '; HOME="$1" XDG_CACHE_HOME="$1" NUMBA_CACHE_DIR="$1/cache" exec "$2" "$1/kernel.py"; }'
    )
    path, folder = tmp_path / "kernel.py", tmp_path / "disk"
    path.write_text(FIT)
    folder.mkdir()
    command = ["unshare", "-m", "-r", "sh", "-c", script, "sh", folder, sys.executable, path]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if "unshare" in result.stderr or "mount" in result.stderr:
        pytest.skip(f"a file system cannot be mounted here: {result.stderr.strip()}")
    assert result.returncode == 0, result.stderr
    numbers, told = result.stdout.splitlines()
    assert numbers == "10.0 10.0"
    assert told.count("compiled code cannot be kept") == 1 and problem in told


def test_kernels_use_it() -> None:
    folder = Path(trustream.__file__).parent
    for path in folder.rglob("*.py"):
        if path.name != "jit.py":
            assert not re.search(r"numba import .*\bnjit|numba\.njit", path.read_text()), path
