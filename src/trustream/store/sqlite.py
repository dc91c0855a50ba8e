"""A store in a SQLite file, for many processes on one machine.

The write-ahead log lets readers go on while one writes. `synchronous=FULL` flushes the log at
every commit, so that what was acknowledged survives a loss of power.
"""

from __future__ import annotations

import ctypes
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from trustream import _open_databases
from trustream.store.addresses import shown_address
from trustream.store.database import FirstSettings, T
from trustream.store.errors import MissingStoreError, StoreError
from trustream.store.fork_safety import remember
from trustream.store.migrations import missing
from trustream.store.sqlite_errors import close_cursors, explained, is_code
from trustream.store.sqlite_files import Files, check_path, identity
from trustream.store.sqlite_tables import SqliteTables

# Seconds that a writer waits for others, and after how many it hears an interrupt meanwhile.
PATIENCE, _SLICE = 60.0, 0.1
# Bytes of log beyond which a writer waits for readers, so that it can begin at its start again:
# it grows for as long as there is always somebody who reads from it.
LOG_LIMIT = 64 << 20
# Seconds that it waits for them.
_FOR_READERS = 1.0
_PRAGMAS = (
    "synchronous=FULL",
    # Overwrites what is deleted where that needs no more writing; see `overwrite`.
    "secure_delete=FAST",
    # 32 MB of pages in memory.
    "cache_size=-32768",
    # Mapped pages would count as the process's own memory, and draws touch all of the file.
    "mmap_size=0",
    # 32 MB of log before it goes into the file: pages that change again and again go once.
    "wal_autocheckpoint=8192",
    # What is cut off when it begins at its start again.
    f"journal_size_limit={LOG_LIMIT // 2}",
)
# In the header of the file: whose it is.
_OURS = 0x7472_7374
# Files that this process must not open, since it was forked in the middle of their use.
_SPOILT: list[_open_databases.Identity | None] = []


