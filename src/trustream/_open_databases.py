"""Know the files that SQLite has open in this process, and keep everything else off them.

By the rules of POSIX a process loses all its locks on a file when it closes any descriptor of it.
Whoever opens the file of a store to look into it takes away the locks by which SQLite keeps other
processes from it: the next of them to close the store deletes the log that is still written to.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Collection
from typing import Protocol

# What tells a file from all others, whatever its name: the device, and the number on it.
Identity = tuple[int, int]
# How the names end of files that SQLite keeps beside a database. It deletes what it finds there.
BESIDE = ("-wal", "-shm", "-journal")


class DatabaseFiles(Protocol):
    """The files of a database."""

    def in_use(self) -> Collection[Identity | None]:
        """Those that are open at the moment."""


_lock = threading.Lock()
_all: list[weakref.ref[DatabaseFiles]] = []


def remember(files: DatabaseFiles) -> None:
    """Keep others off these files, for as long as the object lives and says that it uses them."""
    global _all
    with _lock:
        _all = [*(ref for ref in _all if ref() is not None), weakref.ref(files)]


def is_in_use(path: str | os.PathLike[str]) -> bool:
    """Return whether a file belongs to a store that is open in this process.

    >>> is_in_use("/nowhere/topics.db")
    False
    """
    if not _all:
        return False
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    identity = found.st_dev, found.st_ino
    return any(identity in files.in_use() for ref in _all if (files := ref()) is not None)


def check_not_in_use(path: str | os.PathLike[str], done: str = "read") -> None:
    """Raise a ValueError if a file belongs to a store that is open in this process."""
    if is_in_use(path):
        raise ValueError(
            f"cannot {done} {os.fspath(path)}: it belongs to a store that is open in this process; "
            "give another file, or close the store first"
        )


def ends_as_beside(path: str | os.PathLike[str]) -> str | None:
    """Return how a name ends, itself or where its links lead, if files beside databases end so.

    >>> ends_as_beside("/nowhere/topics.db-wal"), ends_as_beside("/nowhere/topics.db")
    ('-wal', None)
    """
    # Some file systems take small and capital letters for the same.
    names = os.fspath(path).lower(), os.path.realpath(path).lower()
    return next((end for end in BESIDE for name in names if name.endswith(end)), None)


def _forget() -> None:
    """In a child that was forked: it has none of its parent's locks."""
    global _lock, _all
    _lock, _all = threading.Lock(), []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
