"""The statements that a store needs, in SQLite's SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any

from trustream.store.backend import Fault, Row, State
from trustream.store.protocol import Position

_DOCUMENT = "place, number, key, time, content"
_FAULT = "documents, tokens, words, repaired"


class SqliteTables:
    """See `Backend`. Lists are given as JSON: SQLite takes a limited number of arguments."""

    _database: sqlite3.Connection

    # --- counters

    def state(self, *, write: bool) -> State:
        """The counters."""
        return State(*self._database.execute("SELECT * FROM state").fetchone())

    def put_state(self, state: State) -> None:
        """Replace the counters."""
        self._database.execute(
            "UPDATE state SET sequence=?, vocabulary=?, training=?, held_out=?,"
            " token_count=?, words=?, added=?, next_word=?, next_document=?",
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
            "INSERT INTO block VALUES (?, ?, ?) ON CONFLICT (number)"
            " DO UPDATE SET counts = excluded.counts, sequence = excluded.sequence",
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

    def update(self, rows: Sequence[Row], *, times: bool) -> None:
        """Give new contents and times."""
        if times:
            self._database.executemany(
                "UPDATE document SET time = ?, content = ? WHERE place = ?",
                [(row.time, row.content, row.place) for row in rows],
            )
        else:
            # Leaves the index of times alone.
            self._database.executemany(
                "UPDATE document SET content = ? WHERE place = ?",
                [(row.content, row.place) for row in rows],
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

    def saved_version(self, name: str) -> int | None:
        """How often something was saved under a name."""
        row = self._database.execute(
            "SELECT version FROM saved_version WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else row[0]

    # --- checking

    def broken(self) -> list[str]:
        """What SQLite finds wrong with its pages, indexes and constraints."""
        found = self._database.execute("PRAGMA integrity_check(20)")
        return [line for (line,) in found if line != "ok"]

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Rows, one after the other; bytes that are no UTF-8 come as halves of surrogate pairs."""
        before = self._database.text_factory
        self._database.text_factory = lambda text: text.decode(errors="surrogateescape")
        try:
            yield from self._database.execute(statement)
        finally:
            self._database.text_factory = before

    def clear(self, table: str) -> None:
        """Remove all rows."""
        self._database.execute(f'DELETE FROM "{table}"')

    def fault(self) -> Fault | None:
        """What is known of words that were lost."""
        row = self._database.execute(f"SELECT {_FAULT} FROM fault").fetchone()
        return None if row is None else Fault(*row)

    def put_fault(self, fault: Fault) -> None:
        """Replace it."""
        self._database.execute(f"UPDATE fault SET ({_FAULT}) = (?, ?, ?, ?)", fault)
