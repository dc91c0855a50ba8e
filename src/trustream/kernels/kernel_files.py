"""Keep compiled kernels on the disk so that another process can use them, and only the right ones.

Numba numbers the files of a function and keeps an index of them, which it writes first. Of two
processes that compile at the same time both may take one number, and a process that is killed
between the two leaves a number that leads to an older file: a kernel for other arguments, or one
made from other source, is loaded without a word. It also looks only at the file of a kernel, and
not at those of the functions that were compiled into it.
"""

# Numba's cache carries no types.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"
from __future__ import annotations

import glob
import hashlib
import os
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numba

_KERNELS = Path(__file__).parent


class KernelFiles(numba.core.caching.IndexDataCacheFile):
    """The compiled forms of one function, each in a file that says what it holds.

    A file is written completely or not at all, and is used only by a version of Numba, for a
    signature, and with sources that are the same as when it was written.
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        super().__init__(cache_path, filename_base, (source_stamp, source_stamps()))
        self._base = filename_base

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled; it replaces what was kept for the same signature."""
        with self._open_for_write(self._path(key)) as file:
            for part in (self._version, (self._source_stamp, key), data):
                file.write(self._dump(part))

    def load(self, key: Any) -> Any:
        """What was kept for a signature, None if there is nothing or it is out of date."""
        try:
            file = open(self._path(key), "rb")
        except FileNotFoundError:
            return None
        with file:
            # What another version of Numba has written may not even be readable.
            if pickle.load(file) != self._version:
                return None
            if pickle.load(file) != (self._source_stamp, key):
                return None
            return pickle.load(file)

    def flush(self) -> None:
        """Forget all that was kept."""
        begins = glob.escape(os.path.join(self._cache_path, self._base))
        for path in glob.glob(f"{begins}.*.nbc"):
            os.unlink(path)

    def _path(self, key: Any) -> str:
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return os.path.join(self._cache_path, f"{self._base}.{name}.nbc")


@cache
def source_stamps(folder: Path = _KERNELS) -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every source file of the kernels, for one may be part of any other."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        status = path.stat()
        found.append((path.relative_to(folder).as_posix(), status.st_mtime_ns, status.st_size))
    return tuple(found)
