"""Check the path of a SQLite store, and that its files are still those that were opened.

SQLite does not notice when its files are deleted or replaced: it goes on with those that nobody
else can see, and what it acknowledges is gone when the process ends.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from trustream._open_databases import Identity, ends_as_beside
from trustream.store.addresses import shown_address
from trustream.store.errors import MissingStoreError, StoreError
from trustream.store.file_status import file_status

# Seconds for which a look at the files is enough: it takes a few percent of a small read.
LATELY = 0.1
# The first bytes of a log; the last bit says how its checksums are computed.
_MAGIC = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
# Those of a database.
_DATABASE = b"SQLite format 3\0"


class Files:
    """The file of a store, its log, and the index of the log that processes share.

    Args:
        path: the path of the store's file.

    Attributes:
        path: the absolute path: the process may change its folder.
        known: the identity of the file that was opened.
        log_bytes: size of the log when it was last looked at.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = os.path.abspath(path)
        # SQLite puts these beside the file itself, also where the path is a link to it.
        real = os.path.realpath(path)
        self._log, self._index = f"{real}-wal", f"{real}-shm"
        self.known: Identity | None = None
        self._known_log: Identity | None = None
        self._known_index: Identity | None = None
        self._is_open = True
        # What was found to be wrong with the log or its index; it stays wrong.
        self._lost: str | None = None
        self.log_bytes, self._looked = 0, 0.0

    def note(self) -> None:
        """Remember the identity of the file."""
        self.known = identity(self.path)

    def note_all(self) -> None:
        """Remember the log and its index, which stay as long as anybody has the store open."""
        self._known_log, self._known_index = identity(self._log), identity(self._index)

    def in_use(self) -> tuple[Identity | None, ...]:
        """The files that SQLite has open and locks."""
        if not self._is_open:
            return ()
        return self.known, self._known_log, self._known_index

    def close(self) -> None:
        """Note that SQLite has let go of them."""
        self._is_open = False

    def fault_lately(self) -> str | None:
        """What is wrong with the files; they are not looked at again if that was just done."""
        now = time.monotonic()
        if self._lost is None and now < self._looked + LATELY:
            return None
        self._looked = now
        fault = self.fault()
        if fault is None and identity(self._index) != self._known_index:
            fault = self._lost = f"{self._index} is missing, or another file is in its place"
        return fault

    def fault(self) -> str | None:
        """What is wrong with the file or its log; None if they are those that were opened."""
        if self._lost is not None:
            return self._lost
        try:
            found, size = file_status(self.path)
        except OSError as error:
            return f"the file is not where it was ({error.strerror or error})"
        if found != self.known:
            return "another file is in its place"
        if not size:
            return "the file was emptied"
        try:
            log, self.log_bytes = file_status(self._log)
            # SQLite empties it too, but begins it with a header again. If somebody else has emptied
            # it, SQLite goes on behind a gap, and whoever opens the store next finds none of that.
            emptied = self.log_bytes > 0 and not is_log(self._log)
        except OSError:
            self._lost = f"{self._log} is missing"
            return self._lost
        if log != self._known_log:
            self._lost = f"another file is in the place of {self._log}"
        elif emptied:
            self._lost = f"{self._log} was emptied"
        return self._lost


def is_log(path: str) -> bool:
    """Whether a file begins as a log does; an empty one is fine too.

    SQLite has no locks on a log that closing a descriptor of it could take away.
    """
    return _start(path, 4) in (b"", *_MAGIC)


def _start(path: str, n: int) -> bytes:
    """The first bytes of a file, on which SQLite must have no locks."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags)
    try:
        return os.read(descriptor, n)
    finally:
        os.close(descriptor)


def identity(path: str) -> Identity | None:
    """The identity of a file; None if there is none."""
    try:
        return file_status(path).identity
    except OSError:
        return None


def check_path(path: Path, create: bool) -> bool:
    """Raise an error for a path that cannot be a store; whether there is no file yet."""
    if str(path) == ":memory:":
        raise StoreError("a store lives in a file; give a path, in a temporary folder if need be")
    name = shown_address(path)
    if path.is_dir():
        raise StoreError(f"{name} is a folder; give the path of a file")
    _check_names(path, name)
    if path.exists():
        # SQLite would try, and leave a journal beside it.
        if not path.is_file():
            raise StoreError(f"{name} is a device or a pipe; give the path of a file")
        if path.stat().st_nlink > 1:
            # Each name has a log of its own, so that what is stored by one is lost by the other.
            raise StoreError(
                f"{name} has another name too (it is a hard link), under which SQLite would not "
                "find what is stored under this one; remove the other name, or make this one a "
                "copy of its own while nobody uses the store"
            )
        return False
    if not create:
        raise MissingStoreError(f"{name} is not there", "or see to the path")
    if not path.parent.is_dir():
        folder = shown_address(path.parent)
        raise StoreError(f"the folder {folder} is not there; make it first")
    return True


def _check_names(path: Path, name: str) -> None:
    """Raise an error if SQLite would take the store for a file of its own, or another store."""
    end = ends_as_beside(path)
    if end is not None:
        raise StoreError(
            f"the name of {name} ends in {end}, as that of a file which SQLite keeps beside a "
            "database, and deletes; give another name, and rename the store while nobody uses it "
            "if it is there already"
        )
    real = os.path.realpath(path)
    beside = [f"{real}-journal", f"{real}-wal"]
    if not os.path.lexists(beside[1]):
        # With a log, it may be the index that SQLite has open and locked.
        beside.append(f"{real}-shm")
    for other in beside:
        with suppress(OSError):
            if os.path.isfile(other) and _start(other, len(_DATABASE)) == _DATABASE:
                raise StoreError(
                    f"{name} cannot be opened: {shown_address(Path(other))} is a database, perhaps "
                    "another store, and SQLite would delete it as a file of its own; rename that "
                    "one first"
                )
