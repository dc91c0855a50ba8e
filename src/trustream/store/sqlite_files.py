"""Whether the files of a SQLite store are still those that were opened.

SQLite does not notice when its files are deleted or replaced: it goes on with those that nobody
else can see, and what it acknowledges is gone when the process ends.
"""

from __future__ import annotations

import os
from pathlib import Path

# Of a file, wherever it is called what; None if there is none.
Identity = tuple[int, int] | None


class Files:
    """The file of a store, its log, and the index of the log that processes share.

    Args:
        path: of the store's file. From here on it is absolute: the process may go elsewhere.

    Attributes:
        path: absolute.
        known: what tells the file that was opened from others.
        log_bytes: size of the log when it was last looked at.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = os.path.abspath(path)
        # SQLite puts these beside the file itself, where there is a link to it.
        real = os.path.realpath(path)
        self._beside = (f"{real}-wal", f"{real}-shm")
        self.known: Identity = None
        self._known_beside: list[Identity] = []
        self.log_bytes = 0

    def note(self) -> None:
        """Remember the file as it is."""
        self.known = identity(self.path)

    def note_all(self) -> None:
        """Remember the files beside it, too; they stay as long as anybody has the store open."""
        self._known_beside = [identity(path) for path in self._beside]

    def fault(self) -> str | None:
        """What has become of the file; None if it is the one that was opened."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            return f"the file is not where it was ({error.strerror or error})"
        if (found.st_dev, found.st_ino) != self.known:
            return "another file is in its place"
        return None if found.st_size else "the file was emptied"

    def any_fault(self) -> str | None:
        """What has become of any of the files; takes three times as long."""
        fault = self.fault()
        if fault is not None:
            return fault
        log, index = self._beside
        known_log, known_index = self._known_beside
        try:
            found = os.stat(log)
        except OSError:
            return f"{log} is missing"
        self.log_bytes = found.st_size
        if (found.st_dev, found.st_ino) != known_log:
            return f"another file is in the place of {log}"
        if identity(index) != known_index:
            return f"{index} is missing, or another file is in its place"
        return None


def identity(path: str) -> Identity:
    """What tells a file from all others."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
