"""The table of the order of words: the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from trustream.store.records import Settings


class OrderTable(ABC):
    """Reads and writes the order of documents' words, as bytes (`kept_orders`); see `Database`."""

    settings: Settings

    @abstractmethod
    def _execute(self, statement: str, *values: object) -> Any:
        """A cursor on what a statement gives."""

    @abstractmethod
    def _select_in(self, query: str, kind: str, values: Sequence[object]) -> Any:
        """A cursor on the rows of a query, see `TextTable`."""

    def orders_of(self, numbers: Sequence[int]) -> list[tuple[int, int, bytes]]:
        """(number, mark, order) of the documents with these numbers that have one."""
        query = "SELECT document, mark, content FROM word_order WHERE document"
        return list(self._select_in(query, "bigint", numbers))

    def orders_after(self, number: int, n: int) -> list[tuple[int, str, bytes]]:
        """(number, key, order) of the next n documents that have one, in order."""
        return self._orders("w.document > ? ORDER BY w.document", number, n)

    def orders_without(self, mark: int, n: int) -> list[tuple[int, str, bytes]]:
        """(number, key, order) of n documents whose words have another mark."""
        return self._orders("w.mark <> ? ORDER BY w.document", mark, n)

    def _orders(self, condition: str, value: int, n: int) -> list[tuple[int, str, bytes]]:
        return list(
            self._execute(
                "SELECT w.document, d.key, w.content FROM word_order AS w"
                f" JOIN document AS d ON d.number = w.document WHERE {condition} LIMIT ?",
                value,
                n,
            )
        )

    def count_orders(self, mark: int) -> tuple[int, int]:
        """Documents that have an order, and those of them whose words have a mark."""
        n, n_marked = self._execute(
            "SELECT (SELECT count(mark) FROM word_order),"
            " (SELECT count(mark) FROM word_order WHERE mark = ?)",
            mark,
        ).fetchone()
        return int(n), int(n_marked)

    @abstractmethod
    def put_orders(self, orders: Sequence[tuple[int, int, bytes]]) -> None:
        """Give documents, by their numbers, marks and orders of their words."""

    def mark_orders(self, numbers: Sequence[int], mark: int) -> None:
        """Give the words of documents another mark."""
        self._select_in(
            f"UPDATE word_order SET mark = {int(mark)} WHERE document", "bigint", numbers
        )

    def remove_orders(self, numbers: Sequence[int]) -> None:
        """Remove the orders of documents, by their numbers."""
        if numbers and self.settings.keep_order:
            self.clear_orders(numbers)

    def clear_orders(self, numbers: Sequence[int]) -> None:
        """The same, also in a store that keeps none."""
        self._select_in("DELETE FROM word_order WHERE document", "bigint", numbers)
