"""SQLite: one file, many processes.

The write-ahead log lets readers go on while one writes. `synchronous=FULL` flushes the log at
every commit, so that what was acknowledged survives a loss of power.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path

from trustream.store.backend import Row, State, T
from trustream.store.errors import StoreError
from trustream.store.migrations import MIGRATIONS, Migration, missing
from trustream.store.protocol import Position, Settings

# Seconds that a writer waits for others.
PATIENCE = 60.0
# In the header of the file: whose it is.
_OURS = 0x7472_7374
_DOCUMENT = "place, number, key, time, content"


class SqliteBackend:
    """One SQLite file.

    Args:
        path: of the file.
        create: whether to make it if it is not there.
        first: called once, in the transaction that makes the tables; gives the settings.
        patience: seconds to wait for other writers.
        migrations: the steps that make the tables.
    """

    settings: Settings

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool,
        first: Callable[[SqliteBackend], Settings],
        patience: float = PATIENCE,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> None:
        self.url = str(path)
        self._patience = patience
        if sqlite3.sqlite_version_info < (3, 35):
            raise StoreError(
                f"SQLite {sqlite3.sqlite_version} is too old; use a Python with SQLite 3.35 or newer"
            )
        _check_path(Path(path), create)
        with self._explained("opened"):
            self._database = sqlite3.connect(
                self.url, timeout=patience, isolation_level=None, check_same_thread=False
            )
        try:
            with self._explained("opened"):
                self._set_up(first, migrations)
        except BaseException:
            self._database.close()
            raise

    def _set_up(
        self, first: Callable[[SqliteBackend], Settings], migrations: Sequence[Migration]
    ) -> None:
        run = self._database.execute
        self._check_ours()
        self._use_log()
        for pragma in ("synchronous=FULL", "cache_size=-32768", "mmap_size=4294967296"):
            run(f"PRAGMA {pragma}")
        steps = missing(self._applied(), self.url, migrations)
        if steps:
            self.run(lambda: self._migrate(first, migrations), write=True)
        row = run("SELECT held_out, min_documents, max_words, fixed FROM settings").fetchone()
        self.settings = Settings(row[0], row[1], row[2], bool(row[3]))

    def _check_ours(self) -> None:
        """Refuse a database that something else has made."""
        ours = self._database.execute("PRAGMA application_id").fetchone()[0]
        tables = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
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

    def _migrate(
        self, first: Callable[[SqliteBackend], Settings], migrations: Sequence[Migration]
    ) -> None:
        """Apply what is missing. Asked again, because another process may have been faster."""
        applied = self._applied()
        run = self._database.execute
        if not applied:
            run(f"PRAGMA application_id={_OURS}")
            run("CREATE TABLE migration (name TEXT PRIMARY KEY, applied REAL NOT NULL)")
        for step in missing(applied, self.url, migrations):
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

    # --- counters

    def state(self, *, write: bool) -> State:
        """The counters."""
        return State(*self._database.execute("SELECT * FROM state").fetchone())

    def put_state(self, state: State) -> None:
        """Replace the counters."""
        self._database.execute(
            "UPDATE state SET sequence=?, vocabulary=?, training=?, held_out=?, tokens=?,"
            " words=?, added=?, next_word=?, next_document=?",
            astuple(state),
        )

    # --- words

    def word_numbers(self, words: Sequence[str]) -> dict[str, int]:
        """Numbers of those words that are known."""
        return dict(
            self._database.execute(
                "SELECT word, number FROM word WHERE word IN (SELECT value FROM json_each(?))",
                (json.dumps(words),),
            )
        )

    def add_words(self, first: int, words: Sequence[str]) -> None:
        """Number new words."""
        self._database.executemany("INSERT INTO word VALUES (?, ?)", enumerate(words, first))

    def blocks_since(self, sequence: int) -> list[tuple[int, bytes]]:
        """Blocks of word counts that changed."""
        return self._database.execute(
            "SELECT number, counts FROM block WHERE sequence > ?", (sequence,)
        ).fetchall()

    def put_blocks(self, blocks: Iterable[tuple[int, bytes]], sequence: int) -> None:
        """Write blocks of word counts."""
        self._database.executemany(
            "INSERT OR REPLACE INTO block VALUES (?, ?, ?)",
            ((number, counts, sequence) for number, counts in blocks),
        )

    def columns_since(self, version: int) -> list[tuple[int, int | None]]:
        """Columns that changed."""
        return self._database.execute(
            'SELECT number, word FROM "column" WHERE version > ?', (version,)
        ).fetchall()

    def column_words_since(self, version: int) -> list[tuple[int, str | None]]:
        """Columns that changed, with their words."""
        return self._database.execute(
            'SELECT c.number, w.word FROM "column" AS c LEFT JOIN word AS w ON w.number = c.word'
            " WHERE c.version > ? ORDER BY c.number",
            (version,),
        ).fetchall()

    def put_columns(self, changes: Iterable[tuple[int, int | None]], version: int) -> None:
        """Write columns."""
        self._database.executemany(
            'INSERT OR REPLACE INTO "column" VALUES (?, ?, ?)',
            ((column, word, version) for column, word in changes),
        )

    # --- documents

    def by_key(self, keys: Sequence[str]) -> list[Row]:
        """Documents of these keys."""
        found = self._database.execute(
            f"SELECT {_DOCUMENT} FROM document WHERE key IN (SELECT value FROM json_each(?))",
            (json.dumps(keys),),
        )
        return list(map(Row._make, found))

    def by_place(self, places: Sequence[int]) -> list[Row]:
        """Documents in these places."""
        found = self._database.execute(
            f"SELECT {_DOCUMENT} FROM document WHERE place IN (SELECT value FROM json_each(?))",
            (json.dumps(places),),
        )
        return list(map(Row._make, found))

    def after(self, number: int, limit: int) -> list[Row]:
        """Documents that came after one."""
        found = self._database.execute(
            f"SELECT {_DOCUMENT} FROM document WHERE number > ? ORDER BY number LIMIT ?",
            (number, limit),
        )
        return list(map(Row._make, found))

    def places_before(self, time: float) -> list[int]:
        """Places of earlier documents."""
        found = self._database.execute("SELECT place FROM document WHERE time < ?", (time,))
        return [place for (place,) in found]

    def oldest_places(self, n: int) -> list[int]:
        """Places of the earliest documents."""
        found = self._database.execute(
            "SELECT place FROM document ORDER BY time, number LIMIT ?", (max(n, 0),)
        )
        return [place for (place,) in found]

    def insert(self, rows: Sequence[Row]) -> None:
        """Add documents."""
        self._database.executemany(
            f"INSERT INTO document ({_DOCUMENT}) VALUES (?, ?, ?, ?, ?)",
            rows,
        )

    def update(self, rows: Sequence[tuple[int, float, bytes]]) -> None:
        """Give new times and contents."""
        self._database.executemany(
            "UPDATE document SET time = ?2, content = ?3 WHERE place = ?1", rows
        )

    def remove(self, places: Sequence[int]) -> None:
        """Remove documents."""
        self._database.executemany(
            "DELETE FROM document WHERE place = ?", ((place,) for place in places)
        )

    def move(self, moves: Sequence[tuple[int, int]]) -> None:
        """Move documents."""
        self._database.executemany("UPDATE document SET place = ?2 WHERE place = ?1", moves)

    # --- feeds and what is learned

    def seen(self, append_ids: Sequence[str]) -> set[str]:
        """Which append ids have been seen."""
        found = self._database.execute(
            "SELECT append_id FROM seen WHERE append_id IN (SELECT value FROM json_each(?))",
            (json.dumps(append_ids),),
        )
        return {name for (name,) in found}

    def add_seen(self, append_ids: Iterable[str]) -> None:
        """Note append ids."""
        self._database.executemany("INSERT INTO seen VALUES (?)", ((a,) for a in append_ids))

    def position(self, feed: str) -> Position | None:
        """How far a feed has been read."""
        row = self._database.execute(
            "SELECT name, offset_, finished, detail FROM feed WHERE name = ?", (feed,)
        ).fetchone()
        return None if row is None else Position(row[0], row[1], bool(row[2]), json.loads(row[3]))

    def put_position(self, position: Position) -> None:
        """Note how far a feed has been read."""
        self._database.execute(
            "INSERT OR REPLACE INTO feed VALUES (?, ?, ?, ?)",
            (position.feed, position.offset, position.finished, json.dumps(position.detail)),
        )

    def put_saved(self, name: str, parts: Iterable[bytes]) -> None:
        """Replace what is kept under a name."""
        self._database.execute("DELETE FROM saved WHERE name = ?", (name,))
        self._database.executemany(
            "INSERT INTO saved VALUES (?, ?, ?)",
            ((name, number, part) for number, part in enumerate(parts)),
        )

    def saved(self, name: str) -> list[bytes]:
        """What is kept under a name."""
        found = self._database.execute(
            "SELECT content FROM saved WHERE name = ? ORDER BY part", (name,)
        )
        return [content for (content,) in found]


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
