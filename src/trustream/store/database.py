"""The statements that a store needs, and what each kind of database has to add.

`Database` has the SQL that SQLite and PostgreSQL share, with `?` for values. What they do in
different ways is abstract here: transactions, and writing many rows at once. All methods but `run`
and `close` are called inside `run`.
"""

from __future__ import annotations

import json
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any, ClassVar, Literal, TypeVar

from trustream.store.lease_table import LeaseTable
from trustream.store.migrations import missing
from trustream.store.records import Position, Settings
from trustream.store.restore_detector import RestoreDetector
from trustream.store.table_rows import Counters, DocumentRow, LostWords
from trustream.store.text_table import TextTable

T = TypeVar("T")
# Settings of a new store; whatever else it starts with is written by the call.
FirstSettings = Callable[["Database"], Settings]

DOCUMENT = "place, number, key, time, content, arrival"
_SETTINGS = "held_out, min_documents, max_words, fixed, keep_text"
_LOST_WORDS = "documents, tokens, words, repaired"


class Database(LeaseTable, TextTable):
    """A database that holds one store.

    Args:
        url: what `open_store` takes to open it again.
        name: the same without a password, to be shown.

    Attributes:
        lock: held by the thread that uses the database.
        settings: what the store was made with.
    """

    _DIALECT: ClassVar[Literal["sqlite", "postgres"]]

    def __init__(self, url: str, name: str) -> None:
        self.url, self.name = url, name
        self.lock = threading.RLock()
        self._detector = RestoreDetector(name)

    # --- transactions

    @abstractmethod
    def run(self, work: Callable[[], T], *, write: bool) -> T:
        """Do the work in one transaction on one snapshot; writers one after the other.

        The work may be done more than once, if the database went away; only one is kept.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    def leave(self, *, quiet: bool) -> None:
        """Let go of it in a child process, see `fork_safety`."""

    @abstractmethod
    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a SELECT that every database understands, without keeping them all."""

    # --- opening

    @abstractmethod
    def _applied(self) -> list[str]:
        """Names of the migrations that the database has; none if there is no store in it."""

    @abstractmethod
    def _prepare(self) -> None:
        """Prepare a new database for its first table."""

    def _migrate(self, first: FirstSettings) -> None:
        """Apply what is missing. Asked again, because another process may have been faster."""
        applied = self._applied()
        if not applied:
            self._prepare()
            self._execute(
                "CREATE TABLE migration (name text PRIMARY KEY, applied double precision NOT NULL)"
            )
        for step in missing(applied, self.name):
            for statement in getattr(step, self._DIALECT):
                self._execute(statement)
            self._execute("INSERT INTO migration VALUES (?, ?)", step.name, time.time())
        if not applied:
            self._execute(
                f"INSERT INTO settings ({_SETTINGS}) VALUES (?, ?, ?, ?, ?)",
                *astuple(first(self)),
            )

    def _read_settings(self) -> Settings:
        query = f"SELECT {_SETTINGS} FROM settings"
        held_out, min_documents, max_words, fixed, keep_text = self._execute(query).fetchone()
        return Settings(held_out, min_documents, max_words, bool(fixed), keep_text)

    def tokeniser(self, *, write: bool = False) -> str | None:
        """How texts become words, as JSON; with `write`, nobody else changes it meanwhile."""
        query = f"SELECT tokeniser FROM settings{self._FOR_UPDATE if write else ''}"
        found: str | None = self._execute(query).fetchone()[0]
        return found

    def put_tokeniser(self, value: str) -> None:
        """Replace how texts become words."""
        self._execute("UPDATE settings SET tokeniser = ?", value)

    # --- counters

    def counters(self, *, write: bool) -> Counters:
        """The counters; with `write`, others cannot write until the end of the transaction."""
        query = f"SELECT * FROM state{self._FOR_UPDATE if write else ''}"
        counters = Counters(*self._execute(query).fetchone())
        self._detector.read(counters.sequence)
        return counters

    def put_counters(self, counters: Counters) -> None:
        """Replace the counters."""
        self._execute(
            "UPDATE state SET sequence=?, vocabulary=?, training=?, held_out=?,"
            " token_count=?, words=?, added=?, word_numbers=?, next_document=?",
            *counters.row(),
        )
        self._detector.written = counters.sequence

    # --- words

    def word_numbers(self, words: Sequence[str]) -> dict[str, int]:
        """Numbers of those words that are known."""
        return dict(self._select_in("SELECT word, number FROM word WHERE word", "text", words))

    def remove_words(self, numbers: Sequence[int]) -> list[str]:
        """Remove words by their numbers, which no other word gets; returns the words."""
        if not numbers:
            return []
        found = self._select_in("SELECT word FROM word WHERE number", "bigint", numbers)
        words = [word for (word,) in found]
        self._select_in("DELETE FROM word WHERE number", "bigint", numbers)
        return words

    @abstractmethod
    def add_words(self, first: int, words: Sequence[str]) -> None:
        """Number new words from `first` on."""

    def blocks_since(self, sequence: int) -> list[tuple[int, bytes]]:
        """Blocks of document frequencies that changed after a sequence number."""
        query = "SELECT number, counts FROM block WHERE sequence > ?"
        return self._execute(query, sequence).fetchall()

    @abstractmethod
    def put_blocks(self, blocks: Iterable[tuple[int, bytes]], sequence: int) -> None:
        """Write blocks of document frequencies."""

    def columns_since(self, version: int) -> list[tuple[int, int | None]]:
        """(column, word number or None) of columns that changed after a version."""
        query = 'SELECT number, word FROM "column" WHERE version > ?'
        return self._execute(query, version).fetchall()

    def column_words_since(self, version: int) -> list[tuple[int, str | None]]:
        """(column, word or None) of columns that changed after a version, in order."""
        return self._execute(
            'SELECT c.number, w.word FROM "column" AS c LEFT JOIN word AS w ON w.number = c.word'
            " WHERE c.version > ? ORDER BY c.number",
            version,
        ).fetchall()

    @abstractmethod
    def put_columns(self, changes: Iterable[tuple[int, int | None]], version: int) -> None:
        """Write columns."""

    # --- documents

    def by_key(self, keys: Sequence[str]) -> list[DocumentRow]:
        """The documents with these keys, as far as they are in the store, in any order."""
        query = f"SELECT {DOCUMENT} FROM document WHERE key"
        return list(map(DocumentRow._make, self._select_in(query, "text", keys)))

    def places(self, keys: Sequence[str]) -> dict[str, int]:
        """Places of the documents with these keys, as far as they are in the store."""
        return dict(self._select_in("SELECT key, place FROM document WHERE key", "text", keys))

    def keys_and_contents(
        self, places: Sequence[int], *, times: bool = False
    ) -> list[tuple[Any, ...]]:
        """(place, key, content) of the documents in these places, in any order.

        With `times`, the time and whether it is that of the arrival come after them.
        """
        more = ", time, arrival" if times else ""
        query = f"SELECT place, key, content{more} FROM document WHERE place"
        return list(self._select_in(query, "bigint", places))

    def by_place(self, places: Sequence[int]) -> list[DocumentRow]:
        """The documents in these places, in any order."""
        query = f"SELECT {DOCUMENT} FROM document WHERE place"
        return list(map(DocumentRow._make, self._select_in(query, "bigint", places)))

    def after(self, number: int, limit: int) -> list[DocumentRow]:
        """Documents that came after one, in order."""
        query = f"SELECT {DOCUMENT} FROM document WHERE number > ? ORDER BY number LIMIT ?"
        return list(map(DocumentRow._make, self._execute(query, number, limit)))

    def before(self, number: int, limit: int) -> list[DocumentRow]:
        """Documents that came before one, the last to come first."""
        query = f"SELECT {DOCUMENT} FROM document WHERE number < ? ORDER BY number DESC LIMIT ?"
        return list(map(DocumentRow._make, self._execute(query, number, limit)))

    def time_range(self) -> tuple[float, float] | None:
        """The earliest and the latest time of a document, by the index of times."""
        first, last = self._execute(
            "SELECT (SELECT min(time) FROM document), (SELECT max(time) FROM document)"
        ).fetchone()
        return None if first is None else (first, last)

    def places_before(self, time: float) -> list[int]:
        """Places of the documents with an earlier time."""
        found = self._execute("SELECT place FROM document WHERE time < ?", time)
        return [place for (place,) in found]

    def oldest_places(self, n: int) -> list[int]:
        """Places of the n documents with the earliest times; of equal ones the first to come."""
        query = "SELECT place FROM document ORDER BY time, number LIMIT ?"
        return [place for (place,) in self._execute(query, max(n, 0))]

    @abstractmethod
    def insert(self, rows: Sequence[DocumentRow]) -> None:
        """Add documents."""

    @abstractmethod
    def update(self, rows: Sequence[DocumentRow], *, times: bool) -> None:
        """Give documents their new contents, and times if these have changed."""

    @abstractmethod
    def remove(self, places: Sequence[int]) -> None:
        """Remove documents."""

    @abstractmethod
    def move(self, moves: Sequence[tuple[int, int]]) -> None:
        """Move documents (from, to) into empty places."""

    # --- feeds

    def seen(self, append_ids: Sequence[str]) -> set[str]:
        """Which append ids have been seen."""
        query = "SELECT append_id FROM seen WHERE append_id"
        return {name for (name,) in self._select_in(query, "text", append_ids)}

    @abstractmethod
    def add_seen(self, append_ids: Iterable[str], time: float) -> None:
        """Note append ids, and when."""

    def expire_seen(self, before: float) -> int:
        """Forget append ids that were noted before a time; returns how many."""
        # Those without a time are older than the step that has brought the times.
        found = self._execute(
            "DELETE FROM seen WHERE coalesce(time, (SELECT applied FROM migration"
            " WHERE name = '0008_words_leave')) < ?",
            before,
        )
        return int(found.rowcount)

    def position(self, feed: str) -> Position | None:
        """How far a feed has been read."""
        query = "SELECT name, offset_, finished, detail FROM feed WHERE name = ?"
        row = self._execute(query, feed).fetchone()
        return None if row is None else Position(row[0], row[1], bool(row[2]), json.loads(row[3]))

    def put_position(self, position: Position) -> None:
        """Note how far a feed has been read."""
        self._execute(
            "INSERT INTO feed VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
            " offset_ = excluded.offset_, finished = excluded.finished, detail = excluded.detail",
            *(position.feed, position.offset, position.finished, json.dumps(position.detail)),
        )

    # --- saved bytes

    def put_saved(self, name: str, parts: Iterable[bytes]) -> None:
        """Replace what is saved under a name; a trigger of the table counts its version."""
        self._execute("DELETE FROM saved WHERE name = ?", name)
        for number, part in enumerate(parts):
            self._execute("INSERT INTO saved VALUES (?, ?, ?)", name, number, part)

    def lock_saved(self, name: str) -> None:
        """Let nobody else save under a name until the end of the transaction."""

    def saved_names(self) -> list[str]:
        """The names under which something is saved, in order."""
        found = self._execute("SELECT name FROM saved WHERE part = 0 ORDER BY name")
        return [name for (name,) in found]

    def saved(self, name: str) -> list[bytes]:
        """The parts saved under a name, in order."""
        found = self._execute("SELECT content FROM saved WHERE name = ? ORDER BY part", name)
        return [content for (content,) in found]

    def saved_version(self, name: str) -> int | None:
        """How often something was saved under a name."""
        row = self._execute("SELECT version FROM saved_version WHERE name = ?", name).fetchone()
        return None if row is None else row[0]

    # --- history

    def add_history(self, name: str, every: float, slot: int, time: float, content: bytes) -> int:
        """Note something in a slot of time, unless something is there; returns how many were."""
        found = self._execute(
            "INSERT INTO history VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            *(name, every, slot, time, content),
        )
        return int(found.rowcount)

    def history(
        self, name: str, every: float, since: float, until: float
    ) -> list[tuple[float, bytes]]:
        """(time, content) of what was noted between two times, in order."""
        query = (
            "SELECT time, content FROM history WHERE name = ? AND every = ?"
            " AND time >= ? AND time <= ? ORDER BY slot"
        )
        found = self._execute(query, name, every, since, until)
        return [(time, bytes(content)) for time, content in found]

    def expire_history(self, name: str, every: float, before: float) -> int:
        """Remove what was noted before a time; returns how many were."""
        query = "DELETE FROM history WHERE name = ? AND every = ? AND time < ?"
        return int(self._execute(query, name, every, before).rowcount)

    # --- erasing

    @abstractmethod
    def overwrite(self) -> None:
        """Overwrite in the file what this transaction removes from now on, if the store can."""

    @abstractmethod
    def erase(self, *, rewrite: bool, wait: float) -> bool:
        """See `Store.erase`; not inside `run`. Waits so many seconds for those who read."""

    # --- checking

    @abstractmethod
    def broken(self) -> list[str]:
        """What the database itself finds wrong, the first of it; nothing if it cannot tell."""

    def clear(self, table: str) -> None:
        """Remove all rows of a table."""
        self._execute(f'DELETE FROM "{table}"')

    def lost_words(self) -> LostWords | None:
        """What is known of words that were lost; None if no version with the fault wrote here."""
        row = self._execute(f"SELECT {_LOST_WORDS} FROM fault").fetchone()
        return None if row is None else LostWords(*row)

    def put_lost_words(self, lost: LostWords) -> None:
        """Replace what is known of words that were lost."""
        self._execute(f"UPDATE fault SET ({_LOST_WORDS}) = (?, ?, ?, ?)", *lost)
