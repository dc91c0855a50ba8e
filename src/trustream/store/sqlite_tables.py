"""The statements that SQLite has in its own way."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal

from trustream.store.database import DOCUMENT, Database
from trustream.store.table_rows import DocumentRow


class SqliteTables(Database):
    """See `Database`. Lists are given as JSON: SQLite takes a limited number of arguments."""

    _DIALECT: ClassVar[Literal["sqlite", "postgres"]] = "sqlite"
    _NOW: ClassVar[str] = "(julianday('now') - 2440587.5) * 86400.0"
    # The index of the write-ahead log is in memory that processes share.
    ONE_MACHINE: ClassVar[bool] = True
    _connection: sqlite3.Connection

    def _execute(self, statement: str, *values: object) -> Any:
        return self._connection.execute(statement, values)  # type: ignore[arg-type]

    def _select_in(self, query: str, kind: str, values: Sequence[object]) -> Any:
        return self._connection.execute(
            f"{query} IN (SELECT value FROM json_each(?))", (json.dumps(values),)
        )

    # --- words

    def add_words(self, first: int, words: Sequence[str]) -> None:
        self._connection.executemany("INSERT INTO word VALUES (?, ?)", enumerate(words, first))

    def put_blocks(self, blocks: Iterable[tuple[int, bytes]], sequence: int) -> None:
        self._connection.executemany(
            "INSERT INTO block VALUES (?, ?, ?) ON CONFLICT (number)"
            " DO UPDATE SET counts = excluded.counts, sequence = excluded.sequence",
            ((number, counts, sequence) for number, counts in blocks),
        )

    def put_columns(self, changes: Iterable[tuple[int, int | None]], version: int) -> None:
        self._connection.executemany(
            'INSERT OR REPLACE INTO "column" VALUES (?, ?, ?)',
            ((column, word, version) for column, word in changes),
        )

    # --- documents

    def insert(self, rows: Sequence[DocumentRow]) -> None:
        self._connection.executemany(
            f"INSERT INTO document ({DOCUMENT}) VALUES (?, ?, ?, ?, ?, ?)", rows
        )

    def update(self, rows: Sequence[DocumentRow], *, times: bool) -> None:
        if times:
            self._connection.executemany(
                "UPDATE document SET time = ?, content = ?, arrival = ? WHERE place = ?",
                [(row.time, row.content, row.arrival, row.place) for row in rows],
            )
        else:
            # Leaves the index of times alone.
            self._connection.executemany(
                "UPDATE document SET content = ? WHERE place = ?",
                [(row.content, row.place) for row in rows],
            )

    def remove(self, places: Sequence[int]) -> None:
        self._connection.executemany(
            "DELETE FROM document WHERE place = ?", ((place,) for place in places)
        )

    def move(self, moves: Sequence[tuple[int, int]]) -> None:
        swapped = [(new, old) for old, new in moves]
        self._connection.executemany("UPDATE document SET place = ? WHERE place = ?", swapped)

    # --- texts and orders of words

    def put_texts(self, texts: Sequence[tuple[int, bytes]]) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO text VALUES (?, ?)", texts)

    def put_orders(self, orders: Sequence[tuple[int, int, bytes]]) -> None:
        self._connection.executemany("INSERT OR REPLACE INTO word_order VALUES (?, ?, ?)", orders)

    # --- feeds

    def add_seen(self, append_ids: Iterable[str], time: float) -> None:
        self._connection.executemany(
            "INSERT INTO seen (append_id, time) VALUES (?, ?)", ((a, time) for a in append_ids)
        )

    # --- checking

    def broken(self) -> list[str]:
        """What SQLite finds wrong with its pages, indexes and constraints."""
        found = self._connection.execute("PRAGMA integrity_check(20)")
        return [line for (line,) in found if line != "ok"]

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Rows, one after the other; bytes that are no UTF-8 come as halves of surrogate pairs."""
        before = self._connection.text_factory
        self._connection.text_factory = lambda text: text.decode(errors="surrogateescape")
        try:
            yield from self._connection.execute(statement)
        finally:
            self._connection.text_factory = before
