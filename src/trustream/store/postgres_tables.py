"""The statements that PostgreSQL has in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal

import psycopg

from trustream.store.database import DOCUMENT, Database
from trustream.store.table_rows import DocumentRow

_DOCUMENT_TYPES = ("int8", "int8", "text", "float8", "bytea", "bool")


class PostgresTables(Database):
    """See `Database`. Lists are given as arrays, large ones by COPY."""

    _DIALECT: ClassVar[Literal["sqlite", "postgres"]] = "postgres"
    _NOW: ClassVar[str] = "extract(epoch FROM clock_timestamp())::float8"
    # Whoever writes waits here for those who wrote before.
    _FOR_UPDATE: ClassVar[str] = " FOR UPDATE"
    _connection: psycopg.Connection[Any]

    def _execute(self, statement: str, *values: object) -> Any:
        return self._connection.execute(statement.replace("?", "%s"), values or None, binary=True)

    def _select_in(self, query: str, kind: str, values: Sequence[object]) -> Any:
        return self._execute(f"{query} = ANY(?::{kind}[])", list(values))

    def _copy(self, into: str, types: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {into} FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    # --- words

    def add_words(self, first: int, words: Sequence[str]) -> None:
        if words:
            self._copy("word (number, word)", ("int8", "text"), enumerate(words, first))

    def put_blocks(self, blocks: Iterable[tuple[int, bytes]], sequence: int) -> None:
        numbers, counts = _transposed(blocks, 2)
        self._connection.execute(
            "INSERT INTO block SELECT n, c, %s FROM unnest(%s::bigint[], %b::bytea[]) AS b (n, c)"
            " ON CONFLICT (number)"
            " DO UPDATE SET counts = excluded.counts, sequence = excluded.sequence",
            (sequence, numbers, counts),
        )

    def put_columns(self, changes: Iterable[tuple[int, int | None]], version: int) -> None:
        columns, words = _transposed(changes, 2)
        self._connection.execute(
            'INSERT INTO "column" SELECT c, w, %s FROM unnest(%s::bigint[], %s::bigint[])'
            " AS u (c, w) ON CONFLICT (number)"
            " DO UPDATE SET word = excluded.word, version = excluded.version",
            (version, columns, words),
        )

    # --- documents

    def insert(self, rows: Sequence[DocumentRow]) -> None:
        self._copy(f"document ({DOCUMENT})", _DOCUMENT_TYPES, rows)

    def update(self, rows: Sequence[DocumentRow], *, times: bool) -> None:
        places, _, _, seconds, contents, arrival = _transposed(rows, 6)
        time = "time = n.time, arrival = n.arrival," if times else ""
        self._connection.execute(
            f"UPDATE document AS d SET {time} content = n.content"
            " FROM unnest(%s::bigint[], %s::double precision[], %b::bytea[], %s::boolean[])"
            " AS n (place, time, content, arrival) WHERE d.place = n.place",
            (places, seconds, contents, arrival),
        )

    def remove(self, places: Sequence[int]) -> None:
        self._select_in("DELETE FROM document WHERE place", "bigint", places)

    def move(self, moves: Sequence[tuple[int, int]]) -> None:
        self._connection.execute(
            "UPDATE document AS d SET place = m.there"
            " FROM unnest(%s::bigint[], %s::bigint[]) AS m (here, there) WHERE d.place = m.here",
            _transposed(moves, 2),
        )

    # --- texts and orders of words

    def put_texts(self, texts: Sequence[tuple[int, bytes]]) -> None:
        self._connection.execute(
            "INSERT INTO text SELECT * FROM unnest(%s::bigint[], %b::bytea[])"
            " ON CONFLICT (document) DO UPDATE SET content = excluded.content",
            _transposed(texts, 2),
        )

    def put_orders(self, orders: Sequence[tuple[int, int, bytes]]) -> None:
        self._connection.execute(
            "INSERT INTO word_order SELECT * FROM"
            " unnest(%s::bigint[], %s::bigint[], %b::bytea[]) ON CONFLICT (document)"
            " DO UPDATE SET mark = excluded.mark, content = excluded.content",
            _transposed(orders, 3),
        )

    # --- feeds and saved bytes

    def add_seen(self, append_ids: Iterable[str], time: float) -> None:
        rows = ((name, time) for name in append_ids)
        self._copy("seen (append_id, time)", ("text", "float8"), rows)

    def put_saved(self, name: str, parts: Iterable[bytes]) -> None:
        self.lock_saved(name)
        super().put_saved(name, parts)

    def lock_saved(self, name: str) -> None:
        self._execute("SELECT pg_advisory_xact_lock(hashtext(?))", name)

    # --- checking

    def broken(self) -> list[str]:
        """Nothing: a server checks its files by itself, with checksums if they are switched on."""
        return []

    def stream(self, statement: str) -> Iterator[tuple[Any, ...]]:
        """Rows, some hundred at a time."""
        with self._connection.cursor("trustream", binary=True) as cursor:
            cursor.itersize = 200
            cursor.execute(statement)
            yield from cursor


def _transposed(rows: Iterable[Sequence[Any]], width: int) -> list[list[Any]]:
    """Rows as columns, also where there are none."""
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