class SqliteDatabase(SqliteTables):
    """A store in a SQLite file.

    Args:
        path: of the file.
        create: whether to make it if it is not there.
        first: called once, in the transaction that makes the tables; gives the settings.
        patience: seconds to wait for other writers.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool,
        first: FirstSettings,
        patience: float = PATIENCE,
    ) -> None:
        self._files, self._patience = Files(path), patience
        # Absolute, so that it leads to the same file when the process has gone elsewhere.
        super().__init__(self._files.path, shown_address(path))
        # To the connection, when there are no cursors, each of which has one.
        self._references = sys.maxsize
        # When to try again to begin the log at its start, after readers were in the way.
        self._try_again = 0.0
        # Whether the last transaction overwrote what it removed.
        self._overwrites = False
        if sqlite3.sqlite_version_info < (3, 35):
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} is too old; use a Python that has 3.35 or newer"
            )
        new = check_path(Path(path), create)
        remember(self)
        _open_databases.remember(self._files)
        with self.lock:
            try:
                self._connection = self._connect(new)
                try:
                    self._set_up(create, first)
                    self._references = sys.getrefcount(self._connection)
                except BaseException:
                    close_cursors(self._connection)
                    self._connection.close()
                    raise
            except BaseException as error:
                # Whoever keeps the error keeps this object, but nothing is open any more.
                self._files.close()
                if isinstance(error, sqlite3.Error):
                    raise explained(error, self.name, "opened", patience) from error
                raise

    def _connect(self, new: bool) -> sqlite3.Connection:
        found = identity(self._files.path)
        if found is not None and found in _SPOILT:
            raise StoreError(
                f"{self.name} was being used when this process was forked, and cannot be opened "
                "in it any more; fork at another time, or start processes anew (spawn)"
            )
        address = f"{Path(self._files.path).as_uri()}?mode={'rwc' if new else 'rw'}"
        return sqlite3.connect(
            address, uri=True, timeout=_SLICE, isolation_level=None, check_same_thread=False
        )

    def _set_up(self, create: bool, first: FirstSettings) -> None:
        self._files.note()
        self._patiently(lambda: self._check_ours(create))
        self._patiently(self._use_log)
        for pragma in _PRAGMAS:
            self._execute(f"PRAGMA {pragma}")
        if missing(self._patiently(self._applied), self.name):
            self._transact("BEGIN IMMEDIATE", lambda: self._migrate(first))
        self.settings = self._patiently(self._read_settings)
        self._files.note_all()
        self._refuse(self._files.fault())

    def _check_ours(self, create: bool) -> None:
        """Raise an error for a database that something else has made, or that is empty."""

        # In one transaction: another process may be making the tables at this moment.
        def look() -> tuple[int, int]:
            tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            return tables, self._connection.execute("PRAGMA application_id").fetchone()[0]

        tables, ours = self._transact("BEGIN", look)
        if tables and ours != _OURS:
            raise StoreError(
                f"{self.name} is a SQLite database, but not one of trustream; give another file"
            )
        if not tables and not create:
            raise MissingStoreError(
                f"{self.name} is empty: there is no store in it",
                "restore a copy, or see to the path",
            )

    def _use_log(self) -> None:
        """Switch to the write-ahead log, which two processes cannot do at the same moment."""
        mode = self._connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
        if mode != "wal":
            raise StoreError(
                f"{self.name} lies where SQLite cannot keep a write-ahead log; "
                "put it on a local disk"
            )

    def _applied(self) -> list[str]:
        tables = self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migration'")
        if tables.fetchone() is None:
            return []
        return [name for (name,) in self._connection.execute("SELECT name FROM migration")]

    def _prepare(self) -> None:
        self._execute(f"PRAGMA application_id={_OURS}")

    # --- transactions

    def run(self, work: Callable[[], T], *, write: bool) -> T:
        """Do the work in one transaction."""
        try:
            if write:
                return self._write(work)
            self._refuse(self._files.fault_lately())
            return self._patiently(lambda: self._transact("BEGIN", work))
        except sqlite3.Error as error:
            done = "changed" if write else "read"
            raise explained(error, self.name, done, self._patience) from error

    def _write(self, work: Callable[[], T]) -> T:
        self._refuse(self._files.fault_lately(), "; nothing of it was stored")
        self._detector.written = 0
        if self._overwrites:
            self._execute("PRAGMA secure_delete=FAST").fetchone()
            self._overwrites = False
        result = self._transact("BEGIN IMMEDIATE", work)
        self._detector.commit()
        # Before it is acknowledged: what went into a file that nobody can open is lost.
        self._refuse(
            self._files.fault(),
            ": it is not known whether it was stored; send it again with the same append ids",
        )
        if self._files.log_bytes > LOG_LIMIT:
            self._begin_log_again()
        return result

    def _transact(self, begin: str, work: Callable[[], T]) -> T:
        """The transaction, which is over in any case, whatever interrupts it."""
        try:
            if begin == "BEGIN":
                self._connection.execute(begin)
            else:
                self._patiently(lambda: self._connection.execute(begin))
            result = work()
            self._connection.execute("COMMIT")
        except BaseException:
            # No Python function is called here: an interrupt would be heard inside it.
            if self._connection.in_transaction:
                try:
                    self._connection.execute("ROLLBACK")
                except sqlite3.Error:
                    self._connection.close()
            if sys.getrefcount(self._connection) > self._references:
                close_cursors(self._connection)
            raise
        return result

    def _patiently(self, call: Callable[[], T]) -> T:
        """Call again while others are in the way; interrupts are heard in between."""
        start = time.monotonic()
        while True:
            try:
                return call()
            except sqlite3.OperationalError as error:
                waited = time.monotonic() - start
                if not is_code(error, sqlite3.SQLITE_BUSY) or waited > self._patience:
                    raise
                time.sleep(0.005)

    def _begin_log_again(self) -> None:
        """Take all of the log into the file and wait for those who still read from the log.

        Who begins to read from now on needs the file alone, and readers are quick, so that it
        takes little time. Should one be slow, appends do not wait for it each time.
        """
        start = time.monotonic()
        if start < self._try_again:
            return
        busy = 1
        # The append is stored whatever happens here; what is wrong shows at the next one.
        with suppress(sqlite3.Error):
            while busy and time.monotonic() < start + _FOR_READERS:
                busy = self._connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0]
        if busy:
            self._try_again = time.monotonic() + 10 * (time.monotonic() - start)

    # --- erasing

    def overwrite(self) -> None:
        """Overwrite pages that are freed too, until the next transaction."""
        self._overwrites = True
        self._execute("PRAGMA secure_delete=ON").fetchone()

    def erase(self, *, rewrite: bool, wait: float) -> bool:
        """Empty the log; with `rewrite`, copy everything that is there into new pages before."""
        self._refuse(self._files.fault_lately())
        try:
            if rewrite:
                self._patiently(lambda: self._execute("VACUUM"))
            start = time.monotonic()
            while self._execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > start + wait:
                    return False
                # It keeps others from writing while it waits for those who read.
                time.sleep(_SLICE)
        except sqlite3.Error as error:
            raise explained(error, self.name, "changed", self._patience) from error
        return True

    # --- what can go wrong

    def _refuse(self, fault: str | None, end: str = "") -> None:
        """Raise an error if the files are not those that were opened."""
        if fault is not None:
            raise StoreError(
                f"{self.name} was moved, deleted or replaced while it was open: {fault}{end}; "
                "put the file back, or open the store again"
            )

    # --- life

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        self._files.close()

    def leave(self, *, quiet: bool) -> None:
        """Let go of it in a child that was forked."""
        # Fails if it is closed, and that is that.
        idle = not self._connection.in_transaction
        # Never closed behind our back, also when Python ends: if the parent is in the middle of a
        # transaction, that would end it.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))
        _SPOILT.append(self._files.known)
        if quiet and idle:
            # In a thread, because it hangs for ever if another thread of the parent, which is not
            # there in the child, used SQLite for something else at that moment.
            closing = threading.Thread(target=self._close_in_child, daemon=True)
            closing.start()
            closing.join(1.0)

    def _close_in_child(self) -> None:
        # Only so does SQLite forget the locks that the parent has and the child has not.
        self._connection.close()
        _SPOILT.remove(self._files.known)
