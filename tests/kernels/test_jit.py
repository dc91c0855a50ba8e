"""Numba's cache on a disk that is full, read-only or damaged: slower, told once, never wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import trustream
from trustream.kernels import compilation
from trustream.kernels.jit import njit
from trustream.kernels.kernel_files import KernelFiles, source_stamps

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
    assert len(files) == 2  # one for each type of values
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


def total(values: Any) -> Any:
    result = values[0]
    for value in values[1:]:
        result += value
    return result


def test_two_processes_that_save_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One compiles for whole numbers while the other is about to write what it has for others."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    whole, real = np.arange(5), np.arange(5.0)
    first, second, third = (njit(cache=True)(total) for _ in range(3))
    write = type(first._cache._cache_file)._open_for_write

    @contextmanager
    def interrupted(files: Any, path: str) -> Iterator[Any]:
        if files is first._cache._cache_file and not second.signatures:
            second(whole)
        with write(files, path) as file:
            yield file

    monkeypatch.setattr(type(first._cache._cache_file), "_open_for_write", interrupted)
    first(real)
    heard: list[str] = []
    with compilation.heard_by(lambda: heard.append("compiling")):
        answers = [third(real), third(whole)]
    assert [repr(answer) for answer in answers] == ["10.0", "10"]
    assert not heard


def only_an_index(source: str, target: str, replace: Callable[..., None] = os.replace) -> None:
    """What Numba writes first; then the process is gone."""
    if not target.endswith(".nbi"):
        raise KeyboardInterrupt
    replace(source, target)


def test_a_kernel_is_used_only_with_the_sources_it_was_made_from(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    called = tmp_path / "inner" / "called.py"
    called.write_text("x = 1\n")
    before = source_stamps(tmp_path)
    source_stamps.cache_clear()
    assert source_stamps(tmp_path) == before
    called.write_text("x = 22\n")
    source_stamps.cache_clear()
    after = source_stamps(tmp_path)
    assert before != after

    def files(stamps: object) -> KernelFiles:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("trustream.kernels.kernel_files.source_stamps", lambda: stamps)
            return KernelFiles(str(tmp_path), "total", "its own file")

    files(before).save("float64", "kernel")
    assert files(before).load("float64") == "kernel"
    assert files(before).load("int64") is None
    assert files(after).load("float64") is None
    # Killed while it writes the new one.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", only_an_index)
        with pytest.raises(KeyboardInterrupt):
            files(after).save("float64", "new kernel")
    assert files(after).load("float64") is None
    files(after).save("float64", "new kernel")
    assert files(after).load("float64") == "new kernel"
    files(after).flush()
    assert not cached(tmp_path)


def test_kernels_use_it() -> None:
    folder = Path(trustream.__file__).parent
    for path in folder.rglob("*.py"):
        if path.name != "jit.py":
            assert not re.search(r"numba import .*\bnjit|numba\.njit", path.read_text()), path
