"""The table of kept texts: the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from trustream.store.records import Settings
from trustream.store.statements import Statements


class TextTable(Statements):
    """Reads and writes texts of documents, as bytes (`kept_texts`); see `Database`."""

    settings: Settings

    def texts_of(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        """(number, text) of the documents with these numbers that have one, in any order."""
        query = "SELECT document, content FROM text WHERE document"
        return list(self._select_in(query, "bigint", numbers))

    def texts_by_key(self, keys: Sequence[str]) -> list[tuple[str, bytes]]:
        """(key, text) of the documents with these keys that have one, in any order."""
        query = (
            "SELECT d.key, t.content FROM document AS d JOIN text AS t ON t.document = d.number"
            " WHERE d.key"
        )
        return list(self._select_in(query, "text", keys))

    @abstractmethod
    def put_texts(self, texts: Sequence[tuple[int, bytes]]) -> None:
        """Give documents, by their numbers, their texts."""

    def remove_texts(self, numbers: Sequence[int]) -> None:
        """Remove the texts of documents, by their numbers."""
        if numbers and self.settings.keep_text:
            self.clear_texts(numbers)

    def clear_texts(self, numbers: Sequence[int]) -> None:
        """The same, also in a store that keeps none."""
        self._select_in("DELETE FROM text WHERE document", "bigint", numbers)
