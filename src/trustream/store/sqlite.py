"""SQLite: one file, many processes.

The write-ahead log lets readers go on while one writes. `synchronous=FULL` flushes the log at
every commit, so that what was acknowledged survives a loss of power.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

from trustream.store.backend import T
from trustream.store.errors import StoreError
from trustream.store.migrations import missing
from trustream.store.protocol import Settings
from trustream.store.sqlite_tables import SqliteTables

# Seconds that a writer waits for others.
PATIENCE = 60.0
_PRAGMAS = (
    "synchronous=FULL",
    # 32 MB of pages in memory.
    "cache_size=-32768",
    # Mapped pages would count as the process's own memory, and draws touch all of the file.
    "mmap_size=0",
    # 32 MB of log before it goes into the file: pages that change again and again go once.
    "wal_autocheckpoint=8192",
)
# In the header of the file: whose it is.
_OURS = 0x7472_7374


class SqliteBackend(SqliteTables):
    """One SQLite file.

    Args:
        path: of the file.
        create: whether to make it if it is not there.
        first: called once, in the transaction that makes the tables; gives the settings.
        patience: seconds to wait for other writers.
    """

    settings: Settings

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool,
        first: Callable[[SqliteBackend], Settings],
        patience: float = PATIENCE,
    ) -> None:
        self.url = self.name = str(path)
        self._patience = patience
        if sqlite3.sqlite_version_info < (3, 35):
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} is too old; use a Python that has 3.35 or newer"
            )
        _check_path(Path(path), create)
        with self._explained("opened"):
            self._database = sqlite3.connect(
                self.url, timeout=patience, isolation_level=None, check_same_thread=False
            )
        try:
            with self._explained("opened"):
                self._set_up(first)
        except BaseException:
            self._database.close()
            raise

    def _set_up(self, first: Callable[[SqliteBackend], Settings]) -> None:
        run = self._database.execute
        self._check_ours()
        self._use_log()
        for pragma in _PRAGMAS:
            run(f"PRAGMA {pragma}")
        if missing(self._applied(), self.url):
            self.run(lambda: self._migrate(first), write=True)
        row = run("SELECT held_out, min_documents, max_words, fixed FROM settings").fetchone()
        self.settings = Settings(row[0], row[1], row[2], bool(row[3]))

    def _check_ours(self) -> None:
        """Refuse a database that something else has made."""
        # In one transaction: another process may be making the tables at this moment.
        self._database.execute("BEGIN")
        try:
            tables = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            ours = self._database.execute("PRAGMA application_id").fetchone()[0]
        finally:
            self._database.execute("ROLLBACK")
        if tables and ours != _OURS:
            raise StoreError(
                f"{self.url} is a SQLite database, but not one of trustream; give another file"
            )

    def _use_log(self) -> None:
        """Switch to the write-ahead log, which two processes cannot do at the same moment."""
        deadline = time.monotonic() + self._patience
        while True:
            try:
                mode = self._database.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            except sqlite3.OperationalError as error:
                if not _is(error, sqlite3.SQLITE_BUSY) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
                continue
            if mode != "wal":
                raise StoreError(
                    f"{self.url} lies where SQLite cannot keep a write-ahead log; "
                    "put it on a local disk"
                )
            return

    def _applied(self) -> list[str]:
        tables = self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'migration'")
        if tables.fetchone() is None:
            return []
        return [name for (name,) in self._database.execute("SELECT name FROM migration")]

    def _migrate(self, first: Callable[[SqliteBackend], Settings]) -> None:
        """Apply what is missing. Asked again, because another process may have been faster."""
        applied = self._applied()
        run = self._database.execute
        if not applied:
            run(f"PRAGMA application_id={_OURS}")
            run("CREATE TABLE migration (name TEXT PRIMARY KEY, applied REAL NOT NULL)")
        for step in missing(applied, self.url):
            for statement in step.sqlite:
                run(statement)
            run("INSERT INTO migration VALUES (?, ?)", (step.name, time.time()))
        if not applied:
            run("INSERT INTO settings VALUES (?, ?, ?, ?)", astuple(first(self)))

    # --- transactions

    def run(self, work: Callable[[], T], *, write: bool) -> T:
        """Do the work in one transaction."""
        with self._explained("changed" if write else "read"):
            self._database.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                result = work()
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
            return result

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        """Turn SQLite's errors into ones that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(
                f"{self.url} could not be {done}: {self._advice(error)}; nothing of it was stored"
                if done == "changed"
                else f"{self.url} could not be {done}: {self._advice(error)}"
            ) from error

    def _advice(self, error: sqlite3.Error) -> str:
        for code, advice in _ADVICE.items():
            if _is(error, code):
                return advice.format(patience=self._patience)
        return f"{error} ({getattr(error, 'sqlite_errorname', type(error).__name__)})"

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()


_ADVICE = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space and send it again",
    sqlite3.SQLITE_READONLY: (
        "the file or its folder may not be written to; allow it (SQLite writes beside the file "
        "too), or copy the store elsewhere"
    ),
    sqlite3.SQLITE_BUSY: (
        "another process has been writing for more than {patience:g} s; try again when it is done"
    ),
    sqlite3.SQLITE_NOTADB: "it is not a SQLite database; give another file",
    sqlite3.SQLITE_CORRUPT: (
        "the database is damaged; restore a copy, or rescue what is left with the sqlite3 "
        "program's .recover"
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the file cannot be opened; see that its folder exists and may be written to"
    ),
    sqlite3.SQLITE_IOERR: "the disk reported an error; look at its health and free space",
}


def _is(error: sqlite3.Error, code: int) -> bool:
    """Whether an error has a code; extended codes have it in their last byte."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == code


def _check_path(path: Path, create: bool) -> None:
    if str(path) == ":memory:":
        raise StoreError("a store lives in a file; give a path, in a temporary folder if need be")
    if path.is_dir():
        raise StoreError(f"{path} is a folder; give the path of a file")
    if not path.exists():
        if not create:
            raise StoreError(f"{path} is not there; make the store first, or see to the path")
        if not path.parent.is_dir():
            raise StoreError(f"the folder {path.parent} is not there; make it first")
