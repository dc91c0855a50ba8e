"""What every table of a store is read and written with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class Statements(ABC):
    """Executes SQL that SQLite and PostgreSQL share; see `Database`."""

    @abstractmethod
    def _execute(self, statement: str, *values: object) -> Any:
        """A cursor on the rows of a statement, which has a `?` for each value."""

    @abstractmethod
    def _select_in(self, query: str, kind: str, values: Sequence[object]) -> Any:
        """A cursor on the rows of a query, which ends with a column, in which it has one of values.

        `kind` is the column's type: text or bigint.
        """
