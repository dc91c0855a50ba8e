"""The statements that a store needs, in PostgreSQL's SQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from typing import Any

import psycopg

from trustream.store.backend import Fault, Row, State
from trustream.store.protocol import Position

_DOCUMENT = "place, number, key, time, content"
_FAULT = "documents, tokens, words, repaired"
_DOCUMENT_TYPES = ("int8", "int8", "text", "float8", "bytea")


class PostgresTables:
    """See `Backend`. Lists are given as arrays, large ones by COPY."""

    _database: psycopg.Connection[Any]

    def _all(self, statement: str, *values: object) -> list[Any]:
        return self._database.execute(statement, values, binary=True).fetchall()

    def _copy(self, into: str, types: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        with (
            self._database.cursor() as cursor,
            cursor.copy(f"COPY {into} FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    # --- counters

    def state(self, *, write: bool) -> State:
        """The counters. Whoever writes waits here for those who wrote before."""
        lock = "FOR UPDATE" if write else ""
        return State(*self._all(f"SELECT * FROM state {lock}")[0])

    def put_state(self, state: State) -> None:
        """Replace the counters."""
        self._database.execute(
            "UPDATE state SET sequence=%s, vocabulary=%s, training=%s, held_out=%s,"
            " token_count=%s, words=%s, added=%s, next_word=%s, next_document=%s",
            astuple(state),
        )

    # --- words

    def word_numbers(self, words: Sequence[str]) -> dict[str, int]:
        """Numbers of those words that are known."""
        return dict(
            self._all("SELECT word, number FROM word WHERE word = ANY(%s::text[])", list(words))
        )

    def add_words(self, first: int, words: Sequence[str]) -> None:
        """Number new words."""
        if words:
            self._copy("word (number, word)", ("int8", "text"), enumerate(words, first))

    def blocks_since(self, sequence: int) -> list[tuple[int, bytes]]:
        """Blocks of word counts that changed."""
        return self._all("SELECT number, counts FROM block WHERE sequence > %s", sequence)

    def put_blocks(self, blocks: Iterable[tuple[int, bytes]], sequence: int) -> None:
        """Write blocks of word counts."""
        numbers, counts = _transposed(blocks, 2)
        self._database.execute(
            "INSERT INTO block SELECT n, c, %s FROM unnest(%s::bigint[], %b::bytea[]) AS b (n, c)"
            " ON CONFLICT (number)"
            " DO UPDATE SET counts = excluded.counts, sequence = excluded.sequence",
            (sequence, numbers, counts),
        )

    def columns_since(self, version: int) -> list[tuple[int, int | None]]:
        """Columns that changed."""
        return self._all('SELECT number, word FROM "column" WHERE version > %s', version)

    def column_words_since(self, version: int) -> list[tuple[int, str | None]]:
        """Columns that changed, with their words."""
        return self._all(
            'SELECT c.number, w.word FROM "column" AS c LEFT JOIN word AS w ON w.number = c.word'
            " WHERE c.version > %s ORDER BY c.number",
            version,
        )

    def put_columns(self, changes: Iterable[tuple[int, int | None]], version: int) -> None:
        """Write columns."""
        columns, words = _transposed(changes, 2)
        self._database.execute(
            'INSERT INTO "column" SELECT c, w, %s FROM unnest(%s::bigint[], %s::bigint[])'
            " AS u (c, w) ON CONFLICT (number)"
            " DO UPDATE SET word = excluded.word, version = excluded.version",
            (version, columns, words),
        )

    # --- documents

    def _documents(self, condition: str, *values: object) -> list[Row]:
        return list(
            map(Row._make, self._all(f"SELECT {_DOCUMENT} FROM document {condition}", *values))
        )

    def by_key(self, keys: Sequence[str]) -> list[Row]:
        """Documents of these keys."""
        return self._documents("WHERE key = ANY(%s::text[])", list(keys))

    def by_place(self, places: Sequence[int]) -> list[Row]:
        """Documents in these places."""
        return self._documents("WHERE place = ANY(%s::bigint[])", list(places))

    def after(self, number: int, limit: int) -> list[Row]:
        """Documents that came after one."""
        return self._documents("WHERE number > %s ORDER BY number LIMIT %s", number, limit)

    def places_before(self, time: float) -> list[int]:
        """Places of earlier documents."""
        return [place for (place,) in self._all("SELECT place FROM document WHERE time < %s", time)]

    def oldest_places(self, n: int) -> list[int]:
        """Places of the earliest documents."""
        found = self._all("SELECT place FROM document ORDER BY time, number LIMIT %s", max(n, 0))
        return [place for (place,) in found]

    def insert(self, rows: Sequence[Row]) -> None:
        """Add documents."""
        self._copy(f"document ({_DOCUMENT})", _DOCUMENT_TYPES, rows)

    def update(self, rows: Sequence[Row], *, times: bool) -> None:
        """Give new contents and times."""
        places, _, _, seconds, contents = _transposed(rows, 5)
        time = "time = n.time," if times else ""
        self._database.execute(
            f"UPDATE document AS d SET {time} content = n.content"
            " FROM unnest(%s::bigint[], %s::double precision[], %b::bytea[])"
            " AS n (place, time, content) WHERE d.place = n.place",
            (places, seconds, contents),
        )

    def remove(self, places: Sequence[int]) -> None:
        """Remove documents."""
        self._database.execute(
            "DELETE FROM document WHERE place = ANY(%s::bigint[])", (list(places),)
        )

    def move(self, moves: Sequence[tuple[int, int]]) -> None:
        """Move documents."""
        self._database.execute(
            "UPDATE document AS d SET place = m.there"
            " FROM unnest(%s::bigint[], %s::bigint[]) AS m (here, there) WHERE d.place = m.here",
            _transposed(moves, 2),
        )

    # --- feeds and what is learned

    def seen(self, append_ids: Sequence[str]) -> set[str]:
        """Which append ids have been seen."""
        found = self._all(
            "SELECT append_id FROM seen WHERE append_id = ANY(%s::text[])", list(append_ids)
        )
        return {name for (name,) in found}

    def add_seen(self, append_ids: Iterable[str]) -> None:
        """Note append ids."""
        self._copy("seen (append_id)", ("text",), ((name,) for name in append_ids))

    def position(self, feed: str) -> Position | None:
        """How far a feed has been read."""
        rows = self._all("SELECT name, offset_, finished, detail FROM feed WHERE name = %s", feed)
        if not rows:
            return None
        name, offset, finished, detail = rows[0]
        return Position(name, offset, finished, json.loads(detail))

    def put_position(self, position: Position) -> None:
        """Note how far a feed has been read."""
        self._database.execute(
            "INSERT INTO feed VALUES (%s, %s, %s, %s) ON CONFLICT (name) DO UPDATE SET"
            " offset_ = excluded.offset_, finished = excluded.finished, detail = excluded.detail",
            (position.feed, position.offset, position.finished, json.dumps(position.detail)),
        )

    def put_saved(self, name: str, parts: Iterable[bytes]) -> None:
        """Replace what is kept under a name, and let nobody else do so at the same time."""
        self._database.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (name,))
        self._database.execute("DELETE FROM saved WHERE name = %s", (name,))
        for number, part in enumerate(parts):
            self._database.execute("INSERT INTO saved VALUES (%s, %s, %b)", (name, number, part))

    def saved(self, name: str) -> list[bytes]:
        """What is kept under a name."""
        found = self._all("SELECT content FROM saved WHERE name = %s ORDER BY part", name)
        return [content for (content,) in found]

    def saved_version(self, name: str) -> int | None:
        """How often something was saved under a name."""
        rows = self._all("SELECT version FROM saved_version WHERE name = %s", name)
        return rows[0][0] if rows else None

    # --- checking

    def broken(self) -> list[str]:
        """Nothing: a server checks its files by itself, with checksums if they are switched on."""
        return []

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Rows, some hundred at a time."""
        with self._database.cursor("trustream", binary=True) as cursor:
            cursor.itersize = 200
            cursor.execute(statement)
            yield from cursor

    def clear(self, table: str) -> None:
        """Remove all rows."""
        self._database.execute(f'DELETE FROM "{table}"')

    def fault(self) -> Fault | None:
        """What is known of words that were lost."""
        rows = self._all(f"SELECT {_FAULT} FROM fault")
        return Fault(*rows[0]) if rows else None

    def put_fault(self, fault: Fault) -> None:
        """Replace it."""
        self._database.execute(f"UPDATE fault SET ({_FAULT}) = (%s, %s, %s, %s)", fault)


def _transposed(rows: Iterable[Sequence[Any]], width: int) -> list[list[Any]]:
    """Rows as columns, also where there are none."""
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
