"""The statements that a store needs, and what each kind of database has to add.

`Database` has the SQL that SQLite and PostgreSQL share, with `?` for values. What they do in
different ways is abstract here: transactions, and writing many rows at once. All methods but `run`
and `close` are called inside `run`.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any, ClassVar, Literal, TypeVar

from trustream.store.errors import StoreError
from trustream.store.feed_table import FeedTable
from trustream.store.history_table import HistoryTable
from trustream.store.lease_table import LeaseTable
from trustream.store.limits import FARTHEST_TIME, is_finite_number, short_repr
from trustream.store.migrations import missing
from trustream.store.order_table import OrderTable
from trustream.store.records import Settings
from trustream.store.restore_detector import RestoreDetector
from trustream.store.saved_table import SavedTable
from trustream.store.table_rows import Counters, DocumentRow, LostWords
from trustream.store.text_table import TextTable

T = TypeVar("T")
# Settings of a new store; whatever else it starts with is written by the call.
FirstSettings = Callable[["Database"], Settings]

DOCUMENT = "place, number, key, time, content, arrival"
_SETTINGS = "held_out, min_documents, max_words, fixed, keep_text, keep_order"
_LOST_WORDS = "documents, tokens, words, repaired"


class Database(LeaseTable, TextTable, OrderTable, FeedTable, SavedTable, HistoryTable):
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
                f"INSERT INTO settings ({_SETTINGS}) VALUES (?, ?, ?, ?, ?, ?)",
                *astuple(first(self)),
            )

    def _read_settings(self) -> Settings:
        query = f"SELECT {_SETTINGS} FROM settings"
        held_out, least, most, fixed, keep_text, keep_order = self._execute(query).fetchone()
        return Settings(held_out, least, most, bool(fixed), keep_text, bool(keep_order))

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

    def keys_and_contents(self, places: Sequence[int]) -> list[tuple[int, str, bytes]]:
        """(place, key, content) of the documents in these places, in any order."""
        query = "SELECT place, key, content FROM document WHERE place"
        return list(self._select_in(query, "bigint", places))

    def by_place(self, places: Sequence[int]) -> list[DocumentRow]:
        """The documents in these places, in any order."""
        query = f"SELECT {DOCUMENT} FROM document WHERE place"
        return list(map(DocumentRow._make, self._select_in(query, "bigint", places)))

    def after(self, number: int, limit: int, until: int | None = None) -> list[DocumentRow]:
        """Documents that came after one, in order, up to the last one that is wanted."""
        range_, numbers = "number > ?", [number]
        if until is not None:
            range_, numbers = "number > ? AND number <= ?", [number, until]
        query = f"SELECT {DOCUMENT} FROM document WHERE {range_} ORDER BY number LIMIT ?"
        return list(map(DocumentRow._make, self._execute(query, *numbers, limit)))

    def block_ends(self, block: int) -> list[int]:
        """The number of the last document of each block, in order."""
        query = (
            "SELECT number FROM (SELECT number, row_number() OVER (ORDER BY number) AS place,"
            " count(*) OVER () AS documents FROM document) AS numbered"
            " WHERE place / ? * ? = place OR place = documents ORDER BY number"
        )
        return [number for (number,) in self._execute(query, block, block)]

    def before(self, number: int, limit: int) -> list[DocumentRow]:
        """Documents that came before one, the last to come first."""
        query = f"SELECT {DOCUMENT} FROM document WHERE number < ? ORDER BY number DESC LIMIT ?"
        return list(map(DocumentRow._make, self._execute(query, number, limit)))

    def time_range(self) -> tuple[float, float] | None:
        """The earliest and the latest time of a document, by the index of times.

        Times that nobody can mean, which earlier versions took, are passed over.
        """
        some = "FROM document WHERE time BETWEEN ? AND ?"
        lowest, highest, first, last = self._execute(
            "SELECT (SELECT min(time) FROM document), (SELECT max(time) FROM document),"
            f" (SELECT min(time) {some}), (SELECT max(time) {some})",
            *[-FARTHEST_TIME, FARTHEST_TIME] * 2,
        ).fetchone()
        if not (lowest is None or (is_finite_number(lowest) and is_finite_number(highest))):
            raise StoreError(
                f"the times of documents are damaged: they go from {short_repr(lowest)} to "
                f"{short_repr(highest)}; find these documents with trustream check STORE, and "
                "restore a copy, or delete and ingest them again"
            )
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
