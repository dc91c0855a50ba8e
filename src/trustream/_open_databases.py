"""Know which SQLite files this process has open, so that nothing else of it opens them.

The system forgets all locks that a process has on a file as soon as the process closes the file,
whoever in it had opened it. SQLite cannot know that. Another process would then believe that
nobody uses the database, and remove the log that this one still writes to.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

# Tells a file from all others, whatever its name; None if there is no file.
Identity = tuple[int, int] | None

# Held while a database is opened, and while a file is read that may be one.
OPENING = threading.Lock()
_SQLITE_HEADER = b"SQLite format 3"


def _unlock_in_child() -> None:
    """Another thread of the parent, which is not there in a child, may have held it."""
    global OPENING
    OPENING = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock_in_child)


class OpenDatabase(Protocol):
    """A database that may be open."""

    @property
    def identity(self) -> Identity:
        """Of its file; None if it is closed."""


_all: list[weakref.ref[OpenDatabase]] = []


def remember(database: OpenDatabase) -> None:
    """Know a database for as long as it lives; called with `OPENING` held."""
    _all[:] = [*(reference for reference in _all if reference() is not None), weakref.ref(database)]


def identity(path: str | os.PathLike[str]) -> Identity:
    """The identity of a file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def is_open_here(path: str | os.PathLike[str]) -> bool:
    """Whether this process has a file open as a database.

    >>> is_open_here(os.devnull)
    False
    """
    found = identity(path)
    databases = (reference() for reference in _all)
    return found is not None and any(one is not None and one.identity == found for one in databases)


def is_sqlite(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a SQLite database; one that is open here is not read.

    >>> is_sqlite(os.devnull)
    False
    """
    # Not a pipe, which would be waited for.
    if not os.path.isfile(path):
        return False
    with OPENING:
        if is_open_here(path):
            return True
        try:
            with open(path, "rb") as file:
                return file.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER
        except OSError:
            return False
