"""Stores as the version wrote them that lost words of documents that grew in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from trustream.store import DocumentStore, open_store, writer
from trustream.store.document_cache import DocumentCache
from trustream.store.table_rows import DocumentRow

_BACK = (
    "DROP TABLE fault",
    "ALTER TABLE state RENAME COLUMN token_count TO tokens",
    "DELETE FROM migration WHERE name = '0004_words_lost'",
)


class Forgetful(DocumentCache):
    """Keeps the old version of a document that has become too large to be remembered."""

    def take(self, keys: Iterable[str]) -> list[DocumentRow]:
        return [self._rows[key] for key in keys if key in self._rows]


@contextmanager
def faulty_writer() -> Iterator[None]:
    """Stores that are opened meanwhile lose words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "DocumentCache", Forgetful)
        yield


def execute(store: DocumentStore, *statements: str) -> list[Any]:
    """Run statements in one transaction; the rows of the last."""
    database: Any = store._database

    def work() -> list[Any]:
        found: list[Any] = []
        for statement in statements:
            cursor = database._connection.execute(statement)
            found = cursor.fetchall() if cursor.description else []
        return found

    return database.run(work, write=True)


def make_old(address: str) -> None:
    """Give a store the tables of the version that had the fault."""
    with open_store(address) as store:
        execute(store, *_BACK)
